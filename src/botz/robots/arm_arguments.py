"""What compiled calls of an arm are given: arrays as they are where they fit, else copies that do, or an error."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from botz.errors import InputError, Problem

FLOAT = np.dtype(float)
NO_WRENCH = np.zeros(0)
Shape = tuple[int, ...]


def taken_as_it_is(value: Any, ndim: int) -> bool:
    """Whether compiled code takes an array without a copy: of float64, contiguous and writable. Others would be
    compiled for anew, which takes seconds."""
    return bool(value.ndim == ndim and value.dtype is FLOAT and value.flags.carray)


def numbers(value: Any, name: str) -> np.ndarray:
    """As an array of numbers, contiguous and writable, as a copy where it is not."""
    try:
        if value is None:
            raise TypeError
        found = np.ascontiguousarray(value, FLOAT)
    except (TypeError, ValueError):
        raise InputError(Problem(f"needs numbers, not {value!r}", key=name)) from None
    return found if found.flags.carray else found.copy()


def finite_numbers(value: Any, name: str) -> np.ndarray:
    found = numbers(value, name)
    if not np.isfinite(found).all():
        raise InputError(Problem("needs finite numbers; some are NaN or infinite", key=name))
    return found


def joint_vectors(q: Any, n: int) -> np.ndarray:
    found = numbers(q, "q")
    if found.shape[-1] != n:
        raise InputError(Problem(f"needs {n} joint variables, or an array (…, {n}), not {found.shape}"))
    return found


def rows(names: Sequence[str], values: Sequence[Any], n: int) -> tuple[Shape, list[np.ndarray]]:
    """The leading dimensions that all have together by NumPy's rules, and the arrays: a vector each where there are
    none, else (N, n). The first are the joints, one number may stand for all joints; a wrench has 6 numbers, or none.
    """
    arrays = [joint_vectors(values[0], n)]
    lead = arrays[0].shape[:-1]
    for name, value in zip(names[1:], values[1:], strict=True):
        array = numbers(value, name)
        try:
            if value is not NO_WRENCH and array.shape[-1] not in ((6,) if name == "wrench" else (n, 1)):
                raise ValueError
            if array.shape[:-1] not in ((), lead):
                lead = np.broadcast_shapes(lead, array.shape[:-1])
        except ValueError:
            raise InputError(Problem(shape_problem(name, array.shape, arrays[0].shape), key=name)) from None
        arrays.append(array)
    sizes = [array.shape[-1] if name == "wrench" else n for name, array in zip(names, arrays, strict=True)]
    full = [broadcast(array, (*lead, size)) for array, size in zip(arrays, sizes, strict=True)]
    count = (prod(lead),) if lead else ()
    return lead, [array.reshape((*count, size)) for array, size in zip(full, sizes, strict=True)]


def broadcast(array: np.ndarray, shape: Shape) -> np.ndarray:
    """As `np.broadcast_to`, but with numbers of its own where there are more."""
    if array.shape == shape:
        return array
    found = np.empty(shape)
    found[...] = array
    return found


def shape_problem(name: str, shape: Shape, joints: Shape) -> str:
    if name == "wrench":
        return f"needs a force and a moment, 6 numbers, not {shape}"
    return f"has the shape {shape}, the joints {joints}"


def result_array(out: Any, shape: Shape, values: Sequence[Any]) -> np.ndarray:
    """What a result is written into: a new array, or the caller's `out`, which must fit and lie apart from what is
    read."""
    if out is None:
        return np.empty(shape)
    if not isinstance(out, np.ndarray) or out.shape != shape or not taken_as_it_is(out, len(shape)):
        what = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else repr(out)
        raise InputError(Problem(f"needs a contiguous, writable array of float64 {shape}, not {what}", key="out"))
    if any(np.may_share_memory(out, value) for value in values):
        raise InputError(Problem("shares memory with an argument", key="out"))
    return out
