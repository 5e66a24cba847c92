"""`botz terrain`: its table, its picture and its complaints."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from common import Answer, ScenarioFile

Botz = Callable[..., Answer]

HILL = """\
engine: vehicle
world:
  terrain: {type: matrix, file: hill.csv, x: [0, 2], y: [0, 1]}
robots:
  vivi: {extends: vivi, position: [0.5, 0.5]}
"""


@pytest.fixture
def hill(tmp_path: Path) -> Path:
    """Rises by 1 m over the last metre of x."""
    (tmp_path / "hill.csv").write_text("0,0\n0,0\n1,1\n", encoding="utf-8")
    path = tmp_path / "hill.yaml"
    path.write_text(HILL, encoding="utf-8")
    return path


@pytest.mark.parametrize("outside", ["edge", "mirror", "end"])
def test_the_table_says_what_comes_beyond_the_ground(botz: Botz, hill: Path, outside: str):
    answer = botz("terrain", hill, "--set", f"world.terrain.outside={outside}")
    assert answer.code == 0, answer.err
    assert f"{outside}: " in answer.out


def test_the_table_says_what_the_ground_is(botz: Botz, hill: Path, tmp_path: Path):
    answer = botz("terrain", hill)
    assert answer.code == 0, answer.err
    lines = dict(line.split("  ", 1) for line in answer.out.splitlines())
    shown = {name.strip(): value.strip() for name, value in lines.items()}
    assert shown["size"].startswith("2 m × 1 m")
    assert shown["highest"] == "1 m" and shown["steepest slope"] == "45.0°"
    assert shown["outside"].startswith("edge")
    assert (tmp_path / "hill-terrain.png").read_bytes().startswith(b"\x89PNG")


def test_json_is_all_that_is_printed(botz: Botz, hill: Path, tmp_path: Path):
    answer = botz("terrain", hill, "--json", "--out", "ground.svg", "--set", "world.terrain.outside=end")
    assert answer.code == 0, answer.err
    data = json.loads(answer.out)
    assert data["terrain"] == "matrix" and data["outside"] == "end"
    assert data["points"] == [3, 2] and data["starts"]["vivi"]["ground_m"] == 0
    assert (tmp_path / data["picture"]).read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["vivi-ruff"], ["vivi-rough"]),
        (["missing.yaml"], ["missing.yaml"]),
        (["small.yaml"], ["small.yaml", "kinematics", "no terrain"]),
        (["hill.yaml", "--out", "ground.docx"], [".docx", ".png"]),
        (["hill.yaml", "--set", "world.terrain.type=hilly"], ["world.terrain", "half-pipe"]),
        (["hill.yaml", "--out", "hill.yaml/below.png"], ["hill.yaml"]),
    ],
    ids=lambda value: value[-1],
)
def test_mistakes_end_with_two_and_a_message(
    arguments: list[str], words: list[str], botz: Botz, hill: Path, scenario_file: ScenarioFile
):
    scenario_file()
    answer = botz("terrain", *arguments)
    assert answer.code == 2 and answer.out == ""
    assert all(word in answer.err for word in words), answer.err


def test_a_hole_in_a_matrix_gets_its_file_and_line(botz: Botz, hill: Path, tmp_path: Path):
    (tmp_path / "hill.csv").write_text("0,0\n0,nan\n1,1\n", encoding="utf-8")
    answer = botz("terrain", hill)
    assert answer.code == 2 and "hill.csv" in answer.err and "Traceback" not in answer.err
    assert not (tmp_path / "hill-terrain.png").exists()
