"""Films and pictures without a browser: what is in the files, not only that they are there."""

from __future__ import annotations

import os

import numpy as np
import pytest
from common import BASE, merged

from botz import read
from botz.errors import BotzError, InputError
from botz.run import run_scenario
from botz.scenario.load import load_data
from botz.scene.build import scene_of
from botz.scene.scene_spec import haze_of, level_ground, widened
from botz.scene.world_scene import node_poses
from botz.view import video
from botz.view.cameras import NAMES, CameraPath
from botz.view.sampling import Samples, slerp
from botz.view.video import render_video, times_of

SIZE = (160, 96)


@pytest.fixture(scope="module")
def rec(tmp_path_factory):
    loaded = load_data(merged(BASE, {"name": "filmed"}), "filmed")
    return read(run_scenario(loaded, out=tmp_path_factory.mktemp("filmed") / "run").path)


def has_graphics(rec, tmp_path) -> None:
    """Where CI asks for everything, missing graphics are a failure."""
    try:
        render_video(rec.path, tmp_path / "probe.png", size=(64, 64))
    except BotzError as error:
        if os.environ.get("BOTZ_REQUIRE_CLIENT", "") not in ("", "0"):
            raise
        pytest.skip(f"no graphics: {error}")


def frames_of(path) -> list[np.ndarray]:
    import av

    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


@pytest.mark.parametrize("name", ["film.mp4", "film.webm", "film.gif"])
def test_a_film_has_the_right_number_of_frames_and_moves(rec, tmp_path, name):
    has_graphics(rec, tmp_path)
    told: list[tuple[int, int]] = []
    path = render_video(
        rec.path, tmp_path / name, camera="fixed", size=SIZE, fps=12.5, progress=lambda k, n: told.append((k, n))
    )
    frames = frames_of(path)
    assert len(frames) == 13, "from 0 to 1 s, both included, every 0.08 s"
    assert told[-1] == (13, 13)
    assert frames[0].shape == (SIZE[1], SIZE[0], 3)
    assert len(np.unique(frames[0].reshape(-1, 3), axis=0)) > 50, "not blank"
    first, last = (np.asarray(one, dtype=float) for one in (frames[0], frames[-1]))
    assert np.abs(first - last).max() > 60.0, "the robot has moved"
    assert not list(tmp_path.glob(".*")), "nothing unfinished is left"


def test_a_picture_shows_the_moment_asked_for(rec, tmp_path):
    from PIL import Image

    has_graphics(rec, tmp_path)
    pictures = []
    for start in (0.0, 0.9, 0.9):
        path = render_video(rec.path, tmp_path / "one.png", camera="above", size=SIZE, start=start)
        pictures.append(np.asarray(Image.open(path), dtype=float))
    assert np.array_equal(pictures[1], pictures[2])
    assert not np.array_equal(pictures[0], pictures[1])


def test_the_ground_ends_in_haze_rather_than_at_an_edge(rec, tmp_path):
    from PIL import Image

    has_graphics(rec, tmp_path)
    path = render_video(rec.path, tmp_path / "one.png", camera="chase", size=(320, 180), start=0.5)
    column = np.asarray(Image.open(path).convert("RGB"), dtype=float)[:, 3]
    steps = np.abs(np.diff(column, axis=0)).max(axis=1)
    horizon = int(np.argmax(np.abs(column - column[0]).max(axis=1) > 12.0))
    assert 0 < horizon < 120, "sky above, ground below"
    assert steps[: horizon + 2].max() < 12.0


def test_ground_is_drawn_wider_than_haze_lets_see_with_tiles_of_the_same_size(rec):
    scene = scene_of(load_data(rec.scenario, "filmed").spec)
    (ground,) = (node for node in scene.nodes if node.name == "ground")
    (plate,), (drawn,) = ground.shapes, widened(ground, scene).shapes
    half = level_ground(plate, scene)
    near, far = haze_of(scene)
    assert half is not None
    assert near > 2.0 * scene.radius
    assert np.abs(drawn.mesh.vertices[:, :2]).max() > far + half
    scale = [np.ptp(one.mesh.uv, axis=0) / np.ptp(one.mesh.vertices, axis=0)[:2] for one in (plate, drawn)]
    assert np.allclose(*scale)
    middle = len(drawn.mesh.uv) // 2
    assert np.allclose(drawn.mesh.vertices[middle], 0.0)
    assert np.allclose(drawn.mesh.uv[middle], 0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"camera": "chaise"}, "chase"),
        ({"target": "duo2"}, "duo"),
        ({"size": (161, 96)}, "even"),
        ({"size": (8, 96)}, "between"),
        ({"fps": 0.0}, "images per second"),
        ({"speed": -1.0}, "speed"),
        ({"start": 2.0}, "after the end"),
        ({"start": 0.5, "end": 0.2}, "before the start"),
    ],
)
def test_wrong_wishes_are_told_before_anything_is_drawn(rec, tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        render_video(rec.path, tmp_path / "film.mp4", **options)
    assert not list(tmp_path.iterdir())


def test_an_unknown_ending_is_refused(rec, tmp_path):
    with pytest.raises(InputError, match=r"\.mp4"):
        render_video(rec.path, tmp_path / "film.avi")


def test_a_machine_without_graphics_is_told_what_to_install(rec, tmp_path, monkeypatch):
    monkeypatch.setattr(video, "draw_with", lambda *_: "ImportError: no library")
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    with pytest.raises(BotzError, match="libegl1"):
        render_video(rec.path, tmp_path / "film.mp4")


def test_a_graphics_library_that_is_not_there_is_the_reason(rec, tmp_path, monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "nonsense")
    with pytest.raises(BotzError, match="nonsense"):
        render_video(rec.path, tmp_path / "film.mp4", size=SIZE)


def test_the_times_of_frames():
    assert times_of(1.0, 0.0, 4.0, 1.0, 0.0, None, picture=False) == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert times_of(1.0, 0.0, 4.0, 2.0, 0.0, None, picture=False) == [0.0, 0.5, 1.0]
    assert times_of(3.0, 2.0, 1.0, 1.0, 0.0, None, picture=False) == [2.0, 3.0], "it begins where the recording does"


def test_between_samples_numbers_go_straight_and_attitudes_turn(rec):
    samples = Samples(rec, ["duo/pose", "duo/left/angle"])
    times, angles = rec.time("duo/left/angle"), rec["duo/left/angle"]
    middle = 0.5 * (times[3] + times[4])
    assert samples.value("duo/left/angle", middle)[0] == pytest.approx(0.5 * (angles[3] + angles[4]), abs=1e-12)
    assert samples.value("duo/left/angle", -1.0)[0] == angles[0]
    assert samples.value("duo/left/angle", 99.0)[0] == angles[-1]
    quarter = slerp(np.array([1.0, 0.0, 0.0, 0.0]), -np.array([0.0, 0.0, 0.0, 1.0]), 0.5)
    assert abs(abs(quarter @ np.array([np.cos(np.pi / 4), 0.0, 0.0, -np.sin(np.pi / 4)])) - 1.0) < 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_every_camera_sees_its_robot(rec, name):
    """The robot is in front of the camera, within the angle of view; on board it is the camera that is carried."""
    scene = scene_of(load_data(rec.scenario, "filmed").spec)
    samples = Samples(rec, scene.channels())
    path = CameraPath(scene, name)
    for moment in (0.0, 0.3, 0.6, 1.0):
        poses = node_poses(scene, samples.at(moment))
        view = path.view(moment, poses)
        ahead = (view.target - view.eye) / np.linalg.norm(view.target - view.eye)
        there = poses["duo"][:3] - view.eye
        if name == "board":
            assert np.linalg.norm(there) < 2.0 * scene.actors[0].size
        else:
            assert ahead @ there / np.linalg.norm(there) > np.cos(0.5 * view.vertical_view)


# --- an eye that goes along ----------------------------------------------------------------------------------------

AWAY = {"time": {"duration": 6.0}, "controllers": {"drive": {"command": {"twist": [1.5, 0.0, -0.2]}}}}
SEEN = {"eye": [-0.9, -1.6, 0.8], "target": [0.1, 0.0, 0.05], "vertical_view": 0.75}
"""From the robot's place, as a page tells it."""


@pytest.fixture(scope="module")
def away(tmp_path_factory):
    loaded = load_data(merged(BASE, {"name": "away", **AWAY}), "away")
    return read(run_scenario(loaded, out=tmp_path_factory.mktemp("away") / "run").path)


def on_picture(view, point, size) -> tuple[float, float]:
    """Where a point is on a picture: right and up, ±1 at its edges; far outside for what is behind."""
    ahead = (view.target - view.eye) / np.linalg.norm(view.target - view.eye)
    right = np.cross(ahead, view.up) / np.linalg.norm(np.cross(ahead, view.up))
    there = point - view.eye
    deep = float(ahead @ there)
    half = np.tan(0.5 * view.vertical_view) * deep
    if deep <= 0.0:
        return np.inf, np.inf
    return float(right @ there) / (half * size[0] / size[1]), float(np.cross(right, ahead) @ there) / half


def ordered_by_a_page(rec, camera, monkeypatch, tmp_path) -> dict:
    """What the drawing process is told about a film that a page has asked for."""
    from botz.view.lab.export_process import write_video
    from botz.view.lab.exports import Wanted

    wanted = Wanted.model_validate({"format": "mp4", "camera": camera, "size": list(SIZE), "fps": 10.0})
    told: list[dict] = []
    monkeypatch.setattr(video, "draw_with", lambda library, orders, progress: told.append(orders) or "")
    orders = {"recording": str(rec.path), "out": str(tmp_path / "film.mp4"), "from": 0.0, "to": None}
    orders |= {"camera": wanted.camera.model_dump(exclude_none=True), "size": wanted.size, "fps": wanted.fps}
    write_video(orders, lambda done, of: None)
    return told[0]


def test_a_robot_that_drives_away_stays_in_the_film_of_an_eye_that_goes_along(away, monkeypatch, tmp_path):
    orders = ordered_by_a_page(away, {**SEEN, "robot": "duo", "along": True}, monkeypatch, tmp_path)
    assert len(orders["times"]) == 61
    scene = scene_of(load_data(away.scenario, "away").spec)
    samples = Samples(away, scene.channels())
    camera = orders["camera"]
    path = CameraPath(scene, camera["name"], camera["target_robot"])
    assert "eye" not in camera, "an eye of the world stands still"
    first, places = None, []
    for moment in orders["times"]:
        poses = node_poses(scene, samples.at(moment))
        view = path.view(moment, poses)
        first = first or view
        where = on_picture(view, poses["duo"][:3], SIZE)
        # Always at the same place, as in the page; a little beside the middle, where the eye looks.
        assert where == pytest.approx(on_picture(first, np.array([0.0, 0.0, poses["duo"][2]]), SIZE), abs=1e-9)
        assert max(np.abs(where)) < 0.5 and view.vertical_view == SEEN["vertical_view"]
        places.append(poses["duo"][:3])
    assert first is not None and max(np.abs(on_picture(first, places[-1], SIZE))) > 1.0, "a standing eye has lost it"


def test_what_is_drawn_is_what_the_eye_along_sees(away, tmp_path):
    from PIL import Image

    has_graphics(away, tmp_path)
    moment = 4.0
    scene = scene_of(load_data(away.scenario, "away").spec)
    place = node_poses(scene, Samples(away, scene.channels()).at(moment))["duo"][:3]
    there = {key: (np.array(SEEN[key]) + place).tolist() for key in ("eye", "target")}
    pictures = []
    for camera in ({**SEEN, "along": True}, {**SEEN, **there}, SEEN):
        path = render_video(away.path, tmp_path / "one.png", camera=camera, target="duo", size=SIZE, start=moment)
        pictures.append(np.asarray(Image.open(path), dtype=float))
    assert np.abs(pictures[0] - pictures[1]).mean() < 0.5
    assert np.abs(pictures[0] - pictures[2]).mean() > 3.0, "where it began there is no robot any more"
