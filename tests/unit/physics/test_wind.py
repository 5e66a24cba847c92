"""Wind: gusts by their formula, turbulence by its statistics. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest

from botz.physics.aero.wind import GUST, WIND, gust_share, turbulence_step, wind_at


def wind(steady=(0, 0, 0), intensity=(0, 0, 0), correlation_time=1.0):
    found = np.zeros(1, WIND)
    found["steady"], found["intensity"], found["correlation_time"] = steady, intensity, correlation_time
    return found[0]


def gusts(*given):
    found = np.zeros(len(given), GUST)
    for one, (at, duration, velocity) in zip(found, given, strict=True):
        one["at"], one["duration"], one["velocity"] = at, duration, velocity
    return found


def test_a_gust_rises_to_its_velocity_and_falls_again():
    assert gust_share(2.0, 4.0, 4.0) == pytest.approx(1.0)
    assert gust_share(2.0, 4.0, 3.0) == pytest.approx(0.5)
    assert gust_share(2.0, 4.0, 5.0) == pytest.approx(0.5)
    for time in (0.0, 2.0, 6.0, 100.0):
        assert gust_share(2.0, 4.0, time) == 0.0
    for time in (2.001, 5.999):
        assert gust_share(2.0, 4.0, time) == pytest.approx((np.pi * 0.001 / 4.0) ** 2, rel=1e-5)


def test_steady_wind_gusts_and_turbulence_add_up():
    air = wind(steady=(3, -1, 0.5))
    air["turbulence"] = 0.1, 0.2, 0.3
    both = gusts((0.0, 2.0, (4, 0, 0)), (0.5, 1.0, (0, 2, -6)))
    assert wind_at(air, both, 1.0) == pytest.approx((3 + 0.1 + 4, -1 + 0.2 + 2, 0.5 + 0.3 - 6))
    assert wind_at(air, both, 5.0) == pytest.approx((3.1, -0.8, 0.8))
    assert wind_at(air, gusts(), 1.0) == pytest.approx((3.1, -0.8, 0.8))


def test_a_step_of_turbulence_is_exact():
    """The mean decays by e^(−dt/T), the variance tends to σ²: two steps of dt/2 spread as one of dt."""
    for dt in (1e-4, 0.3, 50.0):
        air = wind(intensity=(2, 1, 0.5), correlation_time=5.0)
        air["turbulence"] = 1.0, -2.0, 3.0
        turbulence_step(air, dt, 0.0, 0.0, 0.0)
        assert air["turbulence"] == pytest.approx(np.exp(-dt / 5.0) * np.array([1.0, -2.0, 3.0]), rel=1e-13)

        def spread(dt):
            air = wind(intensity=(2, 1, 0.5), correlation_time=5.0)
            turbulence_step(air, dt, 1.0, 1.0, 1.0)
            return air["turbulence"].copy()

        kept = np.exp(-0.5 * dt / 5.0)
        assert spread(0.5 * dt) ** 2 * (1 + kept**2) == pytest.approx(spread(dt) ** 2, rel=1e-12)


def test_turbulence_keeps_its_spread_and_forgets_itself():
    air = wind(intensity=(2, 1, 0), correlation_time=0.5)
    rng = np.random.default_rng(11)
    air["turbulence"] = air["intensity"] * rng.normal(size=3)
    n, dt = 20000, 0.1
    found = np.empty((n, 3))
    for i, normals in enumerate(rng.normal(size=(n, 3)).tolist()):
        turbulence_step(air, dt, *normals)
        found[i] = air["turbulence"]
    # A mean over n dt / 2T = 2000 independent values.
    assert found.std(axis=0) == pytest.approx([2.0, 1.0, 0.0], rel=0.06)
    assert abs(found.mean(axis=0)[0]) < 0.2
    for lag in (1, 5):
        correlation = np.mean(found[:-lag, 0] * found[lag:, 0]) / 4.0
        assert correlation == pytest.approx(np.exp(-lag * dt / 0.5), abs=0.08)
    assert (found[:, 2] == 0.0).all()
