"""The vehicle engine as the loop sees it: commands, what it refuses, its way back, and its step."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

import numpy as np
import pytest

from botz.engines.vehicle.engine import VehicleEngine
from botz.engines.vehicle.model import Axle, axles_of
from botz.errors import InputError
from botz.scenario.vehicle.schema import VehicleScenario
from botz.verify.vehicle.rig import NAMES, Rig, four_wheeler, laid_over, rig

MOTOR = {"voltage": 24.0, "torque_constant": 0.03, "speed_constant": 30.0, "resistance": 0.5, "gear_ratio": 20.0}
VOLTAGES = {"front_left": 24.0, "front_right": 12.0, "rear_left": 6.0, "rear_right": 48.0}


def own_motors(**changes: Any) -> dict[str, Any]:
    """The four-wheeler with a motor for each wheel, each with a voltage of its own."""
    robot = four_wheeler(motor=MOTOR)
    return laid_over(robot, {"motors": {name: {"voltage": v} for name, v in VOLTAGES.items()}, **changes})


def with_motors(*groups: tuple[str, list[str]], **changes: Any) -> dict[str, Any]:
    """The four-wheeler with these motors and their wheels."""
    return {**four_wheeler(), "motors": {name: {**MOTOR, "wheels": wheels} for name, wheels in groups}, **changes}


@pytest.fixture(scope="module")
def engine() -> VehicleEngine:
    """Its inputs are never changed here: `resolve_command` only looks."""
    return rig(own_motors()).engine


def volts(engine: VehicleEngine, command: Mapping[str, Any]) -> dict[str, float]:
    return dict(zip(engine.scenario.robots["r"].motors, engine.resolve_command("r", command).tolist(), strict=True))


def refusal(engine: VehicleEngine, command: Mapping[str, Any], robot: str = "r") -> str:
    before = engine.inputs.tobytes()
    with pytest.raises(InputError) as caught:
        engine.resolve_command(robot, command)
    assert engine.inputs.tobytes() == before
    (problem,) = caught.value.problems
    return str(problem)


# --- commands ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "left", "right"),
    [
        ({"tank": [0.5, -0.25]}, 0.5, -0.25),
        ({"tank": (2.0, -3.0)}, 1.0, -1.0),
        ({"tank": np.array([0.0, 1.0])}, 0.0, 1.0),
        ({"drive": [0.5, 0.2]}, 0.3, 0.7),
        ({"drive": [-0.5, 0.0]}, -0.5, -0.5),
        ({"drive": [0.0, -1.0]}, 1.0, -1.0),
        ({"drive": [1.0, 1.0]}, 0.0, 1.0),
        ({"drive": [-1.0, 0.5]}, -1.0, -1.0 / 3.0),
        ({"drive": [3.0, 0.0]}, 1.0, 1.0),
        ({"drive": [3.0, -1.0]}, 1.0, 0.5),
    ],
)
def test_both_sides_by_shares_of_each_motors_voltage(engine: VehicleEngine, command, left: float, right: float):
    """Too much of forward and turn together is scaled, so that the curve stays the same."""
    shares = {"front_left": left, "front_right": right, "rear_left": left, "rear_right": right}
    assert volts(engine, command) == pytest.approx({name: shares[name] * VOLTAGES[name] for name in NAMES})


@pytest.mark.parametrize("backwards", [False, True])
def test_voltages_go_on_top_of_both_sides_in_any_order(engine: VehicleEngine, backwards: bool):
    parts = [("tank", [1.0, 0.5]), ("rear_left/voltage", -2.5), ("front_right/voltage", [7.0])]
    found = volts(engine, dict(parts[::-1] if backwards else parts))
    assert found == {"front_left": 24.0, "front_right": 7.0, "rear_left": -2.5, "rear_right": 24.0}


def test_what_a_command_does_not_name_stays_and_a_voltage_is_limited_at_the_motor():
    one = rig(own_motors()).command(voltages=[1.0, 2.0, 3.0, 4.0])
    assert volts(one.engine, {"rear_left/voltage": -9.0}) == dict(zip(NAMES, (1.0, 2.0, -9.0, 4.0), strict=True))
    assert volts(one.engine, {}) == dict(zip(NAMES, (1.0, 2.0, 3.0, 4.0), strict=True))
    one.command(**{"rear_left/voltage": -100.0, "front_left/voltage": 100.0}).steps(1)
    assert one.each("voltage").tolist() == [24.0, 2.0, -6.0, 4.0]
    behind_a_battery = rig({**own_motors(), "battery": {"voltage": 10.0}}).command(voltages=100.0).steps(1)
    assert behind_a_battery.each("voltage").tolist() == [10.0, 10.0, 6.0, 10.0]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ({"front_lef/voltage": 1.0}, ["r: ", "'front_lef/voltage'", "did you mean 'front_left/voltage'?", "tank"]),
        ({"front_left": 1.0}, ["'front_left'", "did you mean 'front_left/voltage'?"]),
        ({"tnak": [1.0, 1.0]}, ["'tnak'", "did you mean 'tank'?"]),
        ({"tank": [1.0, 1.0], "drove": [1.0, 1.0]}, ["'drove'", "did you mean 'drive'?"]),
        ({"twist": [1.0, 0.0, 0.0]}, ["'twist'", "choose from", "drive", "rear_right/voltage", "tank"]),
        ({"tank": [1.0]}, ["r/tank (left, right)", "2 finite numbers", "[1.0]"]),
        ({"tank": [1.0, 0.0, 0.0]}, ["r/tank", "2 finite numbers"]),
        ({"tank": 1.0}, ["r/tank", "2 finite numbers", "1.0"]),
        ({"drive": [float("nan"), 0.0]}, ["r/drive (forward, turn)", "2 finite numbers", "nan"]),
        ({"drive": [0.0, float("inf")]}, ["r/drive", "2 finite numbers", "inf"]),
        ({"drive": "fast"}, ["r/drive", "2 finite numbers", "'fast'"]),
        ({"front_left/voltage": [1.0, 2.0]}, ["r/front_left/voltage", "one finite number"]),
        ({"front_left/voltage": float("-inf")}, ["r/front_left/voltage", "one finite number"]),
        ({"front_left/voltage": None}, ["r/front_left/voltage", "one finite number"]),
    ],
)
def test_wrong_commands_are_told(engine: VehicleEngine, command, words: list[str]):
    told = refusal(engine, command)
    assert all(word in told for word in words), told


def test_a_motor_over_both_sides_is_none_for_steering_unless_it_is_named():
    groups = ("front", ["front_left", "front_right"]), ("rear", ["rear_left", "rear_right"])
    one = rig(with_motors(*groups)).engine
    for name, share in (("tank", [1.0, 1.0]), ("drive", [1.0, 0.0])):
        told = refusal(one, {name: share})
        assert told.startswith(f"r/{name}: no motor turns wheels on the left alone"), told
        assert "'sides'" in told and "voltages" in told
    assert volts(one, {"front/voltage": 3.0}) == {"front": 3.0, "rear": 0.0}
    named = rig(with_motors(*groups, sides={"left": ["rear"], "right": ["front"]})).engine
    assert volts(named, {"tank": [0.25, -1.0]}) == {"front": -24.0, "rear": 6.0}
    assert volts(named, {"drive": [0.5, 0.25]}) == {"front": 18.0, "rear": 6.0}


def test_steering_leaves_motors_of_neither_side_alone():
    groups = ("right", ["front_right"]), ("both", ["rear_left", "rear_right"]), ("left", ["front_left"])
    one = rig(with_motors(*groups)).command(voltages=[1.0, 2.0, 3.0]).engine
    assert volts(one, {"tank": [1.0, -1.0]}) == {"right": -24.0, "both": 2.0, "left": 24.0}
    one_sided = rig(with_motors(("left", ["front_left", "rear_left"]))).engine
    assert "no motor turns wheels on the right alone" in refusal(one_sided, {"tank": [1.0, 1.0]})


def test_commands_of_several_robots_and_of_one_without_motors():
    data = {
        "engine": "vehicle",
        "robots": {"one": own_motors(), "cart": four_wheeler(), "two": with_motors(("m", ["front_left"]))},
    }
    engine = VehicleEngine(VehicleScenario.model_validate(data))
    voltages = [(f"{name}/voltage", 1) for name in NAMES]
    assert engine.command_layout("one") == [*voltages, ("tank", 2), ("drive", 2)]
    assert engine.command_layout("two")[0] == ("m/voltage", 1)
    assert [engine.rest_inputs(name).tolist() for name in data["robots"]] == [[0.0] * 4, [], [0.0]]
    engine.inputs[:] = range(5)
    assert engine.resolve_command("one", {"rear_right/voltage": 9.0}).tolist() == [0.0, 1.0, 2.0, 9.0]
    assert engine.resolve_command("two", {}).tolist() == [4.0]
    assert engine.resolve_command("cart", {}).tolist() == []
    assert "on the left" in refusal(engine, {"tank": [1.0, 1.0]}, "cart")
    engine.reset(np.random.default_rng(0))
    assert engine.inputs.tolist() == [0.0] * 5, "reset puts all inputs to rest"


def test_axles_are_motors_in_their_order_and_then_wheels_without():
    robot = with_motors(("z", ["rear_right"]), ("a", ["rear_left", "front_left"]))
    placed = rig(robot).engine.scenario.robots["r"]
    assert axles_of(placed) == [
        Axle(("rear_right",), "z"),
        Axle(("rear_left", "front_left"), "a"),
        Axle(("front_right",), None),
    ]


# --- back and forth ------------------------------------------------------------------------------------------------

ENDS = {"type": "flat", "x": [-1.0, 1.0], "y": [-1.0, 1.0], "outside": "end"}
ROUGH = {"type": "rough", "iso_class": "E", "x": [-2.0, 2.0], "y": [-2.0, 2.0]}


def state_of(one: Rig) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in one.engine.state_arrays().items()}


@pytest.mark.parametrize("method", ["semi-implicit", "rk4"])
def test_going_back_gives_the_same_bits_and_the_same_future(method: str):
    one = rig(own_motors(), terrain=ROUGH, method=method, angular_velocity=[0.1, 0.2, 0.3])
    one.command(tank=[0.3, 0.2]).steps(300)
    before, row = state_of(one), one.row()
    one.engine.keep()
    future = one.steps(500).row()
    assert state_of(one) != before
    one.engine.go_back()
    assert state_of(one) == before and one.row().tobytes() == row.tobytes()
    assert one.steps(500).row().tobytes() == future.tobytes()
    one.engine.go_back()
    assert state_of(one) == before, "as often as one likes"


def test_going_back_takes_back_that_the_world_ended():
    one = rig(terrain=ENDS, position=[0.7, 0.0], velocity=[2.0, 0.0, 0.0])
    one.engine.keep()
    start = one.engine.snapshot()
    one.steps(2000)
    steps = one.engine.steps_taken
    assert one.engine.ended == "r left the terrain" and 350 < steps < 450
    one.engine.go_back()
    assert one.engine.ended == ""
    one.engine.advance(0, steps - 1, 0, np.empty((0, 0)))
    assert one.engine.ended == ""
    one.engine.advance(steps - 1, 1, 0, np.empty((0, 0)))
    assert one.engine.ended != "" and one.engine.steps_taken == 1
    one.engine.restore(start)
    assert one.engine.ended == "", "nor is it the end in a state restored"
    one.engine.advance(0, 2000, 0, np.empty((0, 0)))
    assert one.engine.ended != "" and one.engine.steps_taken == steps
    one.engine.reset(np.random.default_rng(0))
    assert one.engine.ended == ""


# --- the step ------------------------------------------------------------------------------------------------------

STIFF = {"stiffness": 1e12, "damping": 0.0, "travel": 0.05}
VISCOUS = {"coulomb": 0.1, "static": 0.1, "stiffness": 10.0, "viscous": 1e5}


@pytest.mark.parametrize(
    ("robot", "part"),
    [
        (four_wheeler(wheels={"rear_left": {"suspension": STIFF}}), "spring of wheel 'rear_left' of r"),
        (four_wheeler(wheels={"front_right": {"suspension": {"damping": 1e7}}}), "damper of wheel 'front_right' of r"),
        (four_wheeler(wheels={"rear_right": {"tyre": {"stiffness": 1e12}}}), "tread of wheel 'rear_right' of r"),
        (four_wheeler(chassis={"corners": {"stiffness": 1e12}}), "chassis corners of r"),
        (four_wheeler(wheels={"rear_left": {"friction": VISCOUS}}), "friction of an axle of r"),
        (own_motors(motors={"rear_left": {"friction": VISCOUS}}), "friction of an axle of r"),
        (own_motors(motors={"rear_left": {"resistance": 1e-7}}), "motor of an axle of r"),
    ],
)
def test_too_long_a_step_is_told_with_the_part_it_is_too_long_for(robot: dict[str, Any], part: str):
    with pytest.raises(InputError) as caught:
        rig(robot)
    (problem,) = caught.value.problems
    assert problem.key == "time.step" and f"0.0001 s is too long for the {part}" in problem.message
    limit = float(problem.message.split("at most ")[1].split(" s")[0])
    assert 0.0 < limit < 1e-4
    within = rig(robot, step=max(1e-9, round(0.9 * limit, 9))).engine
    assert within.shortest_period()[1] == part and f"the fastest part is the {part}" in within.stability_hint()


def test_a_short_step_is_not_blamed_for_a_divergence():
    limit, part = rig().engine.shortest_period()
    assert part in rig(step=round(0.5 * limit, 6)).engine.stability_hint()
    hint = rig(step=1e-4).engine.stability_hint()
    assert part not in hint and "without bound" in hint


def test_the_step_of_a_spring_follows_from_the_mass_that_it_carries():
    """2/ω with ω² = k (1/m + x²/I_yy + y²/I_xx)."""
    soft = {"stiffness": 1.0}
    robot = four_wheeler(wheel={"suspension": {"damping": 0.0}, "tyre": soft}, chassis={"corners": soft})
    period, part = rig(robot).engine.shortest_period()
    xx, yy = 40.0 / 12 * (0.32**2 + 0.18**2), 40.0 / 12 * (0.6**2 + 0.18**2)
    assert "spring of wheel" in part
    assert period == pytest.approx(2.0 / sqrt(6000.0 * (1 / 40.0 + 0.22**2 / yy + 0.22**2 / xx)))
