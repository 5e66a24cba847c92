"""LuGre friction against plain NumPy and its closed forms. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest

from botz.physics.wheels.lugre import lugre, stribeck

SIGMA0, SIGMA1, SIGMA2, COULOMB, STATIC, V_STRIBECK, K_V = 200.0, 1.5, 0.3, 2.0, 3.0, 0.1, 1000.0
PLAIN, CONTINUOUS = 0.0, 1.0
SPEEDS = [-7.0, -0.3, -0.1, -1e-3, 0.0, 1e-4, 0.02, 0.1, 0.5, 30.0]


def friction(form, z, v, dt=0.0, sigma1=SIGMA1, sigma2=SIGMA2):
    return lugre(SIGMA0, sigma1, sigma2, COULOMB, STATIC, V_STRIBECK, K_V, form, z, v, dt)


def slow_friction(v):
    return COULOMB + (STATIC - COULOMB) * np.exp(-((v / V_STRIBECK) ** 2))


def sources_rate(form, z, v):
    """Eqs. 3.40 and 3.42-3.44."""
    s0 = 2 / np.pi * np.arctan(K_V * v)
    s1, s2 = (s0 * s0, v * s0) if form == CONTINUOUS else (1.0, abs(v))
    return s1 * v - s2 * z * SIGMA0 / slow_friction(v)


def test_stribeck_falls_from_static_to_coulomb():
    for v in SPEEDS:
        assert stribeck(COULOMB, STATIC, V_STRIBECK, v) == pytest.approx(slow_friction(v), rel=1e-13)
    assert stribeck(COULOMB, STATIC, V_STRIBECK, 0.0) == STATIC
    assert stribeck(COULOMB, STATIC, V_STRIBECK, 10.0) == pytest.approx(COULOMB, rel=1e-15)


@pytest.mark.parametrize("form", [PLAIN, CONTINUOUS])
def test_force_and_rate_are_those_of_the_source(form):
    for v in SPEEDS:
        for z in (-0.014, 0.0, 0.004):
            rate = sources_rate(form, z, v)
            found, found_rate = friction(form, z, v)
            assert found_rate == pytest.approx(rate, rel=1e-12, abs=1e-15)
            assert found == pytest.approx(SIGMA0 * z + SIGMA1 * rate + SIGMA2 * v, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("form", [PLAIN, CONTINUOUS])
def test_with_a_step_the_decay_is_that_of_its_end(form):
    for v in SPEEDS:
        for dt in (1e-6, 1e-3, 1.0):
            z = 0.006
            found, rate = friction(form, z, v, dt)
            end = z + dt * rate
            assert rate == pytest.approx(sources_rate(form, end, v), rel=1e-9, abs=1e-11)
            assert found == pytest.approx(SIGMA0 * end + SIGMA1 * rate + SIGMA2 * v, rel=1e-12, abs=1e-14)


def test_steady_sliding_has_the_stribeck_force():
    for v in (-2.0, -0.05, 0.03, 0.1, 4.0):
        z = np.sign(v) * slow_friction(v) / SIGMA0
        found, rate = friction(PLAIN, z, v)
        assert rate == pytest.approx(0.0, abs=1e-12 * abs(v))
        assert found == pytest.approx(np.sign(v) * slow_friction(v) + SIGMA2 * v, rel=1e-12)


def test_the_continuous_form_creeps_under_a_constant_load_as_its_docstring_says():
    """Steady: F = S₀ f_s, so that a load of F₀ below F_s turns at v = tan(π F₀ / 2 F_s)/k_v."""
    load = 0.6 * STATIC
    v = np.tan(np.pi * load / (2 * STATIC)) / K_V
    found, rate = friction(CONTINUOUS, load / SIGMA0, v, sigma2=0.0)
    assert rate == pytest.approx(0.0, abs=1e-3 * v)
    assert found == pytest.approx(load, rel=1e-3)


def test_the_plain_form_holds_a_load_below_static_and_breaks_away_above():
    """Loaded slowly, bristles of length s = F_s/σ₀ let go of −s ln(1 − F/F_s) before they hold F."""

    def turned(load):
        """How far an axle of 0.01 kg·m² turns, at the end of a load that grows for 2 s, and 1 s later."""
        z = v = angle = 0.0
        dt = 1e-3
        found = []
        for step in range(3000):
            force, rate = friction(PLAIN, z, v, dt)
            z += dt * rate
            v += dt * (load * min((step + 1) / 2000, 1.0) - force) / 0.01
            angle += dt * v
            if step in (1999, 2999):
                found.append(angle)
        return found

    loaded, later = turned(0.8 * STATIC)
    assert loaded == pytest.approx(-STATIC / SIGMA0 * np.log(0.2), rel=0.02)
    assert later == pytest.approx(loaded, rel=0.05)  # it swings out
    loaded, later = turned(1.05 * STATIC)
    assert later - loaded > 1.0


@pytest.mark.parametrize("form", [PLAIN, CONTINUOUS])
def test_no_speed_and_no_step_bends_bristles_beyond_the_static_force(form):
    rng = np.random.default_rng(7)
    z = 0.0
    for v, dt in zip(rng.normal(0.0, 5.0, 2000).tolist(), (10 ** rng.uniform(-6, 1, 2000)).tolist(), strict=True):
        _, rate = friction(form, z, v, dt)
        z += dt * rate
        assert abs(z) <= STATIC / SIGMA0 * (1 + 1e-12)


@pytest.mark.parametrize("form", [PLAIN, CONTINUOUS])
def test_friction_is_odd(form):
    for v in SPEEDS:
        force, rate = friction(form, 0.003, v, 1e-4)
        assert friction(form, -0.003, -v, 1e-4) == (-force, -rate)
