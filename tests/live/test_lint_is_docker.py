"""The Docker CLI is asked of every recorded case what it says today, and of every key with every odd value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swarmtest.lint import Target, schema
from tests.lint.judging import Case, asked, recorded, why_not
from tests.lint.test_judged import changed, disagreement

pytestmark = [pytest.mark.live, pytest.mark.skipif(why_not() is not None, reason=why_not() or "")]

SCHEMA = json.loads((Path(schema.__file__).parent / f"config_schema_v{schema.LATEST}.json").read_text())
ODD: list[Any] = [None, "", 0, 1, -1, 1.5, True, "x", [], {}, ["a"], {"a": "b"}, [1], [None], {"a": None}, "5s"]
ODD += [["a=b"], {"a": {}}, [{}], [["a"]], {"a": [1]}, ["a:b:c:d"], [True], {"a": True}, {"a": 1.5}]


def test_docker_says_today_what_is_recorded() -> None:
    assert changed(recorded()) == []


@pytest.mark.repeats
def test_every_key_with_every_odd_value_is_legal_or_refused_as_docker_has_it() -> None:
    cases = asked([case_of(path, value) for path in paths() for value in ODD])
    assert len(cases) > 2_500
    assert [found for case in cases if (found := disagreement(case, Target.SWARM, case.legal))] == []


def case_of(path: tuple[str, ...], value: Any) -> Case:
    inner: Any = value
    for key in reversed(path):
        inner = {key: inner}
    tree = {"services": {"web": {"image": "demo/web:1"}}}
    tree = {**inner, **tree} if path[0] != "services" else inner
    return Case(f"{'.'.join(path)}: {value!r}", (json.dumps(tree),), {}, legal=True, said="", compose=True)


def paths() -> Iterator[tuple[str, ...]]:
    """Of every key that the schema knows; an ``env_file`` would have to be there."""
    kinds = {"networks": "network", "volumes": "volume", "secrets": "secret", "configs": "config"}
    for part, kind in {"services": "service", **kinds}.items():
        for below in keys(SCHEMA["definitions"][kind]):
            if below != ("env_file",):
                yield (part, "web", *below)


def keys(part: Any) -> Iterator[tuple[str, ...]]:
    if "$ref" in part:
        yield from keys(SCHEMA["definitions"][part["$ref"].rpartition("/")[2]])
    for key, below in part.get("properties", {}).items():
        yield (key,)
        yield from ((key, *rest) for rest in keys(below))
