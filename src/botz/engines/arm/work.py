"""What a step of engine `arm` works with: written before it is read in every step, never saved."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from botz.engines.arm.boxes import PATCH
from botz.engines.arm.model import LANES, POSE, Model
from botz.kernels import record, words
from botz.physics.arm.chain_block import BLOCK
from botz.physics.arm.dh import LINK, SCRATCH

TOUCH = record(
    **dict.fromkeys(words("rx ry rz vx vy vz sx sy sz depth nx ny nz ux uy uz fx fy fz"), (np.float64, LANES))
)
"""Points of a tool side by side: displacement from the tool's point, velocity; against a surface velocity, depth,
normal, deflection and force."""


class Work(NamedTuple):
    # Of all joints, one arm after the other.
    q_start: np.ndarray
    qd_start: np.ndarray
    q_sum: np.ndarray
    qd_sum: np.ndarray
    """Weighted sums of the stages' speeds and accelerations."""
    torque: np.ndarray
    """Of the actuators in this step."""
    acceleration: np.ndarray
    scratch: np.ndarray
    frames: np.ndarray
    """Of each arm one row more than joints: the tool's is the last."""
    blocks: np.ndarray
    """The links of each arm side by side."""
    # Of one arm at a time.
    load: np.ndarray
    zero: np.ndarray
    inertia: np.ndarray
    """(n + 1, n) for the largest arm; the last row is what `hold_at_stops` notes."""
    known: np.ndarray
    """The links as its servo knows them, with what its gripper holds."""
    touch: np.ndarray
    # Of all boxes, or of the objects.
    stages: np.ndarray
    """Poses at the start of the step, their rates in this stage, sum of the rates: (3, k, 13)."""
    axes: np.ndarray
    loads: np.ndarray
    """Force and moment on each box (world axes), those that do not move too: (k, 6)."""
    patch: np.ndarray
    """The points at which two boxes touch, and which of them do."""


def make_work(model: Model) -> Work:
    total, arms, boxes = len(model.joints), len(model.units), len(model.boxes)
    largest, moving = int(model.units["n"].max()), boxes - len(model.fixed_poses)
    return Work(
        q_start=np.zeros(total),
        qd_start=np.zeros(total),
        q_sum=np.zeros(total),
        qd_sum=np.zeros(total),
        torque=np.zeros(total),
        acceleration=np.zeros(total),
        scratch=np.zeros(total, dtype=SCRATCH),
        frames=np.zeros((total + arms, 12)),
        blocks=np.zeros(arms, dtype=BLOCK),
        load=np.zeros(largest),
        zero=np.zeros(largest),
        inertia=np.zeros((largest + 1, largest)),
        known=np.zeros(largest, dtype=LINK),
        touch=np.zeros(max(int(model.units["blocks"].max()), 1), dtype=TOUCH),
        stages=np.zeros((3, moving, POSE)),
        axes=np.zeros((moving, 9)),
        loads=np.zeros((boxes, 6)),
        patch=np.zeros((2 * PATCH, 6)),
    )
