"""The tyre's functions against plain NumPy. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest
from vehicle_parts import TABLES, shape, weight

from botz.physics.wheels import tyre

LOADS = [0.05, 0.2, 1.0, 3.0, 6.0, 20.0]
"""[kN]"""


def test_magic_shape():
    for b, c, e in ((0.1, 1.69, 0.5), (0.25, 1.19, -1.2), (0.3, 2.4, -4.0), (-0.2, 1.3, 0.9)):
        for x in np.linspace(-100.0, 100.0, 41).tolist():
            assert tyre.magic_shape(b, c, e, x) == pytest.approx(shape(b, c, e, x), abs=1e-14)


def test_slope_at_rest_and_height_of_the_peak():
    """BCD is the slope at zero slip and D the peak: the shape has slope BC and reaches 1."""
    b, c, e = 0.12, 1.69, 0.5
    assert tyre.magic_shape(b, c, e, 1e-6) / 1e-6 == pytest.approx(b * c, rel=1e-9)
    found = [tyre.magic_shape(b, c, e, x) for x in np.linspace(0, 60, 6001).tolist()]
    assert max(found) == pytest.approx(1.0, abs=1e-6)
    assert max(found) <= 1.0


@pytest.mark.parametrize("load", LOADS)
def test_coefficients_of_the_load(load):
    a = [0.0, *TABLES.longitudinal]
    assert tyre.peak_of_load(a[1], a[2], load) == pytest.approx(a[1] * load**2 + a[2] * load, rel=1e-14)
    stiffness = (a[3] * load**2 + a[4] * load) * np.exp(-a[5] * load)
    assert tyre.longitudinal_stiffness(a[3], a[4], a[5], load) == pytest.approx(stiffness, rel=1e-12)
    bend = a[6] * load**2 + a[7] * load + a[8]
    assert tyre.curvature_of_load(a[6], a[7], a[8], load) == pytest.approx(bend, rel=1e-14)
    a = [0.0, *TABLES.lateral]
    stiffness = a[3] * np.sin(a[4] * np.arctan(a[5] * load))
    assert tyre.lateral_stiffness(a[3], a[4], a[5], load) == pytest.approx(stiffness, rel=1e-12)


def test_coefficients_of_table_5_at_3_kn_by_hand():
    a = TABLES.longitudinal
    assert tyre.peak_of_load(a[0], a[1], 3.0) == pytest.approx(-21.3 * 9 + 1144 * 3)
    assert tyre.longitudinal_stiffness(a[2], a[3], a[4], 3.0) == pytest.approx((49.6 * 9 + 226 * 3) * np.exp(-0.207))


@pytest.mark.parametrize(("e", "shift"), [(0.0, 0.0), (0.0, 0.007), (-0.5, -0.02), (0.8, 0.05)])
def test_weights_of_combined_slip(e, shift):
    for b, c in ((12.35, 1.092), (6.461, 1.081), (3.0, 2.0)):
        for x in np.linspace(-1.5, 1.5, 31).tolist():
            found = tyre.combined_weight(b, c, e, shift, x)
            assert found == pytest.approx(weight(b, c, e, shift, x), abs=1e-13)
            assert found >= 0.0
            if e == shift == 0.0:
                assert tyre.simple_weight(b, c, x) == pytest.approx(found, abs=1e-14)
        assert tyre.combined_weight(b, c, e, shift, 0.0) == pytest.approx(1.0, rel=1e-14)


def test_a_weight_stops_at_zero_where_the_formula_turns_negative():
    assert np.cos(1.092 * np.arctan(1e6)) < -0.05
    assert tyre.simple_weight(1e6, 1.092, 1.0) == 0.0


def test_slope_of_a_weight_without_its_two_functions():
    for x in (-2.0, -0.1, 0.0, 0.3, 5.0):
        assert tyre.weight_slope(12.35, -10.77, x) == pytest.approx(12.35 * np.cos(np.arctan(-10.77 * x)), rel=1e-14)


def test_angle_of_a_sine():
    for s in np.linspace(-0.9999, 0.9999, 101).tolist():
        assert tyre.angle_of_sine(s) == pytest.approx(np.arcsin(s), abs=1e-14)
    assert abs(tyre.angle_of_sine(1.0)) == pytest.approx(np.pi / 2, abs=2e-6)


def test_a_tread_at_rest_is_a_spring_and_rolling_it_follows_the_slip():
    assert tyre.deflection_rate(0.05, 0.003, 0.2, 0.0, 0.0) == -0.2
    # Steady: u/σ = −V_s/|V|.
    assert tyre.deflection_rate(0.05, -0.05 * 0.2 / 4.0, 0.2, 4.0, 0.0) == pytest.approx(0.0, abs=1e-15)


def test_an_implicit_step_decays_as_its_end_does():
    sigma, u, v_slip, v_roll = 0.05, 0.02, 0.3, 5.0
    for dt in (1e-4, 0.1, 100.0):
        rate = tyre.deflection_rate(sigma, u, v_slip, v_roll, dt)
        assert rate == pytest.approx(-v_slip - v_roll / sigma * (u + dt * rate), rel=1e-9)


def test_slip_cap():
    peak, steady, park = 0.1, 0.8, 0.1
    assert tyre.slip_cap(peak, steady, 0.0, park) == peak
    assert tyre.slip_cap(peak, steady, park, park) == peak
    assert tyre.slip_cap(peak, steady, 1.5 * park, park) == pytest.approx(0.45)
    assert tyre.slip_cap(peak, steady, 2.0 * park, park) == pytest.approx(steady)
    assert tyre.slip_cap(peak, steady, 50.0, park) == pytest.approx(steady)
    assert tyre.slip_cap(peak, 0.02, 50.0, park) == peak


def test_forces_are_scaled_back_onto_the_ellipse_along_their_direction():
    rng = np.random.default_rng(3)
    for _ in range(100):
        peak_x, peak_y = rng.uniform(100, 1000, 2).tolist()
        fx, fy = rng.uniform(-1500, 1500, 2).tolist()
        x, y = tyre.onto_ellipse(peak_x, peak_y, fx, fy)
        inside = (fx / peak_x) ** 2 + (fy / peak_y) ** 2
        assert x * fy == pytest.approx(y * fx, rel=1e-12)
        if inside <= 1.0:
            assert (x, y) == (fx, fy)
        else:
            assert (x / peak_x) ** 2 + (y / peak_y) ** 2 == pytest.approx(1.0, rel=1e-12)


def test_load_balances_the_suspension_with_as_much_friction_as_does_not_wedge():
    """N (b·n̂ + f·b) = F; where f·b takes more than half of b·n̂ away, so much of f is left that it takes half."""
    for b_n, b_friction in ((1.0, 0.0), (0.9, 0.3), (0.9, -0.3), (0.5, -0.374), (0.2, -5.0)):
        share = tyre.wedge_share(b_n, b_friction)
        assert share == pytest.approx(min(1.0, 0.5 * b_n / -b_friction) if b_friction < 0.0 else 1.0, rel=1e-14)
        left = share * b_friction
        assert tyre.load_of_balance(120.0, b_n, left) * (b_n + left) == pytest.approx(120.0, rel=1e-14)
