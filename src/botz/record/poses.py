"""Where a robot was, in one form for all families."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Poses:
    """Position and attitude of a frame in the world, sample by sample. `Recording.pose` makes it.

    >>> poses = rec.pose("rover")
    >>> poses.position.shape, poses.quat_wxyz.shape, poses.rotation.shape
    ((101, 3), (101, 4), (101, 3, 3))
    >>> round(float(poses.heading[-1]), 3)
    0.5
    """

    time: np.ndarray
    """(k) [s]"""
    position: np.ndarray
    """(k, 3) [m]; of a robot in the plane with z = 0."""
    quat_wxyz: np.ndarray
    """(k, 4), the scalar part first."""

    @property
    def rotation(self) -> np.ndarray:
        """Rotation matrices (k, 3, 3): columns are the frame's axes in the world."""
        w, x, y, z = self.quat_wxyz.T
        rows = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
        return np.moveaxis(np.array(rows), -1, 0)

    @property
    def heading(self) -> np.ndarray:
        """Direction of the frame's x axis seen from above (k), without jumps [rad]."""
        ahead = self.rotation[:, :, 0]
        return np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0]))


def poses_of(time: np.ndarray, values: np.ndarray) -> Poses:
    """Of (x, y, heading), or (x, y, z, quat_wxyz)."""
    if values.shape[1] == 7:
        return Poses(time, values[:, :3], values[:, 3:])
    half, zero = 0.5 * values[:, 2], np.zeros(len(values))
    turned = np.column_stack([np.cos(half), zero, zero, np.sin(half)])
    return Poses(time, np.column_stack([values[:, :2], zero]), turned)
