"""The camera above a match: where things are seen, what they look like, and the noise of the image."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest

from botz.scenario.soccer.links import Camera
from botz.scenario.soccer.schema import PlayingField
from botz.scene.lens import Lens
from botz.scene.soccer.camera import BALL_COLOUR, CODE_COLOURS, TEAM_COLOURS, SoccerCamera
from botz.scene.soccer.field_image import MARKING, SURFACE, SURROUNDINGS, WALL

SIDE, RADIUS = 0.075, 0.0215


def about(robots: int = 6) -> dict[str, Any]:
    teams = {f"robot{k}": {"team": ("blue", "yellow")[k % 2], "id": k // 2, "side": SIDE} for k in range(robots)}
    return {"field": PlayingField().model_dump(), "ball": {"radius": RADIUS}, "robots": teams}


def camera(robots: int = 6, seed: int = 3, **settings: Any) -> SoccerCamera:
    return SoccerCamera(Camera(**settings), about(robots), seed=seed)


def spread(robots: int, rng: np.random.Generator) -> np.ndarray:
    """Poses all over the field that do not touch."""
    cells = [(x, y) for x in np.linspace(-0.6, 0.6, 7) for y in np.linspace(-0.5, 0.5, 6)]
    chosen = rng.permutation(len(cells))[:robots]
    places = np.array(cells)[chosen] + rng.uniform(-0.03, 0.03, (robots, 2))
    return np.column_stack([places, rng.uniform(-pi, pi, robots)])


def where(image: np.ndarray, colour: tuple[int, int, int], around: tuple[float, float], reach: float = 24.0):
    """Middle of the pixels of a colour near a place (u, v); None where there are none."""
    v, u = np.nonzero((np.abs(image.astype(int) - colour) <= 3).all(axis=-1))
    near = np.hypot(u - around[0], v - around[1]) < reach
    return None if not near.any() else (u[near].mean(), v[near].mean())


# --- the lens ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distortion", [-0.3, -0.09, 0.0, 0.1, 0.3])
@pytest.mark.parametrize("turn", [0.0, 1.0, -2.5])
def test_pixels_and_places_go_back_and_forth(distortion: float, turn: float):
    lens = Lens.of(Camera(distortion=distortion, turn=turn, position=[0.3, -0.2, 1.7]))
    u, v = np.meshgrid(np.linspace(0, 639, 40), np.linspace(0, 479, 30))
    for height in (0.0, 0.1):
        x, y = lens.field(u, v, height)
        seen = np.isfinite(x)
        back_u, back_v = lens.pixel(x, y, height)
        np.testing.assert_allclose(back_u[seen], u[seen], atol=1e-6)
        np.testing.assert_allclose(back_v[seen], v[seen], atol=1e-6)
    # The lens folds at r = 1/√(3 |k|), which is seen at ⅔ of that; the corners are at 1.25.
    corners_seen = distortion > -4.0 / 27.0 / 1.25**2
    assert seen.all() == corners_seen
    assert np.isfinite(lens.field(319.5, 239.5)).all()


def test_the_axes_of_the_image():
    lens = Lens.of(Camera())
    assert lens.pixel(0.0, 0.0) == pytest.approx((319.5, 239.5))
    assert lens.pixel(0.9, 0.0) == pytest.approx((639.5, 239.5)), "half the view is half the width"
    u, v = lens.pixel(0.0, 0.3)
    assert (u, v) == pytest.approx((319.5, 239.5 - 0.3 * 640 / 1.8)), "+y points up"
    u, v = Lens.of(Camera(turn=pi / 2)).pixel(0.0, 0.3)
    assert (u, v) == pytest.approx((319.5 + 0.3 * 640 / 1.8, 239.5)), "a camera turned to the left has +y on its right"
    assert lens.pixel(0.45, 0.0, height=1.0) == pytest.approx((639.5, 239.5)), "half way up it is seen twice as far out"
    assert np.isnan(lens.pixel(0.1, 0.1, height=2.0)).all(), "at the height of the lens nothing is seen"
    # [schema] a point at r is seen at r (1 + k r²)
    assert Lens.of(Camera(distortion=-0.2)).pixel(0.45, 0.0)[0] - 319.5 == pytest.approx(160.0 * (1 - 0.2 * 0.25))


# --- the field -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"turn": 0.7, "view": 2.6, "distortion": -0.08, "position": [0.2, 0.1, 1.5]}])
def test_the_field_lies_where_the_scenario_says(settings: dict[str, Any]):
    empty, lens = camera(**settings).empty(), Lens.of(Camera(**settings))

    def at(x: float, y: float) -> np.ndarray:
        u, v = lens.pixel(x, y)
        return empty[round(v), round(u)].astype(int)

    assert (at(0.1, 0.1) == SURFACE).all()
    for x, y in ((0.0, 0.2), (0.2, 0.0), (0.0, 0.0), (-0.2, 0.0), (0.375, 0.0), (-0.6, 0.1), (0.6, 0.2), (0.68, 0.35)):
        assert at(x, y).mean() > 0.6 * SURFACE[0] + 0.4 * MARKING[0], f"a marking at {x}, {y}"
    for x, y in ((0.0, 0.66), (0.765, 0.4), (0.735, 0.635), (-0.735, -0.635)):
        assert at(x, y).min() > 120, f"wall or corner at {x}, {y}"
    assert (at(0.76, 0.66) == WALL).all()
    assert (at(0.85, 0.5) == SURROUNDINGS).all()
    assert at(0.80, 0.1).max() < 90, "the goal is open"


def test_nothing_of_the_field_has_a_hue():
    assert np.ptp(camera().empty().astype(int), axis=-1).max() <= 6


# --- robots and ball -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"turn": 2.0, "distortion": -0.05}, {"position": [0.2, -0.1, 1.2]}])
def test_team_number_and_heading_can_be_read_from_the_image(settings: dict[str, Any]):
    """As a vision program does it: the patches' middles, at the height of the tops, back on the field."""
    one = camera(32, view=1.9, **settings)
    poses = spread(32, np.random.default_rng(4))
    image = one.draw(poses, np.array([np.nan, np.nan]))
    codes = set()
    for robot, (x, y, heading) in zip(one.robots, poses, strict=True):
        u, v = one.lens.pixel(x, y, SIDE)
        if not (25 < u < 614 and 25 < v < 454):
            continue
        front = where(image, TEAM_COLOURS[robot.team], (u, v), 20)
        assert front is not None
        fx, fy = one.lens.field(*front, SIDE)
        ahead = np.array([fx - x, fy - y])
        assert np.hypot(*ahead) == pytest.approx(0.465 * SIDE / 2, abs=1.5e-3)
        error = np.angle(np.exp(1j * (np.arctan2(ahead[1], ahead[0]) - heading)))
        assert abs(error) < 0.09
        code = []
        for side in (1.0, -1.0):
            offset = np.array([-0.465, side * 0.465]) * SIDE / 2
            c, s = np.cos(heading), np.sin(heading)
            u, v = one.lens.pixel(x + c * offset[0] - s * offset[1], y + s * offset[0] + c * offset[1], SIDE)
            pixel = image[round(v), round(u)].astype(int)
            code.append(min(CODE_COLOURS, key=lambda name: np.abs(pixel - CODE_COLOURS[name]).sum()))
        assert tuple(code) == robot.code
        codes.add((robot.team, *code))
    assert len(codes) >= 20


def test_sixteen_numbers_have_codes_of_their_own_and_then_repeat():
    one = camera(40)
    blue = [robot.code for robot in one.robots if robot.team == "blue"]
    assert len(set(blue[:16])) == 16 and blue[16:20] == blue[:4]


def test_the_ball_is_seen_at_its_middle():
    one = camera()
    for place in ((0.5, 0.4), (-0.3, -0.55), (0.0, 0.0)):
        image = one.draw(np.full((6, 3), np.nan), np.array(place))
        v, u = np.nonzero((image != one.empty()).any(axis=-1))
        x, y = one.lens.field(u.mean(), v.mean(), RADIUS)
        assert (x, y) == pytest.approx(place, abs=1.5e-3)
        assert np.sqrt(len(u) / pi) == pytest.approx(RADIUS * 640 / 1.8, abs=1.0)
        assert (np.abs(image[round(v.mean()), round(u.mean())].astype(int) - BALL_COLOUR) <= 12).all()


def test_robots_that_are_taken_out_are_not_seen():
    one = camera()
    poses = spread(6, np.random.default_rng(1))
    poses[2] = np.nan
    image = one.draw(poses, np.array([0.0, 0.0]))
    assert where(image, TEAM_COLOURS["blue"], (320, 240), 1000) is not None
    poses[:] = np.nan
    image = one.draw(poses, np.array([np.nan, np.nan]))
    assert (image == one.empty()).all()


# --- what is sent --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"blur": 1.3}, {"distortion": 0.2, "blur": 0.5}, {"drift": 1e-9}])
def test_changes_rebuild_the_image_and_are_few(settings: dict[str, Any]):
    one, rng = camera(**settings), np.random.default_rng(2)
    empty = one.empty()
    for number in range(5):
        image = one.draw(spread(6, rng), rng.uniform(-0.5, 0.5, 2), number=number)
        changes = one.changes()
        assert changes is not None
        spans, pixels = changes
        rebuilt, at = empty.copy(), 0
        for row, first, length in spans.astype(int):
            rebuilt[row, first : first + length] = pixels[at : at + length]
            at += length
        assert (rebuilt == image).all()
        assert pixels.size < 0.04 * image.size


def test_a_blurred_frame_is_the_blur_of_the_sharp_one():
    rng = np.random.default_rng(3)
    sharp, blurred = camera(), camera(blur=1.5)
    for _ in range(3):
        poses, ball = spread(6, rng), rng.uniform(-0.5, 0.5, 2)
        image = blurred.draw(poses, ball)
        assert blurred._blur is not None
        assert (image == blurred._blur.whole(sharp.draw(poses, ball))).all()
        assert (image != sharp.image).any()


def test_with_noise_or_drift_the_whole_image_differs():
    poses, ball = spread(6, np.random.default_rng(3)), np.zeros(2)
    for settings in ({"noise": 2.0}, {"drift": 0.3}):
        one = camera(**settings)
        one.draw(poses, ball, number=3, time=0.9)
        assert one.changes() is None


def test_noise_depends_on_seed_and_frame_alone():
    poses, ball = spread(6, np.random.default_rng(3)), np.zeros(2)
    one, same, other = camera(noise=5.0), camera(noise=5.0), camera(noise=5.0, seed=4)
    for number in range(3):  # frames drawn before make no difference
        one.draw(poses, ball, number=number)
    image = one.draw(poses, ball, number=9)
    assert (image == same.draw(poses, ball, number=9)).all()
    assert (image != other.draw(poses, ball, number=9)).mean() > 0.5
    assert (image != same.draw(poses, ball, number=10)).mean() > 0.5


def test_brightness_wanders_slowly_within_its_limits():
    one = camera(drift=0.2, drift_rate=0.5)
    times = np.arange(0.0, 200.0, 0.03)
    gains = np.array([one.gain(time) for time in times])
    assert np.abs(gains - 1.0).max() <= 0.2
    assert np.ptp(gains) > 0.2
    # |d gain/dt| ≤ drift · 2π rate · Σ weights · frequencies
    assert np.abs(np.diff(gains)).max() / 0.03 <= 0.2 * 2 * pi * 0.5 * (0.5 + 0.3 * 0.618 + 0.2 * 0.271)
    image = one.draw(np.full((6, 3), np.nan), np.full(2, np.nan), time=7.0)
    expected = one.empty().astype(float) * one.gain(7.0)
    assert np.abs(image - expected.clip(0, 255)).max() <= 0.6
