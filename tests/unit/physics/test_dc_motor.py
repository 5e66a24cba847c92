"""DC motor and gear: data sheet formulas, and a gear that never gives power. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest

from botz.physics.wheels.dc_motor import BLEND_SPEED, gear_torque, motor_current

RATIO, EFFICIENCY = 40.0, 0.85
SPEEDS = [-3.0, -BLEND_SPEED, -0.06, -1e-9, 0.0, 1e-9, 0.06, BLEND_SPEED, 3.0]
TORQUES = [-2.0, -1e-9, 0.0, 1e-9, 2.0]


def test_current_follows_voltage_and_back_emf_within_its_limit():
    resistance, back_emf = 0.064, 1.5
    for voltage in (-24.0, 0.0, 3.0, 24.0):
        for speed in (-20.0, 0.0, 1.0, 16.0):
            free = (voltage - back_emf * speed) / resistance
            assert motor_current(1 / resistance, back_emf, np.inf, voltage, speed) == pytest.approx(free, rel=1e-14)
            limited = motor_current(1 / resistance, back_emf, 40.0, voltage, speed)
            assert limited == pytest.approx(np.clip(free, -40.0, 40.0), rel=1e-14)


def test_at_no_load_speed_no_current_flows():
    assert motor_current(1 / 0.064, 1.5, 40.0, 24.0, 16.0) == 0.0


@pytest.mark.parametrize(
    ("torque", "speed", "share"),
    [
        (2.0, 1.0, EFFICIENCY),  # driving
        (-2.0, -1.0, EFFICIENCY),
        (2.0, -1.0, 1 / EFFICIENCY),  # driven
        (-2.0, 1.0, 1 / EFFICIENCY),
        (2.0, 0.0, 1.0),  # at rest
        (-2.0, 0.0, 1.0),
        (2.0, BLEND_SPEED, EFFICIENCY),
        (2.0, -BLEND_SPEED, 1 / EFFICIENCY),
        (2.0, 0.5 * BLEND_SPEED, 0.5 * (1 + EFFICIENCY)),
        (2.0, -0.5 * BLEND_SPEED, 0.5 * (1 + 1 / EFFICIENCY)),
    ],
)
def test_the_gear_takes_its_share_whichever_way_power_flows(torque, speed, share):
    assert gear_torque(RATIO, EFFICIENCY, torque, speed) == pytest.approx(RATIO * torque * share, rel=1e-14)


def test_the_gear_never_gives_power():
    for torque in TORQUES:
        for speed in SPEEDS:
            lost = (RATIO * torque - gear_torque(RATIO, EFFICIENCY, torque, speed)) * speed
            assert lost >= 0.0, (torque, speed)
            if torque and abs(speed) > 1e-6:
                assert lost > 0.0, (torque, speed)


def test_a_gear_without_loss_only_turns_speed_into_torque():
    for torque in TORQUES:
        for speed in SPEEDS:
            assert gear_torque(RATIO, 1.0, torque, speed) == RATIO * torque


def test_torque_is_continuous_in_speed_and_in_torque():
    """Its steepest change over speed is G τ (1/η − 1)/blend, over the motor's torque G/η."""
    steepest = RATIO * 2.0 * (1 / EFFICIENCY - 1) / BLEND_SPEED
    speeds = np.linspace(-0.3, 0.3, 4001)
    found = np.array([gear_torque(RATIO, EFFICIENCY, 2.0, w) for w in speeds.tolist()])
    assert np.abs(np.diff(found)).max() <= steepest * (speeds[1] - speeds[0]) * (1 + 1e-9)
    torques = np.linspace(-1.0, 1.0, 4001)
    for speed in (-1.0, 0.03, 1.0):
        found = np.array([gear_torque(RATIO, EFFICIENCY, one, speed) for one in torques.tolist()])
        assert np.abs(np.diff(found)).max() <= RATIO / EFFICIENCY * (torques[1] - torques[0]) * (1 + 1e-9)
