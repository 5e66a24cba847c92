"""A sensor that comes in one file of another package: listed, checked, run, recorded, replayed, plotted, in the lab."""

from __future__ import annotations

import json
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packages import Package, documented, install

from botz.record.reader import read

TURNING = 0.8
"""Of the robot about the vertical [rad/s]."""
SCENARIO = f"""
engine: multibody
time: {{step: 0.001, duration: 2}}
record: {{rate: 100}}
world: {{ground: false, gravity: [0, 0, 0], earth: {{magnetic_field: [0, 20 uT, -40 uT]}}}}
robots:
  top:
    links: {{disc: {{mass: 1, shapes: [{{type: cylinder, radius: 0.1, length: 0.02}}]}}}}
    angular_velocity: [0, 0, {TURNING}]
    sensors:
      needle: {{type: compass, link: disc, rate: 50, declination: 10 deg, noise: 1 deg}}
"""
IN_THE_LAB = """
import json, sys
from pathlib import Path
sys.path[:0] = [{tests!r}, {tests!r} + "/lab"]
from lab_rig import lab_at

with lab_at(Path("lab-runs"), root=Path.cwd()) as lab:
    run = lab.page().start("spin.yaml")
    print(json.dumps([run["status"], run["channels"]]))
"""
FIRST = """
from botz_extras import compass
from botz.scenario.multibody.schema import AnySensor
from botz.scenario.problems import models_by_tag

print(models_by_tag(AnySensor)["compass"] is compass.Compass)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    made = install(
        tmp_path_factory.mktemp("package"), "compass.py", documented("botz.sensors", gone="no_such_module:Gone")
    )
    (made.folder / "spin.yaml").write_text(SCENARIO, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def recording(package: Package) -> Path:
    done = package.botz("run", "spin.yaml", "--out", "run")
    assert done.code == 0, done.err
    return package.folder / "run" / "recording.mcap"


def test_its_readings_are_recorded(recording: Path):
    kept = read(recording)
    # At rest x points east, a quarter turn clockwise from north; the robot turns the other way.
    expected = np.pi / 2 - TURNING * np.floor(kept.time() * 50 + 1e-6) / 50 - 10 * np.pi / 180
    error = kept["top/needle/heading"] - expected
    assert error[::2].std() == pytest.approx(np.pi / 180, rel=0.25), "of a hundred readings"
    assert abs(error.mean()) < 0.01
    assert np.all(error[1:-1:2][:-1] != error[2::2][:-1]), "a new reading every 20 ms"
    assert np.linalg.norm(kept["top/needle/field"], axis=1) == pytest.approx(2e-5)
    channels = {one.name: one for one in kept.channels}
    heading, field = channels["top/needle/heading"], channels["top/needle/field"]
    assert (heading.unit, heading.description) == ("rad", "measured, clockwise from north")
    assert (field.unit, field.components) == ("T", ("x", "y"))


def test_its_run_is_replayed_bit_for_bit(package: Package, recording: Path):
    done = package.botz("replay", str(recording))
    assert done.code == 0, done.out + done.err


def test_its_run_is_plotted(package: Package, recording: Path):
    done = package.botz("plot", str(recording), "top/needle/heading", "--out", "run.png")
    assert done.code == 0, done.out + done.err
    assert (package.folder / "run.png").read_bytes().startswith(b"\x89PNG")


def test_its_channels_are_those_that_the_lab_offers_for_charts(package: Package):
    done = package.python("-c", IN_THE_LAB.format(tests=str(Path(__file__).parents[1])))
    assert done.code == 0, done.err
    status, channels = json.loads(done.out.splitlines()[-1])
    assert status == "running"
    units = {name: unit for name, unit, *_ in channels}
    assert (units["top/needle/heading"], units["top/needle/field"]) == ("rad", "T")


def test_its_keys_are_in_the_json_schema(package: Package):
    definitions = json.loads(package.botz("schema", "--robot").out)["$defs"]
    assert definitions["Compass"]["properties"]["noise"]["description"] == "Standard deviation of a reading [rad]."
    entries: dict[str, Any] = definitions["MultibodyRobotComplete"]["properties"]["sensors"]
    (named,) = entries["patternProperties"].values()
    assert {"#/$defs/Compass", "#/$defs/Imu"} <= {one["$ref"] for one in named["oneOf"]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("needle.noise=-1", "noise: must be at least 0, not -1"),
        ("needle.noise=3 m", "noise: "),
        ("needle.rate=333", "rate: 333 Hz has a period of"),
        ("needle.declinaton=0", "declinaton: unknown key; did you mean 'declination'?"),
        ("needle.link=disk", "link: no link 'disk'; did you mean 'disc'?"),
        ("needle.type=compas", "type: unknown 'compas'; did you mean 'compass'?"),
    ],
)
def test_its_keys_are_checked(package: Package, change: str, message: str):
    done = package.botz("check", "spin.yaml", "--set", f"robots.top.sensors.{change}")
    assert done.code == 2
    assert f"robots.top.sensors.needle.{message}" in done.out + done.err


def test_one_that_raises_ends_the_run_with_its_name(package: Package):
    upright = f"robots.top.sensors.needle.pose=[0, 0, 0, 0, {pi / 2}, 0]"
    done = package.botz("run", "spin.yaml", "--out", "raised", "--set", upright)
    assert done.code != 0 and "Traceback" not in done.err
    assert "robots.top.sensors.needle: the sensor raised an exception, as the world starts" in done.err


def test_a_package_that_cannot_be_imported_is_named_and_left_out(package: Package):
    done = package.botz("check", "spin.yaml")
    assert done.code == 0, done.err
    assert "botz: 'gone' of botz.sensors is left out: no_such_module:Gone cannot be imported" in done.err


def test_its_file_may_be_imported_before_botz_knows_of_it(package: Package):
    done = package.python("-c", FIRST)
    assert (done.code, done.out) == (0, "True\n"), done.err
