"""What a scenario file may say: the part that all families share.

Each family adds a folder (its robots, its world, its methods) with its record.
The models are strict and frozen: an unknown key is an error, and a checked scenario never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    WithJsonSchema,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticKnownError, core_schema

from botz.registry import discovered
from botz.scenario.misfits import Misfits
from botz.scenario.names import NAME_PATTERN
from botz.scenario.units import (
    CommandValue,
    Hertz,
    Metres,
    MetresPerSecond,
    PerSecond,
    PlanarPose,
    Radians,
    RadiansPerSecond,
    Seconds,
    show,
)

FILE_KEYS = frozenset({"file"})
"""Keys whose value is a path: relative to the file that says it, made absolute while loading."""

ROBOT_KEYS = frozenset({"vehicle"})
"""Keys whose value names a robot: one of the library, or else a file, as with FILE_KEYS."""

COMMON_PARTS = {"wheels": "wheel", "motors": "motor", "joints": "joint"}
"""Mappings whose entries are laid over a common one of the singular name."""

RUN_NAME_PATTERN = r"^[A-Za-z0-9._-]*$"
LONGEST = 1e9
"""Longest time in a scenario [s]: simulated nanoseconds stay within 63 bits."""


@dataclass(frozen=True)
class DividesStep:
    """Marks a rate or period that must be a whole number of steps; checked where the step is known."""


StepRate = Annotated[Hertz, DividesStep()]
StepPeriod = Annotated[Seconds, DividesStep()]

Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]


def with_common_parts(data: Any) -> Any:
    """A robot's raw data with each of its wheels and motors laid over what they have in common."""
    if not isinstance(data, dict):
        return data
    data = dict(data)
    for each, common in COMMON_PARTS.items():
        if isinstance(data.get(common), dict) and isinstance(data.get(each), dict):
            data[each] = {name: _laid_over(data[common], one) for name, one in data[each].items()}
    return data


def _laid_over(common: Mapping[str, Any], own: Any) -> Any:
    """The common keys with those of one wheel or motor on top; a mapping of another `type` replaces the common one."""
    if not isinstance(own, Mapping):
        return own
    merged = dict(common)
    for key, value in own.items():
        below = merged.get(key)
        alike = (
            isinstance(below, Mapping)
            and isinstance(value, Mapping)
            and below.get("type") == value.get("type", below.get("type"))
        )
        merged[key] = _laid_over(below, value) if alike and isinstance(below, Mapping) else value
    return merged


class Strict(BaseModel):
    """Base of everything in a scenario: unknown keys are errors, values do not change after the check."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        validate_default=True,
        use_attribute_docstrings=True,
    )


def _bool_or_factor(value: Any) -> Any:
    if isinstance(value, bool) or (isinstance(value, int | float) and 0 < value < float("inf")):
        return value
    raise ValueError(f"needs true, false or a factor greater than 0, not {show(value)}")


RealTime = Annotated[bool | float, BeforeValidator(_bool_or_factor)]


class TimeSettings(Strict):
    """How time passes."""

    step: Seconds = Field(default=0.001, gt=0, le=10)
    """Integration step [s], a whole number of nanoseconds."""
    duration: Seconds = Field(default=10.0, gt=0, le=LONGEST)
    """How long the run lasts [s]; rounded to whole steps."""
    realtime: RealTime = False
    """false: as fast as possible; true: real time; a number: that factor of real time."""

    @model_validator(mode="after")
    def _whole_nanoseconds(self) -> TimeSettings:
        if abs(self.step * 1e9 - self.step_ns) > 1e-4 or self.step_ns < 1:
            raise Misfits([(("step",), f"{self.step:.12g} s is not a whole number of nanoseconds")])
        if self.steps < 1:
            short = f"{self.duration:g} s is shorter than half a step of {self.step:g} s"
            raise Misfits([(("duration",), short)])
        return self

    @property
    def step_ns(self) -> int:
        return round(self.step * 1e9)

    @property
    def steps(self) -> int:
        return round(self.duration * 1e9 / self.step_ns)

    def steps_between(self, rate: float) -> int:
        """Whole steps in one period of `rate` [1/s]; the scenario's check made sure that it is whole."""
        return round(1e9 / (rate * self.step_ns))

    @property
    def factor(self) -> float | None:
        """Factor of real time, or None for as fast as possible."""
        if self.realtime is False:
            return None
        return 1.0 if self.realtime is True else float(self.realtime)


class StreamSettings(Strict):
    """A further stream of the recording, with a rate and channels of its own."""

    rate: StepRate = Field(default=100.0, gt=0)
    """Samples per second; the step must divide its period."""
    channels: list[str] = Field(default=["*"], min_length=1)
    """Channel names or patterns with * and ?."""


class RecordSettings(StreamSettings):
    """What is kept of a run."""

    streams: dict[Name, StreamSettings] = {}
    """Further streams by name, as a few channels at a high rate."""
    snapshots: StepPeriod = Field(default=1.0, ge=0, le=LONGEST)
    """Time between two recorded complete states [s]; 0 for none but the first."""
    sync: bool = True
    """Force the recording to the disk once per second of wall time and at the end, so that it survives a power
    failure; `false` leaves that to the system."""

    @model_validator(mode="after")
    def _stream_names(self) -> RecordSettings:
        taken = {"state", "command", "odom", "joint_states", "imu"} & set(self.streams)
        if taken:
            used = "this stream name is used by the recording itself; choose another"
            raise Misfits([(("streams", name), used) for name in sorted(taken)])
        return self


class ProcessSettings(Strict):
    """Where the physics runs."""

    cpu: int | None = Field(default=None, ge=0)
    """Core that the physics process is pinned to; null leaves it to the system."""
    priority: Literal["normal", "high"] = "normal"
    """`high` asks the system for a raised priority and reports when it is not allowed."""


class InputSettings(Strict):
    """What happens to commands from outside (gamepad, network, lab) that stop arriving."""

    timeout: Seconds = Field(default=0.3, gt=0, le=LONGEST)
    """How long a command is valid [s of simulated time]."""
    on_timeout: Literal["stop", "hold"] = "stop"
    """`stop` brings the robot to rest, `hold` keeps its last command; then its controller takes over."""


class Controller(Strict):
    """Common part of all controllers: each is one record, told apart by its `type`."""

    implementation: ClassVar[str] = ""
    """What runs, as `module:name`: a class that is made of this record."""
    families: ClassVar[tuple[str, ...]] = ()
    """Engines whose robots it drives, of a controller that comes from another package; none named: all."""
    docs: ClassVar[str] = "controllers.md"
    """Page and section of the documentation; without a section, that of its type."""
    hands: ClassVar[Literal["", "flight", "plane"]] = ""
    """How people steer its robot while it goes on flying it."""

    robot: Name
    """The robot it drives."""
    rate: StepRate = Field(default=100.0, gt=0)
    """Calls per second; the step must divide its period."""

    def places(self) -> list[tuple[float, float]] | None:
        """Places x, y in the world where it leads its robot, which drawings show; None: anywhere [m]."""
        return []


class ConstantController(Controller):
    """The same command all the time."""

    implementation: ClassVar[str] = "botz.control.constant:Constant"
    type: Literal["constant"]
    command: dict[str, CommandValue] = Field(min_length=1)
    """Commands by local name, as `twist: [0.5, 0, 0.2]` or `left/speed: "60 rpm"`."""

    def places(self) -> None:
        return None


class TableController(Controller):
    """Commands from a CSV file: a column `time` and one column a command, as `twist.vx` or `left/speed`."""

    implementation: ClassVar[str] = "botz.control.table:Table"
    type: Literal["table"]
    file: str
    """Path of the CSV file, relative to the scenario file."""
    interpolate: Literal["hold", "linear"] = "hold"
    """`hold` keeps a row until the next one, `linear` goes over from one to the next."""

    def places(self) -> None:
        return None


class SpeedLimits(Strict):
    speed: MetresPerSecond = Field(default=0.5, gt=0)
    """Largest speed along the path [m/s]."""
    turn_rate: RadiansPerSecond = Field(default=1.5, gt=0)
    """Largest yaw rate [rad/s]."""


class GoToPoseController(Controller):
    """Drive to a pose and stop there."""

    implementation: ClassVar[str] = "botz.control.wheeled.go_to_pose:GoToPose"
    type: Literal["go-to-pose"]
    goal: PlanarPose
    """x, y [m] and heading [rad] in the world."""
    limits: SpeedLimits = SpeedLimits()
    """Largest speed and yaw rate."""
    measured: Literal["pose", "odometry"] = "pose"
    """Which pose it steers by: the true one or the odometry's."""
    tolerance: Metres = Field(default=0.005, gt=0)
    """Distance to the goal at which it has arrived [m]."""
    heading_tolerance: Radians = Field(default=0.01, gt=0)
    """Error of the heading at which it has arrived [rad]."""

    def places(self) -> list[tuple[float, float]]:
        return [self.goal[:2]]


class WaypointsController(Controller):
    """Follow a polyline of waypoints by pure pursuit."""

    implementation: ClassVar[str] = "botz.control.wheeled.waypoints:Waypoints"
    type: Literal["waypoints"]
    points: list[Annotated[list[Metres], Field(min_length=2, max_length=2)]] = Field(min_length=1)
    """Waypoints [x, y] in the world, in order [m]."""
    loop: bool = False
    """After the last point go on to the first one."""
    lookahead: Metres = Field(default=0.3, gt=0)
    """How far ahead on the path it aims [m]."""
    limits: SpeedLimits = SpeedLimits()
    """Largest speed and yaw rate."""
    measured: Literal["pose", "odometry"] = "pose"
    """Which pose it steers by: the true one or the odometry's."""

    def places(self) -> list[tuple[float, float]]:
        return [(x, y) for x, y in self.points]


class TrajectoryController(Controller):
    """Follow a trajectory in time: a CSV file with time, x, y and optionally heading, or a named curve."""

    implementation: ClassVar[str] = "botz.control.wheeled.trajectory:Trajectory"
    type: Literal["trajectory"]
    file: str | None = None
    """Path of the CSV file, relative to the scenario file."""
    curve: Literal["circle", "eight", "line"] | None = None
    """A named curve instead of a file."""
    size: Metres = Field(default=1.0, gt=0)
    """Radius of the circle, half-width of the eight, length of the line [m]."""
    period: Seconds = Field(default=20.0, gt=0, le=LONGEST)
    """Time for one turn of the curve [s]."""
    center: Annotated[list[Metres], Field(min_length=2, max_length=2)] = [0.0, 0.0]
    """Centre of the curve, for a line its start [m]."""
    gain: PerSecond = Field(default=2.0, gt=0)
    """Rate at which errors decay [1/s]."""
    heading: Literal["path", "keep"] = "path"
    """Robots that can turn freely follow the path's direction, or keep their heading."""
    measured: Literal["pose", "odometry"] = "pose"
    """Which pose it steers by: the true one or the odometry's."""

    @model_validator(mode="after")
    def _one_source(self) -> TrajectoryController:
        if (self.file is None) == (self.curve is None):
            raise ValueError("give either 'file' or 'curve'")
        return self

    def places(self) -> list[tuple[float, float]] | None:
        if self.curve is None:
            return None
        (x, y), reach = self.center, self.size
        high = 0.5 * reach if self.curve == "eight" else reach
        return [(x - reach, y - high), (x + reach, y + high)]


USER_PATTERN = r"^.+:[A-Za-z_][A-Za-z0-9_]*$"


class UserController(Controller):
    """A class of the user's: `file.py:Class` relative to the scenario file, or `module:Class`."""

    docs: ClassVar[str] = "controllers.md#your-own"
    type: Annotated[str, StringConstraints(pattern=USER_PATTERN)]
    parameters: dict[str, Any] = {}
    """Keyword arguments of the class."""


USER_TAG = "file.py:Class"


def type_tag(kind: Any) -> str | None:
    """The controller that a `type` means: a built-in one's name, or USER_TAG for a class of the user's."""
    if not isinstance(kind, str):
        return None
    return USER_TAG if ":" in kind else kind


def tags(model: type[BaseModel]) -> tuple[str, ...]:
    """What `type` says to mean this model; USER_TAG for a class of the user's."""
    kind = model.model_fields.get("type")
    return () if kind is None else get_args(kind.annotation) or (USER_TAG,)


@dataclass(frozen=True)
class ByType:
    """Annotation of records that are told apart by `type`, so that a mistake is reported once, for the record that was
    meant. The user's own class is one of them."""

    models: tuple[type[Strict], ...] = ()
    """The records; empty: the members of the union that is annotated."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        models = {model: handler.generate_schema(model) for model in self.models or get_args(source)}
        choices = {tag: schema for model, schema in models.items() for tag in tags(model)}
        return core_schema.tagged_union_schema(choices, discriminator=self._tag)

    @staticmethod
    def _tag(value: Any) -> str | None:
        return type_tag(value.get("type") if isinstance(value, dict) else getattr(value, "type", None))


def by_type(
    group: str, *own: type[Strict], kind: type[Strict] = Strict, fits: Callable[[Any], bool] = lambda _: True
) -> ByType:
    """What a key takes that is told apart by `type`: one of `own`, or one of that kind which an installed package names
    in the entry-point group, e.g. `botz.controllers`, as far as it fits. A name of Botz is not taken over."""
    taken = {tag for model in own for tag in tags(model)}
    others = [model for model in discovered(group, kind).values() if not taken & {*tags(model)} and fits(model)]
    return ByType((*own, *others))


def controllers_of(family: str, *own: type[Controller]) -> ByType:
    """What drives the robots of a family: its own controllers, those of all families, and those of other packages."""
    return by_type(
        "botz.controllers",
        ConstantController,
        TableController,
        *own,
        UserController,
        kind=Controller,
        fits=lambda model: not model.families or family in model.families,
    )


class Translated(Strict):
    """A text for people, in English and perhaps in Portuguese."""

    en: str = ""
    """In English."""
    pt: str = ""
    """In Brazilian Portuguese."""

    def __str__(self) -> str:
        return self.en

    @model_serializer
    def _as_written(self) -> str | dict[str, str]:
        """As it would be written: a text in English alone needs no mapping."""
        return {"en": self.en, "pt": self.pt} if self.pt else self.en


def _english(value: Any) -> Any:
    if isinstance(value, str):
        return {"en": value}
    if isinstance(value, bool | int | float):
        raise PydanticKnownError("string_type")
    return value


_TEXT = {"type": "string"}
Text = Annotated[
    Translated,
    BeforeValidator(_english),
    WithJsonSchema(
        {"anyOf": [_TEXT, {"type": "object", "properties": {"en": _TEXT, "pt": _TEXT}, "additionalProperties": False}]}
    ),
]
"""A text is English; several are named by their language."""


class ScenarioBase(Strict):
    """The common part of every scenario; each family's scenario adds `engine`, `robots` and `world`."""

    botz: Literal[1] = 1
    """Version of the format."""
    name: str = Field(default="", pattern=RUN_NAME_PATTERN)
    """Name of runs; the file's name where it is not given."""
    title: Text = Translated()
    """What it is called, for people; a mapping of `en` and `pt` where it has two languages."""
    description: Text = Translated()
    """What it shows, for people; a mapping of `en` and `pt` where it has two languages."""
    seed: int = Field(default=0, ge=0, lt=2**63)
    """Seed of all randomness of the run."""
    time: TimeSettings = TimeSettings()
    """How time passes."""
    record: RecordSettings = RecordSettings()
    """What is kept of the run."""
    process: ProcessSettings = ProcessSettings()
    """Where the physics runs."""
    inputs: InputSettings = InputSettings()
    """What happens to commands from outside that stop arriving."""
