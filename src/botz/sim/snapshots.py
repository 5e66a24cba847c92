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
    """Everything a simulation needs to continue bit for bit. `Simulation.snapshot` makes it.

    >>> state = sim.snapshot()
    >>> state.step, state.seed
    (0, 0)
    """

    step: int
    """The count of steps."""
    seed: int
    """The seed of the run."""
    engine: EngineState
    """The engine's state: its arrays and its random generator."""
    controllers: dict[str, Any]
    """State of each controller by name, or None where it cannot be copied or a recording could not hold it."""
    controller_rngs: dict[str, dict[str, Any]]
    """State of each controller's random generator, by the controller's name."""
    driven_by_hand: tuple[str, ...] = ()
    """Robots that the caller has taken control of."""
    deadlines: tuple[tuple[str, int], ...] = ()
    """Robots under outside commands and the step at which these run out."""


BIT_GENERATORS = {kind.__name__: kind for kind in (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937,
                                                   np.random.Philox, np.random.SFC64)}  # fmt: skip
LARGEST_STEP = 1 << 62


def fixed_parts(controller: Any) -> list[Any]:
    """Frozen objects that a controller holds after its reset, as its settings. As long as an attribute holds the very
    same one it is not state, and a recording need not know how to write it."""

    def is_frozen(value: Any) -> bool:
        return is_dataclass(value) and bool(value.__dataclass_params__.frozen)  # type: ignore[union-attr]

    values = getattr(controller, "__dict__", {}).values()
    return [value for value in values if is_frozen(value) or isinstance(value, BaseModel)]


def parts_of_world(engine: Any, *more: Any) -> dict[int, Any]:
    """The engine and what it holds, by identity: copies of a controller's state refer to these and do not copy them."""
    parts = [engine, *more]
    for value in vars(engine).values():
        parts.append(value)
        if isinstance(value, dict):
            parts.extend(value.values())

    def is_nobodys(part: Any) -> bool:
        """Python keeps only one of each small number and one empty tuple."""
        return isinstance(part, int | float | str | None) or (isinstance(part, tuple) and not part)

    return {id(part): part for part in parts if not is_nobodys(part)}


def controller_state(controller: Any, world: dict[int, Any]) -> Any:
    own = getattr(controller, "snapshot", None)
    if callable(own):
        return deepcopy(own())
    attributes = getattr(controller, "__dict__", {})
    try:
        return deepcopy({name: value for name, value in attributes.items() if id(value) not in world}, dict(world))
    except Exception:  # an open file, a lock, a socket: nothing that could be brought back
        return None


def restore_controller(controller: Any, state: Any, world: dict[int, Any]) -> None:
    """Onto a controller that has been reset, so that what belongs to the world is in place."""
    own = getattr(controller, "restore", None)
    if callable(own):
        own(deepcopy(state))
        return
    for name in [name for name, value in vars(controller).items() if id(value) not in world]:
        delattr(controller, name)
    vars(controller).update(deepcopy(state, dict(world)))


def to_plain(value: Any) -> Any:
    """Plain JSON data of numbers, strings, lists, dicts and arrays; TypeError for anything else."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            raise TypeError("an array of objects")
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": data, "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, np.random.Generator) and type(value.bit_generator).__name__ in BIT_GENERATORS:
        return {"generator": to_plain(dict(value.bit_generator.state))}
    if isinstance(value, np.generic):
        return {"scalar": to_plain(np.asarray(value))}
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
    if "scalar" in value:
        return from_plain(value["scalar"])[()]
    if "generator" in value:
        state = from_plain(value["generator"])
        bits = BIT_GENERATORS[state["bit_generator"]]()
        bits.state = state
        return np.random.Generator(bits)
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
        snapshot = Snapshot(
            step=int(plain["step"]),
            seed=int(plain["seed"]),
            engine=EngineState(from_plain(plain["arrays"]), from_plain(plain["rng"])),
            controllers={name: from_plain(state) for name, state in plain["controllers"].items()},
            controller_rngs=from_plain(plain["controller_rngs"]),
            driven_by_hand=tuple(plain["driven_by_hand"]),
            deadlines=tuple((str(robot), int(step)) for robot, step in plain["deadlines"]),
        )
        if not all(isinstance(part, dict) for part in (snapshot.engine.arrays, snapshot.engine.rng)):
            raise ValueError("its state is not a table of arrays")
        if not all(0 <= number < LARGEST_STEP for number in (snapshot.step, *dict(snapshot.deadlines).values())):
            raise ValueError(f"step {snapshot.step}")
        return snapshot
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise InputError(f"this is not a snapshot of a Botz run ({error})") from error
