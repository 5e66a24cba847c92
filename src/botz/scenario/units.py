"""Quantities in scenario files: SI numbers, or strings with a unit. Everything inside Botz is SI.

The commonest units are in a table; all others go to pint, which is imported only then because that takes
longer than loading a scenario. Angles count as a dimension of their own here, so that `Hz` (turns or radians?)
is no angular speed and `rpm` is no rate.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import core_schema

from botz.errors import InputError
from botz.scenario.misfits import Misfits, Path

if TYPE_CHECKING:
    import pint
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler

Dimension = tuple[tuple[str, float], ...]
"""Exponents of SI base units and `rad`, sorted: `(("m", 1), ("s", -1))`."""

MAX_LENGTH = 64


def _dimension(**exponents: float) -> Dimension:
    return tuple(sorted((unit, float(exponent)) for unit, exponent in exponents.items() if exponent))


_NUMBER = _dimension()
_LENGTH = _dimension(m=1)
_ANGLE = _dimension(rad=1)
_TIME = _dimension(s=1)
_RATE = _dimension(s=-1)
_MASS = _dimension(kg=1)
_SPEED = _dimension(m=1, s=-1)
_TURN_RATE = _dimension(rad=1, s=-1)
_FORCE = _dimension(kg=1, m=1, s=-2)
_TORQUE = _dimension(kg=1, m=2, s=-2)
_VOLTAGE = _dimension(kg=1, m=2, s=-3, A=-1)
_CURRENT = _dimension(A=1)

COMMON_UNITS: dict[str, tuple[float, Dimension]] = {
    "%": (0.01, _NUMBER),
    "m": (1.0, _LENGTH),
    "km": (1000.0, _LENGTH),
    "cm": (0.01, _LENGTH),
    "mm": (0.001, _LENGTH),
    "rad": (1.0, _ANGLE),
    "deg": (math.pi / 180, _ANGLE),
    "°": (math.pi / 180, _ANGLE),
    "rev": (2 * math.pi, _ANGLE),
    "s": (1.0, _TIME),
    "ms": (1e-3, _TIME),
    "us": (1e-6, _TIME),
    "µs": (1e-6, _TIME),
    "ns": (1e-9, _TIME),
    "min": (60.0, _TIME),
    "h": (3600.0, _TIME),
    "Hz": (1.0, _RATE),
    "kHz": (1000.0, _RATE),
    "kg": (1.0, _MASS),
    "g": (0.001, _MASS),
    "m/s": (1.0, _SPEED),
    "cm/s": (0.01, _SPEED),
    "mm/s": (0.001, _SPEED),
    "km/h": (1000 / 3600, _SPEED),
    "rad/s": (1.0, _TURN_RATE),
    "deg/s": (math.pi / 180, _TURN_RATE),
    "rev/s": (2 * math.pi, _TURN_RATE),
    "rpm": (2 * math.pi / 60, _TURN_RATE),
    "N": (1.0, _FORCE),
    "Nm": (1.0, _TORQUE),
    "V": (1.0, _VOLTAGE),
    "A": (1.0, _CURRENT),
}
"""Factor to SI and dimension of the units that need no pint. Products only: temperatures are left to pint."""

_WORDS: dict[Dimension, tuple[str, str]] = {
    _NUMBER: ("a pure number", "5 %"),
    _LENGTH: ("a length", "0.12 m"),
    _ANGLE: ("an angle", "45 deg"),
    _TIME: ("a time", "30 ms"),
    _RATE: ("a rate", "100 Hz"),
    _MASS: ("a mass", "3 kg"),
    _SPEED: ("a speed", "0.5 m/s"),
    _TURN_RATE: ("an angular speed", "60 rpm"),
    _FORCE: ("a force", "5 N"),
    _TORQUE: ("a torque or energy", "2 Nm"),
    _VOLTAGE: ("a voltage", "12 V"),
    _CURRENT: ("a current", "2 A"),
    _dimension(m=1, s=-2): ("an acceleration", "9.81 m/s^2"),
    _dimension(rad=1, s=-2): ("an angular acceleration", "2 rad/s^2"),
    _dimension(m=2): ("an area", "0.02 m^2"),
    _dimension(m=3): ("a volume", "2 l"),
    _dimension(kg=1, m=2): ("a moment of inertia", "0.1 kg*m^2"),
    _dimension(kg=1, m=-3): ("a density", "1.2 kg/m^3"),
    _dimension(kg=1, m=-1, s=-2): ("a pressure", "20 kPa"),
    _dimension(kg=1, s=-2): ("a stiffness", "500 N/m"),
    _dimension(kg=1, s=-1): ("a damping or mass flow", "20 N*s/m"),
    _dimension(kg=1, m=2, s=-3): ("a power", "50 W"),
    _dimension(kg=1, m=2, s=-3, A=-2): ("a resistance", "0.5 ohm"),
    _dimension(K=1): ("a temperature", "293 K"),
}

_STRING = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*")
_COMMA = re.compile(r"\s*([+-]?\d*),(\d+(?:[eE][+-]?\d+)?\s*[^,]*?)\s*")
_POWER = r"(?:\s*(?:\*\*|\^)\s*[+-]?\d(?![\d.])|⁻?[¹²³])"
# Only what a unit needs reaches pint: names, one-digit powers, products, quotients and brackets.
_UNIT = re.compile(rf"(?:\s*(?:[A-Za-z_µμΩ\u2126°%]+{_POWER}?|1(?=\s*/)|\){_POWER}?|\(|[/·]|\*(?!\*)))*")
_PATTERN = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*([^\d\s.].*)?$"
"""What an editor can check without knowing units; the JSON Schema says it."""


@lru_cache(maxsize=1)
def _registry() -> pint.UnitRegistry:
    import logging

    import pint

    registry: pint.UnitRegistry = pint.UnitRegistry(cache_folder=None)
    # Pint reads "Nm" as the textile unit number-metre, and says so in a warning when it is corrected.
    logger = logging.getLogger("pint.util")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        registry.define("newton_metre = newton * meter = Nm")
        registry.define("rev = revolution")
    finally:
        logger.setLevel(level)
    return registry


_BASE_SYMBOLS = {
    "meter": "m",
    "kilogram": "kg",
    "second": "s",
    "ampere": "A",
    "kelvin": "K",
    "radian": "rad",
    "mole": "mol",
    "candela": "cd",
}


@lru_cache(maxsize=1024)
def _by_pint(value: float, unit: str) -> tuple[float, Dimension]:
    """Raises ValueError whatever goes wrong inside pint, which has many ways to fail on odd strings."""
    if not _UNIT.fullmatch(unit):
        raise ValueError(f"{unit!r} is not a unit")
    try:
        registry = _registry()
        base: Any = registry.Quantity(value, registry.parse_units(unit)).to_base_units()
        exponents = {_BASE_SYMBOLS.get(name, ""): float(power) for name, power in base.unit_items()}
        magnitude = float(base.m)
    except Exception:
        by_lower = {name.lower(): name for name in COMMON_UNITS}
        near = difflib.get_close_matches(unit.lower(), by_lower, n=1)
        hint = f", did you mean {by_lower[near[0]]!r}?" if near else ""
        raise ValueError(f"unknown unit {unit!r}{hint}") from None
    exponents.pop("", None)
    return magnitude, _dimension(**exponents)


def _quoted(text: str) -> str:
    return f'"{text}"' if text.isprintable() else repr(text)


def describe(dimension: Dimension) -> str:
    """In words: `a length`, or its SI unit."""
    if dimension in _WORDS:
        return _WORDS[dimension][0]
    symbols = [unit if power == 1 else f"{unit}^{power:g}" for unit, power in dimension]
    return f"a quantity in {'·'.join(symbols)}"


def parse(text: str) -> tuple[float, Dimension | None]:
    """`"45 deg"` -> (0.785…, angle); the dimension is None for a number without a unit, as `"1e-3"`.

    Raises ValueError with what is wrong about the string.
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"a quantity has at most {MAX_LENGTH} characters, not {len(text)}")
    match = _STRING.fullmatch(text)
    if (match is None or match[2].startswith(",")) and (comma := _COMMA.fullmatch(text)):
        raise ValueError(f"{_quoted(text)}: write a decimal point, {_quoted(f'{comma[1]}.{comma[2]}')}")
    if match is None:
        raise ValueError(f"{text!r} is not a number with a unit")
    value, unit = float(match[1]), match[2]
    try:
        dimension: Dimension | None = None
        if unit in COMMON_UNITS:
            factor, dimension = COMMON_UNITS[unit]
            value *= factor
        elif not unit:
            pass
        else:
            value, dimension = _by_pint(value, unit)
    except ValueError as error:
        raise ValueError(f"{_quoted(text)}: {error}") from None
    if not math.isfinite(value):
        raise ValueError(f"{_quoted(text)} is not a finite number")
    return value, dimension


def _dimension_of(unit: str) -> Dimension:
    return parse(f"1 {unit}")[1] or _NUMBER


def _compatible(found: Dimension, needed: Dimension) -> bool:
    """Radians are 1 in SI, so `N*s^2` may stand for N/(rad/s)²; where only time is left besides the angle, `Hz`
    could mean turns or radians, and an angle must be said."""
    if found == needed:
        return True
    without = tuple(part for part in found if part[0] != "rad")
    return without == tuple(part for part in needed if part[0] != "rad") and any(unit != "s" for unit, _ in without)


def show(value: Any) -> str:
    """A value as its user wrote it, short enough for a message."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.12g}"
    text = str(value) if isinstance(value, int) else repr(value)
    return text if len(text) <= 60 else text[:57] + "…" + (text[-1] if text[-1] in "'\"" else "")


_doubting: ContextVar[Callable[[float], None] | None] = ContextVar("_doubting", default=None)


@contextmanager
def doubting_angles(told: Callable[[float], None]) -> Iterator[None]:
    """Inside, `told` is called with each angle of more than a turn that has no unit; where it raises, that is a mistake
    with a place."""
    token = _doubting.set(told)
    try:
        yield
    finally:
        _doubting.reset(token)


def doubt(angle: float) -> str:
    return (
        f"{angle:g} without a unit means {angle:g} rad, {math.degrees(angle):.6g} degrees; "
        f'write "{angle:g} deg" or "{angle:g} rad"'
    )


def in_both_units(value: float, unit: str) -> str:
    """For messages where it is not known any more what the user wrote: angles in degrees as well."""
    return f"{value:.6g} rad ({math.degrees(value):.6g} deg)" if unit == "rad" else f"{value:.6g} {unit}"


def as_written(value: float, written: Any, unit: str = "") -> str:
    """An SI value in the unit of what its user wrote beside it, or else in its own, for messages."""
    match = _STRING.fullmatch(written) if isinstance(written, str) else None
    if match is None or match[2] not in COMMON_UNITS:
        return f"{value:.6g} {unit}".rstrip()
    return f"{value / COMMON_UNITS[match[2]][0]:.6g} {match[2]}"


@dataclass(frozen=True)
class Quantity:
    """Annotation of a field: a number in `unit` (SI), or a string with any unit of the same dimension.

    `Annotated[float, Quantity("kg*m^2")]` is all that a new kind of quantity needs. With unit None a string may
    have any dimension.
    """

    unit: str | None

    @property
    def needed(self) -> str:
        """What to write instead, for messages."""
        if self.unit is None:
            return 'a number or a string with a unit such as "60 rpm"'
        if self.unit == "":
            return 'a number or a string such as "5 %"'
        words, example = self._words
        return f'{words}: a number in {self.unit} or a string such as "{example}"'

    @property
    def _words(self) -> tuple[str, str]:
        assert self.unit is not None
        dimension = _dimension_of(self.unit)
        return _WORDS.get(dimension, (describe(dimension), f"1 {self.unit}"))

    def convert(self, value: Any) -> float:
        if isinstance(value, str):
            return self._from_string(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"needs {self.needed}, not {show(value)}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise ValueError(f"needs a finite number, not {show(number)}")
        if self.unit == "rad" and abs(number) > 2.0 * math.pi and (told := _doubting.get()) is not None:
            told(number)
        return number

    def _from_string(self, text: str) -> float:
        try:
            value, dimension = parse(text)
        except ValueError as error:
            raise ValueError(f"{error}; needs {self.needed}") from None
        if self.unit is None or dimension is None:
            return value
        wanted = _dimension_of(self.unit)
        if _compatible(dimension, wanted):
            return value
        words, example = self._words
        ambiguous = (dimension, wanted) == (_RATE, _TURN_RATE)
        hint = " (Hz could mean turns or radians: write rpm or rad/s)" if ambiguous else ""
        raise ValueError(f'{_quoted(text)} is {describe(dimension)}, needs {words} such as "{example}"{hint}')

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(self.convert, handler(source))

    def __get_pydantic_json_schema__(self, schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        # The number's limits stay: in JSON Schema they do not concern strings.
        return {**handler(schema), "type": ["number", "string"], "pattern": _PATTERN}


def to_si(value: Any, unit: str | None) -> float:
    """A single quantity from outside a scenario file, as an option of the command line. Raises InputError."""
    try:
        return Quantity(unit).convert(value)
    except ValueError as error:
        raise InputError(str(error)) from None


Number = Annotated[float, Quantity("")]
Metres = Annotated[float, Quantity("m")]
Radians = Annotated[float, Quantity("rad")]
Seconds = Annotated[float, Quantity("s")]
Hertz = Annotated[float, Quantity("Hz")]
PerSecond = Annotated[float, Quantity("Hz")]
MetresPerSecond = Annotated[float, Quantity("m/s")]
RadiansPerSecond = Annotated[float, Quantity("rad/s")]
Kilograms = Annotated[float, Quantity("kg")]
Newtons = Annotated[float, Quantity("N")]
NewtonMetres = Annotated[float, Quantity("Nm")]
Volts = Annotated[float, Quantity("V")]
Amperes = Annotated[float, Quantity("A")]

_any = Quantity(None)


def unit_misfits(value: Any, unit: str, path: Path) -> list[tuple[Path, str]]:
    """What of a value, or of a list of values, carries a unit of another kind."""
    if isinstance(value, list):
        return [misfit for k, one in enumerate(value) for misfit in unit_misfits(one, unit, (*path, k))]
    if isinstance(value, str):
        try:
            Quantity(unit).convert(value)
        except ValueError as error:
            return [(path, str(error))]
    return []


def _command(value: Any) -> float | list[float]:
    if not isinstance(value, list | tuple):
        return _any.convert(value)
    converted, found = [], []
    for index, item in enumerate(value):
        try:
            converted.append(_any.convert(item))
        except ValueError as error:
            found.append(((index,), str(error)))
    if found:
        raise Misfits(found)
    return converted


_ANY_SCHEMA = {"type": ["number", "string"], "pattern": _PATTERN}

CommandValue = Annotated[
    float | list[float],
    BeforeValidator(_command),
    WithJsonSchema({"anyOf": [_ANY_SCHEMA, {"type": "array", "items": _ANY_SCHEMA}]}),
]
"""A command: one number or several, of whatever dimension the robot's command has."""

POSE_KEYS = ("x", "y", "heading")
SPACE_POSE_KEYS = ("x", "y", "z", "roll", "pitch", "yaw")


def _pose_of(keys: tuple[str, ...]) -> list[Any]:
    """Annotations of a pose that is written as a list, or as a mapping in which what is missing is 0."""
    listed = f"[{', '.join(keys)}]"

    def read(value: Any) -> tuple[Any, ...]:
        if isinstance(value, dict):
            for key in value:
                if key not in keys:
                    unknown = f"unknown key; a pose is {listed} or has the keys {', '.join(keys)}"
                    raise Misfits([((key,), unknown)])
            return tuple(value.get(key, 0.0) for key in keys)
        if not isinstance(value, list | tuple):
            raise ValueError(f"needs a pose {listed}, not {show(value)}")
        if len(value) != len(keys):
            raise ValueError(f"needs a pose {listed}, not {len(value)} entries")
        return tuple(value)

    schema: dict[str, Any] = {
        "anyOf": [
            {"type": "array", "items": _ANY_SCHEMA, "minItems": len(keys), "maxItems": len(keys)},
            {"type": "object", "properties": dict.fromkeys(keys, _ANY_SCHEMA), "additionalProperties": False},
        ]
    }
    return [BeforeValidator(read), WithJsonSchema(schema)]


PlanarPose = Annotated[tuple[Metres, Metres, Radians], *_pose_of(POSE_KEYS)]
"""x, y [m] and heading [rad]; written as a list, or as a mapping in which what is missing is 0."""
Pose = Annotated[tuple[Metres, Metres, Metres, Radians, Radians, Radians], *_pose_of(SPACE_POSE_KEYS)]
"""x, y, z [m], roll, pitch, yaw [rad]; yaw first, then pitch, then roll. A list, or a mapping in which what is missing
is 0."""
