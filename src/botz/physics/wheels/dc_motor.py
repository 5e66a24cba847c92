"""DC motors by their data sheets ([virtualbotz] section 3.6)."""

from __future__ import annotations

from botz.kernels import inlined

BLEND_SPEED = 0.1
"""Speed of the wheel over which the gear's loss changes sides [rad/s]."""


@inlined
def motor_current(resistance_inverse, back_emf, limit, voltage, speed):
    """I = (V − K_e ω)/R within the driver's limit; the inductance is left out: its time constant is under 1 ms."""
    return min(max((voltage - back_emf * speed) * resistance_inverse, -limit), limit)


@inlined
def gear_torque(ratio, efficiency, torque, wheel_speed):
    """Torque at the wheel of a motor's torque. The gear takes its share of the power whichever way it flows.

    Driving, G η τ; driven, G τ/η. At rest, where no power flows, G τ; between the two it changes with the speed, so
    that the loss is never a gain.
    """
    flow = min(max(wheel_speed / BLEND_SPEED, -1.0), 1.0)
    flow = flow if torque >= 0.0 else -flow
    share = 1.0 + (efficiency - 1.0) * flow if flow >= 0.0 else 1.0 + (1.0 - 1.0 / efficiency) * flow
    return ratio * torque * share
