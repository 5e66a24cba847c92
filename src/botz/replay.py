"""Replay: the recorded inputs again, and whether every recorded state comes out the same, bit for bit."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from botz.errors import InputError
from botz.record.reader import Recording
from botz.record.streams import StreamSpec
from botz.run import streams_of
from botz.scenario.load import load_data
from botz.sim.loop import RowBuffer
from botz.sim.simulation import LONGEST_CALL, Simulation
from botz.sim.snapshots import encode


@dataclass(frozen=True)
class ReplayResult:
    identical: bool
    rows: int
    """Recorded rows that were compared."""
    simulated_s: float
    first_difference_s: float | None = None
    channel: str | None = None
    largest_difference: float | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def sentence(self) -> str:
        if self.identical:
            return f"identical: {self.rows} recorded rows over {self.simulated_s:g} s, bit for bit"
        return (
            f"different: first at t = {self.first_difference_s:g} s in {self.channel} "
            f"(largest difference {self.largest_difference:.3g}); was it recorded by another version or machine?"
        )


class KeptRows:
    """A sink that keeps the rows of each stream and has no use for the rest."""

    def __init__(self, streams: int):
        self.steps: list[list[np.ndarray]] = [[] for _ in range(streams)]
        self.rows: list[list[np.ndarray]] = [[] for _ in range(streams)]

    def write_rows(self, stream: int, steps: np.ndarray, rows: np.ndarray) -> None:
        self.steps[stream].append(steps.copy())
        self.rows[stream].append(rows.copy())

    def write_command(self, step: int, robot: str, values: np.ndarray, source: str) -> None: ...
    def write_snapshot(self, step: int, data: bytes) -> None: ...
    def write_log(self, step: int, level: str, text: str) -> None: ...
    def write_clock(self, step: int, wall_ns: int, lateness_s: float) -> None: ...


def replay_recording(recording: Recording, *, run_elements: bool = False) -> ReplayResult:
    """No controller runs: the recorded inputs are all that acts. Force elements of a user's are a part of the physics;
    their files are programs, which run only with `run_elements`."""
    loaded = load_data(recording.scenario, recording.label)
    simulation = Simulation(
        loaded, seed=recording.seed, with_controllers=False, user_elements="run" if run_elements else "refuse"
    )
    streams = streams_of(simulation.spec, simulation.channels)
    strides = [stream.every for stream in streams]
    recorded_steps = {stream.name: recording.steps(stream.channels[0]) for stream in streams if stream.channels}
    if not any(steps.size for steps in recorded_steps.values()):
        raise InputError(f"{recording.label}: nothing was recorded, so there is nothing to compare")
    last = max(int(steps[-1]) for steps in recorded_steps.values() if steps.size)
    commands = recorded_commands(recording, simulation.engine.actors)
    first = min(int(steps[0]) for steps in recorded_steps.values() if steps.size)
    if first > 0:  # the run began in a state of another one, which it recorded as its first
        simulation.restore(snapshot_before(recording, first))
    kept = KeptRows(len(streams))
    rows = RowBuffer(simulation, strides, kept)
    rows.add_present()
    pending = deque(commands)
    while simulation.step_number < last and not simulation.ended:
        apply_due(simulation, pending)
        here = simulation.step_number
        following = pending[0].step if pending else last
        rows.advance(min(last - here, following - here, rows.most_steps(), LONGEST_CALL))
    rows.write()
    return difference(recording, simulation, streams, kept, last)


class RecordedCommand(NamedTuple):
    step: int
    robot: str
    values: np.ndarray


def recorded_commands(recording: Recording, robots: Iterable[str]) -> list[RecordedCommand]:
    """All raw inputs of a run, in the order in which they took effect."""
    commands = [
        RecordedCommand(int(step), robot, value)
        for robot in robots
        for steps, values, _ in [recording.commands(robot)]
        for step, value in zip(steps, values, strict=True)
    ]
    return sorted(commands, key=lambda command: command.step)


def apply_due(simulation: Simulation, pending: deque[RecordedCommand]) -> None:
    while pending and pending[0].step <= simulation.step_number:
        command = pending.popleft()
        simulation.apply_raw(command.robot, command.values, "recording")


def snapshot_before(recording: Recording, step: int) -> bytes:
    """The last complete state that was recorded at or before a step."""
    found = [data for at, data in recording.snapshots() if at <= step]
    if not found:
        raise InputError(f"{recording.label}: holds no complete state to start from")
    return found[-1]


def state_at(recording: Recording, seconds: float, *, run_elements: bool = True) -> bytes:
    """The complete state of a recorded run at any time [s], to start another from: `simulate(…, start=…)` or
    `Simulation.restore`.

    From the last recorded state before, the recorded inputs lead to exactly the state that the run had. Its controllers
    look on, so that theirs is what it was too; where the robot was driven by hand meanwhile, it is what they would have
    made of what they saw. `run_elements=False` refuses to run a user's force elements. Raises InputError for a time
    outside the run.

    >>> state = botz.state_at(rec, 0.5)
    >>> further = botz.simulate(scenario, duration=0.2, start=state)
    >>> further.time()[[0, -1]]
    array([0.5, 0.7])
    """
    if not 0.0 <= seconds <= recording.duration:
        raise InputError(f"t = {seconds:g} s is outside {recording.label}, which ends at {recording.duration:g} s")
    loaded = load_data(recording.scenario, recording.label)
    simulation = Simulation(loaded, seed=recording.seed, user_elements="run" if run_elements else "refuse")
    target = round(seconds * 1e9 / recording.step_ns)
    simulation.restore(snapshot_before(recording, target))
    simulation.controllers_look_on = True
    here = simulation.step_number
    pending = deque(one for one in recorded_commands(recording, simulation.engine.actors) if one.step >= here)
    row = np.empty((1, simulation.channels.width))
    while simulation.step_number < target and not simulation.ended:
        simulation.expire_commands()
        simulation.update_controllers()
        apply_due(simulation, pending)
        here = simulation.step_number
        following = pending[0].step if pending else target
        simulation.advance(min(target, following, here + simulation.steps_to_update()) - here, 0, row)
    return encode(simulation.snapshot())


def difference(
    recording: Recording, simulation: Simulation, streams: list[StreamSpec], kept: KeptRows, last: int
) -> ReplayResult:
    compared = 0
    worst: tuple[float, str, float] | None = None
    for index, stream in enumerate(streams):
        if not stream.channels:
            continue
        steps, rows = np.concatenate(kept.steps[index]), np.concatenate(kept.rows[index])
        for name in stream.channels:
            recorded, at = recording[name], recording.steps(name)
            here = np.isin(steps, at)
            mine = simulation.channels.value(rows[here], name)
            theirs = recorded[np.isin(at, steps)]
            same = np.ascontiguousarray(mine).view(np.int64) == np.ascontiguousarray(theirs).view(np.int64)
            differs = ~(same.reshape(len(mine), -1).all(axis=1))
            compared = max(compared, len(mine))
            if differs.any():
                when = float(steps[here][differs.argmax()] * simulation.step_ns * 1e-9)
                gap = float(np.nanmax(np.abs(mine - theirs), initial=0.0))
                if worst is None or when < worst[0]:
                    worst = (when, name, gap)
    simulated = last * simulation.step_ns * 1e-9
    if not compared:
        raise InputError(f"{recording.label}: none of its rows lies at a step that its scenario records")
    if worst is None:
        return ReplayResult(True, compared, simulated)
    return ReplayResult(False, compared, simulated, *worst)
