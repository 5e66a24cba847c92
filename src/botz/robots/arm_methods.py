"""How methods of SerialArm come to their compiled calls.

An equation takes a tenth to half a microsecond, less than Python needs to look at its arguments in the ordinary way. So
there are two ways to it. Arrays of one position that compiled code can take as they are, which is what a control loop
has, go straight in: two attributes say that they are vectors of float64, compiled code itself sees whether there are n
numbers, one right after the other and finite, and Numba's look for the right types is left out, because they are known.
Everything else, lists and many positions and what is wrong, goes the long way (`arm_arguments.py`), which converts it
or says what is wrong with it. Both ways end in the same compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy import empty

from botz.errors import InputError, Problem
from botz.robots.arm_arguments import FLOAT, NO_WRENCH, Shape, finite_numbers, result_array, rows
from botz.robots.arm_calls import GOOD, NOT_POSITIVE

if TYPE_CHECKING:
    from botz.robots.serial_arm import SerialArm

OTHER_KINDS = (AttributeError, TypeError)
"""What asking a list for its dimensions raises, and compiled code that gets no array."""
Method = TypeVar("Method", bound=Callable[..., Any])


def of_position(entry: Any, kind: str) -> Callable[[Method], Method]:
    """Of a method that computes from q alone; `kind` names the result's shape."""

    def decorate(method: Method) -> Method:
        straight: Any = None

        @wraps(method)
        def compute(arm: SerialArm, q: Any, *, out: Any = None) -> np.ndarray:
            nonlocal straight
            if straight is not None and out is None:
                try:
                    if q.ndim == 1 and q.dtype is FLOAT:
                        found = empty(arm._shapes[kind])
                        if straight(arm._memory, q, found) == GOOD:
                            return found
                except OTHER_KINDS:
                    pass
            found = long_way(arm, entry, ("q",), (q,), kind, out)
            straight = straight or compiled_for_one(entry)
            return found

        return cast("Method", compute)

    return decorate


def of_state(entry: Any, kind: str) -> Callable[[Method], Method]:
    """Of a method that computes from q and qd."""

    def decorate(method: Method) -> Method:
        straight: Any = None

        @wraps(method)
        def compute(arm: SerialArm, q: Any, qd: Any, *, out: Any = None) -> np.ndarray:
            nonlocal straight
            if straight is not None and out is None:
                try:
                    if q.ndim == qd.ndim == 1 and q.dtype is qd.dtype is FLOAT:
                        found = empty(arm._shapes[kind])
                        if straight(arm._memory, q, qd, found) == GOOD:
                            return found
                except OTHER_KINDS:
                    pass
            found = long_way(arm, entry, ("q", "qd"), (q, qd), kind, out)
            straight = straight or compiled_for_one(entry)
            return found

        return cast("Method", compute)

    return decorate


def of_motion(entry: Any, kind: str) -> Callable[[Method], Method]:
    """Of a method that computes from q, qd and one more, and a wrench on the tool, which goes the long way."""

    def decorate(method: Method) -> Method:
        straight: Any = None
        names = (*list(signature(method).parameters)[1:4], "wrench")

        @wraps(method)
        def compute(arm: SerialArm, q: Any, qd: Any, x: Any, *, wrench: Any = None, out: Any = None) -> np.ndarray:
            nonlocal straight
            if straight is not None and wrench is None and out is None:
                try:
                    if q.ndim == qd.ndim == x.ndim == 1 and q.dtype is qd.dtype is x.dtype is FLOAT:
                        found = empty(arm._shapes[kind])
                        if straight(arm._memory, q, qd, x, NO_WRENCH, found) == GOOD:
                            return found
                except OTHER_KINDS:
                    pass
            found = long_way(arm, entry, names, (q, qd, x, NO_WRENCH if wrench is None else wrench), kind, out)
            straight = straight or compiled_for_one(entry)
            return found

        return cast("Method", compute)

    return decorate


def compiled_for_one(entry: Any) -> Any:
    """The compiled code of one position behind Numba's look at the types; None where it is not compiled yet."""
    if not hasattr(entry, "overloads"):  # not compiled at all: NUMBA_DISABLE_JIT
        return entry
    for types, compiled in entry.overloads.items():
        if all(kind.ndim == 1 for kind in types[:-1]):
            return compiled.entry_point
    return None


def long_way(arm: SerialArm, entry: Any, names: tuple[str, ...], values: tuple[Any, ...], kind: str, out: Any) -> Any:
    """By arrays of one position, or of N: what is given may have any leading dimensions, NumPy's rules apply."""
    shape: Shape = arm._shapes[kind]
    lead, arrays = rows(names, values, arm.n)
    found = result_array(out, (*lead, *shape), arrays)
    problem = entry(arm._memory, *arrays, found.reshape((len(arrays[0]), *shape)) if lead else found)
    if problem == GOOD:
        return found
    for name, array in zip(names, arrays, strict=True):
        finite_numbers(array, name)
    assert problem == NOT_POSITIVE
    raise InputError(Problem("the inertia matrix is not positive: some joint moves nothing that has mass"))
