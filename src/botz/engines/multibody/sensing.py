"""Sensors of multibody robots: what MuJoCo's true values become, with noise, drift and a rate of their own.

A sensor is a function `f(p, s)`: `p` are its parameters by name, `s` is its READING, in which MuJoCo's sensors and its
own channels have their names. It reads the former and writes the latter. All sensors, built in or another package's,
are called by address from the compiled loop, so no kind of sensor is known to the loop by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from inspect import signature
from types import FunctionType
from typing import Any, Literal

import numpy as np
from numba import carray, cfunc, from_dtype, njit, types

from botz.channels import Channel, ImuView, SensorView
from botz.engines.multibody.native_calls import call_with_two
from botz.errors import InputError, Problem
from botz.kernels import compiled, record
from botz.registry import imported
from botz.scenario.multibody.sensors import Sensor
from botz.scenario.names import closest

MOST_TRUE, MOST_RANDOM, MOST_STATES, MOST_READINGS = 16, 12, 6, 13
XYZ = ("x", "y", "z")

SENSOR = record(
    # addresses of its function and parameters, every how many steps it reads, its body
    call="i8", parameters="i8", every="i8", body="i8",
    # where MuJoCo has its true values and how many, its random numbers for a reading, and numbers that it shows
    source="i8", true="i8", random="i8", readings="i8",
)  # fmt: skip

READING = record(
    true=("f8", MOST_TRUE),  # MuJoCo's values of this moment
    random=("f8", MOST_RANDOM),  # normal random numbers of deviation 1, new ones for each reading
    outer_force=("f8", 3),  # of everything that touches its link, in the world's axes [N]
    failed="i8",  # set where it raises an exception
    bias=("f8", MOST_STATES),  # state: what it keeps from reading to reading, such as biases that drift; 0 at the start
    last=("f8", MOST_READINGS),  # state: what it shows
)
"""What a sensor sees and shows. `layout` of its kind has names for the parts of `true` and `last`."""

TRUE = {
    "gyro": 3, "accelerometer": 3, "velocimeter": 3, "magnetometer": 3, "rangefinder": 1, "framepos": 3, "framequat": 4,
    "framexaxis": 3, "frameyaxis": 3, "framezaxis": 3, "framelinvel": 3, "frameangvel": 3, "framelinacc": 3,
    "frameangacc": 3,
}  # fmt: skip
"""MuJoCo's sensors that readings can be made of, and how many values each has; a range finder looks along x here."""
Message = Literal["", "Imu", "NavSatFix", "MagneticField", "FluidPressure"]
MESSAGES: dict[Message, tuple[int, ...]] = {
    "": (), "Imu": (3, 3), "NavSatFix": (3,), "MagneticField": (3,), "FluidPressure": (1,),
}  # fmt: skip
"""ROS messages of sensors, and the sizes of a sensor's first channels, which they show."""


@dataclass(frozen=True, eq=False)
class SensorKind:
    """A kind of sensor: what `@sensor` makes of the function that reads it.

    >>> from botz.channels import Channel
    >>> @botz.sensor(Channel("height", "m", "above the origin"), true=("framepos",))
    ... def height(p, s):
    ...     s.height = s.framepos[2]
    >>> height.true, height.random, height.channels[0].unit
    (('framepos',), 0, 'm')
    """

    function: Any
    """The function, compiled."""
    channels: tuple[Channel, ...]
    """What it shows, in this order; names are those in `s`."""
    true: tuple[str, ...]
    """MuJoCo's sensors, at its place and in its axes, that a reading is made of."""
    random: int
    """How many random numbers a reading takes."""
    numbers: Callable[[Any, float, Any], Mapping[str, Any]]
    """Its parameters, by name: of its keys in the scenario, the period of its readings [s] and the world."""
    message: Message = ""
    """The ROS message that shows its first channels; empty for none."""

    @cached_property
    def layout(self) -> np.dtype:
        """A reading as a NumPy type, with the names of this kind: those of MuJoCo's sensors and of its own channels."""
        named = {
            "true": [(one, TRUE[one]) for one in self.true],
            "last": [(one.name, one.size) for one in self.channels],
        }
        fields: list[tuple[str, Any, int]] = []
        for name, (dtype, offset, *_) in (READING.fields or {}).items():
            for part, size in named.get(name, ()):
                fields.append((part, ("f8", size) if size > 1 else "f8", offset))
                offset += 8 * size
            if name not in named:
                fields.append((name, dtype, offset))
        names, formats, offsets = zip(*fields, strict=True)
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"{twice[0]!r} is the name of two things that the sensor sees or shows")
        laid = {"names": names, "formats": formats, "offsets": offsets, "itemsize": READING.itemsize}
        return np.dtype((np.record, np.dtype(laid, align=True)))  # type: ignore[call-overload]


def own_numbers(spec: Sensor, period: float, world: Any) -> Mapping[str, Any]:
    """The numbers of the scenario as they are."""
    return spec.model_dump(exclude={"type", *Sensor.model_fields})


def sensor(
    *channels: Channel,
    true: tuple[str, ...] = (),
    random: int = 0,
    numbers: Callable[[Any, float, Any], Mapping[str, Any]] = own_numbers,
    message: Message = "",
) -> Callable[[Callable[[Any, Any], None]], SensorKind]:
    """Make a kind of sensor of a function `f(p, s)`, which writes into `s` what the channels are called.

    - `true`: names of MuJoCo's sensors that it reads, for example "framepos" or "gyro"
    - `random`: how many normal random numbers a reading takes
    - `numbers`: a function `(spec, period, world)` that gives its parameters `p` by name; by default the numbers of its
      keys in the scenario
    - `message`: the ROS message that shows its first channels; empty for none

    Raises ValueError for an unknown name or too many numbers, TypeError for a function of other arguments.

    >>> from botz.channels import Channel
    >>> @botz.sensor(Channel("height", "m", "above the origin"), true=("framepos",), random=1)
    ... def height(p, s):
    ...     s.height = s.framepos[2] + p.noise * s.random[0]
    >>> [channel.name for channel in height.channels]
    ['height']
    """
    if wrong := [one for one in true if one not in TRUE]:
        raise ValueError(f"no sensor {wrong[0]!r} of MuJoCo's{closest(wrong[0], TRUE)}")
    most = {"values": MOST_TRUE, "random numbers": MOST_RANDOM, "readings": MOST_READINGS}
    taken = sum(TRUE[one] for one in true), random, sum(one.size for one in channels)
    for (what, limit), count in zip(most.items(), taken, strict=True):
        if count > limit:
            raise ValueError(f"{count} {what}; a sensor has at most {limit}")
    if tuple(one.size for one in channels)[: len(MESSAGES[message])] != MESSAGES[message]:
        raise ValueError(f"a message {message} shows channels of {MESSAGES[message]} numbers")

    def decorate(function: Callable[[Any, Any], None]) -> SensorKind:
        if len(signature(function).parameters) != 2:
            raise TypeError(f"{function.__name__}: a sensor is a function of (p, s)")
        # With a test of every index: one beyond a field would write into the loop's memory.
        compiled_one = njit(error_model="numpy", boundscheck=True)(function)
        kind = SensorKind(compiled_one, channels, true, random, numbers, message)
        assert kind.layout
        return kind

    return decorate


def kind_of(spec: Sensor, key: str = "") -> SensorKind:
    """What reads a sensor; raises InputError at `key` where another package's cannot be had."""
    try:
        kind = imported(spec.implementation)
    except Exception as error:  # whatever happens while another package is imported
        raise InputError(
            Problem(f"{spec.implementation!r}, which reads it, cannot be imported: {error}", key=key)
        ) from error
    if not isinstance(kind, SensorKind):
        raise InputError(Problem(f"{spec.implementation!r}, which reads it, is not made by @sensor", key=key))
    return kind


def channels_of(name: str, kind: SensorKind) -> list[Channel]:
    """The channels of a sensor called `ROBOT/SENSOR`."""
    return [replace(one, name=f"{name}/{one.name}") for one in kind.channels]


def views_of(robot: str, name: str, kind: SensorKind) -> Iterator[ImuView | SensorView]:
    part = f"{robot}/{name}"
    shown = [f"{part}/{one.name}" for one in kind.channels]
    if kind.message == "Imu":
        yield ImuView(robot, name, None, shown[0], shown[1], f"{part}/sensor")
    elif kind.message:
        yield SensorView(robot, name, kind.message, shown[0], f"{part}/sensor")


def parameters_of(spec: Sensor, kind: SensorKind, world: Any, key: str) -> np.ndarray:
    """One record of the parameters; raises InputError where they are no numbers."""
    try:
        found = {name: np.asarray(one, float) for name, one in kind.numbers(spec, 1.0 / spec.rate, world).items()}
    except (TypeError, ValueError) as error:
        raise InputError(Problem(f"its parameters are not numbers: {error}", key=key)) from error
    layout = {name: ("f8", one.shape) if one.shape else "f8" for name, one in found.items()}
    parameters = np.zeros(1, record(**layout) if layout else record(nothing="f8"))
    for name, one in found.items():
        parameters[name] = one
    return parameters


_read: Any = None
"""What an entry calls; each kind has a copy of the entry with a `_read` of its own."""


def _entry(parameters, reading):
    shown = carray(reading, 1)[0]
    try:
        _read(carray(parameters, 1)[0], shown)
    except Exception:  # C has none, so Numba would print it and go on
        shown.failed = 1


@cache
def compiled_call(kind: SensorKind, parameters: np.dtype) -> Any:
    """The C function `f(parameters*, reading*)` of a kind; keep it while its address is used.

    Code of another package is compiled in each run: nothing tells when what it imports has changed.
    """
    # As for elements (`elements/base.py`): not a closure, which Numba would never find again in its cache.
    function = getattr(kind.function, "py_func", kind.function)
    name = f"{function.__module__}.{function.__qualname__}"
    entry = FunctionType(_entry.__code__, {**globals(), "_read": kind.function}, name)
    entry.__qualname__ = name
    pointers = types.CPointer(from_dtype(parameters)), types.CPointer(from_dtype(kind.layout))
    own = function.__module__.startswith("botz.")
    return cfunc(types.void(*pointers), cache=own, error_model="numpy")(entry)


@compiled
def noisy(true, deviation, random, bias=0.0):
    """A true value with noise and the sensor's bias."""
    return true + bias + deviation * random


@compiled
def read_sensors(tables, physics, now, noise, used):  # -> how many random numbers are used, what failed or −1
    """The sensors that are due at step `now` take a reading. One that fails is counted behind all elements."""
    sensors, readings = tables.sensors, tables.readings
    for s in range(sensors.shape[0]):
        one, reading = sensors[s], readings[s]
        if now % one.every != 0:
            continue
        for k in range(one.true):
            reading.true[k] = physics.sensordata[one.source + k]
        for k in range(one.random):
            reading.random[k] = noise[used + k]
        for k in range(3):
            # All that acts on the link from outside, less what the elements do.
            reading.outer_force[k] = physics.outer_force[one.body, 3 + k] - physics.body_force[one.body, k]
        reading.failed = 0
        call_with_two(one.call, one.parameters, tables.readings_at + s * readings.itemsize)
        if reading.failed != 0:
            return used, tables.elements.shape[0] + s
        used += one.random
    return used, -1
