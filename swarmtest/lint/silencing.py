"""Comments that say in the file why a finding is right there: ``# swarmtest: allow RULE: reason``.

On the line of a finding, alone on the line above it, or at the head of a file for all of it. Without a reason it
isn't taken. What's silenced is counted, and goes on being told by the formats that have a place for it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from swarmtest.lint import Certainty, Finding, Place, Severity, Target
from swarmtest.stack.syntax.comments import comments

WITHOUT_REASON = "allow-without-reason"
UNUSED = "allow-unused"

_WANTED = re.compile(r"#+[ \t]*swarmtest:[ \t]*allow\b")
_ALLOW = re.compile(r"#+\s*swarmtest:\s*allow\b:?\s*(?P<rules>[\w\s,-]*?)\s*(?::\s*(?P<reason>.*))?$")


@dataclass(frozen=True, slots=True)
class Allowance:
    """A comment that silences one rule.

    Attributes:
        line: where the comment stands.
        of_line: the line that it's for; None for the whole file.
        reason: empty where none is given; then it silences nothing.
    """

    file: Path
    line: int
    of_line: int | None
    rule: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Whether this is about a finding."""
        place = finding.place
        return finding.rule == self.rule and place.file == self.file and self.of_line in (None, place.line)


@dataclass(frozen=True, slots=True)
class Silenced:
    """A finding that a comment allows, and why."""

    finding: Finding
    reason: str
    line: int


def allowances(text: str, file: Path) -> Iterator[Allowance]:
    """What the comments of a file allow, a rule each."""
    for comment in comments(text, _WANTED):
        match = _ALLOW.match(comment.text)
        if match is None:
            continue
        reason = (match["reason"] or "").strip()
        for rule in re.split(r"[\s,]+", match["rules"]) or [""]:
            yield Allowance(file, comment.line, comment.of_line, rule, reason)


def silence(
    found: Iterable[Finding], allowed: Sequence[Allowance], known: Sequence[str], target: Target
) -> tuple[list[Finding], list[Silenced]]:
    """Parts findings into those that stand and those that are silenced; comments that are of no use are findings, too.

    Arguments:
        known: the names of all rules.
    """
    standing: list[Finding] = []
    silenced: list[Silenced] = []
    used: set[Allowance] = set()
    for finding in found:
        covering = [each for each in allowed if each.covers(finding)]
        used.update(covering)
        reasons = [each for each in covering if each.reason]
        if reasons:
            silenced.append(Silenced(finding, reasons[0].reason, reasons[0].line))
        else:
            standing.append(finding)
    for each in allowed:
        if not each.reason:
            standing.append(_without_reason(each))
        elif each not in used:
            standing.append(_unused(each, known, target))
    return standing, silenced


def _without_reason(allowance: Allowance) -> Finding:
    rule = allowance.rule or "RULE"
    return Finding(
        rule=WITHOUT_REASON,
        severity=Severity.WARNING,
        certainty=Certainty.CERTAIN,
        place=Place(allowance.file, allowance.line, ()),
        effect="the comment gives no reason, so it silences nothing",
        fix=f"write why it's right here: # swarmtest: allow {rule}: the reason",
    )


def _unused(allowance: Allowance, known: Sequence[str], target: Target) -> Finding:
    where = "in this file" if allowance.of_line is None else f"in line {allowance.of_line}"
    if allowance.rule in known:
        effect = f"{allowance.rule} finds nothing {where} for {target}, so the comment silences nothing"
        fix = "take the comment out, or put it on the line of the finding or alone on the line above"
    else:
        near = difflib.get_close_matches(allowance.rule, known, n=1)
        effect = f"there's no rule {allowance.rule!r}, so the comment silences nothing"
        fix = f"write {near[0]}" if near else "write a rule's name; swarmtest list has them all"
    return Finding(
        rule=UNUSED,
        severity=Severity.INFO,
        certainty=Certainty.CERTAIN,
        place=Place(allowance.file, allowance.line, ()),
        effect=effect,
        fix=fix,
    )


SUMMARIES: Mapping[str, str] = {
    WITHOUT_REASON: "a comment that silences a rule doesn't say why, and isn't taken",
    UNUSED: "a comment that silences a rule has nothing to silence",
}
"""The two rules of this module: they look at comments, when all others have looked at the stack."""
