"""Blocks of four axles against plain NumPy. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest
from vehicle_parts import Block

from botz.physics.wheels.axle_block import (
    AXLE_MODEL,
    AXLE_STATE,
    AXLE_WORK,
    axle_speeds,
    axle_torques,
    battery_sums,
    set_voltages,
    spin_momentum,
)
from botz.physics.wheels.dc_motor import gear_torque
from botz.physics.wheels.lugre import lugre

LOCKED = 2
"""The lane of a locked axle."""


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(51)


@pytest.fixture
def block(rng):
    """Two driven axles, a locked one and a free one, with momenta at random."""
    block = Block(AXLE_MODEL, AXLE_STATE, AXLE_WORK)
    block.present[:] = 1.0
    block.free[:] = [1, 1, 0, 1]
    block.inertia[:] = [0.012, 0.024, 0.0, 0.012]
    block.rotor[:] = [1e-4, 1e-4, 0.0, 0.0]
    block.ratio[:] = [40.0, 20.0, 1.0, 1.0]
    whole = block.inertia + block.ratio**2 * block.rotor
    cross = block.ratio * (1 - block.ratio) * block.rotor
    block.inverse_inertia[:] = np.where(block.free > 0, 1 / np.maximum(whole, 1e-9), 0.0)
    block.coupling[:] = np.where(block.free > 0, cross / np.maximum(whole, 1e-9), -1.0)
    block.spin_share[:] = np.where(
        block.free > 0, (block.inertia + block.ratio * block.rotor) / np.maximum(whole, 1e-9), 0
    )
    block.efficiency[:] = 0.85
    block.torque_constant[:] = [0.038, 0.038, 0.0, 0.0]
    block.back_emf[:] = [1.5, 0.75, 0.0, 0.0]
    block.resistance[:] = [1 / 15, 1 / 15, 0.0, 0.0]
    block.resistance_inverse[:] = [15.0, 15.0, 0.0, 0.0]
    block.current_limit[:] = [40.0, np.inf, 0.0, 0.0]
    block.largest_voltage[:] = [24.0, 12.0, 0.0, 0.0]
    block.input[:] = [1.0, 0.0, -1.0, -1.0]
    block.sigma0[:], block.sigma1[:], block.sigma2[:] = 200.0, 1.0, 0.1
    block.coulomb[:], block.static[:], block.v_stribeck[:], block.k_v[:] = 1.0, 1.5, 0.1, 1000.0
    block.p[:] = rng.uniform(-1, 1, 4)
    block.z[:] = rng.uniform(-0.005, 0.005, 4)
    return block


def test_speeds_come_back_from_the_momentum_that_they_make(block):
    """p = (I + G² J) ω + G (1 − G) J Ω·t, solved for ω; a locked axle turns with the body."""
    pitching = 0.7
    axle_speeds(*block.parts, pitching)
    ratio, rotor = block.ratio, block.rotor
    momentum = (block.inertia + ratio**2 * rotor) * block.omega + ratio * (1 - ratio) * rotor * pitching
    free = block.free > 0
    assert momentum[free] == pytest.approx(block.p[free], rel=1e-13)
    assert block.omega[LOCKED] == pitching
    assert block.relative == pytest.approx(block.omega - pitching, abs=1e-15)


def test_spin_momentum_is_that_of_wheels_and_rotors_without_the_bodys_part(block):
    """Σ I ω + J (G ω + (1 − G) Ω·t) at Ω·t = 0."""
    axle_speeds(*block.parts, 0.0)
    expected = np.sum((block.inertia + block.rotor * block.ratio) * block.omega)
    assert spin_momentum(block.model, block.state) == pytest.approx(expected, rel=1e-13)


def test_voltages_are_limited_and_sag_with_the_battery(block):
    for sag in (1.0, 0.8):
        set_voltages(block.model, block.state, np.array([100.0, -5.0]), sag)
        assert block.voltage == pytest.approx([-5.0 * sag, 12.0 * sag, 0.0, 0.0])


def test_sums_of_the_battery(block):
    """At share d of a bus U each motor draws d (d U − K ω)/R from it: the parts without and with U. One at its current
    limit I draws I (R I + K ω) whatever the bus."""
    axle_speeds(*block.parts, 0.0)
    emf = block.back_emf * block.relative
    shares = np.array([-2.0 / 24, 12.0 / 24, 0.0, 0.0])  # 20 V are more than the second takes
    parts = shares * emf * block.resistance_inverse, shares**2 * block.resistance_inverse
    block.current_limit[:] = np.inf
    drive, conductance, power, _ = battery_sums(block.model, block.work, np.array([20.0, -2.0]), 24.0, 24.0)
    assert (drive, conductance, power) == pytest.approx((parts[0].sum(), parts[1].sum(), 0.0), rel=1e-13)
    block.current_limit[1] = 20.0
    drive, conductance, power, _ = battery_sums(block.model, block.work, np.array([20.0, -2.0]), 24.0, 24.0)
    assert (12.0 - emf[1]) * block.resistance_inverse[1] > 20.0
    assert (drive, conductance) == pytest.approx((parts[0][0], parts[1][0]), rel=1e-13)
    assert power == pytest.approx(20.0 * (20.0 * block.resistance[1] + emf[1]), rel=1e-13)


def test_torques(block):
    axle_speeds(*block.parts, 0.3)
    set_voltages(block.model, block.state, np.array([6.0, 20.0]), 1.0)
    block.load[:] = [0.4, -0.2, 3.0, 0.1]
    before, dt = block.z.copy(), 1e-4
    emf = block.back_emf * block.relative
    free_current = (block.voltage - emf) * block.resistance_inverse
    axle_torques(*block.parts, dt)
    assert block.current == pytest.approx(np.clip(free_current, -block.current_limit, block.current_limit), abs=1e-12)
    for i in range(4):
        torque = gear_torque(block.ratio[i], 0.85, block.torque_constant[i] * block.current[i], block.relative[i])
        friction, rate = lugre(200.0, 1.0, 0.1, 1.0, 1.5, 0.1, 1000.0, 0.0, before[i], block.relative[i], dt)
        assert block.torque[i] == pytest.approx(torque, rel=1e-13)
        assert block.friction[i] == pytest.approx(friction, rel=1e-12)
        assert block.z[i] == pytest.approx(before[i] + dt * rate, rel=1e-12)
        assert block.total[i] == pytest.approx((torque - friction + block.load[i]) * block.free[i], rel=1e-12)
    assert block.total[LOCKED] == 0.0
    # The first is at its limit: its driver passes on what that current takes. The second gets what was commanded.
    assert abs(block.current[0]) == 40.0
    assert block.voltage[0] == pytest.approx(block.current[0] / 15 + emf[0], rel=1e-13)
    assert block.voltage[1] == 6.0
