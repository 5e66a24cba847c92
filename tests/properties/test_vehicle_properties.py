"""What holds of a vehicle's equations for any numbers: friction within its limits, passive parts that give nothing."""

from __future__ import annotations

from math import hypot

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from botz.physics.contact.penalty import penalty_force
from botz.physics.contact.terrain import GRID, height, height_and_slope
from botz.physics.wheels.dc_motor import gear_torque
from botz.physics.wheels.lugre import lugre
from botz.physics.wheels.suspension import suspension_energy, suspension_force
from botz.physics.wheels.tyre import load_of_balance, onto_ellipse, simple_weight, slip_cap

many = settings(deadline=None, max_examples=200)
numbers = st.floats(-1e3, 1e3)
positive = st.floats(1e-3, 1e4)
steps = st.floats(1e-7, 1.0)
speeds = st.lists(st.floats(-20.0, 20.0), min_size=1, max_size=60)


@st.composite
def bristles(draw):
    """sigma0, coulomb, static, v_stribeck, k_v."""
    coulomb = draw(st.floats(0.01, 50.0))
    return draw(positive), coulomb, coulomb * draw(st.floats(1.0, 3.0)), draw(st.floats(1e-3, 1.0)), draw(positive)


@many
@given(bristles(), speeds, steps, st.sampled_from([0.0, 1.0]))
def test_bristles_stay_within_the_static_force(numbers, way, dt, form):
    sigma0, coulomb, static, v_stribeck, k_v = numbers
    z = 0.0
    for v in way:
        _, rate = lugre(sigma0, 0.0, 0.0, coulomb, static, v_stribeck, k_v, form, z, v, dt)
        z += dt * rate
        assert sigma0 * abs(z) <= static * (1 + 1e-9)


@many
@given(bristles(), speeds, steps, st.floats(0.0, 10.0))
def test_plain_friction_gives_back_no_more_than_its_bristles_hold(numbers, way, dt, sigma2):
    """Each step: F v dt ≥ ½ σ₀ (z₁² − z₀²), so that over a closed cycle it only takes."""
    sigma0, coulomb, static, v_stribeck, k_v = numbers
    z = work = 0.0
    for v in way:
        force, rate = lugre(sigma0, 0.0, sigma2, coulomb, static, v_stribeck, k_v, 0.0, z, v, dt)
        before, z = z, z + dt * rate
        taken, stored = dt * force * v, 0.5 * sigma0 * (z * z - before * before)
        assert taken - stored >= -1e-9 * (abs(taken) + 0.5 * sigma0 * (z * z + before * before))
        work += taken
    assert work >= -1e-9 * (abs(work) + static)


@settings(deadline=None, max_examples=40)
@given(
    st.floats(0.1, 10.0), st.floats(1.0, 2.0), st.floats(0.01, 3.0), st.floats(0.5, 20.0), st.sampled_from([0.0, 1.0])
)
def test_friction_takes_energy_over_a_closed_cycle(coulomb, ratio, amplitude, frequency, form):
    """Speeds A cos(ωt) through a whole turn, once the bristles repeat themselves; both forms."""
    n, z, work = 400, 0.0, 0.0
    dt = 2 * np.pi / frequency / n
    for k in range(3 * n):
        v = amplitude * np.cos(frequency * k * dt)
        force, rate = lugre(100.0, 0.5, 0.1, coulomb, ratio * coulomb, 0.1, 100.0, form, z, v, dt)
        z += dt * rate
        work += dt * force * v if k >= 2 * n else 0.0
    assert work > 0.0


@many
@given(
    st.floats(10.0, 1e6), st.floats(0.0, 1e4), st.floats(0.0, 2.0), st.floats(0.0, 0.1),
    st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5), st.floats(-5, 5)), min_size=1, max_size=30), steps,
)  # fmt: skip
def test_a_pressed_point_has_friction_within_its_cone_which_takes_energy(stiffness, damping, friction, depth, way, dt):
    u = (0.0, 0.0, 0.0)
    for velocity in way:
        found = penalty_force((stiffness, damping, friction), depth, (0.0, 0.0, 1.0), tuple(velocity), tuple(u), dt)
        fx, fy, load, *new = found
        assert load >= 0.0
        assert hypot(fx, fy) <= friction * load * (1 + 1e-9) + 1e-9
        work = dt * (fx * velocity[0] + fy * velocity[1])
        held = 0.5 * stiffness * np.dot(new, new), 0.5 * stiffness * np.dot(u, u)
        assert work + held[0] - held[1] <= 1e-9 * (abs(work) + sum(held))
        u = tuple(new)


@many
@given(positive, st.floats(0.0, 1e4), st.floats(1e-3, 0.2), st.floats(0.0, 1e7), st.floats(-0.5, 0.5), numbers)
def test_a_suspension_never_pulls_and_its_damper_takes(stiffness, damping, travel, progression, h, dh):
    force = suspension_force(stiffness, damping, travel, progression, h, dh)
    assert force >= 0.0
    assert suspension_energy(stiffness, travel, progression, h) >= 0.0
    spring = suspension_force(stiffness, 0.0, travel, progression, h, 0.0)
    assert (force - spring) * dh >= 0.0


@many
@given(st.floats(0.1, 200.0), st.floats(0.05, 1.0), numbers, numbers)
def test_a_gear_gives_no_power(ratio, efficiency, torque, speed):
    """Nor does it turn a torque round."""
    found = gear_torque(ratio, efficiency, torque, speed)
    assert (ratio * torque - found) * speed >= -1e-12 * abs(ratio * torque * speed)
    assert found * torque >= 0.0


@many
@given(positive, positive, numbers, numbers)
def test_tyre_forces_stay_on_the_friction_ellipse(peak_x, peak_y, fx, fy):
    x, y = onto_ellipse(peak_x, peak_y, fx, fy)
    assert (x / peak_x) ** 2 + (y / peak_y) ** 2 <= 1 + 1e-12
    assert abs(x) <= abs(fx) and abs(y) <= abs(fy)
    assert x * fx >= 0.0 and y * fy >= 0.0


@many
@given(st.floats(0.0, 1e4), st.floats(0.01, 1.0), st.floats(-3.0, 3.0))
def test_a_load_is_never_a_pull_and_never_more_than_four_times_that_without_friction(force, b_n, friction):
    load = load_of_balance(force, b_n, friction)
    assert 0.0 <= load <= 4.0 * force / b_n * (1 + 1e-12)


@many
@given(st.floats(0.1, 50.0), st.floats(0.5, 2.0), st.floats(-3.0, 3.0))
def test_one_slip_takes_from_the_others_force_and_adds_nothing(b, c, x):
    assert 0.0 <= simple_weight(b, c, x) <= 1.0
    assert simple_weight(b, c, -x) == simple_weight(b, c, x)


@many
@given(st.floats(0.0, 1.0), st.floats(0.0, 2.0), st.floats(0.0, 50.0), st.floats(1e-3, 1.0))
def test_the_slip_of_a_tread_is_capped_between_the_peak_and_the_steady_slip(peak, steady, rolling, park):
    cap = slip_cap(peak, steady, rolling, park)
    assert peak <= cap <= max(peak, steady) * (1 + 1e-12)


@many
@given(st.integers(0, 2**32 - 1), st.floats(-5.0, 5.0), st.floats(-5.0, 5.0))
def test_heights_lie_between_those_of_the_grid_and_slopes_within_its_steps(seed, x, y):
    heights = np.random.default_rng(seed).uniform(-1.0, 1.0, (6, 5))
    grid = np.zeros(1, GRID)[0]
    grid.x_min, grid.y_min, grid.cells_x, grid.cells_y, grid.last_x, grid.last_y = -2.0, -1.0, 1.25, 2.0, 5, 4
    found, fx, fy = height_and_slope(heights, grid, x, y)
    assert abs(found - height(heights, grid, x, y)) <= 1e-14
    assert heights.min() - 1e-12 <= found <= heights.max() + 1e-12
    assert abs(fx) <= np.abs(np.diff(heights, axis=0)).max() * 1.25 * (1 + 1e-12)
    assert abs(fy) <= np.abs(np.diff(heights, axis=1)).max() * 2.0 * (1 + 1e-12)
