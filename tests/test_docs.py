"""What the documents say is so: modules, links, names, flags, keys and the guides' examples."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

import swarmtest
from swarmtest import checks, faults, lint, reports, scenarios
from swarmtest.catalogue import GROUPS, scenario_names
from swarmtest.cli import commands
from swarmtest.errors import StackError
from swarmtest.lint import rules
from swarmtest.stack.block.brief import read_brief
from swarmtest.stack.services import read_stack

ROOT = Path(__file__).resolve().parents[1]
TOUR = ROOT / "docs" / "whats-here.md"
STACK_FILE = ROOT / "docs" / "stack-file.md"
PAGES = sorted(
    path
    for path in [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("contract/*.md"),
        *ROOT.glob("stacks/**/*.md"),
    ]
)
GUIDES = sorted(ROOT.glob("docs/adding-a-*.md"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^`([\w/.]+\.py)`:\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


every_page = pytest.mark.parametrize("page", PAGES, ids=name_of)
every_page_about_swarmtest = pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent != ROOT / "docs" / "lint"], ids=name_of
)
"""The pages of lint's rules name other programs' flags, and show what's wrong; their tests are in tests/lint."""


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", page.read_text())


def blocks(page: Path) -> list[str]:
    return [body for _, body in FENCE.findall(page.read_text())]


def spans(page: Path) -> list[str]:
    """Bits of code within sentences."""
    return re.findall(r"`([^`\n]+)`", prose(page))


# ---------------------------------------------------------------- the tour


def parts_of_the_package() -> set[str]:
    """Each module, and each folder with a slash at its end; a folder's own module is the folder."""
    paths = {path.relative_to(ROOT) for path in (ROOT / "swarmtest").rglob("*.py")}
    modules = {str(path) for path in paths if path.name != "__init__.py"}
    return modules | {f"{path.parent}/" for path in paths if path.name == "__init__.py"}


def row_for(part: str) -> str:
    """A row to paste into the tour, out of the module's own first line."""
    path = ROOT / part / "__init__.py" if part.endswith("/") else ROOT / part
    first = path.read_text().partition('"""')[2].split("\n")[0].strip('"').rstrip(".").replace("``", "`")
    return f"| `{part}` | {first} |"


def test_the_tour_has_a_row_for_each_module_and_folder_and_for_nothing_else() -> None:
    rows = re.findall(r"^\| `(swarmtest/[\w/.]*)` \|", TOUR.read_text(), re.MULTILINE)
    missing = sorted(parts_of_the_package() - set(rows))
    assert not missing, "add to docs/whats-here.md:\n" + "\n".join(map(row_for, missing))
    assert sorted(set(rows) - parts_of_the_package()) == [], "gone from swarmtest/, still in docs/whats-here.md"
    assert len(rows) == len(set(rows)), "a module has two rows"


@every_page
def test_paths_named_in_sentences_exist(page: Path) -> None:
    made_here = {path for path, _ in FILE.findall(page.read_text())}
    named = {
        span
        for span in spans(page)
        if re.fullmatch(r"(swarmtest|stacks|tests|docs|scripts|contract)/[\w/.-]*", span) and span not in made_here
    }
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


def test_the_table_of_layers_is_the_one_that_is_enforced() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["name"] == "imports point down")
    enforced = [re.findall(r"\w+", layer) for layer in layers]
    section = TOUR.read_text().partition("## The one-way rule")[2].partition("\nOutside packages")[0]
    rows = [re.findall(r"`(\w+)`", row) for row in section.splitlines() if row.startswith("| `")]
    wanted = "\n".join(f"| {' · '.join(f'`{name}`' for name in layer)} | |" for layer in enforced)
    assert list(map(sorted, rows)) == list(map(sorted, enforced)), f"the rows of pyproject.toml are:\n{wanted}"


# ---------------------------------------------------------------- links


def anchors(page: Path) -> set[str]:
    """Headings as GitHub makes anchors of them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    dead = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)
    assert dead == []


# ---------------------------------------------------------------- names

COMMANDS = {
    name: {flag for item in command.params for flag in item.opts} for name, command in commands.commands.items()
}
GENERAL = {"--help", "--version", "-h"}


def command_lines(page: Path) -> Iterator[list[str]]:
    """Every `swarmtest …` of a page, in words."""
    for text in [*spans(page), *(line for block in blocks(page) for line in block.splitlines())]:
        found = re.match(r"^\s*(?:\$ )?(?:[\w./]*/)?swarmtest ([a-z-]+.*)$", text)
        if found and found[1].split()[0] in {*COMMANDS, "--help", "--version"}:
            yield re.sub(r"\s#.*", "", found[1]).split()


@every_page_about_swarmtest
def test_flags_of_the_documents_are_flags_of_their_command(page: Path) -> None:
    unknown = []
    for verb, *words in command_lines(page):
        flags = {re.split(r"[=,;.)]", word)[0] for word in words if word.startswith("--")}
        unknown += [f"{verb} {flag}" for flag in sorted(flags - COMMANDS.get(verb, set()) - GENERAL)]
    alone = {span.split()[0] for span in spans(page) if span.startswith("--")}
    unknown += sorted(alone - set().union(*COMMANDS.values()) - GENERAL)
    assert unknown == []


def test_every_verb_and_every_flag_of_run_is_in_the_documents() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    assert [verb for verb in COMMANDS if f"swarmtest {verb}" not in text] == []
    assert [flag for flag in sorted(COMMANDS["run"]) if flag.startswith("--") and flag not in text] == []


@every_page
def test_scenarios_of_the_documents_exist(page: Path) -> None:
    made_here = {path.stem.replace("_", "-") for path in map(Path, dict(FILE.findall(page.read_text())))}
    lists = re.findall(r"--scenario[ =]([a-z][a-z,-]*)", page.read_text())
    named = {name for several in lists for name in several.strip(",").split(",")}
    assert sorted(named - {*scenario_names(), *GROUPS} - made_here) == []


@cache
def words_of_the_project() -> frozenset[str]:
    """Every identifier in code, stacks and scripts, and the names of modules."""
    found: set[str] = set()
    for folder in ("swarmtest", "contract", "stacks", "scripts", "tests", "bench"):
        for path in (ROOT / folder).rglob("*"):
            if (
                path.is_file()
                and path != Path(__file__)
                and path.suffix in (".py", ".yml", ".cfg", ".conf", "", ".toml")
            ):
                found |= {path.stem, *re.findall(r"[A-Za-z_]\w*", path.read_text(errors="replace"))}
    return frozenset(found)


@every_page_about_swarmtest
def test_names_with_underscores_are_names_of_the_project(page: Path) -> None:
    made_here = {word for block in blocks(page) for word in re.findall(r"[A-Za-z_]\w*", block)}
    made_here |= {Path(path).stem for path, _ in FILE.findall(page.read_text())}
    named = {span for span in spans(page) if re.fullmatch(r"[a-z]\w*_\w+", span)}
    assert sorted(named - words_of_the_project() - made_here) == []


# ---------------------------------------------------------------- the x-swarmtest block

STUB = """
services:
  api: {image: none, ports: [{target: 80, published: 8080, mode: host}]}
  edge: {image: none, ports: [{target: 80, published: 8081, mode: host}]}
"""


def keys_known_in(part: str, tmp_path: Path) -> set[str]:
    """The keys that the reader names when it meets one that it doesn't know."""
    block = {
        "the block": "{service: api, QQQQ: 1}",
        "front_door": "{service: api, front_door: {QQQQ: 1}}",
        "traffic": "{service: api, traffic: {QQQQ: 1}}",
        "a kind": "{service: api, traffic: {kinds: {one: {QQQQ: 1}}}}",
        "retries": "{service: api, traffic: {kinds: {one: {retries: {QQQQ: 1}}}}}",
    }[part]
    file = tmp_path / "stack.yml"
    file.write_text(f"x-swarmtest: {block}\n{STUB}")
    with pytest.raises(StackError) as caught:
        read_brief(read_stack(file))
    return set(str(caught.value).partition("known keys: ")[2].split(", "))


def keys_documented_in(part: str) -> set[str]:
    heading = {"the block": "The block", "a kind": "A kind of request"}.get(part, f"`{part}`")
    section = STACK_FILE.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))


@pytest.mark.parametrize("part", ["the block", "front_door", "traffic", "a kind", "retries"])
def test_every_key_of_the_block_is_documented_and_no_other(part: str, tmp_path: Path) -> None:
    known = keys_known_in(part, tmp_path)
    if part == "traffic":
        known -= keys_known_in("a kind", tmp_path) - {"timeout", "fresh_share"}
    if part == "a kind":
        known -= {"timeout", "fresh_share"}
    assert keys_documented_in(part) == known


@every_page_about_swarmtest
def test_stack_files_in_the_documents_can_be_read(page: Path, tmp_path: Path) -> None:
    for number, block in enumerate(blocks(page)):
        if "x-swarmtest:" in block:
            file = tmp_path / f"{number}.yml"
            file.write_text(block if "services:" in block else block + STUB)
            read_brief(read_stack(file))


# ---------------------------------------------------------------- the guides' examples


@contextmanager
def grown(folder: Path) -> Iterator[None]:
    """The package with the folder's files in it, as if they had been added."""
    packages = [swarmtest, scenarios, faults, checks, reports, lint, rules]
    before = [list(package.__path__) for package in packages]
    for package in packages:
        package.__path__.append(str(folder / Path(*package.__name__.split("."))))
    try:
        yield
    finally:
        for package, path in zip(packages, before, strict=True):
            package.__path__[:] = path
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(str(folder)):
                del sys.modules[name]


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_the_example_of_a_guide_passes_its_own_tests(page: Path, tmp_path: Path) -> None:
    files = dict(FILE.findall(page.read_text()))
    for path, body in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(body)
    with grown(tmp_path):
        tests = [test for path in files if path.startswith("tests/") for test in functions_in(tmp_path / path)]
        assert len(tests) >= 2, "a guide shows its tests"
        for test in tests:
            test()


def functions_in(path: Path) -> list[Callable[[], None]]:
    """The test functions of a file; those of the guides need no fixtures."""
    spec = importlib.util.spec_from_file_location(f"guide_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [value for name, value in vars(module).items() if name.startswith("test_")]
