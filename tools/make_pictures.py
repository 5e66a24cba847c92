"""Makes the pictures of the documentation and the output of its notebook, from the code as it is.

    python tools/make_pictures.py

Writes docs/pictures/*.png and docs/notebooks/first-steps.ipynb. Needs the extra `test`.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import botz
from botz.cli.running import DEMO
from botz.engines.soccer import SoccerEngine
from botz.engines.wheeled_robot import WheeledRobotModel
from botz.scenario.kinematics import WheeledRobot
from botz.scenario.links import Camera
from botz.scenario.load import load, load_robot
from botz.scenario.soccer import SoccerScenario
from botz.scene.soccer_camera import SoccerCamera
from botz.view.plots import plot_recording
from botz.view.wheel_drawing import draw_robot

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
NOTEBOOK = ROOT / "docs" / "notebooks" / "first-steps.ipynb"
DRAWN_ROBOTS = ("ackermann-rear-drive",)
DRIVEN_OVER_GROUND = ("vivi-rough", "vivi-half-pipe")


def demo_picture(folder: Path) -> None:
    """The paths that `botz demo` plots."""
    recording = botz.simulate(DEMO, out=folder / "demo")
    poses = [f"{robot}/pose" for robot in recording.scenario["robots"]]
    plot_recording(recording, poses, path=PICTURES / f"{DEMO}.png")


def odometry_picture(folder: Path) -> None:
    """What the commands below drift.yaml on the page of wheeled robots plot."""
    page = (ROOT / "docs" / "wheeled-robots.md").read_text(encoding="utf-8")
    shown = re.search(r"```yaml\n(# drift\.yaml\n.*?)```", page, re.DOTALL)
    assert shown is not None, "the page shows no drift.yaml"
    file = folder / "drift.yaml"
    file.write_text(shown[1], encoding="utf-8")
    recording = botz.simulate(file, out=folder / "drift")
    plot_recording(recording, ["vivi/pose", "vivi/odometry/pose"], path=PICTURES / "drift.png")


def robot_pictures() -> None:
    for name in DRAWN_ROBOTS:
        spec = load_robot(name).spec
        assert isinstance(spec, WheeledRobot)
        draw_robot(WheeledRobotModel(spec), PICTURES / f"{name}.png", title=name)


def ground_pictures(folder: Path) -> None:
    """Paths of shipped vehicles over maps of their ground."""
    for name in DRIVEN_OVER_GROUND:
        recording = botz.simulate(name, out=folder / name)
        picture = plot_recording(recording, ["vivi/pose"], path=PICTURES / f"{name}.png")
        # Relief is hard to compress; in a picture as quiet as this nobody misses the colours in between.
        Image.open(picture).convert("RGB").quantize(144, dither=Image.Dither.NONE).save(picture, optimize=True)


def match_picture(folder: Path) -> None:
    """A moment of the shipped match, as the camera above the field sees it."""
    recording = botz.simulate("soccer-match", out=folder / "match", duration=3.0)
    spec = load("soccer-match").spec
    assert isinstance(spec, SoccerScenario)
    camera = SoccerCamera(Camera(), SoccerEngine(spec).about())
    row = round(2.5 * spec.record.rate)
    poses = np.array([recording[f"{robot.name}/pose"][row] for robot in camera.robots])
    image = camera.draw(poses, recording["ball/pose"][row, :2], number=0, time=2.5)
    Image.fromarray(image).save(PICTURES / "soccer-camera.png", optimize=True)


def execute_notebook(folder: Path) -> None:
    """Every cell in a fresh kernel and an empty folder; what differs from run to run is left out of the file."""
    import nbformat
    from nbclient import NotebookClient

    notebook: Any = nbformat.read(NOTEBOOK, as_version=4)
    os.environ.pop("MPLBACKEND", None)  # the kernel has one of its own, which puts pictures into the file
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.write(notebook, NOTEBOOK)


def main() -> int:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        robot_pictures()
        odometry_picture(folder)
        demo_picture(folder)
        ground_pictures(folder)
        match_picture(folder)
        (folder / "notebook").mkdir()
        execute_notebook(folder / "notebook")
    return 0


if __name__ == "__main__":
    sys.exit(main())
