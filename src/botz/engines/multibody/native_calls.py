"""Calls from compiled code into C functions by their address: MuJoCo's, and force elements.

A ctypes function that is a global keeps Numba from caching a loop; an address that comes as an argument does not.
"""

from __future__ import annotations

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic


def _by_address(arguments: tuple[types.Type, ...]):
    """An intrinsic `call(address, …)` of a C function that returns nothing; addresses are integers."""

    def code(context, builder, signature, values):
        kinds = [context.get_value_type(one) for one in arguments]
        function_type = ir.FunctionType(ir.VoidType(), kinds)
        function = builder.inttoptr(values[0], function_type.as_pointer())
        builder.call(function, values[1:])
        return context.get_dummy_value()

    return code


@intrinsic
def call_with_two(typing_context, address, first, second):
    """f(void*, void*): all of MuJoCo's stages (model, data), and force elements (parameters, frame)."""
    return types.void(types.int64, types.int64, types.int64), _by_address((types.int64, types.int64))


@intrinsic
def call_integrate(typing_context, address, model, positions, velocities, time):
    """mj_integratePos(model, qpos, qvel, dt)."""
    kinds = (types.int64, types.int64, types.int64, types.float64)
    return types.void(types.int64, *kinds), _by_address(kinds)


@njit(cache=True, error_model="numpy", nogil=True)
def call_often(address, parameters, frame, count):
    """The same call many times, for who measures it."""
    for _ in range(count):
        call_with_two(address, parameters, frame)
