"""How fast servos, springs and dampers of a MuJoCo model are, and which method follows them with a step.

About a position, M a = −K q − D v, with K and D from differences of MuJoCo's own forces: actuators of any kind,
springs, dampers and tendons count together, as they act. A method is linear in q and v then, and what one step makes of
an error is a matrix whose largest eigenvalue says whether errors grow. Force elements are not in it: no method takes
their forces at the step's end.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np

Method = Literal["rk4", "euler", "implicit", "implicit-fast"]
METHODS: dict[str, mujoco.mjtIntegrator] = {
    "rk4": mujoco.mjtIntegrator.mjINT_RK4,
    "euler": mujoco.mjtIntegrator.mjINT_EULER,
    "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT,
    "implicit-fast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
}
AUTO = "auto"
MARGIN = 2.0
"""A method is chosen for a step if it follows one that much longer: inertias change as a robot moves."""
MOST = 300
"""Of more degrees of freedom the lightest are looked at, and the others count as at rest."""
GROWTH = 1e-3
"""Errors that grow by less in a step are rounding, or those of motion that keeps its energy."""


@dataclass(frozen=True, eq=False)
class Linearised:
    """Forces about a position, for the degrees of freedom `dofs`."""

    dofs: np.ndarray
    mass: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    passive: np.ndarray
    """Damping of the joints alone, of which Euler's method takes the value at the step's end."""

    def follows(self, method: str, step: float) -> bool:
        """Whether errors do not grow by the method itself; where the robot is unstable they may as it says."""
        values = self._modes()[0]
        natural = float(np.exp(step * max(0.0, values.real.max(initial=0.0))))
        return self.growth(method, step) < natural * (1.0 + GROWTH)

    def growth(self, method: str, step: float) -> float:
        """The factor by which the largest error grows in a step."""
        if not self.dofs.size:
            return 1.0
        if method == "rk4":
            z = step * self._modes()[0]
            return float(np.abs(1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4)))).max())
        # v' = v + h (M + h D_i)⁻¹ (−K q − D v) and q' = q + h v', where D_i is what is taken at the step's end.
        forces = -np.linalg.solve(self.mass + step * self._implicit(method), np.hstack([self.stiffness, self.damping]))
        n = self.dofs.size
        velocity = step * forces + np.hstack([np.zeros((n, n)), np.eye(n)])
        position = step * velocity + np.hstack([np.eye(n), np.zeros((n, n))])
        return float(np.abs(np.linalg.eigvals(np.vstack([position, velocity]))).max())

    def longest(self, method: str, step: float) -> float:
        """The longest step that the method follows with a margin, shorter than `step` by halves."""
        while step > 1e-9 and not self.follows(method, MARGIN * step):
            step /= 2
        return step

    def fastest(self) -> tuple[float, int]:
        """The fastest rate of all modes [rad/s], and the degree of freedom that moves most in it; −1: none."""
        values, vectors = self._modes()
        if not values.size:
            return 0.0, -1
        k = int(np.abs(values).argmax())
        n = self.dofs.size
        # Each degree of freedom weighed by its inertia, so that metres and radians compare.
        moved = np.abs(vectors[n:, k]) ** 2 * np.diag(self.mass)
        return float(abs(values[k])), int(self.dofs[moved.argmax()])

    def _implicit(self, method: str) -> np.ndarray:
        match method:
            case "euler":
                return self.passive
            case "implicit":
                return self.damping
            case _:
                return (self.damping + self.damping.T) / 2

    def _modes(self) -> tuple[np.ndarray, np.ndarray]:
        n = self.dofs.size
        if n == 0:
            return np.zeros(0, complex), np.zeros((0, 0))
        forces = -np.linalg.solve(self.mass, np.hstack([self.stiffness, self.damping]))
        values, vectors = np.linalg.eig(np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), forces]))
        return values, vectors


def linearised(model: mujoco.MjModel, qpos: np.ndarray, ctrl: np.ndarray | None = None) -> Linearised:
    """The model about a position, at rest. Limits of forces are left out: a servo at its limit is as fast when it
    comes back from there."""
    alone = copy(model)
    off = mujoco.mjtDisableBit
    alone.opt.disableflags |= int(off.mjDSBL_CONTACT) | int(off.mjDSBL_CONSTRAINT)
    alone.actuator_forcelimited[:] = 0
    alone.jnt_actfrclimited[:] = 0
    alone.tendon_actfrclimited[:] = 0
    data = mujoco.MjData(alone)
    data.qpos[:] = qpos
    if ctrl is not None:
        data.ctrl[:] = ctrl
    mujoco.mj_forward(alone, data)
    dofs = np.sort(np.argsort(-alone.dof_invweight0, kind="stable")[:MOST])
    full = np.zeros((alone.nv, alone.nv))
    if alone.nv:
        mujoco.mj_fullM(alone, data, full)

    def forces(position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        if position is not data.qpos:
            data.qpos[:] = position
            mujoco.mj_fwdPosition(alone, data)
        data.qvel[:] = velocity
        mujoco.mj_fwdVelocity(alone, data)
        mujoco.mj_fwdActuation(alone, data)
        return (data.qfrc_passive + data.qfrc_actuator)[dofs]

    n, rest = dofs.size, np.zeros(alone.nv)
    stiffness, damping = np.zeros((n, n)), np.zeros((n, n))
    # Small enough for servos with curves, large enough for digits: forces are linear in most models.
    small = 1e-5
    for k, dof in enumerate(dofs):
        ahead = rest.copy()
        ahead[dof] = small
        damping[:, k] = (forces(data.qpos, -ahead) - forces(data.qpos, ahead)) / (2 * small)
    for k, dof in enumerate(dofs):
        ends = []
        for sign in (-1.0, 1.0):
            moved, ahead = np.array(qpos, dtype=float), rest.copy()
            ahead[dof] = sign
            mujoco.mj_integratePos(alone, moved, ahead, small)
            ends.append(forces(moved, rest))
        stiffness[:, k] = (ends[0] - ends[1]) / (2 * small)
    euler = 0.0 if alone.opt.disableflags & int(off.mjDSBL_EULERDAMP) else 1.0
    passive = euler * np.diag(np.ravel(alone.dof_damping)[dofs])
    return Linearised(dofs, full[np.ix_(dofs, dofs)], stiffness, damping, passive)


def chosen(linear: Linearised, step: float) -> str:
    """The method for `auto` where no file names one: Runge-Kutta's, or where that cannot follow, the implicit one."""
    return "rk4" if linear.follows("rk4", MARGIN * step) else "implicit-fast"
