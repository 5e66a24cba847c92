"""Robots that were written in other formats and fly again, by the controllers that flew them before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import botz
from botz.cli.models import load
from botz.models.files import save_model
from botz.scenario.library import library_folder
from botz.scenario.load import load as load_scenario


@pytest.mark.parametrize("ending", ["xml", "sdf", "urdf"])
@pytest.mark.parametrize(("robot", "scenario"), [("lophorina", "lophorina-hover"), ("quadrotor", "quadrotor-square")])
def test_a_converted_robot_flies_again(robot: str, scenario: str, ending: str, tmp_path: Path):
    """As before, by its own actuators: a converted file holds their gains too."""
    file = tmp_path / f"converted.{ending}"
    save_model(load(robot, {}, check_inertia=True), file)
    text = (library_folder() / "scenarios" / f"{scenario}.yaml").read_text(encoding="utf-8")
    (name,) = load_scenario(scenario).data["robots"]
    text = text.replace(f"extends: {robot}", f"file: {file}")
    (tmp_path / "again.yaml").write_text(text, encoding="utf-8")
    heights = []
    for source in (scenario, tmp_path / "again.yaml"):
        simulation = botz.Simulation(source)
        heights.append(np.array([simulation.step(n=400)[f"{name}/pose"][:3] for _ in range(15)]))
    assert heights[0][:, 2].max() > 0.3, "it flies"
    assert np.abs(heights[0] - heights[1]).max() < 1e-9
