"""Flying by hand: what people tell a flight controller while it keeps flying."""

from __future__ import annotations

import numpy as np
import pytest

import botz
from botz.errors import InputError


def flown(name: str, command: dict, seconds: float, *, before: float = 3.0) -> botz.Simulation:
    """A scenario steered from `before` on, as the lab does it: told again before the deadline passes."""
    simulation = botz.Simulation(botz.load(name))
    robot = next(iter(simulation.spec.robots))
    rate = round(0.1e9 / simulation.step_ns)
    simulation.step(n=round(before * 1e9 / simulation.step_ns))
    for _ in range(round(seconds / 0.1)):
        simulation.apply_outside(robot, command, "test")
        simulation.step(n=rate)
    return simulation


@pytest.mark.parametrize("name", ["quadrotor-square", "lophorina-waypoints"])
def test_a_velocity_is_flown_and_let_go_it_hovers_there(name):
    simulation = flown(name, {"velocity": (0.4, 0.0, 0.2, 0.0)}, 4.0)
    robot = next(iter(simulation.spec.robots))
    pose, twist = simulation.values()[f"{robot}/pose"], simulation.values()[f"{robot}/twist"]
    speed = np.hypot(*twist[:2])
    assert speed == pytest.approx(0.4, abs=0.05), "after 4 s the smooth start is over"
    assert twist[2] == pytest.approx(0.2, abs=0.05)
    simulation.step(n=round(6.0e9 / simulation.step_ns))
    after = simulation.values()[f"{robot}/pose"]
    assert np.linalg.norm(simulation.values()[f"{robot}/twist"][:3]) < 0.02, "hands off, it hovers"
    assert np.linalg.norm(after[:3] - pose[:3]) < 1.0, "and not far from where it was let go"


def test_a_yaw_rate_turns_it_in_place():
    simulation = flown("quadrotor-square", {"velocity": (0.0, 0.0, 0.0, 0.5)}, 3.0)
    robot = next(iter(simulation.spec.robots))
    assert simulation.values()[f"{robot}/twist"][5] == pytest.approx(0.5, abs=0.05)


def test_the_aircraft_climbs_and_banks_by_the_stick_and_flies_on_level():
    simulation = flown("fixed-wing-cruise", {"steer": (0.5, 0.6, 0.0)}, 2.0)
    robot = next(iter(simulation.spec.robots))
    values = simulation.values()
    assert values[f"{robot}/attitude"][0] > 0.15, "to the right"
    low = values[f"{robot}/pose"][2]
    simulation.apply_outside(robot, {"steer": (0.0, 0.0, 0.0)}, "test")
    simulation.step(n=round(8.0e9 / simulation.step_ns))
    values = simulation.values()
    assert abs(values[f"{robot}/attitude"][0]) < 0.1
    assert values[f"{robot}/pose"][2] > low - 1.0


def test_the_layout_names_what_the_controller_takes():
    simulation = botz.Simulation("quadrotor-square")
    robot = next(iter(simulation.spec.robots))
    assert ("velocity", 4) in simulation.command_layout(robot)
    assert "velocity" not in dict(simulation.engine.command_layout(robot))


def test_what_neither_robot_nor_controller_takes_is_refused():
    simulation = botz.Simulation("quadrotor-square")
    robot = next(iter(simulation.spec.robots))
    with pytest.raises(InputError, match="unknown command 'velocty'"):
        simulation.apply_outside(robot, {"velocty": (0.4, 0.0, 0.2, 0.0)}, "test")
