"""What every engine offers: a channel table, complete state, and steps in one compiled call.

The loop (sim/) only knows this protocol. An engine is built from a checked scenario, keeps its state in
NumPy arrays, and never imports a recorder, a viewer or a socket.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from botz.errors import InputError, Problem
from botz.scenario.names import closest


@dataclass(frozen=True)
class Channel:
    """One quantity that can be measured, recorded or commanded."""

    name: str
    """`<robot>/<part>/<quantity>`, or `<robot>/<quantity>` for the robot as a whole."""
    unit: str
    """SI unit, as `rad/s`; components of different units are listed: `m, m, rad`. `1` for pure numbers."""
    description: str
    components: tuple[str, ...] = ()
    """Names of the components of a vector; empty for a single number."""

    @property
    def size(self) -> int:
        return max(1, len(self.components))

    @property
    def robot(self) -> str:
        return self.name.split("/", 1)[0]

    @property
    def local_name(self) -> str:
        """The name inside the robot: `wheels/left/speed` of `vivi/wheels/left/speed`."""
        return self.name.split("/", 1)[1]


class ChannelTable:
    """Channels laid side by side in one row of numbers."""

    def __init__(self, channels: Sequence[Channel]):
        self.channels = tuple(channels)
        self.slices: dict[str, slice] = {}
        offset = 0
        for channel in self.channels:
            if channel.name in self.slices:
                raise ValueError(f"channel {channel.name!r} is declared twice")
            self.slices[channel.name] = slice(offset, offset + channel.size)
            offset += channel.size
        self.width = offset
        self._by_name = {channel.name: channel for channel in self.channels}
        self._of_robot: dict[str, list[Channel]] = {}
        for channel in self.channels:
            self._of_robot.setdefault(channel.robot, []).append(channel)

    def __iter__(self) -> Iterator[Channel]:
        return iter(self.channels)

    def __len__(self) -> int:
        return len(self.channels)

    def __getitem__(self, name: str) -> Channel:
        self.slice_of(name)
        return self._by_name[name]

    def slice_of(self, name: str) -> slice:
        try:
            return self.slices[name]
        except KeyError:
            raise InputError(Problem(f"unknown channel {name!r}{closest(name, self.slices)}")) from None

    def value(self, row: np.ndarray, name: str) -> Any:
        """The channel's value in `row` (…, width): a vector for vectors, a number for numbers."""
        columns = row[..., self.slice_of(name)]
        return columns if self._by_name[name].components else columns[..., 0]

    def of_robot(self, robot: str) -> list[Channel]:
        return self._of_robot.get(robot, [])

    def span_of_robot(self, robot: str) -> slice:
        """Where a robot's channels lie; those of one robot are declared together."""
        own = self.of_robot(robot)
        return slice(self.slices[own[0].name].start, self.slices[own[-1].name].stop) if own else slice(0, 0)


def command_numbers(value: Any, size: int, key: str) -> np.ndarray:
    """A command's value as `size` finite numbers, or InputError naming its key."""
    try:
        numbers = np.asarray(value, dtype=float).ravel()
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.size != size or not np.isfinite(numbers).all():
        needed = "one finite number" if size == 1 else f"{size} finite numbers"
        raise InputError(Problem(f"needs {needed}, got {value!r}", key=key))
    return numbers


# --- how robots look to the rest of the robotics world -----------------------------------------------
# Each view names channels; the recorder turns them into the standard ROS message. An engine declares the
# views that make sense for its robots.


@dataclass(frozen=True)
class PoseView:
    """A moving frame: becomes nav_msgs/Odometry and a transform in tf2_msgs/TFMessage."""

    robot: str
    frame: str
    """Child frame, as `vivi` or `vivi/odometry`; the parent is `world`."""
    topic: str
    """Topic of the odometry message below the robot, as `odom`."""
    pose: str
    """Channel of the pose: 3 components (x, y, heading) or 7 (x, y, z, quat_wxyz)."""
    twist: str | None = None
    """Channel of the velocity in the body's axes: 3 components (vx, vy, yaw rate) or 6 (linear, angular)."""


@dataclass(frozen=True)
class JointView:
    """Joints of a robot: becomes sensor_msgs/JointState. Channels are parallel to `names`, '' where unknown; or one
    channel with a component for each."""

    robot: str
    names: tuple[str, ...]
    position: tuple[str, ...]
    velocity: tuple[str, ...] = ()
    effort: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImuView:
    """An inertial sensor: becomes sensor_msgs/Imu."""

    robot: str
    topic: str
    orientation: str | None
    """Channel with quat_wxyz, or None."""
    angular_velocity: str
    linear_acceleration: str
    frame: str = ""
    """Whose axes they are in; the robot's where it is empty."""


@dataclass(frozen=True)
class SensorView:
    """A sensor of one quantity: becomes sensor_msgs/NavSatFix (latitude, longitude [deg], height [m]), MagneticField
    [T] or FluidPressure [Pa]."""

    robot: str
    topic: str
    kind: Literal["NavSatFix", "MagneticField", "FluidPressure"]
    channel: str
    frame: str = ""
    """As of ImuView."""


RosView = PoseView | JointView | ImuView | SensorView


@dataclass
class EngineState:
    """Everything an engine needs to continue bit for bit."""

    arrays: dict[str, np.ndarray]
    rng: dict[str, Any] = field(default_factory=dict)


class Engine(ABC):
    """A world in motion. Subclasses fill the attributes in __init__ and implement the abstract methods."""

    name: str
    dt: float
    """Integration step [s]."""
    channels: ChannelTable
    """What can be observed, one row of numbers."""
    inputs_table: ChannelTable
    """The raw commands that the physics reads, one row of numbers; this is what a recording replays."""
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

    @property
    def actors(self) -> tuple[str, ...]:
        """What takes commands, by name: the robots, and what else a family lets be commanded."""
        return tuple(dict.fromkeys(channel.robot for channel in self.inputs_table))

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

    @property
    @abstractmethod
    def rng(self) -> np.random.Generator:
        """The generator given to `reset`."""

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
