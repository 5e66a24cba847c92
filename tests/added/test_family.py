"""A robot family that lies in one folder beside these tests, as an installed package: all that Botz does with a family
it does with this one, and no file of Botz names it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from common import Answer
from lab_rig import Page, lab_at
from packages import HERE, Package, documented, installed, register

from botz.errors import InputError
from botz.record.reader import read
from botz.scenario.families import FAMILIES
from botz.scenario.load import load
from botz.sim.simulation import Simulation

Botz = Callable[..., Answer]
BAD = """
engine: cartpole
robots:
  pole: {angle: 1 m, masst: 2}
controllers:
  push: {robot: pool, type: constant}
"""


@pytest.fixture(scope="module", autouse=True)
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    site = tmp_path_factory.mktemp("site")
    register(site, documented("botz.families"))
    with installed(HERE, site):
        yield


@pytest.fixture(scope="module")
def run(package: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded run of its scenario, started from the command line."""
    from botz.cli.main import main

    out = tmp_path_factory.mktemp("runs") / "pendulum"
    with pytest.raises(SystemExit) as ending:
        main(["run", "pendulum", "--out", str(out)])
    assert not ending.value.code
    return out


def test_it_is_in_all_lists(botz: Botz):
    answer = botz("list", "cartpole", "--json")
    assert answer.code == 0, answer.err
    entries = json.loads(answer.out)
    assert [one["name"] for one in entries["scenarios"]] == ["pendulum"]
    assert [one["name"] for one in entries["robots"]] == ["pendulum-cart"]
    assert list(FAMILIES)[-1] == "cartpole"
    assert "cartpole" in botz("schema").out and "cartpole" in botz("schema", "--robot").out
    assert json.loads(botz("show", "pendulum", "--json").out)["robots"]["pole"]["length"] == 0.5


def test_its_files_are_checked(botz: Botz, tmp_path: Path):
    assert botz("check", "pendulum").code == botz("check", "pendulum-cart").code == 0
    (tmp_path / "bad.yaml").write_text(BAD, encoding="utf-8")
    answer = botz("check", "bad.yaml")
    assert answer.code == 2
    for words in ("bad.yaml:4", "robots.pole.angle", "robots.pole.masst", "controllers.push.robot", "'pole'"):
        assert words in answer.err
    answer = botz("run", "pendulum", "--set", "controllers.push.command={push: 1}")
    assert answer.code == 2 and "push" in answer.err and "choose from: force" in answer.err


def test_a_run_is_recorded_and_replayed_bit_for_bit(botz: Botz, run: Path):
    recording = read(run)
    assert {channel.name for channel in recording.channels} >= {"pole/cart/position", "pole/pole/angle", "pole/force"}
    assert recording["pole/pole/angle"][0] == pytest.approx(np.radians(20.0))
    assert np.ptp(recording["pole/cart/position"]) > 0.1 and recording["pole/force"][-1] == 0.5
    answer = botz("replay", run)
    assert answer.code == 0 and "identical" in answer.out + answer.err, answer
    assert botz("info", run).code == 0
    assert botz("export", run, "--csv", "--out", "csv").code == 0


def test_its_engine_continues_bit_for_bit_from_a_snapshot():
    simulation = Simulation("pendulum")
    simulation.step(n=500)
    kept = simulation.snapshot()
    ahead = simulation.step(n=700)
    simulation.restore(kept)
    assert simulation.step(n=700) == ahead


def test_its_state_can_be_read_and_set():
    simulation = Simulation("pendulum")
    simulation.set_state("pole", pose=(2.0, 0.0, 0.0), joints={"pole": (0.3, -1.0)})
    state = simulation.get_state("pole")
    assert state.pose.tolist() == [2.0, 0.0, 0.0] and state.joints == {"pole": (0.3, -1.0)}
    with pytest.raises(InputError, match="rail"):
        simulation.set_state("pole", pose=(0.0, 1.0, 0.0))
    with pytest.raises(InputError, match="'pole'"):
        simulation.set_state("pole", joints={"pool": 0.0})
    assert simulation.get_state("pole").pose[0] == 2.0


def test_it_is_verified_and_measured(botz: Botz):
    answer = botz("verify", "cartpole", "--json")
    assert answer.code == 0, answer.err
    assert [check["passed"] for check in json.loads(answer.out)["checks"]] == [True, True]
    (result,) = json.loads(botz("bench", "cartpole", "--json").out)["results"]
    assert result["unit"] == "steps/s" and result["value"] > 0


def test_its_recordings_are_drawn(botz: Botz, run: Path, tmp_path: Path):
    assert botz("plot", run, "--out", "run.svg").code == 0
    picture = (tmp_path / "run.svg").read_text(encoding="utf-8")
    assert picture.startswith("<?xml")
    assert botz("plot", run, "pole/pole/*", "--out", "pole.png").code == 0


def test_it_is_filmed(botz: Botz, run: Path, tmp_path: Path):
    answer = botz("video", run, "--out", "run.mp4", "--size", "160x120", "--fps", "5", "--end", "1")
    assert answer.code == 0, answer.err
    assert (tmp_path / "run.mp4").stat().st_size > 1000


def test_its_robots_are_described_for_viewers():
    from botz.scene.build import descriptions_of, scene_of

    spec = load("pendulum").spec
    assert [actor.name for actor in scene_of(spec).actors] == ["pole"]
    (robot,) = descriptions_of(spec)
    assert robot.is_robot and list(robot.motions) == ["pole"] and "<robot" in robot.urdf()


def test_it_is_shown_and_driven_in_the_lab(tmp_path: Path):
    with lab_at(tmp_path / "runs") as lab:
        (entry,) = [one for one in lab.json("/api/scenarios") if one["name"] == "pendulum"]
        assert entry["engine"] == "cartpole" and "pêndulo" in entry["keywords"]
        keys = {field["key"] for field in lab.json("/api/form?scenario=pendulum")["fields"]}
        assert {"robots.pole.position", "world.gravity"} <= keys
        drive(lab.page())
        (recording,) = lab.json("/api/recordings")
        answer = lab.get(f"/api/recordings/{recording['id']}/scene.glb")
        assert answer.status_code == 200 and b"pole/pole/angle" in answer.content


def drive(page: Page) -> None:
    """Pull it back by its one command, as far as its controller would not, and let it go."""
    run = page.start("pendulum", set={"time.duration": 600.0}, factor=1.0)
    assert run["status"] == "running", run["error"]
    (robot,) = run["robots"]
    assert robot["hands"] == "commands" and robot["axes"] == ["force"] and "1 of" in robot["note"]
    page.say(t="watch", run=run["id"], channels=["pole/force"], rate=20)
    for seq in count():
        page.say(t="drive", run=run["id"], robot="pole", mode=None, axes={"force": -0.8}, buttons={}, seq=seq)
        frame = page.frame()
        if frame["a"] >= 0 and frame["v"][0] == np.float32(-0.8):
            break
    page.say(t="release", run=run["id"])
    page.frame(lambda frame: frame["v"][0] != np.float32(-0.8))
    assert page.stop(run["id"])["status"] == "interrupted"


def test_a_family_that_cannot_be_imported_is_named_and_left_out(tmp_path: Path):
    (tmp_path / "broken_family.py").write_text("import no_such_module\n", encoding="utf-8")
    register(tmp_path, {"botz.families": {"broken": "broken_family:FAMILY"}})
    answer = Package(tmp_path).botz("list", "arm", "--json")
    assert answer.code == 0 and json.loads(answer.out)["robots"]
    for words in ("'broken'", "botz.families", "broken_family:FAMILY", "no_such_module"):
        assert answer.err.count(words) == 1, answer.err
