"""The shipped teleoperation with its engine: how far the arm is behind, a line that is cut, and complete state."""

from __future__ import annotations

import numpy as np
import pytest

from botz.control.teleop.controller import Teleoperated
from botz.control.teleop.motion import RAMP
from botz.control.teleop.script import read_table
from botz.scenario.load import load
from botz.sim.simulation import Simulation
from botz.sim.snapshots import encode
from botz.verify.arm.teleoperation import servo_bound

DELAY, RATE, PERIOD, TIMEOUT = 0.2, 50.0, 0.01, 0.5


@pytest.fixture
def simulation() -> Simulation:
    return Simulation("titan4-teleop")


def operator(simulation: Simulation) -> Teleoperated:
    controller = simulation._controllers["operator"][0]
    assert isinstance(controller, Teleoperated)
    return controller


def test_the_arm_follows_within_the_stated_bound(simulation):
    arm = simulation.engine.scenario.robots["titan"]
    table = read_table(operator(simulation)._file, tuple(arm.joints))
    errors, speeds, references, last = [], [], [], None
    while simulation.time < 8.8:
        values = simulation.step(n=10)
        position = values["titan/position"]
        references.append(values["titan/reference/speed"].copy())
        hands = np.array(table.at(simulation.time)["joints"])
        errors.append(np.abs(hands - position).max())
        if last is not None:
            speeds.append(np.abs(hands - last).max() / PERIOD)
        last = hands
    v, fastest, losses, servo = max(speeds), 0.4, 4, servo_bound(simulation, references).max()
    assert operator(simulation).to_slave.lost > 5
    assert max(errors) <= v * (DELAY + PERIOD + (1 + losses) / RATE + RAMP * v / fastest) + servo
    assert max(errors) >= 0.9 * v * DELAY, "the delay must be seen"
    feedback = operator(simulation).master.feedback
    assert feedback["state"] == "following"
    assert np.allclose(feedback["joints"], position, atol=1e-3), "at rest both know the same"


def test_the_arm_stops_within_the_timeout_when_the_line_is_cut(simulation):
    simulation.step(n=4500)
    assert np.abs(simulation.values()["titan/speed"]).max() > 0.1
    operator(simulation).to_slave.put = lambda message, t: None  # type: ignore[method-assign]
    simulation.step(n=round(1000 * (DELAY + TIMEOUT + 2 * PERIOD)))
    held = simulation.values()["titan/reference/position"].copy()
    for _ in range(10):
        values = simulation.step(n=100)
        assert np.array_equal(values["titan/reference/position"], held)
        assert np.allclose(values["titan/position"], held, atol=2e-3)
    assert np.abs(values["titan/speed"]).max() < 1e-3
    assert operator(simulation).slave.situation(simulation.time) == "silent"


def test_an_emergency_stop_stops_the_jaws(simulation):
    controller = operator(simulation)
    hands = controller._table.at
    controller._table.at = lambda t: {**hands(t), "opening": 0.0, "stop": t >= 0.8}  # type: ignore[method-assign]
    simulation.step(n=round(1000 * (0.8 + DELAY + 1 / RATE + PERIOD)))
    held = simulation.values()["titan/gripper/opening"]
    assert 0.01 < held < 0.09, "half closed"
    assert controller.slave.stopped
    assert simulation.step(n=500)["titan/gripper/opening"] == pytest.approx(held, abs=0.15 * 0.03)


def test_a_snapshot_in_the_middle_goes_on_bit_for_bit(simulation):
    simulation.step(n=3333)
    saved = encode(simulation.snapshot())
    first = simulation.step(n=1500)["titan/position"].copy()
    messages = operator(simulation).to_slave.sent
    other = Simulation("titan4-teleop")
    other.restore(saved)
    assert np.array_equal(other.step(n=1500)["titan/position"], first)
    assert operator(other).to_slave.sent == messages


@pytest.mark.parametrize("timeout", [0.05, 0.2, 0.5])
def test_the_watchdog_stops_a_gamepads_motion_after_its_timeout(tmp_path, timeout):
    """In simulated time: rates hold until the watchdog ends them, so that it is the timeout that counts."""
    file = tmp_path / "push.csv"
    file.write_text("time,vx,vy,vz,wx,wy,wz\n0,0,0,0.05,0,0,0\n30,0,0,0.05,0,0,0\n")
    settings = {"settings.timeout": timeout, "settings.line.delay": 0, "settings.line.loss": 0, "master.file": file}
    changes = [f"controllers.operator.{name}={value}" for name, value in settings.items()]
    simulation = Simulation(load("titan4-teleop", overrides=changes))
    values = simulation.step(n=1000)
    assert np.abs(values["titan/reference/speed"]).max() > 0.01, "it moves"
    operator = simulation._controllers["operator"][0]
    operator.to_slave.put = lambda message, t: None
    heard = operator.slave.sessions.heard
    while np.any(values["titan/reference/speed"]):
        values = simulation.step(n=1)
        assert simulation.time < 3.0
    assert timeout < simulation.time - heard <= timeout + 0.02 + 1e-9
    held = values["titan/reference/position"].copy()
    assert np.array_equal(simulation.step(n=500)["titan/reference/position"], held)
