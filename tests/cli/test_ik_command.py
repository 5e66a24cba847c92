"""`botz ik`: its table, its JSON, its exit codes and its complaints."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import pi
from pathlib import Path

import numpy as np
import pytest
from common import Answer
from scipy.spatial.transform import Rotation

from botz.cli.arms import with_lists_joined
from botz.robots.arm_records import transform
from botz.robots.serial_arm import SerialArm

Botz = Callable[..., Answer]
REACHED = "1.2 0 0.5 0 90deg 0"
SLIDER = """\
engine: arm
joints:
  turn: {a: 0.3, range: [-170 deg, 170 deg]}
  slide: {type: prismatic, range: [0, 0.5]}
"""


def test_the_table_shows_every_solution_in_degrees(botz: Botz):
    answer = botz("ik", "titan4", "--pose", REACHED, "--no-limits")
    assert answer.code == 0, answer.err
    found = SerialArm.of("titan4").inverse(transform([1.2, 0, 0.5, 0, pi / 2, 0]), limits=False)
    rows = [line for line in answer.out.splitlines() if "elbow up," in line or "elbow down," in line]
    assert len(rows) == len(found.joints) > 1
    for row, branch, joints in zip(rows, found.branches, found.joints, strict=True):
        assert row.startswith(branch)
        shown = [float(word) for word in row[len(branch) :].split()[:6]]
        assert np.abs(np.radians(shown) - joints).max() < 1e-5
    assert f"solved: {len(rows)} solutions" in answer.out
    assert {row.split()[-1] for row in rows} == {"yes", "no"}


def test_json_solves_the_pose(botz: Botz):
    answer = botz("ik", "titan4", "--pose", REACHED, "--json")
    assert answer.code == 0 and not answer.err
    data = json.loads(answer.out)
    assert data["status"] == "solved" and data["solver"] == "titan4" and len(data["joints"]) == 6
    arm = SerialArm.of("titan4")
    for one in data["solutions"]:
        assert np.abs(arm.forward(one["joints"]) - transform(data["pose"])).max() < 1e-9
        assert one["inside"]


@pytest.mark.parametrize(
    "given",
    [
        ["-0.3 -0.9 0.6 0 1.5 -0.2"],
        ["-0.3,-0.9,0.6,0,1.5,-0.2"],
        ["-0.3", "-0.9", "0.6", "0", "1.5", "-0.2"],
        ["-300 mm, -90 cm", "0.6", "m", "0", "1.5rad", "-0.2"],
    ],
)
def test_a_pose_may_be_one_value_or_six_and_negative(botz: Botz, given: list[str]):
    answer = botz("ik", "--pose", *given, "titan4", "--json", "--no-limits")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["pose"] == pytest.approx([-0.3, -0.9, 0.6, 0, 1.5, -0.2])


def test_only_lists_of_this_command_are_joined():
    assert with_lists_joined(["run", "--pose", "1", "2"]) == ["run", "--pose", "1", "2"]
    assert with_lists_joined(["ik", "a", "--pose", "1", "2deg", "--json"]) == ["ik", "a", "--pose", "1 2deg", "--json"]
    assert with_lists_joined(["ik", "a", "--pose", "--json"]) == ["ik", "a", "--pose", "--json"]


def test_present_cost_and_weights_choose(botz: Botz):
    def best(*options: str) -> list[float]:
        answer = botz("ik", "titan4", "--pose", REACHED, "--json", "--no-limits", *options)
        assert answer.code == 0, answer.err
        return json.loads(answer.out)["solutions"][0]["joints"]

    flipped = best("--present", "0 70deg -100deg 40deg 180deg -90deg")
    assert abs(flipped[4]) == pytest.approx(pi)
    assert best() == best("--cost", "middle") != flipped
    turned = best("--present", "0 0 0 0 0 720deg", "--weights", "0 0 0 0 0 1")
    assert abs(turned[5] - 4 * pi) <= pi


def test_singular_poses_are_named(botz: Botz):
    """The arm stretched out, but for its last joint."""
    answer = botz("ik", "titan4", "--pose", "1.922 0 0 0 90deg 0")
    assert answer.code == 0, answer.err
    assert "solved: 1 solution " in answer.out and "singular: elbow straight" in answer.out


def test_with_a_free_joint_no_set_is_complete(botz: Botz):
    """The PUMA's wrist stretched out: joints 4 and 6 turn about one axis."""
    straight = SerialArm.of("puma560").forward([0.1, 0.4, 0.3, 0.2, 0.0, 0.5])
    x, y, z = straight[:3, 3]
    yaw, pitch, roll = Rotation.from_matrix(straight[:3, :3]).as_euler("ZYX")
    pose = " ".join(repr(float(value)) for value in (x, y, z, roll, pitch, yaw))
    answer = botz("ik", "puma560", "--pose", pose)
    assert answer.code == 0, answer.err
    assert "singular: wrist singular; the free joint" in answer.out and "complete" not in answer.out
    data = json.loads(botz("ik", "puma560", "--pose", pose, "--json").out)
    assert data["singular"] == ["wrist singular"] and data["complete"] is False


def test_out_of_reach_and_outside_the_ranges_end_with_1_and_a_sentence(botz: Botz):
    answer = botz("ik", "titan4", "--pose", "9 0 0 0 0 0")
    assert answer.code == 1 and answer.err.startswith("out of reach: ") and not answer.out
    answer = botz("ik", "titan4", "--pose", "-1.5 0 0 0 -90deg 0")
    assert answer.code == 1 and answer.err.startswith("outside the joints' ranges: ") and "--no-limits" in answer.err
    assert botz("ik", "titan4", "--pose", "-1.5 0 0 0 -90deg 0", "--no-limits").code == 0
    answer = botz("ik", "titan4", "--pose", "9 0 0 0 0 0", "--json")
    assert answer.code == 1 and json.loads(answer.out)["status"] == "out of reach"


def test_other_arms_and_files(botz: Botz, tmp_path: Path):
    pose = SerialArm.of("puma560").forward([0.3, 0.5, -0.4, 0.2, 0.6, 0.1])
    yaw, pitch = np.arctan2(pose[1, 0], pose[0, 0]), np.arcsin(-pose[2, 0])
    roll = np.arctan2(pose[2, 1], pose[2, 2])
    given = " ".join(f"{value:.17g}" for value in [*pose[:3, 3], roll, pitch, yaw])
    answer = botz("ik", "puma560", "--pose", given)
    assert answer.code == 0, answer.err
    (tmp_path / "slider.yaml").write_text(SLIDER, encoding="utf-8")
    answer = botz("ik", "slider.yaml", "--pose", "0.3 0 20cm 0 0 0")
    assert answer.code == 0, answer.err
    assert "slide [m]" in answer.out and "0.20000" in answer.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["titan5", "--pose", REACHED], ["titan4"]),
        (["missing.yaml", "--pose", REACHED], ["missing.yaml"]),
        (["vivi", "--pose", REACHED], ["vehicle", "'arm'"]),
        (["titan4", "--pose", "1 2 3"], ["--pose", "6 values", "got 3"]),
        (["titan4", "--pose", "1 2 3 4 5 nan"], ["--pose", "6 values"]),
        (["titan4", "--pose", ""], ["--pose", "6 values"]),
        (["titan4", "--pose", "1 2 3kg 0 0 5mm"], ["value 3", "a mass", "value 6", "a length"]),
        (["titan4", "--pose", "1 2 3 4 5 1e999"], ["finite"]),
        (["titan4", "--pose", REACHED, "--present", "1 2"], ["--present", "6 values"]),
        (["titan4", "--pose", REACHED, "--present", "0 0 0 0 0 0", "--cost", "middle"], ["--present", "--cost middle"]),
        (["titan4", "--pose", REACHED, "--weights", "1 1 1 1 1 -1"], ["weights", "negative"]),
        (["titan4", "--pose", REACHED, "--weights", "1 1 1 1 1 1m"], ["--weights", "a length"]),
        (["titan4", "--pose", REACHED, "--cost", "best"], ["nearest", "middle"]),
        (["titan4", "--pose", REACHED, "--set", "joints.elbow.lenght=1"], ["joints.elbow"]),
    ],
)
def test_mistakes_are_explained(botz: Botz, arguments: list[str], words: list[str]):
    answer = botz("ik", *arguments)
    assert answer.code == 2
    assert all(word in answer.err for word in words), answer.err
    assert "Traceback" not in answer.err


def test_a_numeric_search_is_never_called_complete(botz: Botz, tmp_path: Path):
    file = tmp_path / "slider.yaml"
    file.write_text(SLIDER, encoding="utf-8")
    pose = ["--pose", "0.3 0 0.2 0 0 0"]
    answer = botz("ik", str(file), *pose)
    assert answer.code == 0, answer.err
    assert "the set may be incomplete" in answer.out
    assert json.loads(botz("ik", str(file), *pose, "--json").out)["complete"] is False
    closed = botz("ik", "titan4", "--pose", REACHED)
    assert "incomplete" not in closed.out
    assert json.loads(botz("ik", "titan4", "--pose", REACHED, "--json").out)["complete"] is True
