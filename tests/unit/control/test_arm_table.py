"""Tables of commands for arms: one column for each joint, and the speed of a position that is interpolated."""

from __future__ import annotations

import numpy as np
import pytest

from botz.errors import InputError
from botz.scenario.load import load
from botz.sim.simulation import Simulation

JOINTS = ("waist", "shoulder", "elbow", "wrist_roll", "wrist_pitch", "tool_roll")


def simulation(tmp_path, text: str, interpolate: str = "linear") -> Simulation:
    (tmp_path / "moves.csv").write_text(text, encoding="utf-8")
    file = tmp_path / "arm.yaml"
    file.write_text(
        "engine: arm\ntime: {duration: 2}\nrobots:\n  puma: {extends: puma560}\n"
        f"controllers:\n  t: {{type: table, robot: puma, file: moves.csv, interpolate: {interpolate}}}\n",
        encoding="utf-8",
    )
    return Simulation(load(file))


def rows(*values: list[float], command: str = "position") -> str:
    lines = ["time," + ",".join(f"{command}.{joint}" for joint in JOINTS)]
    return "\n".join([*lines, *(",".join(map(str, row)) for row in values)]) + "\n"


def test_positions_are_followed_at_the_speed_of_the_rows(tmp_path):
    sim = simulation(tmp_path, rows([0, *[0.0] * 6], [1, 0.2, 0.1, -0.1, 0.3, 0.2, -0.4]))
    half = sim.step(n=500)
    assert half["puma/reference/position"] == pytest.approx(np.array([0.1, 0.05, -0.05, 0.15, 0.1, -0.2]), abs=1e-12)
    assert half["puma/reference/speed"] == pytest.approx(np.array([0.2, 0.1, -0.1, 0.3, 0.2, -0.4]), abs=1e-12)
    end = sim.step(n=1500)
    assert end["puma/position"] == pytest.approx(np.array([0.2, 0.1, -0.1, 0.3, 0.2, -0.4]), abs=5e-3)
    assert np.array_equal(end["puma/reference/speed"], np.zeros(6))


def test_rows_that_hold_have_no_speed(tmp_path):
    sim = simulation(tmp_path, rows([0, *[0.0] * 6], [0.5, *[0.1] * 6]), "hold")
    assert np.array_equal(sim.step(n=400)["puma/reference/speed"], np.zeros(6))
    assert sim.step(n=200)["puma/reference/position"] == pytest.approx(0.1)


def test_rates_of_the_tool(tmp_path):
    sim = simulation(tmp_path, "time,twist.vx,twist.vz\n0,0.0,-0.05\n", "hold")
    start = sim.values()["puma/tool/pose"].copy()
    moved = sim.step(n=500)["puma/tool/pose"] - start
    assert moved[2] == pytest.approx(-0.025, abs=2e-3)
    assert abs(moved[:2]).max() < 2e-3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("time,position.waist\n0,0\n", "no column 'position.shoulder'; a position needs one for every joint"),
        ("time,position\n0,0\n", "column 'position' is no command of robot 'puma'"),
        ("time,position.hip\n0,0\n", "column 'position.hip' is no command"),
    ],
)
def test_wrong_columns_are_told(tmp_path, text, says):
    with pytest.raises(InputError, match=says):
        simulation(tmp_path, text)
