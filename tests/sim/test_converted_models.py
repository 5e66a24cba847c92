"""Robots that were written as MJCF and fly again, by the controllers that flew them before."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import botz
from botz.cli.models import load
from botz.models.files import save_model
from botz.scenario.library import library_folder
from botz.scenario.load import load as load_scenario
from botz.scenario.load import load_robot


@pytest.mark.parametrize(("robot", "scenario"), [("lophorina", "lophorina-hover"), ("quadrotor", "quadrotor-square")])
def test_a_robot_converted_to_mjcf_flies_again(robot: str, scenario: str, tmp_path: Path):
    file = tmp_path / "converted.xml"
    save_model(load(robot, {}, check_inertia=True), file)
    text = (library_folder() / "scenarios" / f"{scenario}.yaml").read_text(encoding="utf-8")
    (name,) = load_scenario(scenario).data["robots"]
    # Model files do not hold a servo's frequency: the robot's own actuators are laid over those of the file.
    actuators = json.dumps(load_robot(robot).data.get("actuators", {}))
    text = text.replace(f"extends: {robot}", f"file: {file}, actuators: {actuators}")
    (tmp_path / "again.yaml").write_text(text, encoding="utf-8")
    heights = []
    for source in (scenario, tmp_path / "again.yaml"):
        simulation = botz.Simulation(source)
        heights.append(np.array([simulation.step(n=400)[f"{name}/pose"][:3] for _ in range(15)]))
    assert heights[0][:, 2].max() > 0.3, "it flies"
    assert np.abs(heights[0] - heights[1]).max() < 1e-4
