"""What holds of propellers, surfaces and wind for any numbers: air at rest gives a body no energy."""

from __future__ import annotations

from math import isfinite

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from botz.physics.aero.lift_drag import Surface, coefficients, lift_drag
from botz.physics.aero.propeller import across, across_drag, drag_torque, ground_factor, lag_step, propeller_thrust
from botz.physics.aero.wind import gust_share

many = settings(deadline=None, max_examples=200)
slopes = st.floats(-10.0, 10.0)
angles = st.floats(-1.5, 1.5)
velocities = st.tuples(*[st.floats(-300.0, 300.0)] * 3)
speeds = st.floats(-5000.0, 5000.0)
shapes = st.tuples(slopes, slopes, slopes, st.floats(0.01, 1.6), slopes, slopes, slopes, st.floats(0.0, 2.0))


@many
@given(shapes, angles, velocities, st.floats(0.0, 5.0), st.sampled_from([0.0, 1.0]), slopes)
def test_a_surface_takes_energy_from_a_body_in_still_air(shape, a0, v, density, radial, flap):
    found = lift_drag(Surface(0.7, a0, *shape, radial), *v, density, flap)
    assert all(isfinite(one) for one in found)
    force, (lift, drag) = np.array(found[:3]), found[6:8]
    speed = float(np.linalg.norm(v))
    assert drag >= 0.0
    assert force @ v <= 1e-12 * (abs(lift) + drag) * speed


@many
@given(shapes, st.floats(0.0, 1.5))
def test_coefficients_are_odd_but_the_drag(shape, alpha):
    surface = Surface(0.7, 0.0, *shape, 0.0)
    lift, drag, moment = coefficients(surface, alpha)
    assert coefficients(surface, -alpha) == (-lift, drag, -moment)
    assert drag >= shape[-1]


@many
@given(shapes, angles, velocities)
def test_a_mirrored_velocity_gives_a_mirrored_force(shape, a0, v):
    surface = Surface(0.7, a0, *shape, 0.0)
    found = lift_drag(surface, *v, 1.2, 0.0)
    mirrored = lift_drag(surface, v[0], -v[1], v[2], 1.2, 0.0)
    assert mirrored == found


@many
@given(st.floats(-1.0, 1.0), st.floats(-0.01, 0.01), st.floats(0.0, 1e-3), st.floats(0.1, 1e3), speeds)
def test_a_propellers_drag_torque_brakes(a, b, c, largest, omega):
    thrust = propeller_thrust(a, b, c, largest, omega)
    assert abs(thrust) <= largest
    assert thrust * omega >= 0.0
    assert drag_torque(0.02, thrust) * omega <= 0.0


@many
@given(velocities, velocities, speeds)
def test_rotor_drag_takes_energy(axis, v, omega):
    length = float(np.linalg.norm(axis))
    nx, ny, nz = (one / length for one in axis) if length > 1e-3 else (0.0, 0.0, 1.0)
    flat = across(nx, ny, nz, *v)
    force = across_drag(1e-4, omega, *flat)
    assert np.dot(force, v) <= 1e-12 * 1e-4 * abs(omega) * np.dot(v, v)


@many
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(-50.0, 50.0), st.floats(-50.0, 50.0), st.floats(1e-6, 1e3))
def test_a_lag_never_overshoots(up, down, force, target, dt):
    found = lag_step(up, down, force, target, dt)
    low, high = min(force, target), max(force, target)
    assert low - 1e-12 <= found <= high + 1e-12


@many
@given(st.floats(0.0, 10.0), st.floats(-10.0, 1e4), st.floats(-1.0, 1.0))
def test_the_ground_adds_a_third_at_most(radius, height, upright):
    assert 1.0 <= ground_factor(radius, height, upright) <= 4.0 / 3.0 * (1 + 1e-15)


@many
@given(st.floats(0.0, 1e4), st.floats(1e-3, 1e4), st.floats(0.0, 1e4))
def test_a_gust_stays_between_nothing_and_its_velocity(at, duration, time):
    assert 0.0 <= gust_share(at, duration, time) <= 1.0
