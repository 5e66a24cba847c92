"""Axles with motor, gear and friction, four side by side as in wheel_block.py.

An axle turns one wheel or several alike. Its state is the momentum p = A ω + a Ω·t that belongs to its absolute speed
ω, with A = I + G² J_r and a = G (1 − G) J_r for wheels of inertia I and a rotor of J_r behind a gear of ratio G, whose
own absolute speed is G ω + (1 − G) Ω·t. Then ṗ is the torque, whatever the body does.
"""

from __future__ import annotations

from botz.kernels import compiled, record, words
from botz.physics.wheels.dc_motor import gear_torque, motor_current
from botz.physics.wheels.lugre import lugre
from botz.physics.wheels.wheel_block import FOUR, LANES

_PARAMETERS = words("""
    present free inverse_inertia coupling spin_share inertia rotor ratio efficiency torque_constant back_emf
    resistance resistance_inverse current_limit largest_voltage input named
    sigma0 sigma1 sigma2 coulomb static v_stribeck k_v continuous
""")
_STATE = words("""
    p p_lost z angle angle_lost
""")
_WORK = words("""
    omega relative voltage current torque friction load total z_rate p_base z_base angle_base p_sum z_sum
    angle_sum
""")

AXLES = record(**dict.fromkeys(_PARAMETERS + _STATE + _WORK, FOUR))
STATE_FIELDS, WORK_FIELDS = tuple(_STATE), tuple(_WORK)


@compiled
def spin_momentum(block):
    """What the axles' momenta hold of the angular momentum about t: Σ p (I + G J_r)/A."""
    total = 0.0
    for i in range(LANES):
        total += block.p[i] * block.spin_share[i]
    return total


@compiled
def axle_speeds(block, pitching):
    """Absolute speeds from the momenta, and those against the body; a locked axle turns with it."""
    for i in range(LANES):
        omega = block.p[i] * block.inverse_inertia[i] - block.coupling[i] * pitching
        block.omega[i] = omega
        block.relative[i] = omega - pitching


@compiled
def battery_sums(block, inputs, battery, bus):  # -> Σ d K ω / R, Σ d² / R, power of the limited motors, room
    """Parts of the battery's voltage under load; d is the share of it that each motor's driver passes on.

    A driver at its current limit draws the power i (R i + K ω) whatever the voltage; which ones are at it follows from
    `bus`. As long as the voltage changes by less than `room`, these are the same ones.
    """
    drive, conductance, power, room = 0.0, 0.0, 0.0, 1e300
    for i in range(LANES):
        limit = block.largest_voltage[i]
        wanted = inputs[int(block.input[i])] if block.input[i] >= 0.0 else 0.0
        share = min(max(wanted, -limit), limit) / battery
        emf = block.back_emf[i] * block.relative[i]
        current = (share * bus - emf) * block.resistance_inverse[i]
        edge = abs(abs(share * bus - emf) - block.resistance[i] * block.current_limit[i])
        room = min(room, edge) if block.input[i] >= 0.0 else room
        if abs(current) > block.current_limit[i]:
            current = block.current_limit[i] if current > 0.0 else -block.current_limit[i]
            power += current * (block.resistance[i] * current + emf)
        else:
            drive += share * emf * block.resistance_inverse[i]
            conductance += share * share * block.resistance_inverse[i]
    return drive, conductance, power, room


@compiled
def set_voltages(block, inputs, sag):
    """Voltages as commanded, within what each motor takes, times the battery's sag (1: none)."""
    for i in range(LANES):
        limit = block.largest_voltage[i]
        wanted = inputs[int(block.input[i])] if block.input[i] >= 0.0 else 0.0
        block.voltage[i] = min(max(wanted, -limit), limit) * sag


@compiled
def axle_torques(block, dt):
    """Motor, gear and friction; `load` is what the wheels' forces take, −Σ r F_x."""
    for i in range(LANES):
        relative = block.relative[i]
        current = motor_current(
            block.resistance_inverse[i], block.back_emf[i], block.current_limit[i], block.voltage[i], relative
        )
        torque = gear_torque(block.ratio[i], block.efficiency[i], block.torque_constant[i] * current, relative)
        friction, rate = lugre(
            block.sigma0[i], block.sigma1[i], block.sigma2[i], block.coulomb[i], block.static[i],
            block.v_stribeck[i], block.k_v[i], block.continuous[i], block.z[i], relative, dt,
        )  # fmt: skip
        # A driver at its current limit passes just the voltage on that this current takes.
        limited = abs(current) >= block.current_limit[i]
        needed = block.resistance[i] * current + block.back_emf[i] * relative
        block.voltage[i] = needed if limited else block.voltage[i]
        block.current[i] = current
        block.torque[i] = torque
        block.friction[i] = friction
        block.z_rate[i] = rate
        block.z[i] += dt * rate
        block.total[i] = (torque - friction + block.load[i]) * block.free[i]
