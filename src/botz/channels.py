"""What is recorded and commanded: names, units and shapes; and how it looks as standard ROS messages."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from botz.errors import InputError, Problem
from botz.scenario.names import closest


@dataclass(frozen=True)
class Channel:
    """One quantity that can be measured, recorded or commanded.

    >>> speed = sim.channels["rover/twist"]
    >>> speed.unit, speed.components, speed.size
    ('m/s, m/s, rad/s', ('vx', 'vy', 'yaw_rate'), 3)
    """

    name: str
    """`<robot>/<part>/<quantity>`, or `<robot>/<quantity>` for the robot as a whole."""
    unit: str
    """SI unit, as `rad/s`; components of different units are listed: `m, m, rad`. `1` for pure numbers."""
    description: str
    """What it is, in a few words."""
    components: tuple[str, ...] = ()
    """Names of the components of a vector; empty for a single number."""

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return max(1, len(self.components))

    @property
    def robot(self) -> str:
        """The robot that it belongs to."""
        return self.name.split("/", 1)[0]

    @property
    def local_name(self) -> str:
        """The name inside the robot: `wheels/left/speed` of `vivi/wheels/left/speed`."""
        return self.name.split("/", 1)[1]


class Columns:
    """The channels of one kind of part, declared once: their places in a row, for the compiled code that writes them,
    and the channels of any part of that kind.

    >>> WHEEL = Columns(Channel("angle", "rad", "rotation"), Channel("force", "N", "on the rim", ("along", "across")))
    >>> WHEEL.at.force, WHEEL.at.end, WHEEL.of("rover/left")[0].name
    (1, 3, 'rover/left/angle')
    """

    def __init__(self, *channels: Channel):
        self.channels = channels
        starts = np.cumsum([0, *(channel.size for channel in channels)]).tolist()
        names = [channel.name.replace("/", "_") for channel in channels]
        self.at: Any = namedtuple("Places", [*names, "end"])(*starts)
        """Where each channel begins, by its name with `_` for `/`, and the `end`; compiled code takes these as
        constants."""

    def of(self, part: str) -> list[Channel]:
        """The channels of one part, e.g. of `rover/left`."""
        return [replace(channel, name=f"{part}/{channel.name}") for channel in self.channels]


class ChannelTable:
    """Channels laid side by side in one row of numbers. It can be iterated over, and indexed by a name.

    >>> [channel.name for channel in sim.channels][:2]
    ['rover/pose', 'rover/twist']
    >>> sim.channels["rover/pose"].unit
    'm, m, rad'
    """

    def __init__(self, channels: Sequence[Channel]):
        self.channels = tuple(channels)
        """The channels, in order."""
        self.slices: dict[str, slice] = {}
        offset = 0
        for channel in self.channels:
            if channel.name in self.slices:
                raise ValueError(f"channel {channel.name!r} is declared twice")
            self.slices[channel.name] = slice(offset, offset + channel.size)
            offset += channel.size
        self.width = offset
        """How many numbers a row has."""
        self._by_name = {channel.name: channel for channel in self.channels}
        self.is_vector = {channel.name: bool(channel.components) for channel in self.channels}
        self._of_robot: dict[str, list[Channel]] = {}
        for channel in self.channels:
            self._of_robot.setdefault(channel.robot, []).append(channel)
        self.robots = tuple(self._of_robot)
        """What the channels belong to, in order."""

    @classmethod
    def of_plain(cls, rows: Sequence[Sequence[Any]]) -> ChannelTable:
        """The table that `plain` has been made of.

        >>> type(sim.channels).of_plain(sim.channels.plain()).width == sim.channels.width
        True
        """
        return cls([Channel(name, unit, description, tuple(parts)) for name, unit, description, parts in rows])

    def plain(self) -> list[list[Any]]:
        """The table as plain data, for readers in other processes and in a browser: name, unit, description and
        components of each channel.

        >>> name, unit, description, components = sim.channels.plain()[0]
        >>> name, components
        ('rover/pose', ['x', 'y', 'heading'])
        """
        return [[one.name, one.unit, one.description, list(one.components)] for one in self.channels]

    def __iter__(self) -> Iterator[Channel]:
        return iter(self.channels)

    def __len__(self) -> int:
        return len(self.channels)

    def __getitem__(self, name: str) -> Channel:
        self.slice_of(name)
        return self._by_name[name]

    def slice_of(self, name: str) -> slice:
        """Where a channel lies in a row. Raises InputError for an unknown name.

        >>> sim.channels.slice_of("rover/pose")
        slice(0, 3, None)
        """
        try:
            return self.slices[name]
        except KeyError:
            raise InputError(Problem(f"unknown channel {name!r}{closest(name, self.slices)}")) from None

    def value(self, row: np.ndarray, name: str) -> Any:
        """The channel's value in `row` (…, width): a vector for vectors, a number for numbers. Raises InputError for an
        unknown name.

        >>> sim.channels.value(np.zeros((5, sim.channels.width)), "rover/pose").shape
        (5, 3)
        """
        columns = row[..., self.slice_of(name)]
        return columns if self._by_name[name].components else columns[..., 0]

    def of_robot(self, robot: str) -> list[Channel]:
        """The channels of one robot; none for an unknown one.

        >>> sim.inputs.of_robot("rover")[0].name
        'rover/left/speed'
        """
        return self._of_robot.get(robot, [])

    def span_of_robot(self, robot: str) -> slice:
        """Where a robot's channels lie; those of one robot are declared together.

        >>> sim.channels.span_of_robot("rover").start
        0
        """
        own = self.of_robot(robot)
        return slice(self.slices[own[0].name].start, self.slices[own[-1].name].stop) if own else slice(0, 0)


class Values(Mapping[str, Any]):
    """All channels at one moment, by full name: a mapping. Vectors are arrays, single numbers are floats, all in SI.

    Numbers are taken out of the row when they are asked for: a step that nobody looks at costs one copied row. An
    unknown name raises KeyError.

    >>> values = sim.step(n=100)
    >>> values["rover/pose"].round(3), "rover/pose" in values
    (array([ 0.05 , -0.999,  0.05 ]), True)
    """

    __slots__ = ("_row", "_table")

    def __init__(self, table: ChannelTable, row: np.ndarray):
        self._table = table
        self._row = row

    def __getitem__(self, name: str) -> Any:
        columns = self._table.slices.get(name)
        if columns is None:
            raise KeyError(f"no channel {name!r}{closest(name, self._table.slices)}")
        return self._row[columns].copy() if self._table.is_vector[name] else float(self._row[columns.start])

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.slices)

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"Values({dict(self)!r})"

    def of(self, robot: str) -> Measured:
        """The channels of one robot, by local name. Raises InputError for an unknown robot.

        >>> sim.values().of("rover")["pose"]
        array([ 0., -1.,  0.])
        """
        if not self._table.of_robot(robot):
            raise InputError(Problem(f"no robot {robot!r}{closest(robot, {c.robot for c in self._table})}"))
        return Measured(self._table, self._row, robot)


class Measured(Values):
    """Channels of one robot at one moment, by local name: `measured["pose"]` of robot `vivi` is `vivi/pose`, and
    `measured.of("other")` gives another robot's. Controllers get one. It is a mapping as `Values` is.

    >>> measured = sim.measured("rover")
    >>> measured["twist"], list(measured)[:2]
    (array([0., 0., 0.]), ['pose', 'twist'])
    """

    __slots__ = ("_robot",)

    def __init__(self, table: ChannelTable, row: np.ndarray, robot: str):
        super().__init__(table, row)
        self._robot = robot

    def __getitem__(self, name: str) -> Any:
        if f"{self._robot}/{name}" not in self._table.slices:
            known = [channel.local_name for channel in self._table.of_robot(self._robot)]
            raise KeyError(f"no channel {name!r} of robot {self._robot!r}{closest(name, known)}")
        return super().__getitem__(f"{self._robot}/{name}")

    def __iter__(self) -> Iterator[str]:
        return (channel.local_name for channel in self._table.of_robot(self._robot))

    def __len__(self) -> int:
        return len(self._table.of_robot(self._robot))

    def __repr__(self) -> str:
        return f"Measured({self._robot!r}, {dict(self)!r})"


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


def plain_views(views: Iterable[RosView]) -> list[list[Any]]:
    """Views as plain data, for a recorder in another process."""
    return [[type(view).__name__, asdict(view)] for view in views]


def views_of_plain(rows: Iterable[Sequence[Any]]) -> tuple[RosView, ...]:
    kinds: dict[str, Any] = {kind.__name__: kind for kind in (PoseView, JointView, ImuView, SensorView)}
    return tuple(
        kinds[name](**{key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()})
        for name, fields in rows
    )
