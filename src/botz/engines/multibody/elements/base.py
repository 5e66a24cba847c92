"""Force elements: a compiled function, its parameters, and what it sees and gives.

An element is a function `f(p, frame)`: `p` are its parameters by name, `frame` is a FRAME. It reads where its link and
joint are and how they move, and writes `force`, `torque` and `joint_effort`. All elements, built in, a package's or a
user's, are made by `@force_element` and called by address from the compiled loop, so no kind is known to the loop by
name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from inspect import signature
from math import isfinite
from types import FunctionType
from typing import Any, Literal

import numpy as np
from numba import carray, cfunc, from_dtype, njit, types

from botz.errors import InputError, Problem
from botz.kernels import record
from botz.scenario.multibody.elements import Element
from botz.scenario.names import closest
from botz.terrain.height_grid import HeightGrid

MOST_INPUTS, MOST_STATES, MOST_REPORTS = 8, 16, 16
RAISED, NOT_FINITE = 1, 2
"""How an element fails."""

FRAME = record(
    time="f8",  # [s]
    step="f8",  # the step at its beginning, where states move on; 0 at the stages inside it [s]
    position=("f8", 3),  # of the link's frame in the world [m]
    rotation=("f8", (3, 3)),  # from the link's axes to the world's
    velocity=("f8", 3),  # of the link's origin, in the world's axes [m/s]
    angular=("f8", 3),  # of the link, in the world's axes [rad/s]
    joint_position=("f8"),  # [rad, m]
    joint_speed=("f8"),  # [rad/s, m/s]
    joint_axis=("f8", 3),  # in the world's axes
    joint_anchor=("f8", 3),  # a point on the axis, in the world [m]
    air_density="f8",  # [kg/m³]
    wind=("f8", 3),  # velocity of the air, in the world's axes [m/s]
    ground="f8",  # height of the ground below the link's origin; −inf where there is none [m]
    inputs=("f8", MOST_INPUTS),
    states=("f8", MOST_STATES),
    force=("f8", 3),  # on the link, in the world's axes [N]
    torque=("f8", 3),  # on the link about its origin, in the world's axes [N·m]
    joint_effort="f8",  # between the joint's two links [N·m, N]
    reports=("f8", MOST_REPORTS),
    failed="i8",  # set by the entry of a user's element: 0, RAISED or NOT_FINITE
)
"""What an element sees of the world, and what it gives back; all in SI."""


@dataclass(frozen=True)
class Report:
    """A number that an element takes or shows, which becomes a channel.

    >>> from botz.engines.multibody.elements.base import Report
    >>> Report("torque", "N·m").unit
    'N·m'
    """

    name: str
    """Its name in the element."""
    unit: str = "1"
    """SI unit; `1` for pure numbers."""
    description: str = ""
    """What it is, in a few words."""


@dataclass(frozen=True, eq=False)
class ElementKind:
    """A kind of element: what `@force_element` makes of a function.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Spring:
    ...     stiffness: float
    >>> @botz.force_element(Spring)
    ... def spring(p, frame):
    ...     frame.force[2] -= p.stiffness * frame.position[2]
    >>> spring.parameters.__name__, spring.states, spring.inputs
    ('Spring', 0, ())
    """

    function: Any
    """The function, compiled."""
    parameters: type
    """A dataclass of numbers, and of tuples or lists of numbers."""
    inputs: tuple[Report, ...] = ()
    """Commands that it takes."""
    inputs_of: Literal["element", "joint", "robot"] = "element"
    """What they are named after: `ELEMENT/<name>`, `JOINT/<name>`, or `<name>` alone."""
    states: int = 0
    """How many numbers of `frame.states` are its own."""
    reports: tuple[Report, ...] = ()
    """What it shows in `frame.reports`."""
    joint_only: bool = False
    """It acts on its joint and puts no force on a link."""
    cached: bool = False
    """Whether its compiled code is kept between runs. Others are compiled in each, and guarded."""
    bind: Callable[[BuiltElement, Surroundings], None] | None = None
    """Called once before the first step, when the world is there: fills the element's `parameters`, `arrays` and
    `kept`."""
    calls: dict[np.dtype, Any] = field(default_factory=dict, repr=False)
    """C functions already made of it, by the layout of the parameters."""


def _reports(given: Sequence[Report | str | tuple[str, ...]]) -> tuple[Report, ...]:
    return tuple(
        one if isinstance(one, Report) else Report(one) if isinstance(one, str) else Report(*one) for one in given
    )


def force_element(
    parameters: type,
    *,
    inputs: Sequence[Report | str | tuple[str, ...]] = (),
    inputs_of: Literal["element", "joint", "robot"] = "element",
    states: int = 0,
    reports: Sequence[Report | str | tuple[str, ...]] = (),
    joint_only: bool = False,
    cached: bool = False,
) -> Callable[[Callable[[Any, Any], None]], ElementKind]:
    """Make a force element of a function `f(p, frame)`; `parameters` is the dataclass of its parameters.

    - `inputs`: commands that it takes, up to 8: names, or (name, unit, description)
    - `inputs_of`: what they are named after: its own name ("element"), its joint's, or none ("robot")
    - `states`: how many numbers of `frame.states` are its own, up to 16
    - `reports`: what it shows in `frame.reports`, up to 16, as `inputs`; each becomes a channel
    - `joint_only`: it writes `joint_effort` and no force, and has no channel for it
    - `cached`: for functions of Botz that raise nothing: the folder of compiled code is named by its sources alone

    What `frame` holds is in SI. Raises TypeError where `parameters` is no dataclass or the function takes other
    arguments, ValueError for too many inputs, states or reports.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Brake:
    ...     strength: float
    >>> @botz.force_element(Brake, inputs=[("pedal", "1", "from 0 to 1")], joint_only=True)
    ... def brake(p, frame):
    ...     frame.joint_effort -= p.strength * frame.inputs[0] * frame.joint_speed
    >>> brake.inputs[0].name
    'pedal'
    """
    if not is_dataclass(parameters):
        raise TypeError(f"{parameters!r} is no dataclass; parameters of an element are one")
    if len(inputs) > MOST_INPUTS or states > MOST_STATES or len(reports) > MOST_REPORTS:
        raise ValueError(f"at most {MOST_INPUTS} inputs, {MOST_STATES} states and {MOST_REPORTS} reports")

    def decorate(function: Callable[[Any, Any], None]) -> ElementKind:
        taken = list(signature(getattr(function, "py_func", function)).parameters)
        if len(taken) != 2:
            raise TypeError(f"{function.__name__} takes ({', '.join(taken)}); a force element takes (p, frame)")
        compiled = function
        if not hasattr(function, "py_func"):
            # With a test of every index: one beyond a field of the frame would write into the loop's memory.
            compiled = njit(error_model="numpy", boundscheck=True)(function)
        return ElementKind(
            compiled, parameters, _reports(inputs), inputs_of, states, _reports(reports), joint_only, cached
        )

    return decorate


def parameters_from(kind: ElementKind, given: Mapping[str, Any], key: str) -> Any:
    """The parameter object of a user's element; raises InputError at `key`."""
    known = {one.name: one for one in fields(kind.parameters)}
    problems = [
        Problem(f"unknown parameter{closest(name, known)}", key=f"{key}.{name}") for name in given if name not in known
    ]
    if problems:
        raise InputError(problems)
    try:
        return kind.parameters(**given)
    except InputError:
        raise
    except Exception as error:
        message = f"{kind.parameters.__name__} refuses them: {error}{_taken(kind)}"
        raise InputError(Problem(message, key=key)) from None


def parameters_of(kind: ElementKind, spec: Element, key: str) -> Any:
    """The parameter object of an element's schema: made by the class method `of`, where the class of the parameters has
    one, else with the schema's values of the same names; raises InputError at `key`."""
    if hasattr(kind.parameters, "of"):
        return kind.parameters.of(spec)
    own = (one.name for one in fields(kind.parameters))
    return parameters_from(kind, {name: getattr(spec, name) for name in own if hasattr(spec, name)}, key)


def _taken(kind: ElementKind) -> str:
    """The end of a message: what the class of an element's parameters takes."""
    return f"; it takes: {', '.join(one.name for one in fields(kind.parameters)) or 'none'}"


def _number(value: Any, annotation: Any) -> np.ndarray | None:
    """A parameter as an array of numbers; None for what is none."""
    try:
        number = np.asarray(value)
    except ValueError:  # lists of different lengths
        return None
    if number.dtype.kind not in "biuf" or np.isnan(number).any():
        return None
    # Whole numbers stay whole where one stands alone and is not annotated with float: they may count or choose.
    whole = number.dtype.kind in "biu" and number.ndim == 0 and annotation not in (float, "float")
    return number.astype(np.int64 if whole else np.float64)


def packed(parameters: Any, key: str) -> np.ndarray:
    """A dataclass of numbers as one record; raises InputError for what is no number."""
    layout: dict[str, Any] = {}
    values: dict[str, np.ndarray] = {}
    problems = []
    for one in fields(parameters):
        value = getattr(parameters, one.name)
        number = _number(value, one.type)
        if number is None:
            message = f"needs a number or a list of numbers, not {value!r}"
            problems.append(Problem(message, key=f"{key}.{one.name}"))
            continue
        layout[one.name] = (number.dtype.str, number.shape) if number.shape else number.dtype.str
        values[one.name] = number
    if problems:
        raise InputError(problems)
    found = np.zeros(1, dtype=record(**layout) if layout else record(nothing="f8"))
    for name, number in values.items():
        found[name] = number
    return found


_element: Any = None
"""What an entry calls; each element has a copy of its entry with a `_element` of its own."""


def _entry(parameters, frame):
    _element(carray(parameters, 1)[0], carray(frame, 1)[0])


def _guarded_entry(parameters, frame):
    """For elements that are not `cached`: C has no exceptions, so Numba would print one and go on."""
    seen = carray(frame, 1)[0]
    given = seen.joint_position + seen.joint_speed
    for i in range(3):
        given += seen.position[i] + seen.velocity[i] + seen.angular[i]
    try:
        _element(carray(parameters, 1)[0], seen)
    except Exception:
        seen.failed = RAISED
    gives = seen.joint_effort
    for i in range(3):
        gives += seen.force[i] + seen.torque[i]
    # In a world that has diverged no element is to blame.
    if seen.failed == 0 and isfinite(given) and not isfinite(gives):
        seen.failed = NOT_FINITE


def compiled_call(kind: ElementKind, dtype: np.dtype) -> Any:
    """The C function `f(parameters*, frame*)` of an element; keep it while its address is used."""
    if dtype not in kind.calls:
        # Not a closure over the function: Numba keys a cached closure by the pickle of what it holds, and a compiled
        # function's pickle differs from process to process, so that nothing would ever be found again. The name tells
        # the elements apart in the cache.
        function = getattr(kind.function, "py_func", kind.function)
        name = f"{function.__module__}.{function.__qualname__}"
        code = (_entry if kind.cached else _guarded_entry).__code__
        entry = FunctionType(code, {**globals(), "_element": kind.function}, name)
        entry.__qualname__ = name
        pointers = types.CPointer(from_dtype(dtype)), types.CPointer(from_dtype(FRAME))
        kind.calls[dtype] = cfunc(types.void(*pointers), cache=kind.cached, error_model="numpy")(entry)
    return kind.calls[dtype]


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What an element is put into, for those that need more of it than a frame tells."""

    model: Any
    """MuJoCo's model; an element may add inertia to its body before the first step."""
    data: Any
    """MuJoCo's data, with positions and velocities as they are at the start."""
    body: int
    """Number of its link."""
    ground: HeightGrid | None
    """The terrain; None where there is none."""
    has_floor: bool
    """Whether there is a level floor at z = 0 in its place."""


@dataclass(eq=False)
class BuiltElement:
    """An element of a robot, ready for the loop."""

    name: str
    kind: ElementKind
    parameters: np.ndarray
    """One record; the loop reads it by address."""
    link: str
    """The link that `frame` tells about and that `force` and `torque` act on."""
    joint: str = ""
    """The joint that `frame` tells about and that `joint_effort` acts on; '' for none."""
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    """State of its own beyond `frame.states`, by name."""
    kept: tuple[Any, ...] = ()
    """What must live as long as it does."""

    @property
    def inputs(self) -> Iterator[tuple[str, Report]]:
        """Its commands, under the names that they have for the robot."""
        owner = {"element": self.name, "joint": self.joint, "robot": ""}[self.kind.inputs_of]
        for given in self.kind.inputs:
            yield "/".join(filter(None, (owner, given.name))), given
