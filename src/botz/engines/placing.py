"""What every family needs to set the state of one robot: its arguments checked, and nothing changed by an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from botz.channels import command_numbers
from botz.engines.base import Engine
from botz.errors import InputError, Problem
from botz.scenario.names import closest


@contextmanager
def all_or_nothing(engine: Engine) -> Iterator[None]:
    """The state as it was, where what happens inside raises an error."""
    before = {name: array.copy() for name, array in engine.state_arrays().items()}
    try:
        yield
    except BaseException:
        for name, array in engine.state_arrays().items():
            array[...] = before[name]
        raise


def given_joints(
    robot: str, joints: Mapping[str, Any] | None, known: Mapping[str, Any]
) -> dict[str, tuple[float, float | None]]:
    """Position and velocity, where one is given, of each joint."""
    if joints is None:
        return {}
    if not isinstance(joints, Mapping):
        raise InputError(Problem(f"joints is a mapping of names to positions, not {joints!r}", key=robot))
    settings: dict[str, tuple[float, float | None]] = {}
    for name, value in joints.items():
        if name not in known:
            choices = f"; it has {', '.join(known)}" if known else "; it has none"
            raise InputError(Problem(f"no joint {name!r}{closest(name, known) or choices}", key=robot))
        key = f"{robot}/{name}"
        if np.ndim(value) == 0:
            settings[name] = float(command_numbers(value, 1, key)[0]), None
        else:
            position, velocity = command_numbers(value, 2, f"{key} (position, velocity)").tolist()
            settings[name] = position, velocity
    return settings
