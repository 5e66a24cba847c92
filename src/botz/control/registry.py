"""From a controller's description in a scenario to the controller itself."""

from __future__ import annotations

import inspect
import traceback
from typing import Any

from botz.control.base import Controller
from botz.errors import ControllerError, InputError, Problem
from botz.registry import imported
from botz.scenario import schema, user_code
from botz.scenario.tree import key_path, key_text


def build(spec: schema.Controller, *, allow_user_code: bool, name: str = "") -> Controller:
    """The controller that `spec` describes; `name` is its name in the scenario, for messages.

    A user's class is imported and constructed only with `allow_user_code`.
    """
    if isinstance(spec, schema.UserController):
        return _user_controller(spec, allow_user_code, f"controllers.{name}." if name else "")
    controller: Controller = imported(spec.implementation)(spec)
    return controller


def at_controller(name: str, spec: schema.Controller, problem: Problem) -> Problem:
    """A problem of a built-in controller at its place in the scenario: at one of its keys where it names one."""
    path = key_path(problem.key)
    if path and path[0] in type(spec).model_fields:
        return Problem(problem.message, key=key_text(("controllers", name, *path)))
    return Problem(str(problem), key=f"controllers.{name}")


def _user_controller(spec: schema.UserController, allowed: bool, place: str) -> Controller:
    key = f"{place}type"
    try:
        module = user_code.imported(spec.type, key=key, allowed=allowed, example="controller.py:Class")
    except user_code.ImportFailed as error:
        assert isinstance(error.__cause__, Exception)
        raise _failed(f"importing {user_code.place_of(spec.type)[0]} failed", error.__cause__) from error.__cause__
    found = user_code.named(module, spec.type, type, "class", key=key)
    missing = [method for method in ("reset", "update") if not callable(getattr(found, method, None))]
    if missing:
        needed = "a controller has reset(setup) and update(t, measured)"
        message = f"class {found.__name__!r} has no method {missing[0]!r}; {needed}"
        raise InputError(Problem(message, key=key))
    return _construct(found, spec.parameters, place)


def _construct(found: type[Any], parameters: dict[str, Any], place: str) -> Controller:
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        signature = None
    if signature is not None:
        try:
            signature.bind(**parameters)
        except TypeError as error:
            accepted = ", ".join(str(one) for one in signature.parameters.values()) or "none"
            message = f"class {found.__name__!r} refuses them: {error}; it takes: {accepted}"
            raise InputError(Problem(message, key=f"{place}parameters")) from None
    try:
        controller: Controller = found(**parameters)
    except InputError:
        raise
    except Exception as error:
        raise _failed(f"constructing {found.__name__} failed", error) from error
    return controller


def _failed(what: str, error: Exception) -> ControllerError:
    details = "".join(traceback.format_exception(error))
    return ControllerError(f"{what}: {type(error).__name__}: {error}", details)
