"""The parts of a soccer field, point by point, and their picture. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest

from botz.physics.soccer.field import (
    FIELD_PARTS,
    GOAL,
    MARKING,
    NOTHING,
    RIM,
    SURFACE,
    SURROUNDINGS,
    WALL,
    draw_field,
    field_part,
)
from botz.scene.soccer.field_image import field_record

FIELD = {
    "length": 1.5, "width": 1.3, "goal_width": 0.4, "goal_depth": 0.1, "corner": 0.07, "center_radius": 0.2,
    "penalty_width": 0.7, "penalty_depth": 0.15, "penalty_point": 0.375,
}  # fmt: skip
PLACES = {
    SURFACE: [(0.1, 0.1), (0.74, 0.3), (0.68, 0.2), (0.71, 0.615), (0.1, 0.649)],
    MARKING: [(0.0, 0.5), (0.2, 0.0), (0.12, 0.16), (0.0, 0.0), (0.375, 0.0), (0.6, 0.2), (0.7, 0.35), (0.749, 0.1)],
    GOAL: [(0.76, 0.0), (0.849, 0.199)],
    RIM: [(0.0, 0.654), (0.754, 0.4), (0.720, 0.6175), (0.853, 0.0), (0.8, 0.203)],
    WALL: [(0.0, 0.67), (0.76, 0.4), (0.74, 0.64), (0.87, 0.0), (0.8, 0.22)],
    SURROUNDINGS: [(0.0, 0.68), (0.9, 0.0), (0.8, 0.4), (1e9, 1e9)],
    NOTHING: [(np.nan, 0.0), (0.0, np.inf)],
}


@pytest.mark.parametrize("part", PLACES)
def test_each_part_is_where_it_belongs_on_all_four_sides(part):
    for x, y in PLACES[part]:
        for sign_x in (1, -1):
            for sign_y in (1, -1):
                assert field_part(field_record(FIELD), sign_x * x, sign_y * y) == part, (x, y)


def test_markings_can_be_left_out():
    bare = field_record({**FIELD, "center_radius": 0, "penalty_width": 0, "penalty_point": 0, "corner": 0})
    for x, y in ((0.2, 0.0), (0.6, 0.2), (0.375, 0.0), (0.745, 0.645)):
        assert field_part(bare, x, y) == SURFACE
    assert field_part(field_record({**FIELD, "penalty_depth": 0}), 0.7, 0.35) == SURFACE


def test_a_picture_is_the_mean_of_what_its_pixels_see():
    """Pixels of 5 mm along the centre line, which is 5.6 mm wide, and one that the lens does not show."""
    u, v = np.meshgrid(np.arange(5) * 5e-3, np.arange(3) * 5e-3)
    rays = np.stack([u, -v], axis=-1).astype(np.float32)
    rays[0, 4] = np.nan
    palette = np.arange(FIELD_PARTS)[:, None] * np.array([1, 10, 30])
    image = np.zeros((2, 4, 3), dtype=np.uint8)
    draw_field(field_record(FIELD), -0.01, 0.1, rays, palette, image)
    marked, surface = palette[MARKING], palette[SURFACE]
    assert (image[1, 0] == surface).all()
    # The line begins at −2.8 mm: of this pixel from −5 to 0 two samples of three lie on it, at −2.5 and −0.8 mm.
    assert (image[1, 1] == (3 * surface + 6 * marked + 4) // 9).all()
    assert (image[0, 3] == palette[NOTHING]).all()
