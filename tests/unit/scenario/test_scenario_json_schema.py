"""The JSON Schema for editors: it passes what loads and refuses typical mistakes."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from botz.scenario import library
from botz.scenario.json_schema import robot_schema, scenario_schema
from botz.scenario.reading import parse, read

ROBOT = {"wheels": {"left": {"type": "fixed", "position": [0, "3 cm"], "radius": "5 cm"}}}


@pytest.fixture(scope="module")
def scenario() -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(scenario_schema())
    return jsonschema.Draft202012Validator(scenario_schema())


@pytest.fixture(scope="module")
def robot() -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(robot_schema())
    return jsonschema.Draft202012Validator(robot_schema())


def complete(**more: Any) -> dict[str, Any]:
    return {"engine": "kinematics", "robots": {"vivi": ROBOT}, **more}


@pytest.mark.parametrize(
    "data",
    [
        complete(),
        complete(time={"step": "1 ms", "realtime": 0.5, "method": "rk4"}, record={"rate": "100 Hz"}, seed=3),
        complete(controllers={"drive": {"type": "constant", "robot": "vivi", "command": {"twist": [1, 0, "6 deg/s"]}}}),
        complete(controllers={"drive": {"type": "drive.py:Drive", "robot": "vivi", "parameters": {"any": [1, "x"]}}}),
        {"engine": "kinematics", "robots": {"vivi": {"extends": "duo"}}},
        {"engine": "kinematics", "robots": {"vivi": {"extends": "duo", "wheels": {"left": {"radius": 0.1}}}}},
        {
            "engine": "kinematics",
            "robots": {"vivi": {"extends": "duo", "wheels": {"left": None}, "pose": {"x": 1}}},
        },
        {"extends": "circle"},
        {
            "extends": "circle",
            "robots": {"vivi": {"pose": [0, 0, "90 deg"]}},
            "controllers": {"drive": {"rate": 50}},
        },
        {"extends": "circle", "robots": {"vivi": {"wheels": {"left": {"slip": {"mean": "5 %"}}}}}},
        {"extends": "ramp", "robots": {"vivi": {"wheel": {"rims": 1}}}, "world": {"gravity": 1.6}},
        {"engine": "vehicle", "robots": {"vivi": {"extends": "vivi", "wheel": {"radius": 0.1}}}},
    ],
)
def test_valid_scenarios_pass(scenario: jsonschema.Draft202012Validator, data: dict[str, Any]) -> None:
    scenario.validate(data)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"engine": "kinematics"},
        {"engine": "magic", "robots": {"vivi": ROBOT}},
        {"robots": {"vivi": ROBOT}},
        complete(tme={"step": 1}),
        complete(time={"step": 0}),
        complete(time={"step": True}),
        complete(time={"step": "fast"}),
        complete(time={"method": "euler"}),
        complete(robots={"Vivi": ROBOT}),
        complete(robots={"vivi": {"wheels": {"left": {"radius": 1}}}}),
        complete(robots={"vivi": {"wheels": {"left": {"type": "mecanum", "position": [0, 0]}}}}),
        complete(robots={"vivi": {**ROBOT, "pose": [1, 2]}}),
        complete(robots={"vivi": {"extends": "duo", "wheels": {"left": {"radios": 1}}}}),
        complete(robots={"vivi": {"extends": 5}}),
        complete(controllers={"drive": {"type": "constnt", "robot": "vivi", "command": {"twist": 0}}}),
        complete(controllers={"drive": {"type": "constant", "command": {"twist": 0}}}),
        {"extends": "circle", "tme": 1},
        {"extends": "circle", "time": {"step": -1}},
        {"extends": "ramp", "robots": {"vivi": {"wheel": {"rims": 1}, "pose": [0, 0, 0]}}},
        {"engine": "vehicle", "robots": {"vivi": {"extends": "vivi", "wheel": {"radios": 0.1}}}},
    ],
)
def test_typical_mistakes_fail(scenario: jsonschema.Draft202012Validator, data: dict[str, Any]) -> None:
    assert not scenario.is_valid(data)


def test_robot_files(robot: jsonschema.Draft202012Validator) -> None:
    robot.validate({"engine": "kinematics", **ROBOT})
    robot.validate(ROBOT)
    robot.validate({"extends": "duo", "wheels": {"left": {"radius": "6 cm"}}})
    for wrong in ({}, {"wheels": {}}, {**ROBOT, "pose": [0, 0, 0]}, {"extends": "duo", "weels": {}}):
        assert not robot.is_valid(wrong), wrong


def vehicle(**more: Any) -> dict[str, Any]:
    """Its wheels and motors hold what differs; what they have in common is written once."""
    return {
        "engine": "vehicle",
        "chassis": {"mass": 4, "front": 0.2, "rear": 0.2, "left": 0.1, "right": 0.1, "top": 0.1, "bottom": "5 cm"},
        "wheel": {
            "radius": "5 cm",
            "inertia": 0.001,
            "suspension": {"stiffness": 1000, "damping": 20, "travel": 0.02},
            "tyre": {"type": "coulomb", "static": 0.9, "dynamic": 0.8},
        },
        "wheels": {"left": {"position": [0, 0.1, 0]}, "right": {"position": [0, -0.1, 0], "radius": 0.06}},
        "motor": {"torque_constant": 0.02, "speed_constant": "254 rpm/V", "resistance": 0.1, "voltage": "12 V"},
        "motors": {"left": {"wheels": ["left"]}, "right": {"wheels": ["right"], "gear_ratio": 30}},
        **more,
    }


def test_vehicles_whose_wheels_have_much_in_common(robot: jsonschema.Draft202012Validator) -> None:
    robot.validate(vehicle())
    robot.validate({"extends": "duo", "engine": "vehicle", "wheel": {"rims": 1}, "wheels": {"left": None}})
    robot.validate({"extends": "duo", "engine": "vehicle", "wheel": None})
    for wrong in (
        vehicle(wheel={"radios": 0.05}),
        vehicle(wheel={"radius": 0}),
        vehicle(wheel={"suspension": {"stifness": 1000}}),
        vehicle(wheel={"tyre": {"type": "magic_formula"}}),
        vehicle(wheels={"left": {"rims": 3}}),
        vehicle(wheels={}),
        vehicle(motor={"voltage": "fast"}),
        vehicle(motors={"left": {"weels": ["left"]}}),
        vehicle(chassis={}),
        {"extends": "duo", "engine": "vehicle", "motor": {"volt": 3}},
    ):
        assert not robot.is_valid(wrong), wrong


def test_what_is_written_in_yaml_is_what_the_schema_sees(scenario: jsonschema.Draft202012Validator) -> None:
    text = "engine: kinematics\nrobots:\n  vivi: {extends: duo, pose: [1e-3, 2 cm, 90 deg]}\ntime: {step: 1e-3}\n"
    scenario.validate(parse(text, None).plain())


def test_fields_are_described(scenario: jsonschema.Draft202012Validator) -> None:
    definitions = scenario.schema["$defs"]
    assert "Integration step" in definitions["KinematicsTime"]["properties"]["step"]["description"]
    assert "Integration step" in str(definitions["KinematicsTimePartial"]["properties"]["step"])


def test_everything_shipped_passes(
    scenario: jsonschema.Draft202012Validator, robot: jsonschema.Draft202012Validator
) -> None:
    for name in library.names("scenario"):
        scenario.validate(read(library.find("scenario", name)).plain())
    for name in library.names("robot"):
        robot.validate(read(library.find("robot", name)).plain())
