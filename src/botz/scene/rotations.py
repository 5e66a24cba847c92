"""Rotations and poses where nothing is compiled: for readers and writers of model files, and for controllers."""

from __future__ import annotations

from math import sqrt

import numpy as np


def rotation_from_quaternion(w: float, x: float, y: float, z: float) -> np.ndarray:
    """The matrix of a quaternion, which need not have length 1."""
    # Plain floats: with four numbers they are several times as fast as NumPy's.
    w, x, y, z = float(w), float(x), float(y), float(z)
    size = sqrt(w * w + x * x + y * y + z * z)
    w, x, y, z = w / size, x / size, y / size, z / size
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of(rotation: np.ndarray) -> np.ndarray:
    """quat_wxyz of a matrix, by its largest component, which loses no digits; w ≥ 0."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = rotation
    # 4 q qᵀ; each row is a multiple of q.
    rows = np.array(
        [
            [1 + xx + yy + zz, zy - yz, xz - zx, yx - xy],
            [zy - yz, 1 + xx - yy - zz, xy + yx, xz + zx],
            [xz - zx, xy + yx, 1 - xx + yy - zz, yz + zy],
            [yx - xy, xz + zx, yz + zy, 1 - xx - yy + zz],
        ]
    )
    row = rows[int(np.argmax(np.diag(rows)))]
    row = row / np.linalg.norm(row)
    return -row if row[0] < 0.0 else row


def rotation_about(axis: np.ndarray, angle: float) -> np.ndarray:
    """By Rodrigues' formula; the axis has length 1."""
    x, y, z = axis
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * across + (1.0 - np.cos(angle)) * (across @ across)


def posed(rotation: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The 4x4 matrix."""
    found = np.eye(4)
    found[:3, :3] = rotation
    found[:3, 3] = place
    return found


def shifted(place: np.ndarray) -> np.ndarray:
    """The 4x4 matrix of a shift."""
    return posed(np.eye(3), place)


def inverse(pose: np.ndarray) -> np.ndarray:
    turn = pose[:3, :3].T
    return posed(turn, -turn @ pose[:3, 3])
