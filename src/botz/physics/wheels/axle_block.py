"""Axles with motor, gear and friction, four side by side in `model`, `state` and `work`, as in wheel_block.py.

An axle turns one wheel or several alike. Its state is the momentum p = A ω + a Ω·t that belongs to its absolute speed
ω, with A = I + G² J_r and a = G (1 − G) J_r for wheels of inertia I and a rotor of J_r behind a gear of ratio G, whose
own absolute speed is G ω + (1 − G) Ω·t. Then ṗ is the torque, whatever the body does.
"""

from __future__ import annotations

from botz.kernels import of_lane, on_lanes, record, words
from botz.physics.wheels.dc_motor import gear_torque, motor_current
from botz.physics.wheels.lugre import lugre
from botz.physics.wheels.wheel_block import FOUR, LANES

AXLE_MODEL = record(**dict.fromkeys(words("""
    present free inverse_inertia coupling spin_share inertia rotor ratio efficiency torque_constant back_emf
    resistance resistance_inverse current_limit largest_voltage input named
    sigma0 sigma1 sigma2 coulomb static v_stribeck k_v continuous
"""), FOUR))  # fmt: skip

AXLE_STATE = record(
    **dict.fromkeys(
        # momentum, bristles of the friction, angle turned
        words("p p_lost z angle angle_lost")
        # what can be observed: of the step that led to the present state
        + words("voltage current torque friction"),
        FOUR,
    )
)

AXLE_WORK = record(**dict.fromkeys(words("omega relative load total z_rate"), FOUR))


@on_lanes
def spin_momentum(model, state):
    """What the axles' momenta hold of the angular momentum about t: Σ p (I + G J_r)/A."""
    total = 0.0
    for i in range(LANES):
        total += state.p[i] * model.spin_share[i]
    return total


@on_lanes
def axle_speeds(model, state, work, pitching):
    for i in range(LANES):
        axle_speed(model, state, work, pitching, i)


@of_lane
def axle_speed(model, state, work, pitching, i):
    """Absolute speeds from the momenta, and those against the body; a locked axle turns with it."""
    omega = state.p[i] * model.inverse_inertia[i] - model.coupling[i] * pitching
    work.omega[i] = omega
    work.relative[i] = omega - pitching


@on_lanes
def battery_sums(model, work, inputs, battery, bus):  # -> Σ d K ω / R, Σ d² / R, power of the limited motors, room
    """Parts of the battery's voltage under load; d is the share of it that each motor's driver passes on.

    A driver at its current limit draws the power i (R i + K ω) whatever the voltage; which ones are at it follows from
    `bus`. As long as the voltage changes by less than `room`, these are the same ones.
    """
    drive, conductance, power, room = 0.0, 0.0, 0.0, 1e300
    for i in range(LANES):
        limit = model.largest_voltage[i]
        wanted = inputs[int(model.input[i])] if model.input[i] >= 0.0 else 0.0
        share = min(max(wanted, -limit), limit) / battery
        emf = model.back_emf[i] * work.relative[i]
        current = (share * bus - emf) * model.resistance_inverse[i]
        edge = abs(abs(share * bus - emf) - model.resistance[i] * model.current_limit[i])
        room = min(room, edge) if model.input[i] >= 0.0 else room
        if abs(current) > model.current_limit[i]:
            current = model.current_limit[i] if current > 0.0 else -model.current_limit[i]
            power += current * (model.resistance[i] * current + emf)
        else:
            drive += share * emf * model.resistance_inverse[i]
            conductance += share * share * model.resistance_inverse[i]
    return drive, conductance, power, room


@on_lanes
def set_voltages(model, state, inputs, sag):
    for i in range(LANES):
        set_voltage(model, state, inputs, sag, i)


@of_lane
def set_voltage(model, state, inputs, sag, i):
    """Voltages as commanded, within what each motor takes, times the battery's sag (1: none)."""
    limit = model.largest_voltage[i]
    wanted = inputs[int(model.input[i])] if model.input[i] >= 0.0 else 0.0
    state.voltage[i] = min(max(wanted, -limit), limit) * sag


@on_lanes
def axle_torques(model, state, work, dt):
    for i in range(LANES):
        axle_torque(model, state, work, dt, i)


@of_lane
def axle_torque(model, state, work, dt, i):
    """Motor, gear and friction; `load` is what the wheels' forces take, −Σ r F_x."""
    relative = work.relative[i]
    current = motor_current(
        model.resistance_inverse[i], model.back_emf[i], model.current_limit[i], state.voltage[i], relative
    )
    torque = gear_torque(model.ratio[i], model.efficiency[i], model.torque_constant[i] * current, relative)
    friction, rate = lugre(
        model.sigma0[i], model.sigma1[i], model.sigma2[i], model.coulomb[i], model.static[i],
        model.v_stribeck[i], model.k_v[i], model.continuous[i], state.z[i], relative, dt,
    )  # fmt: skip
    # A driver at its current limit passes just the voltage on that this current takes.
    limited = abs(current) >= model.current_limit[i]
    needed = model.resistance[i] * current + model.back_emf[i] * relative
    state.voltage[i] = needed if limited else state.voltage[i]
    state.current[i] = current
    state.torque[i] = torque
    state.friction[i] = friction
    work.z_rate[i] = rate
    state.z[i] += dt * rate
    work.total[i] = (torque - friction + work.load[i]) * model.free[i]
