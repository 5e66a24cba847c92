"""Force elements of the air: propellers and surfaces."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from botz.engines.multibody.elements.base import force_element
from botz.kernels import compiled
from botz.physics.aero.lift_drag import lift_drag
from botz.physics.aero.propeller import (
    across,
    across_drag,
    drag_torque,
    ground_factor,
    inflow_factor,
    lag_step,
    propeller_thrust,
)
from botz.rotations import cross, dot
from botz.scenario.multibody.elements import LiftDrag, Propeller

Triple = tuple[float, float, float]
WORLDS_DENSITY = -1.0
"""In place of a surface's own density of air."""


@dataclass(frozen=True)
class PropellerNumbers:
    a: float
    b: float
    c: float
    largest: float
    sense: float  # 1: turns about +axis, −1: about −axis
    lag_up: float
    lag_down: float
    drag_torque: float
    rotor_drag: float
    rolling_moment: float
    inflow_loss: float
    radius: float  # 0: no ground effect

    @classmethod
    def of(cls, spec: Propeller) -> PropellerNumbers:
        a, b, c = spec.curve if spec.curve is not None else (0.0, 0.0, spec.coefficient or 0.0)
        return cls(
            a, b, c,
            largest=inf if spec.max_force is None else spec.max_force,
            sense=1.0 if spec.sense == "ccw" else -1.0,
            lag_up=spec.lag_up, lag_down=spec.lag_down, drag_torque=spec.drag_torque, rotor_drag=spec.rotor_drag,
            rolling_moment=spec.rolling_moment, inflow_loss=spec.inflow_loss, radius=spec.radius or 0.0,
        )  # fmt: skip


@dataclass(frozen=True)
class SurfaceNumbers:
    forward: Triple  # three axes in the link's frame, of length 1 and across each other
    span: Triple
    up: Triple
    cp: Triple
    area: float
    a0: float
    cla: float
    cda: float
    cma: float
    alpha_stall: float
    cla_stall: float
    cda_stall: float
    cma_stall: float
    cd0: float
    radial: float
    density: float  # or WORLDS_DENSITY
    flap_slope: float

    @classmethod
    def of(cls, spec: LiftDrag) -> SurfaceNumbers:
        """`up` is what of `upward` is across `forward`: the two span a plane, and `forward` has angle 0 in it."""
        forward = np.array(spec.forward) / np.linalg.norm(spec.forward)
        span = np.cross(forward, spec.upward)
        span /= np.linalg.norm(span)
        up = np.cross(span, forward)
        return cls(
            _triple(forward), _triple(span), _triple(up), _triple(np.array(spec.cp)),
            area=spec.area, a0=spec.a0, cla=spec.cla, cda=spec.cda, cma=spec.cma, alpha_stall=spec.alpha_stall,
            cla_stall=spec.cla_stall, cda_stall=spec.cda_stall, cma_stall=spec.cma_stall, cd0=spec.cd0,
            radial=float(spec.radial_symmetry),
            density=WORLDS_DENSITY if spec.air_density is None else spec.air_density,
            flap_slope=spec.control_slope if spec.control_joint is not None else 0.0,
        )  # fmt: skip


def _triple(vector: np.ndarray) -> Triple:
    x, y, z = vector.tolist()
    return x, y, z


@compiled
def act(frame, fx, fy, fz, rx, ry, rz):
    """Add a force on the link at a point, r from its origin in the world's axes."""
    mx, my, mz = cross(rx, ry, rz, fx, fy, fz)
    frame.force[0] += fx
    frame.force[1] += fy
    frame.force[2] += fz
    frame.torque[0] += mx
    frame.torque[1] += my
    frame.torque[2] += mz


@compiled
def through_air(frame, rx, ry, rz):  # -> velocity through the air of the link's point at r from its origin
    wx, wy, wz = cross(frame.angular[0], frame.angular[1], frame.angular[2], rx, ry, rz)
    velocity, wind = frame.velocity, frame.wind
    return velocity[0] + wx - wind[0], velocity[1] + wy - wind[1], velocity[2] + wz - wind[2]


@compiled
def in_world(frame, vector):
    """A vector of the link's axes in the world's."""
    r, x, y, z = frame.rotation, vector[0], vector[1], vector[2]
    return (
        r[0, 0] * x + r[0, 1] * y + r[0, 2] * z,
        r[1, 0] * x + r[1, 1] * y + r[1, 2] * z,
        r[2, 0] * x + r[2, 1] * y + r[2, 2] * z,
    )


@compiled
def lagged_thrust(p, frame, target):
    """The thrust that follows `target`; a propeller that turns when the run begins has its thrust at once."""
    if p.lag_up <= 0.0 and p.lag_down <= 0.0:
        return target
    if frame.states[1] == 0.0:
        if frame.step <= 0.0:
            return target
        frame.states[0], frame.states[1] = target, 1.0
    elif frame.step > 0.0:
        frame.states[0] = lag_step(p.lag_up, p.lag_down, frame.states[0], target, frame.step)
    return frame.states[0]


@force_element(
    PropellerNumbers,
    states=2,
    reports=[
        ("thrust", "N", "force along the axle, by the thrust's direction"),
        ("torque", "N·m", "torque of the air about the joint's axis"),
    ],
    cached=True,
)
@compiled
def propeller(p, frame):
    """Thrust at the axle along it, drag torque about it, rotor drag and rolling moment across it."""
    axis, omega = frame.joint_axis, p.sense * frame.joint_speed
    nx, ny, nz = axis[0], axis[1], axis[2]
    rx = frame.joint_anchor[0] - frame.position[0]
    ry = frame.joint_anchor[1] - frame.position[1]
    rz = frame.joint_anchor[2] - frame.position[2]
    vx, vy, vz = through_air(frame, rx, ry, rz)
    steady = propeller_thrust(p.a, p.b, p.c, p.largest, omega)
    thrust = lagged_thrust(p, frame, steady)
    side = 1.0 if thrust >= 0.0 else -1.0
    thrust *= inflow_factor(p.inflow_loss, side * dot(nx, ny, nz, vx, vy, vz))
    thrust *= ground_factor(p.radius, frame.joint_anchor[2] - frame.ground, side * nz)
    thrust = min(max(thrust, -p.largest), p.largest)
    torque = p.sense * drag_torque(p.drag_torque, steady)
    vx, vy, vz = across(nx, ny, nz, vx, vy, vz)
    dx, dy, dz = across_drag(p.rotor_drag, omega, vx, vy, vz)
    mx, my, mz = across_drag(p.rolling_moment, omega, vx, vy, vz)
    act(frame, thrust * nx + dx, thrust * ny + dy, thrust * nz + dz, rx, ry, rz)
    frame.torque[0] += torque * nx + mx
    frame.torque[1] += torque * ny + my
    frame.torque[2] += torque * nz + mz
    frame.reports[0] = thrust
    frame.reports[1] = torque


@force_element(
    SurfaceNumbers,
    reports=[
        ("lift", "N", "across the velocity in the surface's plane"),
        ("drag", "N", "against the velocity"),
        ("alpha", "rad", "angle of attack, a0 included"),
    ],
    cached=True,
)
@compiled
def surface(p, frame):
    """Lift and drag at the centre of pressure, and the pitching moment."""
    fx, fy, fz = in_world(frame, p.forward)
    sx, sy, sz = in_world(frame, p.span)
    ux, uy, uz = in_world(frame, p.up)
    rx, ry, rz = in_world(frame, p.cp)
    vx, vy, vz = through_air(frame, rx, ry, rz)
    density = p.density if p.density >= 0.0 else frame.air_density
    forward, span, up, m_forward, m_span, m_up, lift, drag, alpha = lift_drag(
        p, dot(fx, fy, fz, vx, vy, vz), dot(sx, sy, sz, vx, vy, vz), dot(ux, uy, uz, vx, vy, vz),
        density, p.flap_slope * frame.joint_position,
    )  # fmt: skip
    act(
        frame,
        forward * fx + span * sx + up * ux, forward * fy + span * sy + up * uy, forward * fz + span * sz + up * uz,
        rx, ry, rz,
    )  # fmt: skip
    frame.torque[0] += m_forward * fx + m_span * sx + m_up * ux
    frame.torque[1] += m_forward * fy + m_span * sy + m_up * uy
    frame.torque[2] += m_forward * fz + m_span * sz + m_up * uz
    frame.reports[0] = lift
    frame.reports[1] = drag
    frame.reports[2] = alpha
