"""A force element that comes in one file of another package: listed, checked, run, recorded, replayed, plotted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from packages import Package, documented, install

from botz.record.reader import read
from botz.view.multibody.plot import robot_panels

MASS, STIFFNESS, DAMPING = 2.0, 400.0, 20.0
SCENARIO = f"""
engine: multibody
time: {{step: 0.001, duration: 4}}
record: {{rate: 100}}
world: {{ground: false}}
robots:
  bob:
    links: {{ball: {{mass: {MASS}, shapes: [{{type: sphere, radius: 0.1}}]}}}}
    elements:
      rope: {{type: tether, link: ball, length: 50 cm, stiffness: {STIFFNESS}, damping: {DAMPING}}}
controllers:
  winch: {{robot: bob, type: constant, command: {{rope/reel: 0.25}}}}
"""
FIRST = """
from botz_extras import tether
from botz.scenario.multibody.schema import AnyElement
from botz.scenario.problems import models_by_tag

print(models_by_tag(AnyElement)["tether"] is tether.Tether)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    points = documented("botz.elements", gone="no_such_module:Gone", odd="botz_extras.tether:Rope")
    made = install(tmp_path_factory.mktemp("package"), "tether.py", points)
    (made.folder / "hang.yaml").write_text(SCENARIO, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def recording(package: Package) -> Path:
    done = package.botz("run", "hang.yaml", "--out", "run")
    assert done.code == 0, done.err
    return package.folder / "run" / "recording.mcap"


def test_it_acts_and_its_commands_and_reports_are_recorded(recording: Path):
    kept = read(recording)
    weight = MASS * 9.81
    assert kept["bob/rope/pull"][0] == 0.0
    assert kept["bob/rope/pull"][-1] == pytest.approx(weight, rel=1e-3)
    assert kept["bob/rope/force"][-1] == pytest.approx([0.0, 0.0, weight], abs=0.02)
    assert kept["bob/pose"][-1, 2] == pytest.approx(-(0.5 + 0.25 + weight / STIFFNESS), abs=1e-4)
    assert kept.commands("bob")[1][-1] == pytest.approx([0.25])
    (pull,) = [one for one in kept.channels if one.name == "bob/rope/pull"]
    assert (pull.unit, pull.description) == ("N", "in the rope")


def test_its_run_is_replayed_bit_for_bit(package: Package, recording: Path):
    done = package.botz("replay", str(recording))
    assert done.code == 0, done.out + done.err


def test_its_run_is_plotted(package: Package, recording: Path):
    done = package.botz("plot", str(recording), "--out", "run.png")
    assert done.code == 0, done.out + done.err
    assert (package.folder / "run.png").read_bytes().startswith(b"\x89PNG")
    labels = [panel.label for panel in robot_panels(read(recording), "bob", alone=True)]
    assert labels == ["position [m]", "attitude [rad]", "pull [N]"]


def test_its_keys_are_in_the_json_schema(package: Package):
    definitions = json.loads(package.botz("schema", "--robot").out)["$defs"]
    assert definitions["Tether"]["properties"]["length"]["description"] == "It is slack below this [m]."
    entries = definitions["MultibodyRobotComplete"]["properties"]["elements"]
    assert {"#/$defs/Tether", "#/$defs/Propeller"} <= {one["$ref"] for one in _choices(entries)}


def _choices(entries: dict) -> list[dict]:
    (named,) = entries["patternProperties"].values()
    return named["oneOf"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("rope.stiffness=-1", "stiffness: must be greater than 0, not -1"),
        ("rope.stiffness=3 kg", "stiffness: "),
        ("rope.lenght=1", "lenght: unknown key; did you mean 'length'?"),
        ("rope.link=bal", "link: no link 'bal'; did you mean 'ball'?"),
        ("rope.type=teather", "type: unknown 'teather'; did you mean 'tether'?"),
    ],
)
def test_its_keys_are_checked(package: Package, change: str, message: str):
    done = package.botz("check", "hang.yaml", "--set", f"robots.bob.elements.{change}")
    assert done.code == 2
    assert f"robots.bob.elements.rope.{message}" in done.out + done.err


def test_what_is_no_element_is_named_and_left_out(package: Package):
    done = package.botz("check", "hang.yaml")
    assert done.code == 0, done.err
    assert "botz: 'gone' of botz.elements is left out: no_such_module:Gone cannot be imported" in done.err
    assert "botz: 'odd' of botz.elements is left out: botz_extras.tether:Rope is no Element" in done.err


def test_its_file_may_be_imported_before_botz_knows_of_it(package: Package):
    done = package.python("-c", FIRST)
    assert (done.code, done.out) == (0, "True\n"), done.err
