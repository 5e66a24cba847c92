"""What Lophorina's propellers do to the arms that they turn on: two blades are flat, and not quite in their plane."""

from __future__ import annotations

from math import cos, hypot, pi, sin, sqrt

import mujoco
import numpy as np

from botz.verify.multibody.air import K
from botz.verify.multibody.rig import CORNERS, GRAVITY, lophorina, run_of

HOVER = sqrt(2.132 * GRAVITY / 4.0 / K)
"""Speed of Lophorina's propellers at hover [rad/s]."""


class Arm:
    """An arm about its tilt axis, with a propeller whose blades are flat: its inertia is M − D cos 2θ."""

    def __init__(self) -> None:
        matrices = [_mass_matrix(quarter * pi / 4.0) for quarter in range(4)]
        tilts = [_freedom(f"tilt_{corner}") for corner in CORNERS]
        turned = [float(mass[tilts[0], tilts[0]]) for mass in matrices]
        self.mean = sum(turned) / 4.0
        """M [kg·m²]."""
        self.swing = hypot(turned[0] - turned[2], turned[1] - turned[3]) / 2.0
        """D [kg·m²]."""
        self.crossed = sum(float(mass[3, tilts].sum()) for mass in matrices) / 4.0
        """Σ I_xy of all four: angular momentum about the body's x as they are turned at 1 rad/s [kg·m²]."""
        actuators = run_of(lophorina()).engine.tables.actuators
        servos = actuators[actuators["kind"] == 0]
        self.stiffness, self.damping = float(servos["proportional"].mean()), float(servos["derivative"].mean())
        """Of its servo [N·m/rad, N·m·s/rad]."""
        tensors = [_tensor(corner) for corner in CORNERS]
        self.products = sum(float(one[0, 2]) for one in tensors)
        """Σ I_xz of the propellers as they start [kg·m²]."""
        self.bent = sum(hypot(float(one[0, 2]), float(one[1, 2])) for one in tensors)
        """The same as far as it may be, at any angle of each."""

    def shaken(self, lever: float, inertia: float) -> float:
        """Rate by which bent blades shake the robot about an axis: they turn arms to and fro at I ω/M, and those turn
        the robot by `lever` [kg·m²] of their own rate."""
        return self.bent * HOVER / self.mean * lever / inertia

    def torque_per_rate(self, step: float, method: str) -> float:
        """What long steps make of the turning blades: the mean torque on the robot as its disc turns at 1 rad/s.

        In M u' + ω M' u = servo the momentum M u changes by the servo alone. A step takes M and M' at its begin, and u
        in ω M' u there or, if the method knows how that changes with u, at its end; over a turn of the blades
        the ripple of u then leaves ∓ω² h D²/M of u for short steps, and the servo hands it to the body. For steps of
        any length: the step's own rule for this one joint, 100 s of it."""
        ripple = angle = handed = 0.0
        count = round(100.0 / step)
        for k in range(count):
            turned = 2.0 * HOVER * step * k
            inertia = self.mean - self.swing * cos(turned)
            changing = 2.0 * HOVER * self.swing * sin(turned)
            effort = -changing * (1.0 + ripple) - self.damping * ripple - self.stiffness * angle
            known = self.damping + (changing if method == "implicit" else 0.0)
            ripple += step * effort / (inertia + step * known)
            handed += self.damping * ripple + self.stiffness * angle
            angle += step * ripple
        return handed / count


def _freedom(joint: str) -> int:
    model = run_of(lophorina()).engine.model
    return int(model.jnt_dofadr[model.joint(f"r/{joint}").id])


def _mass_matrix(angle: float) -> np.ndarray:
    """With all propellers turned by an angle; the body's own six freedoms come first."""
    run = run_of(lophorina(), start={f"spin_{corner}": angle for corner in CORNERS})
    run.row()
    model = run.engine.model
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, run.engine.data, mass)
    return mass


def _tensor(corner: str) -> np.ndarray:
    """Of a propeller about its own axes."""
    body, turn = run_of(lophorina()).engine.model.body(f"r/propeller_{corner}"), np.zeros(9)
    mujoco.mju_quat2Mat(turn, body.iquat)
    axes = turn.reshape(3, 3)
    return axes @ np.diag(body.inertia) @ axes.T
