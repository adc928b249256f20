"""The view of a run while it goes on: a picture in a terminal, lines everywhere else.

In a terminal the picture is drawn at most five times a second by rich's own thread, whatever the number
of events; where there's no terminal, in CI and with ``NO_COLOR``, there's a line for each change and one
every five seconds. It listens to the trace in the threads that write it, so it only takes an event in
under a lock, and nothing that goes wrong here gets out: a view is no reason to end a run.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TextIO

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from swarmtest.events import Event
from swarmtest.reports.console.news import feed
from swarmtest.reports.console.parts import PlainConsole
from swarmtest.reports.console.progress import ENDED, READY, STOPPING, News, Progress, full_name

DRAWN_PER_SECOND = 5
SECONDS_BETWEEN_TICKS = 5.0
ENDED_SHOWN = 3


def wants_lines(out: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether ``out`` gets plain lines: no terminal, a dumb one, in CI, or no colour wanted."""
    told = environment.get("NO_COLOR") or environment.get("CI") or environment.get("TERM") == "dumb"
    return bool(told) or not out.isatty()


class _Console(PlainConsole):
    """rich answers a closed pipe by closing the process's own standard output and exiting; here it's only quiet."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


class LiveView:
    """Listens to a trace: ``with LiveView(out, progress) as view: trace.listen(view)``.

    Arguments:
        out: where it's drawn; by default standard error, which leaves standard output to the report.
        progress: what's known beforehand: service, replicas, expected seconds of each phase.
        environment: where ``NO_COLOR``, ``CI`` and ``TERM`` are looked up.
        clock: the wall clock that the events use too.
    """

    def __init__(
        self,
        out: TextIO | None = None,
        progress: Progress | None = None,
        environment: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        out = sys.stderr if out is None else out
        self._out, self._progress, self._clock = out, progress or Progress(), clock
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._over = threading.Event()
        self._ticker: threading.Thread | None = None
        self._live: Live | None = None
        environment = os.environ if environment is None else environment
        if not wants_lines(out, environment):
            console = _Console(file=out, highlight=False, emoji=False, markup=False)
            self._live = Live(
                console=console, get_renderable=self._draw, refresh_per_second=DRAWN_PER_SECOND, transient=True
            )

    def __enter__(self) -> LiveView:
        with suppress(Exception):
            if self._live is not None:
                self._live.start()
                if self._progress.title:
                    self._live.console.print(Text(self._progress.title, style="bold"))
            else:
                if self._progress.title:
                    self._line(self._clock(), self._progress.title)
                self._ticker = threading.Thread(target=self._tick_until_over, name="live-view", daemon=True)
                self._ticker.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        with suppress(Exception):
            if self._live is not None:
                self._live.stop()
        if self._ticker is not None:
            self._ticker.join(timeout=1.0)

    def __call__(self, event: Event) -> None:
        """Takes an event in; called by whoever writes it, so it neither waits nor raises."""
        with suppress(Exception):
            with self._lock:
                news = feed(self._progress, event)
            for item in news:  # outside of the lock: rich's thread draws under its own lock and then wants ours
                self._say(item)

    def tick(self) -> None:
        """Writes one line of what's going on now."""
        with suppress(Exception):
            now = self._clock()
            with self._lock:
                headline, counts = self._progress.headline(now), self._progress.counts()
            self._line(now, f"... {headline}" + (f"; {counts}" if counts else ""))

    def _tick_until_over(self) -> None:
        while not self._over.wait(SECONDS_BETWEEN_TICKS):
            self.tick()

    def _say(self, news: News) -> None:
        if self._live is None:
            self._line(news.t, news.text)
        elif news.phase:
            self._live.console.print(Text(f"{self._progress.elapsed(news.t):6.1f} s  {news.text}"))

    def _line(self, t: float, text: str) -> None:
        with self._writing:
            self._out.write(f"{self._progress.elapsed(t):6.1f} s  {' '.join(text.split())}\n")
            self._out.flush()

    def _draw(self) -> RenderableType:
        try:
            with self._lock:
                return picture(self._progress, self._clock())
        except Exception:  # noqa: BLE001  drawn in rich's thread, where an exception would be a traceback on the screen
            return Text("")


def picture(progress: Progress, now: float) -> RenderableType:
    """The run at this moment: phase, instances, traffic."""
    phase = progress.phase or progress.between()
    head = Text.assemble((phase, "bold"), f"  {progress.elapsed(now):.0f} s", no_wrap=True, overflow="ellipsis")
    if progress.expected_total is not None:
        head.append(f" of about {progress.expected_total:.0f} s")
    title = [Text(progress.title, no_wrap=True, overflow="ellipsis")] if progress.title else []
    parts: list[RenderableType] = [*title, head, Text(progress.headline(now), no_wrap=True, overflow="ellipsis")]
    if progress.instances:
        parts.append(_instances(progress, now))
    if counts := progress.counts():
        wrong = progress.not_complete()
        traffic = Text(f"traffic {progress.rate:.0f}/s: {counts}")
        parts.append(traffic.append(f"  {wrong:,} not complete", "bold red") if wrong else traffic)
    return Group(*parts)


def _instances(progress: Progress, now: float) -> Table:
    table = Table.grid(padding=(0, 2))
    ended = [instance for instance in progress.instances.values() if instance.state in ENDED]
    hidden = {instance.task for instance in ended[:-ENDED_SHOWN]}
    for instance in progress.instances.values():
        if instance.task not in hidden:
            state = Text(instance.state, style=_style(instance.state))
            since = f"{max(0.0, now - instance.since):.0f} s"
            note = Text(instance.note, no_wrap=True, overflow="ellipsis")
            table.add_row(Text("  " + full_name(instance), no_wrap=True), state, since, note)
    if hidden:
        table.add_row(f"  and {len(hidden)} more", "ended", "", "")
    return table


def _style(state: str) -> str:
    if state in READY:
        return "green"
    if state in STOPPING:
        return "magenta"
    return "bold red" if state in ("failed", "unhealthy") else ""
