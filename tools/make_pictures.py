"""Makes the pictures of the documentation and the output of its notebook, from the code as it is.

    python tools/make_pictures.py

Writes docs/pictures/*.png and docs/notebooks/*.ipynb. Needs the extra `test`.
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
from botz.control.table import read_columns
from botz.engines.soccer.engine import SoccerEngine
from botz.robots.arm_records import transform
from botz.robots.wheeled_robot import WheeledRobotModel
from botz.scenario.arm.schema import ArmScenario
from botz.scenario.kinematics.schema import WheeledRobot
from botz.scenario.load import load, load_robot
from botz.scenario.soccer.links import Camera
from botz.scenario.soccer.schema import SoccerScenario
from botz.scene.soccer.camera import SoccerCamera
from botz.view.arm import drawing as arm_drawing
from botz.view.arm.plot import Scene
from botz.view.plots import plot_recording
from botz.view.style import DPI, PALETTE, SOFT_INK, dress, fit_equal, new_figure, settle, side_legend
from botz.view.wheel_drawing import draw_robot

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
DRAWN_ROBOTS = ("ackermann-rear-drive",)
DRIVEN_OVER_GROUND = ("vivi-rough", "vivi-half-pipe")
FLIGHTS = (
    "lophorina-hover", "lophorina-manoeuvres", "lophorina-tilt", "lophorina-yaw", "lophorina-tilt-control",
    "lophorina-yaw-control", "lophorina-waypoints",
)  # fmt: skip
"""The tilting quadrotor's experiments: the source's figures 29 to 32, and the same under full control."""
SOLVED_POSE = (1.2, 0.3, 0.4, np.pi / 2, 0.0, np.pi / 2)
"""Of which the page on arms shows all solutions."""
DOTS_PER_INCH = 110
LARGEST_HTML = 200_000
"""Of what a cell shows [bytes]."""


def demo_picture(folder: Path) -> None:
    """The paths that `botz demo` plots."""
    recording = botz.simulate("wheeled-parade", out=folder / "demo")
    poses = [f"{robot}/pose" for robot in recording.scenario["robots"]]
    plot_recording(recording, poses, path=PICTURES / "wheeled-parade.png")


def odometry_picture(folder: Path) -> None:
    """What the commands below drift.yaml on the page of wheeled robots plot."""
    page = (ROOT / "docs" / "wheeled-robots.md").read_text(encoding="utf-8")
    shown = re.search(r"```yaml\n(# drift\.yaml\n.*?)```", page, re.DOTALL)
    assert shown is not None, "the page shows no drift.yaml"
    file = folder / "drift.yaml"
    file.write_text(shown[1], encoding="utf-8")
    recording = botz.simulate(file, out=folder / "drift")
    plot_recording(recording, ["rover/pose", "rover/odometry/pose"], path=PICTURES / "drift.png")


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


def pick_picture(folder: Path) -> None:
    """The scene of `titan4-pick`: where the arm and the block were."""
    recording = botz.simulate("titan4-pick", out=folder / "pick")
    spec = load("titan4-pick").spec
    assert isinstance(spec, ArmScenario)
    arms = {name: botz.SerialArm(robot) for name, robot in spec.robots.items()}
    figure = new_figure(10.0, 5.4)
    grid = figure.add_gridspec(2, 2, width_ratios=[1.3, 1.0])
    flat = {name: figure.add_subplot(grid[row, 1]) for row, name in enumerate(arm_drawing.VIEWS)}
    scene = Scene(recording, spec, arms)
    scene.draw(figure.add_subplot(grid[:, 0], projection="3d"), flat)
    settle(figure, figure.suptitle(""))
    for name, axes in flat.items():
        along = list(arm_drawing.VIEWS[name])
        fit_equal(axes, scene.low[along], scene.high[along])
    figure.savefig(PICTURES / "titan4-pick.png", dpi=DOTS_PER_INCH)


def solutions_picture() -> None:
    """All joint positions of a Titan IV that bring its tool to one pose."""
    arm = botz.SerialArm.of("titan4")
    found = arm.inverse(transform(SOLVED_POSE), limits=False)
    figure = new_figure(8.0, 6.4)
    figure.set_layout_engine("none")
    axes = figure.add_axes((-0.05, 0.17, 1.1, 0.96), projection="3d")
    colours = (*PALETTE, "#C2185B")  # one more than others need: eight solutions
    arm_drawing.draw_postures(arm, found.joints, axes, labels=found.branches, colours=colours)
    figure.savefig(PICTURES / "titan4-solutions.png", dpi=DOTS_PER_INCH)


def teleoperation_picture(folder: Path) -> None:
    """Two joints of the scripted master of `titan4-teleop` and of its slave, and what the tool feels."""
    recording = botz.simulate("titan4-teleop", out=folder / "teleop")
    hands = read_columns(Path(recording.scenario["controllers"]["operator"]["master"]["file"]), required=("time",))
    times, position = recording.time("titan/position"), recording["titan/position"]
    names = list(recording.channels["titan/position"].components)
    figure = new_figure(9.0, 5.2)
    rows = figure.subplots(3, 1, sharex=True, height_ratios=[1.2, 1.2, 0.8])
    for axes, joint in zip(rows, ("shoulder_yaw", "shoulder_pitch"), strict=False):
        dress(axes, y_label=f"{joint.replace('_', ' ')} [rad]", ticks=5)
        axes.plot(hands["time"], hands[joint], color=PALETTE[1], linewidth=1.4, label="master")
        axes.plot(times, position[:, names.index(joint)], color=PALETTE[0], linewidth=1.8, label="arm")
    open_clutch = hands["time"][hands["clutch"] < 0.5]
    for axes in rows[:2]:
        axes.axvspan(open_clutch[0], open_clutch[-1], color=SOFT_INK, alpha=0.12, linewidth=0, label="clutch open")
        side_legend(axes)
    force = np.linalg.norm(recording["titan/tool/wrench"][:, :3], axis=1)
    dress(rows[2], x_label="time [s]", y_label="force [N]", ticks=4)
    rows[2].plot(times, force, color=PALETTE[0], linewidth=1.4)
    figure.align_ylabels(rows)
    settle(figure, figure.suptitle(""))
    figure.savefig(PICTURES / "titan4-teleop.png", dpi=DOTS_PER_INCH)


def flight_pictures(folder: Path) -> None:
    """What `botz plot` shows of every flight of the tilting quadrotor."""
    for name in FLIGHTS:
        recording = botz.simulate(name, out=folder / name)
        picture = plot_recording(recording, path=folder / f"{name}.png")
        shown = Image.open(picture).convert("RGB")
        size = round(shown.width * DOTS_PER_INCH / DPI), round(shown.height * DOTS_PER_INCH / DPI)
        small = shown.resize(size, Image.Resampling.LANCZOS)
        # Few colours do, if the rare ones of thin lines are among them.
        small = small.quantize(128, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        small.save(PICTURES / f"{name}.png", optimize=True)


def execute_notebook(path: Path, folder: Path) -> None:
    """Every cell in a fresh kernel and an empty folder; what differs from run to run is left out of the file, and so is
    what is too large for it, such as a replay in 3D."""
    import nbformat
    from nbclient import NotebookClient

    notebook: Any = nbformat.read(path, as_version=4)
    os.environ.pop("MPLBACKEND", None)  # the kernel has one of its own, which puts pictures into the file
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            for output in cell.outputs:
                if len(output.get("data", {}).get("text/html", "")) > LARGEST_HTML:
                    del output["data"]["text/html"]
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.write(notebook, path)


def main() -> int:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        robot_pictures()
        odometry_picture(folder)
        demo_picture(folder)
        ground_pictures(folder)
        match_picture(folder)
        pick_picture(folder)
        solutions_picture()
        teleoperation_picture(folder)
        flight_pictures(folder)
        for notebook in NOTEBOOKS:
            (folder / notebook.stem).mkdir()
            execute_notebook(notebook, folder / notebook.stem)
    return 0


if __name__ == "__main__":
    sys.exit(main())
