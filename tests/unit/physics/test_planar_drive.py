"""Two-motor robots: K e = M v̇ + B v against matrix products, speed control, energy. Also runs with
NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest

from botz.engines.soccer.model import fill_robot
from botz.physics.soccer import planar_drive as drive
from botz.scenario.soccer.schema import PlacedSoccerRobot
from botz.verify.soccer.rig import model_of, random_robot


@pytest.fixture(params=range(5))
def case(request):
    """A record, the same robot in NumPy, and some state."""
    rng = np.random.default_rng(request.param)
    data = random_robot(rng, gain=3.0)
    own = np.zeros(1, drive.ROBOT)[0]
    fill_robot(own, PlacedSoccerRobot.model_validate({**data, "team": "blue", "pose": [0, 0, 0]}))
    return own, model_of(data), np.array([rng.normal(), rng.normal(0.0, 10.0)]), rng.uniform(-3.0, 3.0, 2)


def test_matrices_are_those_of_the_source(case):
    own, model, _, _ = case
    for name, matrix in (("mass", model.mass), ("inverse", np.linalg.inv(model.mass)), ("drag", model.drag)):
        found = [[own[f"{name}_11"], own[f"{name}_12"]], [own[f"{name}_12"], own[f"{name}_22"]]]
        assert found == pytest.approx(matrix, rel=1e-12, abs=1e-15 * np.abs(matrix).max()), name


def test_wheel_speeds_invert_the_kinematics(case):
    own, model, u, _ = case
    assert drive.wheel_speeds(own, *u) == pytest.approx(model.to_wheels @ u, rel=1e-13, abs=1e-13)


def test_motor_and_drag_forces(case):
    own, model, u, volts = case
    assert drive.motor_force(own, *volts) == pytest.approx(model.push @ volts, rel=1e-13, abs=1e-15)
    assert drive.drag_force(own, *u) == pytest.approx(model.drag @ u, rel=1e-12, abs=1e-14)


def test_acceleration_and_energy(case):
    own, model, u, volts = case
    force = model.push @ volts - model.drag @ u
    assert drive.acceleration(own, *force) == pytest.approx(np.linalg.solve(model.mass, force), rel=1e-11, abs=1e-12)
    assert drive.kinetic_energy(own, *u) == pytest.approx(model.energy(u), rel=1e-13)


def test_voltages_stay_within_the_drivers_limits(case):
    own, _, u, _ = case
    found = drive.applied_voltages(own, 1e3, -1e3, 0.0, 0.0, 0.0, *u)
    assert found == (own.limit_left, -own.limit_right)
    assert drive.applied_voltages(own, 0.5, -0.25, 99.0, 99.0, 0.0, *u) == (0.5, -0.25)


def test_speed_control_holds_what_is_reached_and_pushes_towards_what_is_not(case):
    own, model, _, volts = case
    settled = model.steady(volts)
    wheels = model.to_wheels @ settled
    held = drive.applied_voltages(own, 0.0, 0.0, *wheels, 1.0, *settled)
    assert held == pytest.approx(volts, rel=1e-9, abs=1e-9)
    slower = drive.applied_voltages(own, 0.0, 0.0, *wheels, 1.0, *(0.9 * settled))
    expected = volts + 3.0 * model.constants * 0.1 * wheels
    limits = np.array([own.limit_left, own.limit_right])
    assert slower == pytest.approx(np.clip(expected, -limits, limits), rel=1e-9, abs=1e-9)
