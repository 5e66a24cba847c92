"""What every engine offers: a channel table, complete state, and steps in one compiled call.

The loop (sim/) only knows this protocol. An engine is built from a checked scenario, keeps its state in
NumPy arrays, and never imports a recorder, a viewer or a socket.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from botz.channels import ChannelTable, RosView

Numbers = Sequence[float] | None
"""A pose or a twist to be set; None: it stays."""
Joints = Mapping[str, float | tuple[float, float]] | None
"""Positions, or positions and velocities, of the joints to be set."""


@dataclass
class EngineState:
    """Everything an engine needs to continue bit for bit."""

    arrays: dict[str, np.ndarray]
    rng: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RobotState:
    """Where one robot is and how it moves: `Simulation.get_state` makes it.

    >>> state = sim.get_state("rover")
    >>> state.pose, list(state.joints)
    (array([ 0., -1.,  0.]), ['left', 'right'])
    """

    pose: np.ndarray
    """As its channel `pose`: (x, y, heading), or (x, y, z, quat_wxyz)."""
    twist: np.ndarray
    """Velocity in the axes of its body: (vx, vy, yaw rate), or (linear, angular) with six components."""
    joints: dict[str, tuple[float, float]]
    """Position and velocity of each joint, wheel or steering axis with a state of its own [rad, rad/s or m, m/s]."""


class Engine(ABC):
    """A world in motion. Subclasses fill the attributes in __init__ and implement the abstract methods."""

    name: str
    dt: float
    """Integration step [s]."""
    channels: ChannelTable
    """What can be observed, one row of numbers."""
    inputs_table: ChannelTable
    """The raw commands that the physics reads, one row of numbers; this is what a recording replays."""
    rng: np.random.Generator
    """The source of randomness given to `reset`."""
    inputs: np.ndarray
    """Present values of the raw commands; the loop writes them between steps."""
    views: tuple[RosView, ...] = ()
    ended: str = ""
    """Why the world came to an end during the last `advance`, as a robot that left it; empty while it goes on."""
    news: tuple[str, ...] = ()
    """What happened during the last `advance` that a user wants to be told at once, as a goal."""
    notes: tuple[str, ...] = ()
    """What a user should know of this world before it moves, as parts of a model that were left out."""
    steps_taken: int = 0
    """How many steps that `advance` took, where it ended before the last one."""

    before_abort: Callable[[], None] | None = None
    """Called before a library that the engine uses ends the process, to save what can be saved."""

    def rows_filled(self) -> int:
        """How many rows the running `advance` has filled; asked for by `before_abort` only."""
        return 0

    @classmethod
    def build(cls, scenario: Any, user_elements: str) -> Engine:
        """The engine of a scenario; `user_elements` tells what happens to force elements that are a user's programs:
        `run`, `skip` or `refuse`. Most engines have none."""
        del user_elements
        make: Callable[[Any], Engine] = cls
        return make(scenario)

    @property
    def actors(self) -> tuple[str, ...]:
        """What takes commands, by name: the robots, and what else a family lets be commanded."""
        return self.inputs_table.robots

    def about(self) -> dict[str, Any]:
        """What a reader in another process needs to know of this world beside its channels: small, and plain data."""
        return {}

    def results(self) -> dict[str, str]:
        """What the run has come to, for its summary, as a score."""
        return {}

    @abstractmethod
    def reset(self, rng: np.random.Generator) -> None:
        """Back to the initial state, with this source of randomness and all inputs at rest."""

    @abstractmethod
    def advance(self, step: int, n: int, record_every: int, rows: np.ndarray) -> bool:
        """Take `n` steps from step `step` in one compiled call; returns whether the state is still finite.

        After each step whose number is a multiple of `record_every` (> 0) the next row of `rows`
        (k, channels.width) is filled; `record_every` 0 fills none. The caller provides enough rows.
        """

    @abstractmethod
    def observe(self, row: np.ndarray) -> None:
        """Write all channels of the present state into `row` (channels.width)."""

    @abstractmethod
    def resolve_command(self, robot: str, command: Mapping[str, Any]) -> np.ndarray:
        """Raw inputs of `robot` after `command`; names are local (`left/speed`, `twist`). The inputs not named
        keep their present value. Raises InputError for unknown names, wrong sizes and impossible motions."""

    def command_layout(self, robot: str) -> list[tuple[str, int]]:
        """Names and sizes of the commands that `resolve_command` takes: raw inputs, then what a family adds."""
        return [(channel.local_name, channel.size) for channel in self.inputs_table.of_robot(robot)]

    def note_commands(self, robot: str, where: str, commands: Mapping[str, Collection[float]]) -> None:
        """Told at a reset by controllers that follow what is written, with all values of each command: engines whose
        actuators have ranges add a note where some are beyond them."""
        del robot, where, commands  # most engines' actuators have none

    @abstractmethod
    def rest_inputs(self, robot: str) -> np.ndarray:
        """Raw inputs that bring `robot` to rest: what applies when commands stop arriving."""

    @abstractmethod
    def state_arrays(self) -> dict[str, np.ndarray]:
        """The arrays that make up the complete state, by name: written in place by `advance`."""

    @abstractmethod
    def get_state(self, robot: str) -> RobotState:
        """State of one robot, in the words of its channels."""

    @abstractmethod
    def set_state(self, robot: str, *, pose: Numbers = None, twist: Numbers = None, joints: Joints = None) -> None:
        """Put one robot into another state; what is not given stays. A joint takes a position, or a position and a
        velocity. InputError, with nothing changed, for a state that is not admissible: not finite, outside the
        terrain or a joint's range, inside the ground or another robot, a velocity that the robot's wheels forbid."""

    def stability_hint(self) -> str:
        """After a divergence: which time constant the step was too long for, in words. May be empty."""
        return ""

    def snapshot(self) -> EngineState:
        arrays = {name: array.copy() for name, array in self.state_arrays().items()}
        return EngineState(arrays=arrays, rng=dict(self.rng.bit_generator.state))

    def restore(self, state: EngineState) -> None:
        for name, array in self.state_arrays().items():
            array[...] = state.arrays[name]
        self.rng.bit_generator.state = state.rng

    def keep(self) -> None:
        """Remember the present state for `go_back`: called before every `advance`, so engines may do it faster."""
        self._kept = self.snapshot()

    def go_back(self) -> None:
        """To the state of the last `keep`."""
        self.restore(self._kept)

    def robot_inputs(self, robot: str) -> slice:
        """Where the raw inputs of `robot` lie in `inputs`."""
        return self.inputs_table.span_of_robot(robot)
