"""Controllers that are given in a call: a function, or an object with `reset` and `update`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from botz.channels import Measured
from botz.control.base import Command, Controller, ControllerSetup
from botz.errors import InputError


class FunctionController:
    """Calls a function `(t, measured) -> command`. What the function remembers by itself is in no snapshot."""

    def __init__(self, function: Callable[[float, Measured], Command | None]):
        self.update = function

    def reset(self, setup: ControllerSetup) -> None:
        del setup  # a function starts as it is

    def snapshot(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        del state


def as_controller(robot: str, given: Any) -> Controller:
    """The controller of `robot` that a caller gave."""
    wanted = "a function (t, measured) -> command, or an object with reset(setup) and update(t, measured)"
    if isinstance(given, type):
        raise InputError(f"the controller of {robot!r} is a class, {given.__name__}, not an object; give {wanted}")
    if callable(getattr(given, "update", None)):
        if not callable(getattr(given, "reset", None)):
            raise InputError(f"the controller of {robot!r} has update but no reset; give {wanted}")
        return cast(Controller, given)
    if not callable(given):
        raise InputError(f"the controller of {robot!r} is {given!r}; give {wanted}")
    return FunctionController(given)


def rate_of(robot: str, given: Any) -> float | None:
    """How often it wants to be called [Hz]: its attribute `rate`; None where it has none."""
    rate = getattr(given, "rate", None)
    if rate is None:
        return None
    if not isinstance(rate, int | float) or not rate > 0.0:
        raise InputError(f"the rate of the controller of {robot!r} is {rate!r}; needs a number of calls per second")
    return float(rate)
