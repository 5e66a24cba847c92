"""Cubes and a ball in an image, against plain rays in three dimensions. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from botz.physics.soccer.camera_image import LENS, PARTS, SHAPE, changed_spans, draw_bodies, pixel_of
from botz.scene.lens import Lens
from botz.scene.soccer.camera import lens_record

SAMPLES = [(0.375, 0.125), (0.875, 0.375), (0.125, 0.625), (0.625, 0.875)]
BALL_COLOUR = np.array([250.0, 120.0, 10.0])
NOWHERE = np.array([np.nan, np.nan, 0.1])


def lens(**changes) -> Lens:
    return replace(Lens(x=0.1, y=-0.05, height=2.0, view=1.2, turn=0.4, distortion=0.0, width=28, rows=20), **changes)


def rays_of(lens: Lens) -> np.ndarray:
    u, v = np.meshgrid(np.arange(lens.width + 1) - 0.5, np.arange(lens.rows + 1) - 0.5)
    return np.stack(lens.ground(u, v), axis=-1).astype(np.float32)


class Drawing:
    """An image with room to work in, over a background in which each pixel differs from its neighbours."""

    def __init__(self, lens: Lens, robots: int):
        self.lens, self.rays = lens, rays_of(lens)
        rng = np.random.default_rng(5)
        self.empty = rng.integers(0, 256, (lens.rows, lens.width, 3), dtype=np.uint8)
        self.palette = rng.integers(0, 256, (robots, PARTS, 3))
        self.boxes = np.zeros((robots + 1, 4), dtype=np.int64)
        self.image = self.empty.copy()

    def draw(self, robots, ball=NOWHERE) -> np.ndarray:
        robots = np.array(robots, dtype=float).reshape(-1, 4)
        draw_bodies(
            lens_record(self.lens), self.rays, self.empty, self.palette, BALL_COLOUR, robots, np.array(ball),
            np.zeros((len(robots) + 1, SHAPE)), np.zeros((2, len(robots) + 1), dtype=np.int64), self.boxes, self.image,
        )  # fmt: skip
        return self.image

    def changes(self, gap=0, room=1000):
        spans, pixels = np.zeros((room, 3), dtype=np.uint16), np.zeros((room, 3), dtype=np.uint8)
        order = np.argsort(self.boxes[:, 2], kind="stable")
        count, total = changed_spans(self.image, self.empty, self.boxes[order], gap, spans, pixels)
        return count if count < 0 else (spans[:count].astype(int), pixels[:total])


# --- the same by plain rays: each sample of each pixel against each body, in three dimensions -----------------------


def cube_hit(origin, direction, robot):
    """t and colour's index, by the slabs of a box in its own axes; None where the ray misses it."""
    x, y, heading, side = robot
    c, s = np.cos(heading), np.sin(heading)
    turned = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    o, d = turned @ (origin - [x, y, 0.5 * side]), turned @ direction
    with np.errstate(divide="ignore"):
        t = np.sort([(-0.5 * side - o) / d, (0.5 * side - o) / d], axis=0)
    axis = int(np.argmax(t[0]))
    enter, leave = t[0, axis], t[1].min()
    if enter > leave or enter < 0.0:
        return None
    if axis < 2:
        return enter, (4, 5)[axis]
    a, b, _ = (o + enter * d) / (0.5 * side)
    if 0.07 <= a <= 0.86 and abs(b) <= 0.86:
        return enter, 1
    if -0.86 <= a <= -0.07 and 0.07 <= abs(b) <= 0.86:
        return enter, 2 if b > 0 else 3
    return enter, 0


def ball_hit(origin, direction, ball):
    o = (origin - [ball[0], ball[1], ball[2]]) / ball[2]
    d = direction / ball[2]
    a, b, c = d @ d, 2 * o @ d, o @ o - 1.0
    if b * b - 4 * a * c <= 0:
        return None
    t = (-b - np.sqrt(b * b - 4 * a * c)) / (2 * a)
    return t, 0.68 + 0.32 * max(0.0, (o + t * d)[2])


def by_rays(drawing: Drawing, robots, ball=NOWHERE) -> np.ndarray:
    lens, rays = drawing.lens, drawing.rays.astype(float)
    image = drawing.empty.copy()
    origin = np.array([lens.x, lens.y, lens.height])
    for v, u in itertools.product(range(lens.rows), range(lens.width)):
        corner, right, down = rays[v, u], rays[v, u + 1] - rays[v, u], rays[v + 1, u] - rays[v, u]
        total, hits = np.zeros(3, dtype=int), 0
        for across, below in SAMPLES:
            ground = corner + across * right + below * down
            if not np.isfinite(ground).all():
                continue
            direction = np.array([*ground, -lens.height])
            found = [(t, drawing.palette[i, part]) for i, robot in enumerate(robots)
                     if (hit := cube_hit(origin, direction, robot)) for t, part in [hit]]  # fmt: skip
            if np.isfinite(ball[0]) and (hit := ball_hit(origin, direction, ball)):
                found.append((hit[0], (hit[1] * BALL_COLOUR).astype(int)))
            if found:
                hits += 1
                total += min(found, key=lambda item: item[0])[1]
        if hits:
            image[v, u] = (total + (4 - hits) * drawing.empty[v, u].astype(int) + 2) // 4
    return image


@pytest.mark.parametrize("distortion", [0.0, 0.25, -0.1, -0.3])
def test_bodies_are_where_their_rays_are(distortion):
    rng = np.random.default_rng(7)
    drawing = Drawing(lens(distortion=distortion), 3)
    for _ in range(3):
        robots = np.column_stack([rng.uniform(-0.6, 0.6, (3, 2)), rng.uniform(-4, 4, 3), rng.uniform(0.1, 0.3, 3)])
        ball = [*rng.uniform(-0.4, 0.4, 2), rng.uniform(0.03, 0.1)]
        expected = by_rays(drawing, robots, ball)
        # A ray through an edge, within rounding, may go either way: that is one sample of a pixel.
        assert np.count_nonzero((drawing.draw(robots, ball) != expected).any(axis=-1)) <= 1
        assert np.count_nonzero((expected != drawing.empty).any(axis=-1)) > 20


def test_the_nearest_body_hides_the_others_whatever_the_order():
    """A low cube behind a high one, which leans over it in the image, and a ball between them."""
    robots = np.array([[0.45, 0.0, 0.1, 0.3], [0.70, 0.02, 0.2, 0.1]])
    ball = [0.625, 0.1, 0.02]
    drawing = Drawing(lens(view=2.0, turn=0.0), 2)
    image = drawing.draw(robots, ball).copy()
    assert np.count_nonzero((image != by_rays(drawing, robots, ball)).any(axis=-1)) <= 1
    other = Drawing(lens(view=2.0, turn=0.0), 2)
    other.palette = drawing.palette[::-1].copy()
    assert (other.draw(robots[::-1], ball) == image).all()
    alone = Drawing(lens(view=2.0, turn=0.0), 1)
    alone.palette = drawing.palette[1:].copy()
    seen = alone.draw(robots[1:]) != alone.empty
    assert (image[seen] != alone.image[seen]).any(), "the high cube hides part of the low one"


def test_a_body_higher_than_the_lens_is_drawn_too():
    drawing = Drawing(lens(height=0.2, view=1.0), 1)
    robots = [[0.5, 0.1, 0.3, 0.4]]
    assert np.count_nonzero((drawing.draw(robots) != by_rays(drawing, robots)).any(axis=-1)) <= 1
    assert (drawing.image != drawing.empty).any()


def test_nothing_of_the_frame_before_stays():
    drawing, fresh = Drawing(lens(), 2), Drawing(lens(), 2)
    drawing.draw([[0.1, 0.1, 0.0, 0.2], [-0.2, 0.0, 1.0, 0.2]], [0.3, 0.0, 0.05])
    after = [[0.15, 0.1, 0.3, 0.2], [np.nan, np.nan, np.nan, 0.2]]
    assert (drawing.draw(after) == fresh.draw(after)).all()
    gone = [[np.nan, 0.1, 0.3, 0.2], [0.1, np.inf, 0.0, 0.2]]
    assert (drawing.draw(gone) == drawing.empty).all()
    assert drawing.changes()[0].size == 0


def test_far_outside_nothing_is_drawn():
    drawing = Drawing(lens(), 1)
    for x in (5.0, -1e6, 1e12):
        assert (drawing.draw([[x, 0.0, 0.0, 0.2]], [x, 1.0, 0.05]) == drawing.empty).all()


def test_a_pixel_and_its_ray_belong_together():
    for distortion, turn in ((0.0, 0.0), (0.2, 1.0), (-0.08, -2.0)):
        camera = lens(distortion=distortion, turn=turn)
        assert lens_record(camera).dtype == LENS
        for u, v, z in ((0.0, 0.0, 0.0), (13.2, 4.4, 0.3), (27.0, 19.0, 1.0)):
            x, y = camera.field(u, v, z)
            assert pixel_of(lens_record(camera), x, y, z) == pytest.approx((u, v), abs=1e-9)


# --- spans -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [0, 1, 3, 100])
def test_spans_are_what_differs_and_rebuild_the_image(gap):
    rng = np.random.default_rng(8)
    drawing = Drawing(lens(distortion=0.1), 3)
    for _ in range(3):
        robots = np.column_stack([rng.uniform(-0.5, 0.5, (3, 2)), rng.uniform(-4, 4, 3), rng.uniform(0.1, 0.2, 3)])
        drawing.draw(robots, [0.0, 0.0, 0.1])
        spans, pixels = drawing.changes(gap)
        image, at = drawing.empty.copy(), 0
        for row, first, length in spans:
            image[row, first : first + length] = pixels[at : at + length]
            at += length
        assert at == len(pixels) and (image == drawing.image).all()
        different = (drawing.image != drawing.empty).any(axis=-1)
        for row, first, length in spans:
            assert different[row, first] and different[row, first + length - 1]
        if gap == 0:
            assert spans[:, 2].sum() == different.sum()
        for (row, first, length), (next_row, next_first, _) in itertools.pairwise(spans):
            assert row < next_row or next_first - first - length > gap


def test_where_there_is_no_room_it_says_so():
    drawing = Drawing(lens(), 1)
    drawing.draw([[0.1, 0.0, 0.3, 0.3]])
    spans, pixels = drawing.changes()
    assert drawing.changes(room=len(pixels)) != -1
    assert drawing.changes(room=len(pixels) - 1) == -1
    assert drawing.changes(room=len(spans) - 1) == -1
