"""Serial arms in plain NumPy, straight from the scenario's parameters: products of elementary transforms, and energies.

Everything here also takes complex joint variables. The imaginary part of f(q + ihv)/h with a tiny h is the derivative
of f along v without any difference, exact to rounding: what the compiled recursions are compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from botz.scenario.arm.schema import Arm, Body, PlacedArm
from botz.scenario.arm.world import Water

TINY = 1e-30
"""Step into the imaginary: its square is nothing beside 1."""


def about(axis: int, angle: Any) -> np.ndarray:
    """Turns about x, y or z (0, 1, 2): (…, 4, 4)."""
    angle = np.asarray(angle) + 0.0
    found = np.zeros((*angle.shape, 4, 4), dtype=angle.dtype)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    found[..., axis, axis] = found[..., 3, 3] = 1.0
    found[..., i, i] = found[..., j, j] = np.cos(angle)
    found[..., j, i] = np.sin(angle)
    found[..., i, j] = -np.sin(angle)
    return found


def along(axis: int, way: Any) -> np.ndarray:
    """Shifts along x, y or z: (…, 4, 4)."""
    way = np.asarray(way) + 0.0
    found = np.zeros((*way.shape, 4, 4), dtype=way.dtype)
    found[...] = np.eye(4)
    found[..., axis, 3] = way
    return found


def pose_matrix(pose: Sequence[float]) -> np.ndarray:
    """x, y, z, roll, pitch, yaw: yaw first."""
    x, y, z, roll, pitch, yaw = (np.asarray(value, dtype=float) for value in pose)
    return along(0, x) @ along(1, y) @ along(2, z) @ about(2, yaw) @ about(1, pitch) @ about(0, roll)


def inertia_of(body: Body) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = [*body.inertia, 0.0, 0.0, 0.0][:6]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def derivative(f: Callable[[np.ndarray], np.ndarray], q: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Of f at q along a direction, by a complex step."""
    return np.asarray(f(q + 1j * TINY * direction).imag / TINY)


def gradient(f: Callable[[np.ndarray], np.ndarray], q: np.ndarray) -> np.ndarray:
    """∂f/∂q_k, k last."""
    return np.stack([derivative(f, q, unit) for unit in np.eye(q.shape[-1])], axis=-1)


@dataclass(frozen=True)
class Chain:
    """An arm: its rows, and the bodies of its frames, of which the last is the tool's."""

    robot: Arm
    base: np.ndarray
    tool: np.ndarray
    gravity: np.ndarray
    density: float
    current: np.ndarray

    @classmethod
    def of(cls, robot: Arm, gravity: Sequence[float], water: Water | None = None) -> Chain:
        return cls(
            robot=robot,
            base=pose_matrix(robot.pose if isinstance(robot, PlacedArm) else [0.0] * 6),
            tool=pose_matrix([*robot.tool.position, *robot.tool.attitude]),
            gravity=np.array(gravity, dtype=float),
            density=water.density if water else 0.0,
            current=np.array(water.current if water else [0.0, 0.0, 0.0], dtype=float),
        )

    @property
    def n(self) -> int:
        return len(self.robot.joints)

    @property
    def reach(self) -> float:
        """All lengths in a line [m]: what an error of position is measured by."""
        lengths = sum(abs(joint.a) + abs(joint.d) for joint in self.robot.joints.values())
        return float(lengths + np.linalg.norm(self.tool[:3, 3]) + np.linalg.norm(self.base[:3, 3]))

    @property
    def bodies(self) -> list[Body]:
        """Of frames 1 … n, and the payload of the tool's."""
        return [*self.robot.joints.values(), self.robot.payload]

    def frames(self, q: np.ndarray) -> np.ndarray:
        """Eqs. 3-1 and 3-2 factor by factor, in the world: base, links, tool: (N, n + 2, 4, 4)."""
        now = np.broadcast_to(self.base, (len(q), 4, 4))
        found = [now.astype(q.dtype)]
        for k, joint in enumerate(self.robot.joints.values()):
            turns = joint.type == "revolute"
            theta, d = (joint.theta + q[:, k], joint.d) if turns else (joint.theta, joint.d + q[:, k])
            now = now @ about(2, theta) @ along(2, d) @ along(0, joint.a) @ about(0, joint.alpha)
            found.append(now.astype(q.dtype))
        found.append(now @ self.tool)
        return np.stack(found, axis=1)

    def point(self, q: np.ndarray, frame: int, place: np.ndarray) -> np.ndarray:
        """A point of a frame in the world: (N, 3)."""
        return np.asarray((self.frames(q)[:, frame] @ np.append(place, 1.0))[:, :3])

    def columns(self, frames: np.ndarray, frame: int, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """J_v and J_ω of a point that moves with a frame: (N, 3, n) each."""
        velocity = np.zeros((len(point), 3, self.n), dtype=frames.dtype)
        turning = np.zeros_like(velocity)
        for j, joint in enumerate(self.robot.joints.values()):
            if j < frame:
                axis, origin = frames[:, j, :3, 2], frames[:, j, :3, 3]
                turns = joint.type == "revolute"
                velocity[:, :, j] = np.cross(axis, point - origin) if turns else axis
                turning[:, :, j] = axis if turns else 0.0
        return velocity, turning

    def inertia(self, q: np.ndarray) -> np.ndarray:
        """H = Σ m J_vᵀJ_v + J_ωᵀ R I Rᵀ J_ω over all bodies, and the rotors: (N, n, n)."""
        frames = self.frames(q)
        rotors = np.diag([joint.rotor_inertia for joint in self.robot.joints.values()])
        found = np.zeros((len(q), self.n, self.n), dtype=q.dtype) + rotors
        for k, body in enumerate(self.bodies):
            turn = frames[:, k + 1, :3, :3]
            centre = frames[:, k + 1, :3, 3] + turn @ np.array(body.centre)
            velocity, turning = self.columns(frames, k + 1, centre)
            spun = turn.swapaxes(1, 2) @ turning
            found += body.mass * velocity.swapaxes(1, 2) @ velocity + spun.swapaxes(1, 2) @ inertia_of(body) @ spun
        return found

    def potential(self, q: np.ndarray) -> np.ndarray:
        """U = −Σ (m p_c − ρ V p_b)·g: (N)."""
        frames = self.frames(q)
        found = np.zeros(len(q), dtype=q.dtype)
        for k, body in enumerate(self.bodies):
            turn, origin = frames[:, k + 1, :3, :3], frames[:, k + 1, :3, 3]
            found = found - body.mass * (origin + turn @ np.array(body.centre)) @ self.gravity
            if k < self.n:
                water = list(self.robot.joints.values())[k].water
                middle = origin + turn @ np.array(water.centre)
                found = found + self.density * water.volume * (middle @ self.gravity)
        return found

    def drag(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Torques that overcome the drag: Σ J_bᵀ R ½ ρ C_d A |v| v, v in each link's axes: (N, n)."""
        frames = self.frames(q)
        found = np.zeros((len(q), self.n))
        for k, joint in enumerate(self.robot.joints.values()):
            place = np.array(joint.water.centre)
            turn = frames[:, k + 1, :3, :3]
            middle = frames[:, k + 1, :3, 3] + turn @ place
            velocity, _ = self.columns(frames, k + 1, middle)
            against = np.einsum("nij,nj->ni", velocity, qd) - self.current
            own = np.einsum("nji,nj->ni", turn, against)
            force = np.einsum("nij,nj->ni", turn, 0.5 * self.density * np.array(joint.water.drag_area) * abs(own) * own)
            found += np.einsum("nij,ni->nj", velocity, force)
        return found

    def inertia_slopes(self, q: np.ndarray) -> np.ndarray:
        """∂H/∂q_k: (N, n, n, n), k last."""
        return gradient(self.inertia, q)

    def coriolis(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """C by Christoffel's symbols: C_ij = ½ Σ_k (∂_k H_ij + ∂_j H_ik − ∂_i H_jk) q̇_k."""
        slopes = self.inertia_slopes(q)
        return np.asarray(
            0.5
            * (
                np.einsum("nijk,nk->nij", slopes, qd)
                + np.einsum("nikj,nk->nij", slopes, qd)
                - np.einsum("njki,nk->nij", slopes, qd)
            )
        )

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """The tool's J by complex steps of its pose alone: v = ṗ and [ω]× = Ṙ Rᵀ: (N, 6, n)."""
        turn = self.frames(q)[:, -1, :3, :3].real
        slopes = gradient(lambda at: self.frames(at)[:, -1], q)
        crossed = np.einsum("nijk,nlj->nilk", slopes[:, :3, :3, :], turn)
        turning = np.stack([crossed[:, 2, 1], crossed[:, 0, 2], crossed[:, 1, 0]], axis=1)
        return np.concatenate([slopes[:, :3, 3, :], turning], axis=1)
