"""Carries out the steps of a plan under traffic, and waits until each has come to its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack

from swarmtest.engine.diagnosis import why_not_up
from swarmtest.errors import TrafficError
from swarmtest.faults import Aim, Fault
from swarmtest.faults.scale import Scale
from swarmtest.plan import Burst, Step, Target
from swarmtest.running import Run, list_targets, up
from swarmtest.running.acts import begin, carry_out, heal, skip
from swarmtest.running.aiming import Rails, choose
from swarmtest.running.burst import READY_SECONDS, Burster
from swarmtest.running.patience import of_recovery, of_rollout
from swarmtest.running.reacting import Reactions
from swarmtest.traffic.process import TrafficProcess

TARGETS_SECONDS = 0.05


def hold(work: Run, traffic: TrafficProcess, seconds: float) -> None:
    """Lets time pass under traffic; notices a dead child and a lost engine."""
    until(work, traffic, lambda: False, time.monotonic() + seconds)


def until(work: Run, traffic: TrafficProcess, done: Callable[[], bool], deadline: float) -> bool:
    """Waits for a condition or a deadline, whichever is first; says whether it was the condition."""
    while time.monotonic() < deadline:
        if done():
            return True
        if traffic.exit_code is not None:
            raise TrafficError(
                f"the traffic child ended in mid-run (exit code {traffic.exit_code});"
                f" see {work.folder.path / 'traffic.log'}"
            )
        if work.order.brief.front_door.mode == "direct":
            list_targets(work)
        else:
            work.watch.tasks()
        for tick in tuple(work.tickers):
            tick()
        time.sleep(TARGETS_SECONDS)
    return done()


def take_step(work: Run, traffic: TrafficProcess, step: Step) -> None:
    """Does what a step says, and waits until it's over: for its time, or until the deployment is whole."""
    if step.fault is None:
        _let_pass(work, traffic, step)
        return
    subject = work.order.subject.name
    plan = work.order.plan
    rails = Rails(plan.floor, plan.most_hurts, work.hurt_instances, work.info.node)
    fewer = -step.fault.by if isinstance(step.fault, Scale) else 0
    aim = choose(step.target, subject, work.watch.tasks(), rails, fewer)
    if isinstance(aim, Aim):
        Hurting(work, traffic, step.fault, aim).take(step)
    else:
        skip(work, step.fault, subject, aim)


def _let_pass(work: Run, traffic: TrafficProcess, step: Step) -> None:
    """Time in which nothing is done, or until the instances have said what's awaited of them."""
    seconds, line, watch = step.seconds(work.order.brief.baseline_seconds), step.awaits, work.watch
    if line is None:
        hold(work, traffic, seconds)
        return
    subject = work.order.subject.name
    aim = choose(Target(line.ranks), subject, watch.tasks(), Rails(floor=0)) if line.ranks else None
    named = aim.containers if isinstance(aim, Aim) else ()
    before = {container: watch.said(container, line.name) for container in named}

    def said() -> bool:
        if before:
            return all(watch.said(container, line.name) > count for container, count in before.items())
        running = [task.container for task in watch.tasks() if task.service == subject and task.up]
        return all(watch.said(container, line.name) for container in running)

    if not until(work, traffic, said, time.monotonic() + seconds):
        whose = ", ".join(container[:12] for container in named) or f"every instance of {subject}"
        work.trace.add("note", text=f"the line {line.name} of {whose} wasn't seen within {seconds:g} s")


class Hurting:
    """One fault, from before the hurt until the deployment is whole again."""

    def __init__(self, work: Run, traffic: TrafficProcess, fault: Fault, aim: Aim) -> None:
        self.work, self.traffic, self.fault, self.aim = work, traffic, fault, aim
        self.subject = work.order.subject
        self.old = self._kept()
        self.began = time.time() + work.info.offset_seconds  # by the engine's clock
        self.wanted = len(self.old)

    def take(self, step: Step) -> None:
        """Hurts, holds, heals, waits."""
        done = begin(self.work, self.fault, self.aim)
        with ExitStack() as undo:
            sent_all = self._burst(step.burst, undo) if step.burst is not None else lambda: True
            if step.on_stop is not None:
                reactions = Reactions(self.work, step.on_stop, self.old)
                undo.callback(reactions.close)
                undo.enter_context(self.work.ticking(reactions.tick))
            if self.fault.lasting:  # before it's done: an interrupt may come in between
                undo.callback(heal, self.work, done)
            carry_out(self.work, done, prepares=step.prepares)
            if self.fault.lasting:
                self._wait(self.whole)
            if step.hold_seconds is not None:
                hold(self.work, self.traffic, step.hold_seconds)
                self.old = self.old | self._kept()  # those that it brought are to go in good order, too
            elif not self.fault.lasting:
                over = self.steady if self.fault.replaces else self.whole
                self._wait(lambda: over() and sent_all())
        if self.fault.lasting:
            self._wait(self.whole)

    def _burst(self, burst: Burst, undo: ExitStack) -> Callable[[], bool]:
        """Makes a burst ready; gives what tells that all of it was sent."""
        burster = undo.enter_context(Burster(self.work, burst, self.old))
        until(self.work, self.traffic, burster.ready, time.monotonic() + READY_SECONDS)
        undo.enter_context(self.work.ticking(burster.tick))
        return lambda: burster.over

    def _wait(self, over: Callable[[], bool]) -> None:
        self.wanted = self._wanted()
        patience = of_rollout(self.subject) if self.fault.replaces else of_recovery(self.subject)
        if not until(self.work, self.traffic, over, time.monotonic() + patience):
            self.work.trace.add("note", text=self._still_going(patience))

    def steady(self) -> bool:
        """The update has come to an end of its own, the old containers have exited, all tasks are up.

        A paused one doesn't go on by itself, and may well leave fewer tasks up than there should be.
        """
        status = self.work.watch.status()
        if status.state in (None, "updating", "rollback_started") or (status.started or 0.0) < self.began - 2.0:
            return False
        return self._gone() and (status.state in _PAUSED or self._all_up())

    def whole(self) -> bool:
        """Those that were to exit have, those that are going are gone, and all that should be up is up.

        One whose health check has failed is as good as gone, though its task is said to run until it has exited.
        """
        kept = self._kept()
        if kept & self.work.watch.unhealthy():
            return False
        if self.fault.ends and not all(
            self.work.watch.has_exited(container) and container not in kept for container in self.aim.containers
        ):
            return False
        return self._gone() and self._all_up()

    def _kept(self) -> set[str]:
        tasks = [task for task in self.work.watch.tasks() if task.service == self.subject.name and task.up]
        return {task.container for task in tasks if task.container}

    def _gone(self) -> bool:
        kept = self._kept()
        return all(self.work.watch.has_exited(container) or container in kept for container in self.old)

    def _all_up(self) -> bool:
        return up(self.work.watch.tasks(), self.subject.name) == self.wanted

    def _wanted(self) -> int:
        """As many as there should be; of those that were ended where nothing replaces them, as many as are left.

        A global service asks for no number: it's one on each node, as before.
        """
        if self.fault.ends and self.subject.restart_condition == "none":
            return len(self.old - set(self.aim.containers))
        if self.subject.mode != "replicated":
            return len(self.old)
        return self.work.deployment.replicas(self.subject.name)

    def _still_going(self, patience: float) -> str:
        status = self.work.watch.status()
        lives = [container[:12] for container in self.old if not self.work.watch.has_exited(container)]
        return (
            f"{self.fault.name} hadn't come to its end after {patience:.0f} s: update status {status.state}"
            f" ({status.message}), old containers still there: {', '.join(lives) or 'none'};"
            f" {why_not_up(self.work.client, self.subject.name, self.work.watch.tasks())}"
        )


_PAUSED = ("paused", "rollback_paused")
