"""The tyres of a block of wheels against the formulas in NumPy. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest
from vehicle_parts import TABLES, lanes, shape, weight, wheels

from botz.physics.wheels.tyre_block import tyre_forces
from botz.physics.wheels.wheel_block import COULOMB, MAGIC

STATE = ("force_x", "force_y", "load", "moment_z", "u_x", "u_y", "kappa", "alpha")


def on_ground(kind, spring, v_x=0.0, v_y=0.0, rim_speed=None, b=(1.0, 0.0, 0.0), **changes):
    """Wheels pressed by these springs, moving over the ground with these speeds."""
    block = wheels(np.random.default_rng(1), kind, **changes)
    block.spring[:], block.v_x[:], block.v_y[:] = spring, v_x, v_y
    block.omega[:] = np.asarray(v_x if rim_speed is None else rim_speed) / block.radius
    block.b_n[:], block.b_t[:], block.b_l[:] = b
    return block


def settled(block, dt=0.05, steps=100):
    for _ in range(steps):
        tyre_forces(*block.parts, dt, dt)
    return block


def formula(load, kappa, alpha):
    """F_x and F_y of eqs. 3.25-3.38 on the friction ellipse, with load in N, κ as a ratio, α in radians."""
    kilo = load / 1000.0
    a, (c_x, c_y, _) = [0.0, *TABLES.longitudinal], TABLES.shapes
    d_x, e_x = a[1] * kilo**2 + a[2] * kilo, a[6] * kilo**2 + a[7] * kilo + a[8]
    b_x = (a[3] * kilo**2 + a[4] * kilo) * np.exp(-a[5] * kilo) / (c_x * d_x)
    a = [0.0, *TABLES.lateral]
    d_y, e_y = a[1] * kilo**2 + a[2] * kilo, a[6] * kilo**2 + a[7] * kilo + a[8]
    b_y = a[3] * np.sin(a[4] * np.arctan(a[5] * kilo)) / (c_y * d_y)
    combined = TABLES.combined
    slope_x = combined.b_x[0] * np.cos(np.arctan(combined.b_x[1] * kappa))
    slope_y = combined.b_y[0] * np.cos(np.arctan(combined.b_y[1] * alpha))
    f_x = d_x * weight(slope_x, combined.c_x, 0.0, 0.0, alpha) * shape(b_x, c_x, e_x, 100 * kappa)
    f_y = d_y * weight(slope_y, combined.c_y, 0.0, 0.0, kappa) * shape(b_y, c_y, e_y, np.degrees(alpha))
    excess = np.sqrt(max((f_x / d_x) ** 2 + (f_y / d_y) ** 2, 1.0))
    return f_x / excess, f_y / excess


# --- Magic Formula -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("slip", "sideways"), [(0.02, 0.0), (-0.3, 0.0), (0.0, 0.1), (0.1, -0.3), (-0.9, 2.0)])
def test_rolling_steadily_the_forces_are_the_formulas(slip, sideways):
    speeds = np.array([5.0, 5.0, -5.0, 2.0])
    rims = speeds * ((1.0 + slip) if slip < 0 else 1.0 / (1.0 - slip))  # (ωr − V)/max(|ωr|, |V|) = slip
    block = settled(on_ground(MAGIC, [80.0, 300.0, 300.0, 2500.0], speeds, sideways * speeds, rims))
    for i in lanes():
        kappa = (rims[i] - speeds[i]) / max(abs(rims[i]), abs(speeds[i]))
        alpha = -np.arctan2(sideways * speeds[i], abs(speeds[i]))
        assert block.kappa[i] == pytest.approx(kappa, rel=1e-9, abs=1e-12)
        assert block.alpha[i] == pytest.approx(alpha, rel=1e-9, abs=1e-12)
        expected = formula(block.spring[i], kappa, alpha)
        assert (block.force_x[i], block.force_y[i]) == pytest.approx(expected, rel=1e-4, abs=1e-6)
        assert block.load[i] == pytest.approx(block.spring[i], rel=1e-5)


def test_left_and_right_forward_and_back_mirror_each_other():
    speeds = np.array([3.0, -3.0, 3.0, -3.0])
    across = np.array([0.4, 0.4, -0.4, -0.4])
    block = settled(on_ground(MAGIC, 300.0, speeds, across, 1.1 * speeds))
    assert block.force_x == pytest.approx(block.force_x[0] * np.array([1, -1, 1, -1]), rel=1e-12)
    assert block.force_y == pytest.approx(block.force_y[0] * np.array([1, 1, -1, -1]), rel=1e-12)
    assert block.force_x[0] > 0.0
    assert block.force_y[0] < 0.0


def test_forces_balance_the_suspension_on_any_slope():
    """N b·n̂ + F·b = F_susp, to the balance's tolerance of 1e-5."""
    angles = np.radians([10.0, -20.0, 30.0, 15.0])
    block = on_ground(MAGIC, [100.0, 200.0, 300.0, 50.0], 1.0, [0.1, -0.2, 0.0, 0.3], [1.2, 0.7, 1.5, 1.0])
    block.b_n[:], block.b_t[:], block.b_l[:] = np.cos(angles), np.sin(angles) * 0.8, np.sin(angles) * 0.6
    settled(block)
    balance = block.load * block.b_n + block.force_x * block.b_t + block.force_y * block.b_l
    assert balance == pytest.approx(block.spring, rel=1e-4)
    assert np.all(block.load != block.spring)


def test_without_a_step_nothing_moves_on_and_the_balance_is_exact():
    block = settled(on_ground(MAGIC, 300.0, 1.0, 0.2, 1.3, b=(0.9, 0.3, 0.3)), steps=3)
    deflections = block.u_x.copy(), block.u_y.copy()
    tyre_forces(*block.parts, 0.0, 0.0)
    assert np.array_equal(block.u_x, deflections[0])
    assert np.array_equal(block.u_y, deflections[1])
    assert 0.9 * block.load + 0.3 * (block.force_x + block.force_y) == pytest.approx(block.spring, rel=1e-11)
    assert np.all(block.rate_x != 0.0)


def test_sliding_tyres_take_power_and_never_give_it():
    rng = np.random.default_rng(61)
    for _ in range(20):
        v_x, v_y, rim = rng.uniform(-3, 3, (3, 4))
        block = settled(on_ground(MAGIC, rng.uniform(10, 900, 4), v_x, v_y, rim))
        assert np.all(block.force_x * (v_x - rim) + block.force_y * v_y <= 1e-9)


def test_the_aligning_moment_turns_no_faster_than_the_lateral_slip_pays_for():
    block = on_ground(MAGIC, 900.0, 4.0, [0.05, 0.2, -0.2, 0.5], 4.0)
    block.spin_n[:] = [500.0, -500.0, 500.0, -500.0]
    settled(block)
    assert np.all(block.moment_z * block.spin_n <= np.maximum(-block.force_y * block.v_y, 0.0) + 1e-9)
    block.spin_n[:] = 0.0
    settled(block)
    assert np.all(block.moment_z != 0.0)


@pytest.mark.parametrize("kind", [COULOMB, MAGIC])
def test_in_the_air_nothing_is_left(kind):
    block = settled(on_ground(kind, 300.0, 1.0, 0.3, 1.2), steps=5)
    block.spring[:] = 0.0
    tyre_forces(*block.parts, 1e-3, 1e-3)
    for field in ("force_x", "force_y", "load", "moment_z", "u_x", "u_y"):
        assert np.all(block[field] == 0.0), field


def test_at_rest_the_tread_is_a_spring_that_holds_a_deflection():
    block = on_ground(MAGIC, 300.0, v_x=0.01)
    block.omega[:] = 0.0
    for _ in range(20):
        tyre_forces(*block.parts, 1e-3, 1e-3)
    assert np.all(block.force_x < 0.0)
    held = block.u_x.copy()
    block.v_x[:] = 0.0
    for _ in range(100):
        tyre_forces(*block.parts, 1e-3, 1e-3)
    assert block.u_x == pytest.approx(held, rel=1e-12)
    assert np.all(block.force_x < 0.0)


def test_shifts_of_nothing_change_nothing():
    plain, shifted = (on_ground(MAGIC, 300.0, 1.0, 0.3, 1.2) for _ in range(2))
    shifted.any_shift = 1
    settled(plain)
    settled(shifted)
    for field in STATE:
        assert shifted[field] == pytest.approx(plain[field], rel=1e-9, abs=1e-12), field
    shifted.shift_x[:] = 0.05
    settled(shifted)
    assert np.all(shifted.force_x != plain.force_x)


# --- Coulomb --------------------------------------------------------------------------------------------------------


def test_a_sticking_tyre_is_a_damped_spring():
    block = on_ground(COULOMB, 400.0)
    block.u_x[:], block.u_y[:], block.v_x[:], block.v_y[:] = 1e-3, -5e-4, 0.02, 0.01
    block.omega[:] = 0.0
    tyre_forces(*block.parts, 1e-4, 1e-4)
    c = 2 * 0.3 * np.sqrt(5e4 * 400.0 / 9.80665)
    assert block.force_x == pytest.approx([5e4 * (1e-3 - 2e-6) - c * 0.02] * 4, rel=1e-12)
    assert block.force_y == pytest.approx([5e4 * (-5e-4 - 1e-6) - c * 0.01] * 4, rel=1e-12)
    assert block.load == pytest.approx([400.0] * 4)
    assert np.all(block.sliding == 0.0)


def test_loose_it_slides_with_dynamic_friction_against_the_slip():
    block = on_ground(COULOMB, [100.0, 200.0, 300.0, 400.0], [1.0, -1.0, 0.5, 0.0], [0.0, 1.0, -0.5, 2.0], 0.0)
    settled(block, dt=1e-3, steps=300)
    slip = np.hypot(block.v_x, block.v_y)
    assert np.all(block.sliding == 1.0)
    assert block.force_x == pytest.approx(-0.7 * block.spring * block.v_x / slip, rel=1e-6, abs=1e-9)
    assert block.force_y == pytest.approx(-0.7 * block.spring * block.v_y / slip, rel=1e-6, abs=1e-9)


def test_it_breaks_loose_at_static_friction_and_holds_again_below_dynamic():
    block = on_ground(COULOMB, 100.0, tread_damping=0.0)
    block.u_x[:] = np.array([0.85, 0.95, 0.75, 0.65]) * 100.0 / 5e4
    block.sliding[2:] = 1.0
    tyre_forces(*block.parts, 1e-9, 1e-9)
    assert block.sliding.tolist() == [0.0, 1.0, 1.0, 0.0]
    assert block.force_x == pytest.approx([85.0, 70.0, 70.0, 65.0], rel=1e-6)


def test_friction_stays_inside_its_cone_and_balances_the_suspension():
    rng = np.random.default_rng(62)
    for _ in range(30):
        block = on_ground(COULOMB, rng.uniform(0, 500, 4), *rng.uniform(-2, 2, (3, 4)))
        tilt = rng.uniform(-0.5, 0.5, (2, 4))
        block.b_t[:], block.b_l[:] = tilt
        block.b_n[:] = np.sqrt(1 - np.sum(tilt**2, axis=0))
        for _ in range(5):
            tyre_forces(*block.parts, 1e-3, 1e-3)
        assert np.all(block.load >= 0.0)
        assert np.all(np.hypot(block.force_x, block.force_y) <= 0.9 * block.load * (1 + 1e-12) + 1e-9)
        balance = block.load * block.b_n + block.force_x * block.b_t + block.force_y * block.b_l
        assert balance == pytest.approx(block.spring, rel=1e-9, abs=1e-9)


# --- both -----------------------------------------------------------------------------------------------------------


def test_tyres_of_both_kinds_in_one_block_do_not_touch_each_other():
    speeds = {"spring": 300.0, "v_x": 1.0, "v_y": 0.3, "rim_speed": 1.2}
    alone = {kind: settled(on_ground(kind, **speeds), dt=1e-3) for kind in (COULOMB, MAGIC)}
    mixed = on_ground(COULOMB, **speeds)
    mixed.kind[:] = [COULOMB, MAGIC, COULOMB, 0.0]
    mixed.any_magic = 1
    mixed.tread_damping[:] = 0.3
    settled(mixed, dt=1e-3)
    for i, kind in ((0, COULOMB), (1, MAGIC), (2, COULOMB)):
        for field in STATE:
            assert mixed[field][i] == pytest.approx(alone[kind][field][i], rel=1e-9, abs=1e-12), (field, i)
    assert (mixed.force_x[3], mixed.force_y[3], mixed.load[3]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("dt", [0.0, 1e-9])
def test_tread_that_comes_in_with_a_growing_load_is_not_stretched(dt):
    """u N stays while the load grows, and u while it falls, in Runge-Kutta's stages and in steps."""
    for factor, left in ((2.0, 0.5), (0.5, 1.0)):
        block = on_ground(MAGIC, 300.0 * factor)
        block.omega[:] = 0.0
        block.u_x[:], block.load_before[:] = 2e-4, 300.0
        tyre_forces(*block.parts, dt, dt)
        assert block.bent_x == pytest.approx([left * 2e-4] * 4, rel=1e-6)


def test_loose_a_coulomb_tread_is_stretched_against_its_damper():
    """c u̇ + k u = F, also in Runge-Kutta's stages."""
    block = on_ground(COULOMB, 400.0, v_x=2.0)
    block.omega[:] = 0.0
    tyre_forces(*block.parts, 0.0, 1e-4)
    c = 2 * 0.3 * np.sqrt(5e4 * 400.0 / 9.80665)
    assert block.force_x == pytest.approx([-0.7 * 400.0] * 4, rel=1e-9)
    assert c * block.rate_x == pytest.approx(block.force_x, rel=1e-9)
