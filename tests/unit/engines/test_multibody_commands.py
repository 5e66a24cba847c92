"""Commands of multibody robots: names, limits, lag and rate, integral parts, and what happens when they stop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from multibody_rig import FREE, Rig, body, limb

from botz.errors import InputError


def turntable(kind: str = "velocity", joint: str = "continuous", **actuator: Any) -> dict[str, Any]:
    """A drum of 0.04 kg·m² on a fixed frame."""
    spec: dict[str, Any] = {"type": joint, "parent": "frame", "child": "drum"}
    if joint == "revolute":
        spec["range"] = [-1.0, 1.0]
    return {
        "links": {"frame": body(), "drum": body()},
        "joints": {"turn": spec},
        "actuators": {"turn": {"kind": kind, **actuator}},
        "base": "fixed",
    }


def driven(robot: dict[str, Any], command: dict[str, Any], seconds: float) -> Rig:
    return Rig({"one": robot}, FREE).command("one", command).seconds(seconds)


# --- names and numbers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ({"tlt/position": 0.1}, "one: unknown command 'tlt/position'; did you mean 'tilt/position'?"),
        ({"tilt/speed": 0.1}, "one: unknown command 'tilt/speed'"),
        ({"tilt/position": [0.1, 0.2]}, "one/tilt/position: needs one finite number, got [0.1, 0.2]"),
        ({"tilt/position": float("nan")}, "one/tilt/position: needs one finite number, got nan"),
        ({"spin/speed": float("inf")}, "one/spin/speed: needs one finite number, got inf"),
        ({"spin/speed": "fast"}, "one/spin/speed: needs one finite number, got 'fast'"),
        ({"spin/speed": None}, "one/spin/speed: needs one finite number, got None"),
    ],
)
def test_commands_that_are_none(command: dict[str, Any], says: str):
    rig = Rig({"one": limb()})
    before = rig.engine.inputs.copy()
    with pytest.raises(InputError) as caught:
        rig.engine.resolve_command("one", command)
    assert str(caught.value).startswith(says) and (rig.engine.inputs == before).all()


def test_what_is_not_named_stays():
    rig = Rig({"one": limb()}).command("one", {"spin/speed": 5.0}).command("one", {"tilt/position": [0.3]})
    assert rig.engine.inputs.tolist() == [0.3, 5.0, 0.0]
    assert rig.engine.command_layout("one") == [("tilt/position", 1), ("spin/speed", 1), ("slide/effort", 1)]


def test_at_rest_positions_stay_and_all_else_is_0():
    rig = Rig({"one": limb(), "two": limb()})
    rig.command("two", {"tilt/position": 0.3, "spin/speed": 5.0, "slide/effort": 2.0})
    assert rig.engine.rest_inputs("two").tolist() == [0.3, 0.0, 0.0]
    assert rig.engine.rest_inputs("one").tolist() == [0.0, 0.0, 0.0]


# --- servos ----------------------------------------------------------------------------------------------------------


def test_a_speed_servo_decays_with_its_frequency():
    """I ω' = I f (ω* − ω): 1 − e^(−f t)."""
    rig = driven(turntable(frequency=20.0), {"turn/speed": 3.0}, 0.05)
    assert rig["one/turn/speed"] == pytest.approx(3.0 * (1.0 - np.exp(-1.0)), rel=1e-6)


def test_a_position_servo_is_critically_damped():
    """e = e₀ (1 + ω t) e^(−ω t) without a limit of its speed."""
    rig = driven(turntable("position", frequency=20.0), {"turn/position": 0.5}, 0.1)
    assert rig["one/turn/position"] == pytest.approx(0.5 * (1.0 - 3.0 * np.exp(-2.0)), rel=1e-5)


def test_a_position_moves_no_faster_than_the_joint_may_and_without_lagging_behind():
    rig = driven(turntable("position", speed=0.5, frequency=50.0), {"turn/position": 2.0}, 1.0)
    assert rig["one/turn/speed"] == pytest.approx(0.5, rel=1e-3)
    assert rig["one/turn/position"] == pytest.approx(0.5, abs=2e-3)
    assert rig.seconds(4.0)["one/turn/position"] == pytest.approx(2.0, abs=1e-6)


def test_limits_of_range_speed_and_effort():
    rig = driven(turntable("position", "revolute"), {"turn/position": 5.0}, 1.0)
    assert rig["one/turn/position"] == pytest.approx(1.0, abs=1e-3), "the end of its range"
    assert driven(turntable(speed=4.0), {"turn/speed": -9.0}, 2.0)["one/turn/speed"] == pytest.approx(-4.0, abs=1e-6)
    pushed = driven(turntable("effort", effort=0.2), {"turn/effort": 7.0}, 0.5)
    assert (pushed["one/turn/effort"], pushed["one/turn/speed"]) == pytest.approx((0.2, 0.2 / 0.04 * 0.5))
    weak = driven(turntable(effort=0.1, frequency=100.0), {"turn/speed": 50.0}, 0.5)
    assert (weak["one/turn/effort"], weak["one/turn/speed"]) == pytest.approx((0.1, 0.1 / 0.04 * 0.5), rel=1e-6)


def test_lag_up_and_down():
    """The reference follows with one time constant where its size grows, and with another where it falls."""
    rig = driven(turntable(lag=0.2, lag_down=0.05, frequency=400.0), {"turn/speed": 10.0}, 0.2)
    actuator = rig.engine.tables.actuators[0]
    assert actuator["reference"] == pytest.approx(10.0 * (1.0 - np.exp(-1.0)), rel=1e-9)
    rig.seconds(3.0).command("one", {"turn/speed": 0.0}).seconds(0.05)
    assert actuator["reference"] == pytest.approx(10.0 * np.exp(-1.0), rel=1e-4)
    assert rig["one/turn/speed"] == pytest.approx(actuator["reference"], rel=0.1)


@pytest.mark.parametrize("kind", ["position", "velocity"])
def test_an_integral_part_takes_away_what_a_load_leaves(kind: str):
    word = "position" if kind == "position" else "speed"
    errors = []
    for extra in ({}, {"integral_time": 0.3}):
        robot = turntable(kind, frequency=20.0, **extra)
        robot["joints"]["turn"] |= {"damping": 0.5, "axis": [1, 0, 0]}
        robot["links"]["drum"]["centre"] = [0.0, 0.1, 0.0]
        rig = Rig({"one": robot}, {"ground": False}).command("one", {f"turn/{word}": 0.4})
        errors.append(abs(float(rig.seconds(8.0)[f"one/turn/{word}"]) - 0.4))
    assert errors[0] > 0.01
    if kind == "position":  # a turning weight is no constant load
        assert errors[1] < 1e-4


def test_gains_by_hand_stand_in_place_of_the_frequency():
    robot = turntable("position", proportional=8.0, derivative=1.0)
    rig = Rig({"one": robot}, FREE)
    one = rig.engine.tables.actuators[0]
    assert (one["proportional"], one["derivative"]) == (8.0, 1.0)
    rig.command("one", {"turn/position": 0.1})
    assert rig["one/turn/effort"] == pytest.approx(0.0), "before the first step the servo holds"
    rig.steps(1)
    assert rig["one/turn/effort"] == pytest.approx(0.8, rel=0.05)


def test_gains_come_from_the_inertia_that_the_joint_really_moves():
    """A floating frame gives way: half of the inertia where both are alike."""
    fixed, floating = (Rig({"one": {**turntable(), "base": base}}, FREE) for base in ("fixed", "floating"))
    gains = [float(rig.engine.tables.actuators["proportional"][0]) for rig in (fixed, floating)]
    assert gains == pytest.approx([0.04 * 50.0, 0.02 * 50.0])


# --- elements --------------------------------------------------------------------------------------------------------


def test_a_dc_motor_is_commanded_by_its_joints_voltage():
    motor = {"type": "dc-motor", "joint": "turn", "resistance": 0.5, "torque_constant": 0.1, "max_voltage": 12.0}
    robot = {**turntable(), "actuators": {}, "elements": {"motor": motor}}
    rig = Rig({"one": robot}, FREE)
    assert [(channel.name, channel.unit) for channel in rig.engine.inputs_table] == [("one/turn/voltage", "V")]
    rig.command("one", {"turn/voltage": 50.0}).steps(1)
    assert rig["one/motor/current"] == pytest.approx(12.0 / 0.5, rel=0.01), "its greatest voltage"
    # No-load speed V / K_t.
    assert rig.seconds(15.0)["one/turn/speed"] == pytest.approx(120.0, rel=1e-3)
    assert rig.engine.rest_inputs("one").tolist() == [0.0]


WIND_UP = """
from dataclasses import dataclass

from botz import force_element

@dataclass
class Numbers:
    gain: float

@force_element(Numbers, inputs=[("pull", "N")], states=1, reports=[("pulled", "N·s")])
def rope(p, frame):
    frame.states[0] += frame.step * frame.inputs[0]
    frame.force[2] += p.gain * frame.inputs[0]
    frame.reports[0] = frame.states[0]
"""


def test_a_users_element_is_commanded_by_its_own_name(tmp_path: Path):
    file = tmp_path / "rope.py"
    file.write_text(WIND_UP, encoding="utf-8")
    element = {"type": f"{file}:rope", "link": "drum", "parameters": {"gain": 2.0}}
    robot = {**turntable(), "base": "floating", "actuators": {}, "elements": {"rope": element}}
    rig = Rig({"one": robot}, FREE)
    assert [(channel.name, channel.unit) for channel in rig.engine.inputs_table] == [("one/rope/pull", "N")]
    rig.command("one", {"rope/pull": 3.0}).seconds(0.5)
    assert rig["one/rope/pulled"] == pytest.approx(1.5), "its state moves once a step, not at every stage"
    assert rig["one/rope/force"].tolist() == [0.0, 0.0, 6.0]
    assert rig["one/pose"][2] == pytest.approx(0.5 * 6.0 / 2.0 * 0.25, rel=1e-9)


def test_wheels_are_commanded_by_their_motors():
    rig = Rig({"one": {"links": {"chassis": body(20.0)}, "pose": [0, 0, 0.5, 0, 0, 0],
                       "elements": {"wheels": {"type": "vehicle-wheels", "link": "chassis", "vehicle": "vivi"}}}},
              step=2e-4)  # fmt: skip
    names = [channel.local_name for channel in rig.engine.inputs_table]
    assert names and all(name.count("/") == 1 and name.endswith("/voltage") for name in names)
    rig.command("one", {names[0]: 3.0}).steps(10)


def test_two_sets_of_wheels_with_the_same_motors_are_refused():
    wheels = {"type": "vehicle-wheels", "link": "chassis", "vehicle": "vivi"}
    with pytest.raises(InputError) as found:
        Rig({"one": {"links": {"chassis": body(20.0)}, "elements": {"a": wheels, "b": wheels}}}, step=2e-4)
    told = [(one.key, one.message) for one in found.value.problems]
    assert told[0][0] == "robots.one.elements.b"
    assert told[0][1] == "has the command 'front_left/voltage', as element 'a' has; give its motors other names"
