"""A comment in the file silences a rule where it stands, if it says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.lint import Certainty, Finding, Place, Severity, Target
from swarmtest.lint.linting import Linted, lint
from swarmtest.lint.silencing import UNUSED, WITHOUT_REASON, Allowance, allowances, silence

RULE = "start-first-host-port"
FILE = Path("stack.yml")
STACK = """{head}services:
  api:
    image: api:1
    ports:
      - {{target: 80, published: 8080, mode: host}}
    deploy:
      update_config:
        {above}
        order: start-first{beside}
"""


def linted(head: str = "", above: str = "#", beside: str = "", rule: str = RULE) -> Linted:
    """The stack above with one finding, less what else other rules may say."""
    text = STACK.format(head=head, above=above, beside=beside)
    found = lint([FILE], Target.SWARM, {}, {FILE: text})
    wanted = tuple(each for each in found.findings if each.rule in (rule, RULE, UNUSED, WITHOUT_REASON))
    silenced = tuple(each for each in found.silenced if each.finding.rule == RULE)
    return Linted(found.files, found.target, wanted, silenced)


def test_a_file_without_a_comment_silences_nothing() -> None:
    assert [each.rule for each in linted().findings] == [RULE]


@pytest.mark.parametrize(
    ("places", "line"),
    [
        ({"beside": "  # swarmtest: allow start-first-host-port: one node for each"}, 9),
        ({"above": "# swarmtest: allow start-first-host-port: one node for each"}, 8),
        ({"head": "# swarmtest: allow start-first-host-port: one node for each\n"}, 1),
        ({"beside": "  #swarmtest:allow start-first-host-port : one node for each"}, 9),
        ({"beside": "  # swarmtest: allow other, start-first-host-port: one node for each"}, 9),
    ],
)
def test_a_reason_on_the_line_above_it_or_at_the_head_silences_and_is_kept(places: dict[str, str], line: int) -> None:
    (silenced,) = (found := linted(**places)).silenced
    assert RULE not in [each.rule for each in found.findings]
    assert (silenced.reason, silenced.line) == ("one node for each", line)


@pytest.mark.parametrize("reason", ["", ":", ":   "])
def test_without_a_reason_it_is_not_taken_and_is_a_warning_itself(reason: str) -> None:
    found = linted(beside=f"  # swarmtest: allow {RULE}{reason}")
    assert found.silenced == ()
    assert [(each.rule, each.severity) for each in found.findings if each.place.line == 9] == [
        (RULE, Severity.ERROR),
        (WITHOUT_REASON, Severity.WARNING),
    ]
    assert f"# swarmtest: allow {RULE}: the reason" in found.findings[-1].fix


def test_it_silences_its_own_rule_alone() -> None:
    found = linted(beside="  # swarmtest: allow something-else: because")
    assert [each.rule for each in found.findings] == [RULE, UNUSED]


def test_it_silences_no_other_line() -> None:
    found = linted(head=f"a: 1\n# swarmtest: allow {RULE}: because\n")
    assert found.silenced == ()
    assert [each.rule for each in found.findings] == [UNUSED, RULE]
    assert found.findings[0].severity is Severity.INFO
    assert "line 3" in found.findings[0].effect


def test_one_that_names_no_rule_gets_the_near_name() -> None:
    found = linted(head="# swarmtest: allow start-first-hostport: because\n")
    (useless,) = (each for each in found.findings if each.rule == UNUSED)
    assert useless.effect == "there's no rule 'start-first-hostport', so the comment silences nothing"
    assert useless.fix == f"write {RULE}"


def test_the_findings_about_comments_cannot_be_silenced() -> None:
    found = linted(head=f"# swarmtest: allow {UNUSED}: because\n# swarmtest: allow nothing-here: because\n")
    assert [each.rule for each in found.findings] == [UNUSED, UNUSED, RULE]


def test_a_comment_of_another_file_of_the_stack_silences_only_what_is_in_that_file() -> None:
    place = Place(Path("b.yml"), 3, ("services",))
    finding = Finding("one-rule", Severity.ERROR, Certainty.CERTAIN, place, "effect", "fix")
    allowed = [Allowance(Path("a.yml"), 1, None, "one-rule", "because")]
    standing, silenced = silence([finding], allowed, ["one-rule"], Target.SWARM)
    assert standing[0] is finding
    assert silenced == []


def test_what_a_text_says_is_no_comment() -> None:
    text = f'a: "x # swarmtest: allow {RULE}: because"\nb: |\n  # swarmtest: allow {RULE}: because\n'
    assert list(allowances(text, FILE)) == []


def test_several_rules_of_one_comment_are_counted_each() -> None:
    allowed = list(allowances("# swarmtest: allow one-rule two-rules,three: because: so\n", FILE))
    assert [each.rule for each in allowed] == ["one-rule", "two-rules", "three"]
    assert {each.reason for each in allowed} == {"because: so"}
