"""Pictures of serial arms: skeletons that end where the tool is, what surrounds them, and panels that say something."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from botz.engines.arm.engine import ArmEngine
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.world import Plane
from botz.scenario.load import load_data, load_robot
from botz.view import plots
from botz.view.arm import drawing as arm_drawing
from botz.view.arm.plot import recorded_arms
from botz.view.plots import plot_recording
from botz.view.style import save as write_picture

Q = [0.3, 0.5, -0.8, 0.2, 0.1, 0.4]
ROWS = 40


@pytest.fixture
def drawn(monkeypatch) -> list[Figure]:
    figures: list[Figure] = []

    def keep(figure, path):
        figures.append(figure)
        return write_picture(figure, path)

    monkeypatch.setattr(plots, "save", keep)
    return figures


def scenario(*names: str, robot: str = "titan4", **world) -> dict:
    data = load_robot(robot).data
    robots = {
        name: {**copy.deepcopy(data), "start": Q, "pose": [0, 2.0 * k, 0, 0, 0, 0]} for k, name in enumerate(names)
    }
    return {"engine": "arm", "name": "arms", "time": {"step": 0.001, "duration": 1}, "world": world, "robots": robots}


def moved(record, data: dict, *, change=None):
    """A recording in which every joint turns by 0.5 rad; `change` may alter the rows: it gets them by channel."""
    engine = ArmEngine(load_data(data).spec)
    rows = np.empty((ROWS, engine.channels.width))
    by_name = {channel.name: rows[:, engine.channels.slices[channel.name]] for channel in engine.channels}
    for k, row in enumerate(rows):
        for q, unit in zip(np.split(engine.state.q, len(engine.arms)), engine.model.units, strict=True):
            q[:] = np.array(Q) + 0.5 * k / (ROWS - 1)
            engine.state.joints["reference"][unit.start : unit.start + unit.n] = q - 0.002
        engine.observe(row)
    if change is not None:
        change(by_name)
    return record(rows, list(engine.channels), scenario=data)


def labels(figure: Figure) -> list[str]:
    return [axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()]


def texts(axes) -> list[str]:
    legend = axes.get_legend()
    return [text.get_text() for text in legend.get_texts()] if legend else []


# --- skeletons -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["titan4", "puma560"])
def test_a_skeleton_is_as_long_as_its_links_and_ends_at_the_tool(name: str):
    arm = SerialArm.of(name)
    body = arm_drawing.skeleton(arm, Q)
    assert body.links[-1] == pytest.approx(arm.forward(Q)[:3, 3])
    assert body.links[0] == pytest.approx(np.zeros(3)) and body.joints.shape == (6, 3)
    steps = np.linalg.norm(np.diff(body.links, axis=0), axis=1)
    wanted = np.column_stack([np.abs(arm.links["d"]), np.abs(arm.links["a"])]).ravel()
    assert steps[:-1] == pytest.approx(wanted, abs=1e-12)


def test_a_skeleton_stands_where_its_base_is():
    spec = load_data(scenario("one", "two")).spec
    one, two = (arm_drawing.skeleton(SerialArm(robot), Q) for robot in spec.robots.values())
    assert two.links - one.links == pytest.approx(np.tile([0.0, 2.0, 0.0], (len(one.links), 1)))


def test_jaws_are_as_far_apart_as_they_are_open():
    left, right = arm_drawing.skeleton(SerialArm.of("titan4"), Q, opening=0.03).jaws
    assert np.linalg.norm(left[-1] - right[-1]) == pytest.approx(0.03)
    assert np.linalg.norm(left[0] - right[0]) == pytest.approx(0.0)
    assert arm_drawing.skeleton(SerialArm.of("puma560"), Q).jaws == ()


def test_postures_of_one_pose_meet_at_the_tool():
    arm = SerialArm.of("puma560")
    solutions = arm.inverse(arm.forward([0.3, 1.2, -1.8, 0.4, 0.6, 0.4]), limits=False)
    assert len(solutions.joints) == 8
    figure = Figure()
    axes = figure.add_subplot(projection="3d")
    arm_drawing.draw_postures(arm, solutions.joints, axes, labels=solutions.branches)
    named = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
    ends = np.array([np.array(line.get_data_3d())[:, -1] for line in named])
    assert ends == pytest.approx(np.tile(ends[0], (8, 1)), abs=1e-9)
    assert texts(axes) == list(solutions.branches)
    # The wrist turned over leaves the links where they are: half of them are dashed twins.
    assert sum(line.get_linestyle() != "-" for line in named) == 4


def test_hull_and_planes():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5], [0.5, 0.0]])
    assert {tuple(p) for p in arm_drawing.convex_hull(square)} == {(0, 0), (1, 0), (1, 1), (0, 1)}
    plane = Plane(point=[0, 0, -1], normal=[1, 0, 2])
    patch = arm_drawing.plane_patch(plane, np.zeros(3), np.array([2.0, 1.0, 1.0]))
    assert (patch - plane.point) @ plane.normal == pytest.approx(np.zeros(4))
    assert np.linalg.norm(patch[1] - patch[0]) == pytest.approx(2.0)


# --- a recorded run ------------------------------------------------------------------------------------


def test_one_arm_shows_all_its_panels(record, drawn, tmp_path):
    def grip(rows):
        rows["titan/gripper/opening"][20:] = 0.03
        rows["titan/gripper/force"][20:] = 500.0
        rows["titan/tool/wrench"][20:, 2] = -100.0

    recording = moved(record, scenario("titan"), change=grip)
    assert plot_recording(recording, path=tmp_path / "arm.png").stat().st_size > 20_000
    (figure,) = drawn
    assert [label for label in labels(figure) if "[m]" not in label] == [
        "joints [rad]", "speed [rad/s]", "torque [N·m]", "error [mrad]", "gripper [mm]", "force [N]", "on the tool [N]",
    ]  # fmt: skip
    joints = next(axes for axes in figure.axes if axes.get_ylabel() == "joints [rad]")
    assert texts(joints)[0] == "shoulder yaw" and texts(joints)[-1] == "reference" and len(texts(joints)) == 7
    error = next(axes for axes in figure.axes if axes.get_ylabel() == "error [mrad]")
    assert np.concatenate([line.get_ydata() for line in error.get_lines()]) == pytest.approx(2.0)


def test_panels_without_news_are_left_out(record, drawn, tmp_path):
    plot_recording(moved(record, scenario("titan")), path=tmp_path / "arm.png")
    assert not {"gripper [mm]", "on the tool [N]", "force [N]"} & set(labels(drawn[0]))


def test_the_way_of_the_tool_and_the_last_position_are_drawn(record, drawn, tmp_path):
    recording = moved(record, scenario("titan"))
    plot_recording(recording, path=tmp_path / "arm.png")
    space = drawn[0].axes[0]
    lines = [np.array(line.get_data_3d()).T for line in space.get_lines()]
    way = recording["titan/tool/pose"][:, :3]
    assert any(line.shape == way.shape and np.allclose(line, way) for line in lines)
    last = arm_drawing.skeleton(SerialArm.of("titan4"), recording["titan/position"][-1], 0.099).links
    assert any(line.shape == last.shape and np.allclose(line, last) for line in lines)
    assert texts(space) == ["titan", "way of the tool", "start", "end"]


def test_the_world_is_in_all_views(record, drawn, tmp_path):
    world = {
        "planes": {"floor": {"point": [0, 0, -0.6]}},
        "boxes": {"bench": {"size": [0.4, 0.6, 0.3], "pose": [1.1, 0, -0.45, 0, 0, 0]}},
        "objects": {"block": {"size": [0.06, 0.06, 0.12], "mass": 12, "pose": [1.1, 0, -0.24, 0, 0, 0]}},
        "contact": {"stiffness": 5e4},
    }
    plot_recording(moved(record, scenario("titan", **world)), path=tmp_path / "arm.png")
    space, above, side = drawn[0].axes[:3]
    solids = [one for one in space.collections if isinstance(one, Poly3DCollection)]
    assert len(solids) == 1 + 1 + 2 + 1  # floor, bench, block at both ends, base
    assert "block" in texts(space)
    # From above the floor is no border; from the side it is.
    assert len([p for p in side.patches if isinstance(p, Polygon)]) == len(above.patches) + 1
    low, high = side.get_ylim()
    assert low < -0.6 < high
    x_scale = np.diff(above.get_xlim())[0] / above.get_window_extent().width
    assert np.diff(above.get_ylim())[0] / above.get_window_extent().height == pytest.approx(x_scale)


def test_several_arms_share_a_picture(record, drawn, tmp_path):
    plot_recording(moved(record, scenario("one", "two")), path=tmp_path / "arm.png")
    found = [label for label in labels(drawn[0]) if ":" in label]
    assert found == ["one: joints [rad]", "one: error [mrad]", "two: joints [rad]", "two: error [mrad]"]
    assert texts(drawn[0].axes[0])[:2] == ["one", "two"]


def test_chosen_channels_are_drawn_as_of_any_robot(record, drawn, tmp_path):
    plot_recording(moved(record, scenario("titan")), ["titan/torque"], path=tmp_path / "arm.png")
    assert len(drawn[0].axes) == 1


def test_other_recordings_are_not_of_arms(record):
    data = scenario("titan")
    recording = moved(record, data)
    assert recorded_arms(recording) is not None
    recording.header.scenario["robots"] = {"titan": {"joints": 5}}
    assert recorded_arms(recording) is None
    recording.header.scenario["engine"] = "vehicle"
    assert recorded_arms(recording) is None
