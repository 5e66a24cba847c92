"""From a controller's description in a scenario to the controller itself."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from botz.control.base import Controller
from botz.errors import ControllerError, InputError, Problem
from botz.scenario import arm_motion, schema, soccer, vehicle
from botz.scenario.names import closest
from botz.scenario.tree import key_path, key_text


def build(spec: schema.Controller, *, allow_user_code: bool, name: str = "") -> Controller:
    """The controller that `spec` describes; `name` is its name in the scenario, for messages.

    A user's class is imported and constructed only with `allow_user_code`.
    """
    match spec:
        case schema.ConstantController():
            from botz.control.constant import Constant

            return Constant(spec)
        case schema.TableController():
            from botz.control.table import Table

            return Table(spec)
        case schema.GoToPoseController():
            from botz.control.go_to_pose import GoToPose

            return GoToPose(spec)
        case schema.WaypointsController():
            from botz.control.waypoints import Waypoints

            return Waypoints(spec)
        case schema.TrajectoryController():
            from botz.control.trajectory import Trajectory

            return Trajectory(spec)
        case vehicle.WheelSpeedController():
            from botz.control.wheel_speed import WheelSpeed

            return WheelSpeed(spec)
        case vehicle.FollowWaypointsController():
            from botz.control.vehicle_waypoints import VehicleWaypoints

            return VehicleWaypoints(spec)
        case soccer.SoccerPlayer():
            from botz.control.soccer_player import SoccerPlayer

            return SoccerPlayer(spec)
        case arm_motion.ProgramController():
            from botz.control.arm_program import ArmProgram

            return ArmProgram(spec)
        case arm_motion.TeleoperationController():
            from botz.control.teleoperated import Teleoperated

            return Teleoperated(spec)
        case schema.UserController():
            return _user_controller(spec, allow_user_code, f"controllers.{name}." if name else "")
        case _:
            raise TypeError(f"no controller for {type(spec).__name__}")


def at_controller(name: str, spec: schema.Controller, problem: Problem) -> Problem:
    """A problem of a built-in controller at its place in the scenario: at one of its keys where it names one."""
    path = key_path(problem.key)
    if path and path[0] in type(spec).model_fields:
        return Problem(problem.message, key=key_text(("controllers", name, *path)))
    return Problem(str(problem), key=f"controllers.{name}")


def _user_controller(spec: schema.UserController, allowed: bool, place: str) -> Controller:
    if not allowed:
        message = f"{spec.type!r} is a program; it runs only from a scenario that is named on the command line"
        raise InputError(Problem(message, key=f"{place}type"))
    where, _, class_name = spec.type.rpartition(":")
    try:
        module = _module_of_file(Path(where)) if where.endswith(".py") else importlib.import_module(where)
    except FileNotFoundError as error:
        if where.endswith(".py") and not Path(where).is_file():
            raise InputError(Problem(f"no such file: {where}", key=f"{place}type")) from None
        raise _failed(f"importing {where} failed", error) from error
    except ModuleNotFoundError as error:
        if error.name is not None and (where == error.name or where.startswith(error.name + ".")):
            hint = "; a file is written with its ending, as controller.py:Class"
            raise InputError(Problem(f"no module {where!r}{hint}", key=f"{place}type")) from None
        raise _failed(f"importing {where} failed", error) from error
    except Exception as error:
        raise _failed(f"importing {where} failed", error) from error
    found = getattr(module, class_name, None)
    if not isinstance(found, type):
        classes = [one for one, value in vars(module).items() if isinstance(value, type) and not one.startswith("_")]
        raise InputError(
            Problem(f"no class {class_name!r} in {where}{closest(class_name, classes)}", key=f"{place}type")
        )
    missing = [method for method in ("reset", "update") if not callable(getattr(found, method, None))]
    if missing:
        needed = "a controller has reset(setup) and update(t, measured)"
        message = f"class {class_name!r} has no method {missing[0]!r}; {needed}"
        raise InputError(Problem(message, key=f"{place}type"))
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


def _module_of_file(file: Path) -> ModuleType:
    """The module of a Python file; its neighbours can be imported by it, as when Python runs it as a script."""
    if not file.is_file():
        raise FileNotFoundError(file)
    name = f"botz_user_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    folder = str(file.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    # Dataclasses and pickle look the module up by its name while it is being imported.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _failed(what: str, error: Exception) -> ControllerError:
    details = "".join(traceback.format_exception(error))
    return ControllerError(f"{what}: {type(error).__name__}: {error}", details)
