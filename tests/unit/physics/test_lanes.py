"""Loops over the four lanes of wheels and axles are vector code: the assembly is asked. As a loop of plain numbers each
would take about three times as long, and nothing else would tell."""

from __future__ import annotations

import os
import platform
import re

import numpy as np
import pytest
from numba import float64, typeof

from botz.physics.contact.terrain import GRID
from botz.physics.wheels import axle_block, contact_search, tyre_block, wheel_block

pytestmark = [
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="needs the compiler"),
    pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="knows the instructions of x86-64 only"),
]

ARITHMETIC = r"^\s+v?(?:add|sub|mul|div|sqrt|min|max|fn?m(?:add|sub)\d+)"
"""Instructions on doubles, before `pd` for several at once and `sd` for one."""


def kind(dtype: np.dtype):
    return typeof(np.zeros(1, dtype)[0])


MODEL, STATE, WORK = map(kind, (wheel_block.WHEEL_MODEL, wheel_block.WHEEL_STATE, wheel_block.WHEEL_WORK))
AXLES = tuple(map(kind, (axle_block.AXLE_MODEL, axle_block.AXLE_STATE, axle_block.AXLE_WORK)))
BODY = kind(wheel_block.BODY)
LOOPS = {
    wheel_block.contact_motion: (MODEL, STATE, WORK, BODY),
    contact_search.follow_contacts: (MODEL, STATE, WORK, BODY, kind(GRID)),
    contact_search.merge_rims: (MODEL, STATE, WORK, BODY),
    tyre_block.tyre_coefficients: (MODEL, STATE),
    tyre_block.bend_treads: (MODEL, STATE, WORK, float64),
    tyre_block.shifted_weights: (MODEL, STATE, WORK),
    tyre_block.magic_forces: (MODEL, STATE, WORK),
    axle_block.axle_torques: (*AXLES, float64),
}
"""Those with more than a handful of operations and without branches."""


def counts(loop, arguments) -> tuple[int, int]:
    """Operations on several numbers at once, and on one, of a loop compiled for these arguments."""
    loop.compile(arguments)
    assembly = loop.inspect_asm(loop.signatures[-1])
    return tuple(len(re.findall(ARITHMETIC + ending, assembly, re.MULTILINE)) for ending in ("pd", "sd"))


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_loops_over_lanes_are_vector_code(loop):
    packed, single = counts(loop, LOOPS[loop])
    assert packed > 10 * single, f"{packed} operations on several lanes at once, {single} on one"
