"""Complete states, in memory and as bytes.

The bytes are JSON: numbers that must come back bit for bit are arrays in base64. Nothing is pickled, so reading a
snapshot from a stranger's recording runs no code.
"""

from __future__ import annotations

import base64
import json
from copy import deepcopy
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np
from pydantic import BaseModel

from botz.engines.base import EngineState
from botz.errors import InputError


@dataclass(frozen=True)
class Snapshot:
    """Everything a simulation needs to continue bit for bit."""

    step: int
    seed: int
    engine: EngineState
    controllers: dict[str, Any]
    """State of each controller by name, or None where a recording could not hold it."""
    controller_rngs: dict[str, dict[str, Any]]
    driven_by_hand: tuple[str, ...] = ()
    deadlines: tuple[tuple[str, int], ...] = ()
    """Robots under outside commands and the step at which these run out."""


def belongs_to_the_world(value: Any, world: dict[int, Any]) -> bool:
    """Whether a controller's attribute is not its own state: a part of the engine, its setup, or something frozen."""
    frozen = is_dataclass(value) and value.__dataclass_params__.frozen  # type: ignore[union-attr]
    return id(value) in world or frozen or isinstance(value, BaseModel | np.random.Generator)


def parts_of_world(engine: Any, *more: Any) -> dict[int, Any]:
    """The engine and what it holds, by identity: copies of a controller's state refer to these and do not copy them."""
    parts = [engine, *more]
    for value in vars(engine).values():
        parts.append(value)
        if isinstance(value, dict):
            parts.extend(value.values())
    return {id(part): part for part in parts if not isinstance(part, int | float | str | bool | None)}


def controller_state(controller: Any, world: dict[int, Any]) -> Any:
    own = getattr(controller, "snapshot", None)
    if callable(own):
        return deepcopy(own())
    return {
        name: deepcopy(value, dict(world))
        for name, value in getattr(controller, "__dict__", {}).items()
        if not belongs_to_the_world(value, world)
    }


def restore_controller(controller: Any, state: Any, world: dict[int, Any]) -> None:
    """Onto a controller that has been reset, so that what belongs to the world is in place."""
    own = getattr(controller, "restore", None)
    if callable(own):
        own(deepcopy(state))
        return
    for name in [name for name, value in vars(controller).items() if not belongs_to_the_world(value, world)]:
        delattr(controller, name)
    vars(controller).update(deepcopy(state, dict(world)))


def to_plain(value: Any) -> Any:
    """Plain JSON data of numbers, strings, lists, dicts and arrays; TypeError for anything else."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            raise TypeError("an array of objects")
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": data, "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, np.generic):
        return to_plain(np.asarray(value))
    if isinstance(value, float):
        return {"float": value.hex()}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, tuple):
        return {"tuple": [to_plain(item) for item in value]}
    if isinstance(value, list):
        return [to_plain(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: to_plain(item) for key, item in value.items()}}
    raise TypeError(f"a {type(value).__name__}")


def from_plain(value: Any) -> Any:
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        dtype = np.dtype(value["dtype"])
        if dtype.hasobject:
            raise InputError("a snapshot holds an array of objects: refused")
        return np.frombuffer(base64.b64decode(value["array"]), dtype=dtype).reshape(value["shape"]).copy()
    if "float" in value:
        return float.fromhex(value["float"])
    if "tuple" in value:
        return tuple(from_plain(item) for item in value["tuple"])
    return {key: from_plain(item) for key, item in value["dict"].items()}


def encode(snapshot: Snapshot) -> bytes:
    controllers: dict[str, Any] = {}
    for name, state in snapshot.controllers.items():
        try:
            controllers[name] = to_plain(state)
        except TypeError:
            controllers[name] = None
    return json.dumps(
        {
            "step": snapshot.step,
            "seed": snapshot.seed,
            "arrays": to_plain(snapshot.engine.arrays),
            "rng": to_plain(snapshot.engine.rng),
            "controllers": controllers,
            "controller_rngs": to_plain(snapshot.controller_rngs),
            "driven_by_hand": list(snapshot.driven_by_hand),
            "deadlines": [list(item) for item in snapshot.deadlines],
        },
        separators=(",", ":"),
    ).encode()


def decode(data: bytes) -> Snapshot:
    try:
        plain = json.loads(data)
        return Snapshot(
            step=int(plain["step"]),
            seed=int(plain["seed"]),
            engine=EngineState(from_plain(plain["arrays"]), from_plain(plain["rng"])),
            controllers={name: from_plain(state) for name, state in plain["controllers"].items()},
            controller_rngs=from_plain(plain["controller_rngs"]),
            driven_by_hand=tuple(plain["driven_by_hand"]),
            deadlines=tuple((str(robot), int(step)) for robot, step in plain["deadlines"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"this is not a snapshot of a Botz run ({error})") from error
