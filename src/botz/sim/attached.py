"""Reading along with a run in another process, and sending it commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from botz.channels import ChannelTable, PoseView, command_numbers, plain_views, views_of_plain
from botz.errors import BotzError, InputError, Problem
from botz.scenario.names import closest
from botz.sim.clock import RealTimeClock
from botz.sim.shared_memory import FINISHED, SLOTS_PER_ROBOT, W_PAUSE, W_STATUS, W_STEP, W_STEP_UNTIL, W_STOP, Segment
from botz.sim.simulation import Simulation


def describe_world(simulation: Simulation) -> dict[str, Any]:
    """What a reader needs to understand the numbers of a segment: small, and plain data."""
    return {
        "scenario": simulation.spec.name,
        "engine": simulation.engine.name,
        "step_ns": simulation.step_ns,
        "channels": simulation.channels.plain(),
        "inputs": simulation.inputs.plain(),
        "views": plain_views(simulation.engine.views),
        "robots": list(simulation.engine.actors),
        "commands": {robot: simulation.command_layout(robot) for robot in simulation.engine.actors},
        "about": simulation.engine.about(),
    }


class AttachedRun:
    """A run that is going on in another process: `run_id` is what `botz run --publish` prints. Reading never delays it.

    Indexed by a channel's name it gives the newest value, in SI. Raises InputError for an unknown run.

    >>> attached = botz.AttachedRun(run.segment.run_id)
    >>> attached.scenario, attached["rover/pose"]
    ('differential-circle', array([ 0., -1.,  0.]))
    """

    def __init__(self, run_id: str):
        self.segment = Segment.attach(run_id)
        description = self.segment.descriptor
        self.scenario: str = description["scenario"]
        """Name of the scenario."""
        self.engine: str = description["engine"]
        """Name of the engine."""
        self.step_ns: int = description["step_ns"]
        """Length of a step [ns]."""
        self.robots: list[str] = description["robots"]
        """What takes commands."""
        self.channels = ChannelTable.of_plain(description["channels"])
        """What can be read, in one row of numbers."""
        self.inputs_table = ChannelTable.of_plain(description["inputs"])
        """The raw commands that the physics reads."""
        self.views = views_of_plain(description["views"])
        self.poses = [(view.frame, view.pose) for view in self.views if isinstance(view, PoseView)]
        """Moving frames and the channels of their poses."""
        self.about: dict[str, Any] = description["about"]
        """What the engine says of its world beside the channels."""
        self._layouts: dict[str, list[tuple[str, int]]] = description["commands"]
        self._slots: dict[str, int] = {}
        self._closed = False

    def latest(self) -> tuple[int, np.ndarray]:
        """Step and row of all channels, the newest that was published.

        >>> step, row = run.latest()
        >>> step, run.channels.value(row, "rover/pose")
        (0, array([ 0., -1.,  0.]))
        """
        return self.segment.latest()

    @property
    def time(self) -> float:
        """Simulated time of the newest state [s]."""
        return self.segment.latest()[0] * self.step_ns * 1e-9

    def __getitem__(self, name: str) -> Any:
        return self.channels.value(self.segment.latest()[1], name)

    @property
    def finished(self) -> bool:
        """Whether the run has ended."""
        return int(self.segment.words[W_STATUS]) == FINISHED

    def command(self, robot: str, command: Mapping[str, Any]) -> None:
        """Command a robot: a mapping of names to numbers in SI.

        Takes effect at the next step boundary and holds until the scenario's timeout unless it is sent again. Raises
        InputError for an unknown robot or a wrong command, BotzError where the run has ended.

        >>> run.command("rover", {"twist": (0.5, 0.0, 0.1)})
        """
        if self._closed or self.finished:
            raise BotzError("this run has ended" if self.finished else "this view of the run was closed")
        if robot not in self._layouts:
            raise InputError(Problem(f"no robot {robot!r}{closest(robot, self._layouts)}"))
        if robot not in self._slots:
            self._slots[robot] = self.segment.claim_slot(self.robots.index(robot))
        self.segment.send(self._slots[robot], pack_command(self._layouts[robot], robot, command))

    def command_taken(self, robot: str) -> bool:
        """Whether the last command sent to `robot` has reached the physics. A later one before that replaces it.

        >>> run.command_taken("rover")
        True
        """
        return robot not in self._slots or self.segment.taken(self._slots[robot])

    def pause(self, on: bool = True) -> None:
        """Hold the run, or let it go on with `on=False`.

        >>> run.pause()
        >>> run.paused
        True
        >>> run.pause(False)
        """
        self.segment.words[W_STEP_UNTIL] = 0
        self.segment.words[W_PAUSE] = int(on)

    @property
    def paused(self) -> bool:
        """Whether the run is held."""
        return bool(self.segment.words[W_PAUSE])

    def step(self, n: int = 1) -> None:
        """Let a paused run take `n` steps and stand again; a running one is paused. Raises InputError for an `n` that
        is not a whole number of at least 1.

        >>> run.step(n=10)
        >>> run.paused
        True
        """
        if not isinstance(n, int | np.integer) or n < 1:
            raise InputError(f"n is {n}; it must be a whole number, at least 1")
        words = self.segment.words
        if not self.paused:
            self.pause()
        words[W_STEP_UNTIL] = max(int(words[W_STEP_UNTIL]), int(words[W_STEP])) + int(n)

    @property
    def factor(self) -> float:
        """The factor of real time that is asked for; 0 for as fast as possible."""
        return self.segment.factor

    def set_speed(self, factor: float) -> None:
        """Another factor of real time from the next step on; 0 for as fast as possible. Raises InputError for a
        negative one.

        >>> run.set_speed(2.0)
        >>> run.factor
        2.0
        """
        if not 0.0 <= factor < float("inf"):
            raise InputError(f"the factor is {factor}; it must be 0 (as fast as possible) or more")
        self.segment.factor = float(factor)

    def stop(self) -> None:
        """Ask the run to end as Ctrl-C does; its recording is kept.

        >>> run.stop()
        """
        self.segment.words[W_STOP] = 1

    def close(self) -> None:
        """End reading along and give back what commands were sent by; the run goes on.

        >>> run.close()
        """
        for slot in self._slots.values():
            self.segment.release_slot(slot)
        self._slots.clear()
        self._closed = True


def pack_command(layout: list[tuple[str, int]], robot: str, command: Mapping[str, Any]) -> np.ndarray:
    """A command as one row of numbers, NaN for what it leaves alone."""
    if not isinstance(command, Mapping):
        raise InputError(Problem(f"a command is a mapping of names to numbers, not {command!r}", key=robot))
    values = np.full(sum(size for _, size in layout), np.nan)
    known = [name for name, _ in layout]
    for name, value in command.items():
        if name not in known:
            raise InputError(Problem(f"unknown command {name!r}{closest(name, known)}", key=robot))
        index = known.index(name)
        start, size = sum(size for _, size in layout[:index]), layout[index][1]
        values[start : start + size] = command_numbers(value, size, f"{robot}/{name}")
    return values


def unpack_command(layout: list[tuple[str, int]], values: np.ndarray) -> dict[str, Any]:
    command: dict[str, Any] = {}
    at = 0
    for name, size in layout:
        part = values[at : at + size]
        at += size
        if np.isfinite(part).all():
            command[name] = part if size > 1 else float(part[0])
    return command


def take_commands(
    segment: Segment, seen: np.ndarray, refuse: Callable[[str], None], clock: RealTimeClock | None = None
) -> Callable[[Simulation], int]:
    """The loop's side: apply what has arrived. A command that the robot cannot follow is refused, the run goes on.

    In real time a command takes effect at the first step boundary after it arrived: where the run is behind, one that
    came later than the present step waits for its own. The steps until then are returned.
    """
    waiting: list[tuple[int, int, np.ndarray]] = []

    def take(simulation: Simulation) -> int:
        now = time.monotonic_ns()  # what has been received has arrived, whatever its writer's clock says
        waiting.extend((min(stamp, now), slot, values) for stamp, slot, values in segment.receive(seen))
        while waiting:
            stamp, slot, values = waiting[0]
            if clock is not None and (ahead := clock.first_step_after(stamp) - simulation.step_number) > 0:
                return ahead
            del waiting[0]
            robot = simulation.engine.actors[slot // SLOTS_PER_ROBOT]
            layout = simulation.command_layout(robot)
            try:
                simulation.apply_outside(robot, unpack_command(layout, values), f"outside {slot}")
            except InputError as error:
                refuse(str(error))
        return 1 << 40

    return take
