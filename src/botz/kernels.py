"""What compiled code is made with: decorators, records, and sums that lose nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.core.compiler import Compiler
from numba.core.options import DefaultOptions

UNCOUNTED = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
"""Kernels allocate nothing, so Numba need not count who refers to their arrays: the counting, with atomic operations,
was a fifth of a step. The option is Numba's own affair and may go away; results are the same without it."""

compiled = njit(error_model="numpy", no_cfunc_wrapper=True, **UNCOUNTED)
"""For equations: called by compiled loops, which keep them as parts of themselves, and by tests.

No fast-math flag is set, not even `contract`. A function lives in several compiled copies, its own and those of its
callers, and which one runs depends on whether the code comes from the cache. Only strict arithmetic gives them the same
bits.
"""
inlined = njit(error_model="numpy", no_cfunc_wrapper=True, forceinline=True, **UNCOUNTED)
"""The same for small functions inside loops over lanes: a call that stays a call keeps a loop out of vector code."""


class MemoryApart(Compiler):
    """Numba's compiler, told that no two arguments of a function share memory."""

    def define_pipelines(self) -> Any:
        self.state.flags.noalias = True
        return super().define_pipelines()


on_lanes = njit(error_model="numpy", no_cfunc_wrapper=True, pipeline_class=MemoryApart, **UNCOUNTED)
"""For loops over the four lanes of records that lie apart (model, state, work): without knowing that, the compiler must
fear that what a lane writes into one is what the next lane reads from another, and makes no vector code."""

of_lane = njit(error_model="numpy", no_cfunc_wrapper=True, inline="always", **UNCOUNTED)
"""For a function of one wheel or one axle that a loop over lanes calls. Numba itself puts its code into the loop: LLVM
unrolls a loop that holds little but calls before it looks into them, and no vector code comes of what is left."""


def record(**fields: Any) -> np.dtype:
    """A record type whose elements give their fields as attributes, in compiled code and in Python alike."""
    return np.dtype((np.record, np.dtype(list(fields.items()), align=True)))


def fields_of(dtype: np.dtype) -> dict[str, Any]:
    """Of a record type, for a record that has more."""
    return {name: dtype[name] for name in dtype.names or ()}


def words(text: str) -> tuple[str, ...]:
    """Names of fields, written as text."""
    return tuple(text.split())


@inlined
def compensated_sum(total, lost, term):  # -> total, lost
    """`total + term` with what rounding takes kept in `lost` for the next time (Kahan).

    A step of 100 ns moves a vehicle by 1e-7 m at 100 m from the origin: without this, every step would lose up to
    1e-7 of its own length, always to the same side.
    """
    term = term + lost
    new = total + term
    return new, term - (new - total)
