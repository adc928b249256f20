"""The report for a pull request's comment: the verdict and what isn't passed in sight, the rest folded away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TextIO

from swarmtest.reports import CheckEntry, Document, streams, wording
from swarmtest.reports.acts import act_rows, kind_sentence, policy_lines, story_lines
from swarmtest.reports.lifespans import (
    ONLY_WHERE_SEEN,
    STOP_MARKS,
    UNSEEN,
    durations,
    full_label,
    grace_seconds,
    mark_text,
    span_text,
    stopped,
    with_error,
    zero,
)

IDS_SHOWN = 3
EVIDENCE_SHOWN = 5
SPECIAL = re.compile(r"([\\*\[\]|~#`]|(?<!\w)_|_(?!\w))")
BROKEN_OFF = ("the run was interrupted", "the run failed", "the trace has no end")
"""How a note begins that says why a run didn't come to its end, which the verdict alone doesn't tell."""
CODE = re.compile(r"(`[^`]+`)")


def render(document: Document, out: TextIO) -> None:
    """Writes Markdown as GitHub and GitLab read it."""
    parts = [
        *_head(document),
        *_open_checks(document),
        *_advice(document),
        *_acts(document),
        *_losses(document),
        *_streams(document),
    ]
    parts += _lives(document)
    parts += [*_passed_checks(document), *_settings(document)]
    out.write("\n\n".join(parts) + "\n")


def _head(document: Document) -> Iterator[str]:
    outcome = wording.outcome_words(document.outcome)
    yield f"### swarmtest {plain(document.scenario)}, {code(document.stack)}: {outcome}"
    yield from (f"**{plain(note[:1].upper() + note[1:])}**" for note in document.notes if note.startswith(BROKEN_OFF))
    yield plain(wording.proof_sentence(document))
    unproved = wording.unproved_count(document)
    lost = wording.number(wording.lost_count(document) - unproved)
    traffic = f"{wording.number(document.losses.get('sent', 0))} sent, {lost} lost"
    traffic += f", {wording.number(unproved)} not proved" if unproved else ""
    stops, hurt = document.proof.get("stops") or 0, document.proof.get("stops_with_loss") or 0
    row = (wording.checks_sentence(document), traffic, f"{stops}, {hurt} with a loss", str(document.exit_code))
    yield table(("checks", "requests", "stops", "exit code"), [row])


def _open_checks(document: Document) -> Iterator[str]:
    checks = [check for check in document.checks if check.outcome != "passed"]
    checks.sort(key=lambda check: check.outcome != "failed")
    if checks:
        rows = [
            (f"**{wording.outcome_words(check.outcome)}**", code(check.name), plain(check.sentence)) for check in checks
        ]
        yield table(("verdict", "check", "what was found"), rows)
        yield folded("Evidence", [evidence(check) for check in checks])


def evidence(check: CheckEntry) -> str:
    """What a check rests on, as a list below its name."""
    lines = [f"- {code(check.name)}"] + [f"  - {plain(line)}" for line in check.evidence[:EVIDENCE_SHOWN]]
    if len(check.evidence) > EVIDENCE_SHOWN:
        lines.append(f"  - and {len(check.evidence) - EVIDENCE_SHOWN} more in `verdicts.json`")
    if check.advice:
        lines.append(f"  - **What to do:** {plain(check.advice)}")
    return "\n".join(lines)


def _advice(document: Document) -> Iterator[str]:
    if document.advice:
        items = "\n".join(f"{index}. {plain(line)}" for index, line in enumerate(document.advice, start=1))
        yield f"**Change first:**\n\n{items}"
    if notes := [note for note in document.notes if not note.startswith(BROKEN_OFF)]:
        yield "\n".join(f"- {plain(note)}" for note in notes)


def _acts(document: Document) -> Iterator[str]:
    rows = [(row.at, plain(row.name), plain(row.whom), plain(row.result)) for row in act_rows(document)]
    said = [plain(line) for line in (kind_sentence(document), *story_lines(document), *policy_lines(document))]
    parts = [table(("s from T0", "act", "whom", "what came of it"), rows)] if rows else []
    yield folded("What was done, and how the service is set", [*parts, "\n".join(f"- {line}" for line in said)])


def _losses(document: Document) -> Iterator[str]:
    classes = wording.present_classes(document)
    doubts = wording.UNPROVED_HEADER if any(row.unproved for row in document.loss_rows) else ()
    header = ("kind", "connection", "sent", "ok", *doubts, *classes, "p50 ms", "p99 ms (as sent)")
    rows = []
    for row in document.loss_rows:
        times = wording.answer_times(row)
        ok, *counts = [wording.number(row.counts.get(name, 0)) for name in ("ok", *classes)]
        counts = [ok, *wording.unproved_cells(document, row), *counts]
        rows.append((plain(row.kind), plain(row.connection), wording.number(row.sent), *counts, *times))
    parts = [table([plain(name) for name in header], rows)] if rows else []
    for name in classes:
        parts.append(
            "\n".join([f"- **{plain(name)}** {plain(wording.meaning(document, name))}", *_events(document, name)])
        )
    if document.losses.get("duplicates"):
        parts.append(f"- **duplicates** {document.losses['duplicates']}: request IDs that were handled twice")
    if parts:
        yield folded("Requests by kind, connection and class", parts)


def _streams(document: Document) -> Iterator[str]:
    if not document.stream_rows:
        return
    rows = [[plain(cell) for cell in streams.cells(row)] for row in document.stream_rows]
    bad = "\n".join(f"- {plain(line)}" for line in streams.lines(document))
    parts = [table(streams.HEADER, rows), *([bad] if bad else [])]
    yield folded("Streams: WebSockets and server-sent events, which are no requests", parts)


def _events(document: Document, loss: str) -> Iterator[str]:
    events = [event for event in document.loss_events if event.loss == loss]
    for event in events[:IDS_SHOWN]:
        at = "" if event.sent is None else f"sent at {with_error(event.sent - zero(document), 0)} s, "
        yield f"  - {code(event.id)} {at}{plain(full_label(event.instance, document))}: {plain(event.why)}"
    rest = document.losses[loss] - min(len(events), IDS_SHOWN)
    if events and rest > 0:
        yield f"  - {wording.more(document, rest).replace('verdicts.json', '`verdicts.json`')}"


def _lives(document: Document) -> Iterator[str]:
    instances, start, grace = stopped(document), zero(document), grace_seconds(document)
    if not instances:
        return
    names = [plain(full_label(instance.id, document)) for instance in instances]
    rows: list[Sequence[str]] = []
    for mark, words in STOP_MARKS:
        if mark not in ONLY_WHERE_SEEN or any(instance.marks.get(mark) for instance in instances):
            rows.append((words, *[mark_text(instance.marks.get(mark), start) for instance in instances]))
    spans = [durations(instance, grace) for instance in instances]
    rows.append(("propagation T2-T1", *[span_text(span.propagation) for span in spans]))
    rows.append(("drain T3-signal", *[span_text(span.drain) for span in spans]))
    rows.append(("stop T4-signal", *[span_text(span.stop) for span in spans]))
    rows.append(("slack of the grace", *[span_text(span.slack) for span in spans]))
    rows.append(("ended by", *[plain(instance.cause or UNSEEN) for instance in instances]))
    rows.append(("requests lost", *[wording.number(instance.lost) for instance in instances]))
    yield folded("How instances stopped, in seconds from T0", [table(("", *names), rows)])


def _passed_checks(document: Document) -> Iterator[str]:
    passed = [check for check in document.checks if check.outcome == "passed"]
    if passed:
        lines = "\n".join(f"- {code(check.name)}: {plain(check.sentence)}" for check in passed)
        yield folded(f"{wording.counted(len(passed), 'check')} passed", [lines])


def _settings(document: Document) -> Iterator[str]:
    rows = [(code(name), plain(value)) for name, value in wording.flat(document.settings).items()]
    engine = wording.engine_sentence(document)
    rows = [("run", code(document.run)), *([("engine", plain(engine))] if engine else []), *rows]
    if document.start is not None:
        rows.insert(0, ("T0", wording.clock_time(document.start)))
    yield folded("Settings", [table(("setting", "value"), rows)])


def folded(title: str, parts: Sequence[str]) -> str:
    """What isn't seen before it's asked for."""
    body = "\n\n".join(parts)
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells have to be Markdown already."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def plain(text: str) -> str:
    """Text that Markdown takes as it is: an app's own words may hold anything, a mention of a person too.

    What's between two backticks stays code.
    """
    parts = CODE.split(" ".join(wording.visible(text).split()))
    return "".join(code(part[1:-1]) if CODE.fullmatch(part) else _escaped(part) for part in parts)


def _escaped(text: str) -> str:
    text = SPECIAL.sub(r"\\\1", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "@<!-- -->")


def code(text: str) -> str:
    """Text in the face of code."""
    return "`" + " ".join(wording.visible(text).split()).replace("`", "'").replace("|", "\\|") + "`"
