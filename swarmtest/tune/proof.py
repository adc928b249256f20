"""What the run with the recommended value has to show: no SIGKILL, and nothing lost."""

from __future__ import annotations

from swarmtest.tune.seeing import Seen

ANSWERED = "answered_every_request"


def prove(seen: Seen) -> tuple[str, str, list[str]]:
    """The outcome of the proof, a sentence on it, and what's missing where it isn't proved."""
    stops, killed = len(seen.stops), sum(stop.killed for stop in seen.stops)
    sentence = f"{killed} of {stops} stops ended in SIGKILL, {seen.lost} of {seen.sent:,} requests were lost"
    if killed or seen.lost:
        ways = ", ".join(f"{count} by {way.value}" for way, count in seen.ways)
        return "failed", sentence + (f": {ways}" if ways else ""), []
    missing = list(_missing(seen))
    return ("not_proved" if missing else "passed"), sentence, missing


def _missing(seen: Seen) -> list[str]:
    found = [f"the proof: {stop.instance} was {stop.why_not}" for stop in seen.stops if "made with" in stop.why_not]
    if not any(stop.counted for stop in seen.stops):
        found.append("the proof: no stop was seen from its signal to its exit with a request on it")
    found += [f"the proof: {reason}" for reason in seen.undelivered[:1]]
    check = seen.checks.get(ANSWERED)
    if seen.unproved or check is None or check.outcome != "passed":
        said = f"{check.sentence} {check.advice or ''}".strip() if check is not None else "nobody looked"
        found.append(f"the proof: {said}")
    if seen.ended != "finished":
        found.append(f"the proof: its run {seen.ended or 'has no end'}")
    return found
