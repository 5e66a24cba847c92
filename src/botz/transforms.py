"""Rotations and poses as matrices, where nothing is compiled: for files, scenes and controllers."""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np


def quaternion_from_attitude(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """quat_wxyz of a body turned by yaw about z, then by pitch about its y, then by roll about its x."""
    cr, sr = cos(0.5 * roll), sin(0.5 * roll)
    cp, sp = cos(0.5 * pitch), sin(0.5 * pitch)
    cy, sy = cos(0.5 * yaw), sin(0.5 * yaw)
    return (
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )


def rotation_of_unit(w: float, x: float, y: float, z: float) -> np.ndarray:
    """The matrix of a quaternion of length 1."""
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def rotation_from_quaternion(w: float, x: float, y: float, z: float) -> np.ndarray:
    """The matrix of a quaternion, which need not have length 1."""
    # Plain floats: with four numbers they are several times as fast as NumPy's.
    w, x, y, z = float(w), float(x), float(y), float(z)
    size = sqrt(w * w + x * x + y * y + z * z)
    return rotation_of_unit(w / size, x / size, y / size, z / size)


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """R_z(yaw) R_y(pitch) R_x(roll)."""
    cr, sr, cp, sp, cy, sy = cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rotation_from_attitude(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """The same by way of the quaternion, as arms and vehicles have it: the last bits differ."""
    return rotation_of_unit(*quaternion_from_attitude(roll, pitch, yaw))


def rpy_from_rotation(rotation: np.ndarray) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation matrix; at pitch ±90° the roll is 0."""
    pitch = float(np.arctan2(-rotation[2, 0], np.hypot(rotation[0, 0], rotation[1, 0])))
    if np.hypot(rotation[0, 0], rotation[1, 0]) < 1e-12:
        return 0.0, pitch, float(np.arctan2(-rotation[0, 1], rotation[1, 1]))
    return float(np.arctan2(rotation[2, 1], rotation[2, 2])), pitch, float(np.arctan2(rotation[1, 0], rotation[0, 0]))


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


def rotation_about(axis: np.ndarray, angle: float | np.ndarray) -> np.ndarray:
    """By Rodrigues' formula, one matrix or (…, 3, 3) for several angles; the axis has length 1."""
    x, y, z = axis
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = np.asarray(angle)[..., None, None]
    return np.eye(3) + np.sin(angle) * across + (1.0 - np.cos(angle)) * (across @ across)


def posed(rotation: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The 4x4 matrix."""
    found = np.eye(4)
    found[:3, :3] = rotation
    found[:3, 3] = place
    return found


def transform(x: float, y: float, z: float, roll: float, pitch: float, yaw: float) -> np.ndarray:
    """The 4x4 matrix of a pose."""
    return posed(rotation_from_rpy(roll, pitch, yaw), np.array([x, y, z]))


def shifted(place: np.ndarray) -> np.ndarray:
    """The 4x4 matrix of a shift."""
    return posed(np.eye(3), place)


def inverse(pose: np.ndarray) -> np.ndarray:
    turn = pose[:3, :3].T
    return posed(turn, -turn @ pose[:3, 3])
