"""A scenario's main parameters as a form, made from its schema, and from a filled-in form to changes of a scenario.

The page may change what is in the form and nothing else: no files, no names of code.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel

from botz.run import with_changes
from botz.scenario.load import LoadedScenario
from botz.scenario.names import closest
from botz.scenario.terrain import GridTerrain
from botz.scenario.units import POSE_KEYS, SPACE_POSE_KEYS, Quantity
from botz.view.lab.catalogue import by_language
from botz.view.lab.sentences import LabError, Sentence

MOST_FIELDS = 300
MOST_ROBOTS = 8
"""Robots, and controllers, of a scenario that are in the form; a crowd is not set by hand."""
LONGEST_LIST = 8
ROBOT_KEYS = ("pose", "position", "attitude", "velocity", "angular_velocity", "start", "team")
LEFT_OUT = {"type", "robot", "rate", "file", "memory", "seed", "texture", "x", "y", "resolution", "outside", "contact"}
LEFT_OUT |= {"earth", "parameters"}
"""Keys inside controllers and worlds that are no main parameters."""
PROPERTY_KEYS = (
    "mass",
    "chassis.mass",
    "links.*.mass",
    "joints.*.mass",
    "payload.mass",
    "grip",
    "linear_friction",
    "turning_friction",
    "chassis.corners.friction",
    "wheels.*.tyre.static",
    "wheels.*.tyre.dynamic",
    "wheels.*.tyre.friction_scale",
    "wheels.*.slip.mean",
    "wheels.*.slip.noise",
    "joints.*.friction.coulomb",
    "joints.*.friction.viscous",
    "joints.*.friction",
    "joints.*.damping",
    "tool.friction",
    "wheels.*.suspension.stiffness",
    "wheels.*.suspension.damping",
    "wheels.*.suspension.travel",
    "motors.*.voltage",
    "motors.*.torque_constant",
    "motors.*.speed_constant",
    "motors.*.resistance",
    "motors.*.gear_ratio",
    "motors.*.efficiency",
    "motors.*.current_limit",
    "wheels.*.motor.voltage",
    "wheels.*.motor.no_load_speed",
    "wheels.*.motor.stall_torque",
    "wheels.*.motor.friction",
    "joints.*.actuator.torque",
    "joints.*.actuator.lag",
    "actuators.*.frequency",
    "actuators.*.effort",
    "actuators.*.lag",
    "elements.*.coefficient",
    "gripper.force",
    "battery.voltage",
    "battery.resistance",
)
"""Masses, frictions, springs and motors of robots of all families; `*` is any name."""
SPEED_KEY = "time.realtime"
TERRAIN_KEY = "world.terrain.type"
TERRAINS: dict[str, dict[str, Any]] = {
    "flat": {},
    "plane": {"slope": 0.15},
    "ramp": {"angle": 0.2, "blend": 0.3},
    "step": {},
    "bumps": {},
    "half-pipe": {"radius": 1.5},
    "rough": {"iso_class": "D"},
}
"""Grounds to choose from, with what each needs beside its defaults."""
PARTS = {3: POSE_KEYS, 6: SPACE_POSE_KEYS}
AXES = ("x", "y", "z")
TURNS = ("roll", "pitch", "yaw")

WITH_UNIT = re.compile(r"^[-+]?[0-9.]+(e[-+]?[0-9]+)? *[a-zA-Z°µ%][^ ]{0,19}$")
"""A number with a unit of its own, such as `2 min`: the scenario knows which ones it takes."""

Kind = Literal["number", "integer", "boolean", "choice", "text"]


@dataclass(frozen=True)
class FormField:
    """Label, choices and help are the schema's, in English; a page that speaks another language has them by these
    words, and a test makes sure that it has all of them."""

    key: str
    label: str
    unit: str
    kind: Kind
    value: Any
    minimum: float | None = None
    maximum: float | None = None
    choices: list[str | int | float] | None = None
    help: str = ""
    above: float | None = None
    """What the value must be greater than."""
    part: str = ""
    """How the label ends where that is no word of the schema: a component, as `x`, or a name of the scenario's."""
    group: str = ""
    """What the field belongs to inside its robot."""
    keys: tuple[str, ...] = ()
    """What it sets where that is more than one value: all wheels are alike until the scenario says otherwise."""


def form_of(loaded: LoadedScenario) -> dict[str, Any]:
    spec: Any = loaded.spec
    return {
        "name": loaded.name,
        "engine": loaded.engine,
        "description": spec.description.en,
        "texts": by_language(dict(spec.title), dict(spec.description)),
        "fields": [asdict(one) for one in fields_of(spec)],
    }


def fields_of(spec: Any) -> list[FormField]:
    found = list(_fields(spec))
    return found[:MOST_FIELDS]


def _fields(spec: Any) -> Iterator[FormField]:
    yield from _of_model(spec.time, "time", only=("duration",))
    speed = "Factor of real time; 0 for as fast as possible."
    yield FormField(SPEED_KEY, "speed", "", "number", spec.time.factor or 1.0, 0.0, 1000.0, help=speed)
    yield from _of_model(spec, "", only=("seed",), left_out=())
    world = getattr(spec, "world", None)
    terrain = getattr(world, "terrain", None)
    if terrain is not None:
        choices: list[str | int | float] = list(dict.fromkeys([terrain.type, *TERRAINS]))
        yield FormField(TERRAIN_KEY, "terrain", "", "choice", terrain.type, choices=choices, help="The ground.")
    for name, robot in list(spec.robots.items())[:MOST_ROBOTS]:
        yield from _of_model(robot, f"robots.{name}", only=ROBOT_KEYS, depth=1)
        for key in PROPERTY_KEYS:
            yield from _property(robot, f"robots.{name}", key)
    for name, controller in list(spec.controllers.items())[:MOST_ROBOTS]:
        yield from _of_model(controller, f"controllers.{name}", depth=1)
    if world is not None:
        yield from _of_model(world, "world", depth=2)
    if hasattr(spec, "match"):
        yield from _of_model(spec.match, "match")


def _of_model(
    model: BaseModel, path: str, *, only: tuple[str, ...] = (), left_out: Any = LEFT_OUT, depth: int = 0
) -> Iterator[FormField]:
    for name, info in type(model).model_fields.items():
        if name in left_out or (only and name not in only):
            continue
        annotation = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
        yield from _of_value(getattr(model, name), annotation, f"{path}.{name}".lstrip("."), info.description, depth)


def _of_value(
    value: Any, annotation: Any, key: str, text: str | None, depth: int, part: str = ""
) -> Iterator[FormField]:
    about = Facts.of(annotation)
    label = label_of(key)
    help_ = " ".join((text or "").split())
    if isinstance(value, BaseModel):
        if depth > 0:
            yield from _of_model(value, key, depth=depth - 1)
    elif about.choices and value in about.choices:
        yield FormField(key, label, "", "choice", value, choices=about.choices, help=help_, part=part)
    elif isinstance(value, bool):
        yield FormField(key, label, "", "boolean", value, help=help_, part=part)
    elif isinstance(value, int | float):
        kind: Kind = "integer" if about.whole else "number"
        limits = about.minimum, about.maximum
        yield FormField(key, label, about.unit, kind, value, *limits, help=help_, above=about.above, part=part)
    elif isinstance(value, list | tuple) and 0 < len(value) <= LONGEST_LIST and all(_is_number(one) for one in value):
        names = part_names(key, len(value))
        for index, one in enumerate(value):
            entry = about.parts[min(index, len(about.parts) - 1)] if about.parts else about
            own, end = f"{label} {names[index]}", f"{part} {names[index]}".strip()
            limits = entry.minimum, entry.maximum
            yield FormField(f"{key}.{index}", own, entry.unit, "number", one, *limits, help=help_, part=end)
    elif isinstance(value, dict) and len(value) <= LONGEST_LIST:  # commands, or joints, by name
        for name, one in value.items():
            if "." not in name and not isinstance(one, BaseModel):
                yield from _of_value(one, None, f"{key}.{name}", text, 0, name.replace("_", " "))


def _property(robot: BaseModel, path: str, key: str) -> Iterator[FormField]:
    """One field where all of `*` have the same value, else one for each."""
    leaves = [one for one in _leaves(robot, key.split(".")) if _is_number(one.value)]
    keys = tuple(f"{path}.{key.replace('*', one.name)}" for one in leaves)
    label = key.replace("*.", "").replace(".", " ").replace("_", " ")
    alike = len(leaves) > 1 and len({one.value for one in leaves}) == 1
    for own, one in list(zip(keys, leaves, strict=True))[: 1 if alike else LONGEST_LIST]:
        part = "" if len(leaves) == 1 or alike else one.name.replace("_", " ")
        yield FormField(
            f"{path}.{key}" if alike else own,
            f"{label} {part}".strip(),
            one.about.unit,
            "integer" if one.about.whole else "number",
            one.value,
            one.about.minimum,
            one.about.maximum,
            help=one.help,
            above=one.about.above,
            part=part,
            group="properties",
            keys=keys if alike else (),
        )


class Leaf(NamedTuple):
    name: str
    """What `*` of its path stands for."""
    value: Any
    about: Facts
    help: str


def _leaves(model: Any, path: list[str], name: str = "") -> Iterator[Leaf]:
    """The values at a path; none where the robot has no such key."""
    first, *rest = path
    if first == "*":
        entries = model if isinstance(model, dict) else dict(model) if isinstance(model, BaseModel) else {}
        for entry, value in entries.items():
            if "." not in entry:
                yield from _leaves(value, rest, entry)
    elif isinstance(model, BaseModel) and first in type(model).model_fields:
        info, value = type(model).model_fields[first], getattr(model, first)
        if rest:
            yield from _leaves(value, rest, name)
        else:
            annotation = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
            yield Leaf(name, value, Facts.of(annotation), " ".join((info.description or "").split()))


def label_of(key: str) -> str:
    """What a key says inside its robot, its controller or the world."""
    parts = key.split(".")
    below = parts[2:] if parts[0] in ("robots", "controllers") else parts[1:]
    return " ".join(below or parts).replace("_", " ")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def part_names(key: str, count: int) -> tuple[str, ...]:
    last = key.rsplit(".", 1)[-1]
    if last == "attitude" and count == 3:
        return TURNS
    if last in ("pose", "goal") and count in PARTS:
        return PARTS[count]
    return AXES[:count] if count <= 3 else tuple(str(number) for number in range(1, count + 1))


@dataclass(frozen=True)
class Facts:
    """What an annotation says of a value."""

    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    whole: bool = False
    choices: list[str | int | float] | None = None
    above: float | None = None
    parts: tuple[Facts, ...] = ()
    """Of a list's or tuple's entries."""

    @classmethod
    def of(cls, annotation: Any) -> Facts:
        origin = get_origin(annotation)
        if origin is Annotated:
            inner, *notes = get_args(annotation)
            return _noted(cls.of(inner), notes)
        if origin in (Union, types.UnionType):
            found = [cls.of(one) for one in get_args(annotation) if one is not type(None)]
            return next((one for one in found if one != cls()), cls())
        if origin is Literal:
            return cls(choices=list(get_args(annotation)))
        if origin in (list, tuple):
            return cls(parts=tuple(cls.of(one) for one in get_args(annotation) if one is not Ellipsis))
        return cls(whole=annotation is int)


def _noted(facts: Facts, notes: list[Any]) -> Facts:
    unit, low, high, above = facts.unit, facts.minimum, facts.maximum, facts.above
    for note in notes:
        match note:
            case Quantity(unit=str() as found):
                unit = found
            case annotated_types.Ge(ge=bound):
                low = float(bound)  # type: ignore[arg-type]
            case annotated_types.Gt(gt=bound):
                above = float(bound)  # type: ignore[arg-type]
            case annotated_types.Le(le=bound) | annotated_types.Lt(lt=bound):
                high = float(bound) if bound < 2**53 else None  # type: ignore[operator,arg-type]
    if facts.parts:
        return facts
    return Facts(unit, low, high, facts.whole, facts.choices, above)


def changes_of(loaded: LoadedScenario, filled: Mapping[str, Any]) -> dict[str, Any]:
    """The changes of a scenario that a filled-in form means; LabError for a key that the form does not have. What is
    as it was is left out."""
    fields = {one.key: one for one in fields_of(loaded.spec)}
    problems: list[Sentence] = []
    changes: dict[str, Any] = {}
    for key, value in filled.items():
        field = fields.get(key)
        if field is None:
            problems.append(Sentence("form.unknown", closest(key, fields), key=key[:100]))
        elif not _fits(field, value):
            problems.append(_misfit(field, str(value)[:60]))
        elif _is_number(value) and field.above is not None and value <= field.above:
            problems.append(Sentence("form.above", key=field.key, limit=field.above, value=value))
        elif value != field.value:
            changes.update(dict.fromkeys(field.keys or (key,), value))
    if problems:
        raise LabError(*problems)
    changes.pop(SPEED_KEY, None)  # that of the start message holds
    return changes


def with_ground(loaded: LoadedScenario, kind: Any) -> LoadedScenario:
    """The scenario on ground of another type, whose keys its form then has; as it is for its own type or none."""
    present: Any = getattr(getattr(loaded.spec, "world", None), "terrain", None)
    if present is None or kind == present.type or kind not in TERRAINS:
        return loaded
    return with_changes(loaded, {"world.terrain": _ground(loaded, str(kind))})


def _ground(loaded: LoadedScenario, kind: str) -> dict[str, Any]:
    present: Any = getattr(loaded.spec, "world").terrain  # noqa: B009 (only some families have it)
    ground = {"type": kind, "x": list(present.x), "y": list(present.y), "outside": present.outside, **TERRAINS[kind]}
    if isinstance(present, GridTerrain):
        ground["resolution"] = present.resolution
    return ground


def _fits(field: FormField, value: Any) -> bool:
    match field.kind:
        case "number":
            return _is_number(value) or (bool(field.unit) and isinstance(value, str) and bool(WITH_UNIT.match(value)))
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "choice":
            return value in (field.choices or ())
        case "text":
            return isinstance(value, str)


def _misfit(field: FormField, value: str) -> Sentence:
    match field.kind:
        case "number":
            return Sentence("form.number", key=field.key, value=value)
        case "integer":
            return Sentence("form.integer", key=field.key, value=value)
        case "boolean":
            return Sentence("form.boolean", key=field.key, value=value)
        case "choice":
            return Sentence("form.choice", key=field.key, value=value)
        case "text":
            return Sentence("form.text", key=field.key, value=value)
