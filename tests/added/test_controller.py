"""A controller that comes in one file of another package: listed, checked, run, recorded, replayed, shown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from packages import Package, documented, install

from botz.record.reader import read

SCENARIO = """
engine: kinematics
time: {step: 0.005, duration: 5}
robots:
  rover: {extends: differential, pose: [0.4, 0.3, 0]}
controllers:
  back: {robot: rover, type: homing, rate: 50 Hz, speed: 0.25}
"""
FORM = """
import json, sys
from botz.scenario.load import load
from botz.view.lab.forms import fields_of
from botz.scene.kinematics.scene import start_view

spec = load(sys.argv[1], overrides=["controllers.back.home=[-5, 0, 0]"]).spec
print(json.dumps([[one.key for one in fields_of(spec)], start_view(spec)[0]]))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    points = documented("botz.controllers", gone="no_such_module:Gone", odd="botz_extras.homing:Homing")
    made = install(tmp_path_factory.mktemp("package"), "homing.py", points)
    (made.folder / "home.yaml").write_text(SCENARIO, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def recording(package: Package) -> Path:
    done = package.botz("run", "home.yaml", "--out", "run")
    assert done.code == 0, done.err
    return package.folder / "run" / "recording.mcap"


def test_it_drives_its_robot_and_its_commands_are_recorded(recording):
    kept = read(recording)
    assert np.hypot(*kept["rover/pose"][-1, :2]) < 0.03
    steps, values, _ = kept.commands("rover")
    assert len(steps) > 10
    assert len(np.unique(values, axis=0)) > 10


def test_its_run_is_replayed_bit_for_bit(package, recording):
    done = package.botz("replay", str(recording))
    assert done.code == 0, done.out + done.err


def test_it_is_in_the_json_schema_of_its_family_alone(package):
    definitions = json.loads(package.botz("schema").out)["$defs"]
    assert definitions["HomingController"]["properties"]["speed"]["description"] == "How fast [m/s]."
    entries = {
        name: json.dumps(definitions[f"{name}Complete"]["properties"]["controllers"])
        for name in ("KinematicsScenario", "VehicleScenario")
    }
    assert "HomingController" in entries["KinematicsScenario"]
    assert "HomingController" not in entries["VehicleScenario"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("controllers.back.speed=-1", "controllers.back.speed: must be greater than 0, not -1"),
        ("controllers.back.sped=1", "controllers.back.sped: unknown key; did you mean 'speed'?"),
        ("controllers.back.rate=30 Hz", "controllers.back.rate: 30 Hz has a period of"),
        ("controllers.back.type=homeing", "controllers.back.type: unknown 'homeing'; did you mean 'homing'?"),
    ],
)
def test_its_keys_are_checked(package, change, message):
    done = package.botz("check", "home.yaml", "--set", change)
    assert done.code == 2
    assert message in done.out + done.err


def test_a_robot_that_it_does_not_fit_is_refused(package):
    (package.folder / "other.yaml").write_text(
        "engine: soccer\nrobots: {one: {extends: vsss}}\ncontrollers: {back: {robot: one, type: homing}}\n",
        encoding="utf-8",
    )
    done = package.botz("check", "other.yaml")
    assert done.code == 2
    assert "controllers.back.type: 'homing' is of engine kinematics; choose from: constant" in done.out + done.err


def test_what_is_no_controller_is_named_and_left_out(package):
    done = package.botz("check", "home.yaml")
    assert done.code == 0, done.err
    assert "botz: 'gone' of botz.controllers is left out: no_such_module:Gone cannot be imported" in done.err
    assert "botz: 'odd' of botz.controllers is left out: botz_extras.homing:Homing is no Controller" in done.err


def test_the_lab_offers_its_keys_and_the_scene_shows_where_it_goes(package):
    done = package.python("-c", FORM, "home.yaml")
    assert done.code == 0, done.err
    keys, centre = json.loads(done.out)
    assert {"controllers.back.speed", "controllers.back.home.0"} <= set(keys)
    assert centre[0] < -1.0  # between the start and the home that it knows of
