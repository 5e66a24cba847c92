"""Spring and damper of a wheel. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest

from botz.physics.wheels.suspension import suspension_energy, suspension_force

STIFFNESS, DAMPING, TRAVEL, PROGRESSION = 6000.0, 200.0, 0.04, 5e5


def force(h, dh=0.0):
    return suspension_force(STIFFNESS, DAMPING, TRAVEL, PROGRESSION, h, dh)


@pytest.mark.parametrize(
    ("h", "dh", "expected"),
    [
        (0.01, 0.0, 60.0),
        (0.01, 0.2, 100.0),
        (0.01, -0.2, 20.0),
        (0.01, -0.4, 0.0),  # the damper would pull
        (0.04, 0.0, 240.0),
        (0.05, 0.0, 300.0 + 5e5 * 0.01**2),
        (0.0, 5.0, 0.0),  # in the air
        (-0.01, 5.0, 0.0),
    ],
)
def test_force(h, dh, expected):
    assert force(h, dh) == pytest.approx(expected, rel=1e-12)


def test_it_never_pulls():
    for h in np.linspace(-0.02, 0.08, 51).tolist():
        for dh in np.linspace(-20.0, 20.0, 21).tolist():
            assert force(h, dh) >= 0.0


def test_energy_is_the_integral_of_the_force():
    """Simpson's rule is exact for parabolas; 0, travel and the end are among its points."""
    for end in (-0.01, 0.0, 0.01, 0.04, 0.07):
        integral = 0.0
        for low, high in ((0.0, min(end, TRAVEL)), (TRAVEL, end)):
            if high > low:
                integral += (high - low) / 6 * (force(low) + 4 * force(0.5 * (low + high)) + force(high))
        assert suspension_energy(STIFFNESS, TRAVEL, PROGRESSION, end) == pytest.approx(integral, rel=1e-12, abs=1e-18)


def test_a_round_trip_takes_energy_and_gives_none():
    """Pressed and let go again: what the damper took is what the force did less coming back."""
    t = np.linspace(0.0, 2 * np.pi, 20001)
    h, dh = 0.03 - 0.035 * np.cos(t), 0.035 * np.sin(t)
    work = np.array([force(a, b) for a, b in zip(h.tolist(), dh.tolist(), strict=True)]) * dh
    assert np.trapezoid(work, t) > 0.0
