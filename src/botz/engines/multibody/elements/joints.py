"""Force elements between the two links of a joint: DC motors and LuGre friction, as on the axles of vehicles."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from botz.engines.multibody.elements.base import force_element
from botz.kernels import compiled
from botz.physics.wheels.dc_motor import gear_torque, motor_current
from botz.physics.wheels.lugre import lugre
from botz.scenario.multibody.elements import DcMotorElement, LugreElement

HELD_WITHIN = 0.01
"""How far the joint gives way before the no-load friction of a motor holds it; no data sheet's [rad]."""


@dataclass(frozen=True)
class MotorNumbers:
    resistance_inverse: float
    torque_constant: float
    back_emf: float  # by the joint's speed, the gear included [V·s/rad]
    max_current: float
    max_voltage: float
    ratio: float
    efficiency: float
    friction: float  # K_t I_0 behind the gear [N·m]

    @classmethod
    def of(cls, spec: DcMotorElement) -> MotorNumbers:
        speed_constant = 1.0 / spec.torque_constant if spec.speed_constant is None else spec.speed_constant
        return cls(
            resistance_inverse=1.0 / spec.resistance,
            torque_constant=spec.torque_constant,
            back_emf=spec.gear_ratio / speed_constant,
            max_current=inf if spec.max_current is None else spec.max_current,
            max_voltage=spec.max_voltage,
            ratio=spec.gear_ratio,
            efficiency=spec.efficiency,
            # Behind the gear, so that the motor turning freely draws its no-load current and not that over the
            # efficiency.
            friction=spec.torque_constant * spec.no_load_current * spec.gear_ratio * spec.efficiency,
        )


@dataclass(frozen=True)
class FrictionNumbers:
    sigma0: float
    sigma1: float
    sigma2: float
    coulomb: float
    static: float
    v_stribeck: float
    k_v: float
    continuous: float

    @classmethod
    def of(cls, spec: LugreElement) -> FrictionNumbers:
        return cls(
            sigma0=spec.stiffness, sigma1=spec.damping, sigma2=spec.viscous, coulomb=spec.coulomb, static=spec.static,
            v_stribeck=spec.stribeck_speed, k_v=spec.steepness, continuous=float(spec.form == "continuous"),
        )  # fmt: skip


@compiled
def bristles(frame, sigma0, sigma1, sigma2, coulomb, static, v_stribeck, k_v, continuous):  # -> friction against v
    """LuGre friction of the joint's speed, its z in states[0].

    z moves on once in a step, implicitly, which no speed makes unstable; at the stages inside the step it stands, and
    the friction changes with the speed alone.
    """
    friction, rate = lugre(
        sigma0, sigma1, sigma2, coulomb, static, v_stribeck, k_v, continuous,
        frame.states[0], frame.joint_speed, frame.step,
    )  # fmt: skip
    frame.states[0] += frame.step * rate
    return friction


@force_element(
    MotorNumbers,
    inputs=[("voltage", "V", "voltage of the motor")],
    inputs_of="joint",
    states=1,
    reports=[("current", "A", "of the motor"), ("torque", "N·m", "at the joint")],
    joint_only=True,
    cached=True,
)
@compiled
def dc_motor(p, frame):
    """Torque of the motor behind its gear, less its friction."""
    speed = frame.joint_speed
    voltage = min(max(frame.inputs[0], -p.max_voltage), p.max_voltage)
    current = motor_current(p.resistance_inverse, p.back_emf, p.max_current, voltage, speed)
    torque = gear_torque(p.ratio, p.efficiency, p.torque_constant * current, speed)
    if p.friction > 0.0:
        # The winding's own braking damps these bristles.
        torque -= bristles(frame, p.friction / HELD_WITHIN, 0.0, 0.0, p.friction, p.friction, 1.0, 1.0, 0.0)
    frame.joint_effort += torque
    frame.reports[0] = current
    frame.reports[1] = torque


@force_element(FrictionNumbers, states=1, reports=[("torque", "N·m", "on the joint")], joint_only=True, cached=True)
@compiled
def joint_friction(p, frame):
    """LuGre friction against the joint's motion."""
    friction = bristles(
        frame, p.sigma0, p.sigma1, p.sigma2, p.coulomb, p.static, p.v_stribeck, p.k_v, p.continuous
    )  # fmt: skip
    frame.joint_effort -= friction
    frame.reports[0] = -friction
