"""What the engine `kinematics` carries from one step to the next but the commands: what a snapshot holds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from botz.engines.kinematics.model import REAL, VECTOR, Model
from botz.kernels import record

ROBOT_STATE = record(pose=VECTOR, odometry_pose=VECTOR, odometry_twist=VECTOR)

WHEEL_STATE = record(angle=REAL, second=REAL, slip=REAL, ticks=(REAL, 2), odometry_second=REAL)
"""`second` is the pivot of a castor, the rollers of a Swedish wheel, a ball's rotation to its left; `ticks` and
`odometry_second` belong to the last reading of the encoders."""

GROUP_STATE = record(steering=REAL, steering_rate=REAL, odometry_steering=REAL)


class State(NamedTuple):
    """Records in the order of those of the model."""

    robots: np.ndarray
    wheels: np.ndarray
    groups: np.ndarray

    def fields(self) -> dict[str, np.ndarray]:
        """One array per quantity, views of the records."""
        return {name: records[name] for records in self for name in records.dtype.names or ()}


def new_state(model: Model) -> tuple[State, np.ndarray]:
    """The records, and the bytes that they all lie in."""
    kinds = (ROBOT_STATE, WHEEL_STATE, GROUP_STATE)
    sizes = [own.size * kind.itemsize for own, kind in zip(model, kinds, strict=False)]
    memory = np.zeros(sum(sizes), np.uint8)
    parts = np.split(memory, np.cumsum(sizes)[:-1])
    return State(*(part.view(kind) for part, kind in zip(parts, kinds, strict=True))), memory


def start(state: State, model: Model, poses: list[tuple[float, float, float]]) -> None:
    """Robots at these poses, where odometry begins as well; all angles 0."""
    for records in state:
        records[...] = np.zeros((), records.dtype)
    state.robots["pose"] = state.robots["odometry_pose"] = poses
    state.wheels["slip"] = model.wheels["slip_mean"]
