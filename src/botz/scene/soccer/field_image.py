"""The empty soccer field as a camera sees it: surface, markings, walls, goals and what is around it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from botz.physics.soccer import field as parts
from botz.scene.lens import Lens

# No hue, so that none of it looks like a patch or the ball.
SURROUNDINGS = (104, 104, 107)
WALL = (168, 168, 170)
RIM = (128, 128, 131)
SURFACE = (44, 46, 47)
GOAL = (66, 67, 70)
MARKING = (228, 228, 228)
NOTHING = (0, 0, 0)
"""Where the lens shows nothing."""

LINE = 0.004
"""Width of the markings, as a share of half the length and half the width of the field together."""
WALL_WIDTH = 0.018
"""Width of the walls, as a share of the width of the field."""


def empty_field(lens: Lens, field: Mapping[str, float], rays: np.ndarray) -> np.ndarray:
    """(rows, width, 3) RGB. `rays` are those of the corners of pixels."""
    palette = np.zeros((parts.FIELD_PARTS, 3), dtype=np.int64)
    palette[parts.SURROUNDINGS], palette[parts.WALL], palette[parts.RIM] = SURROUNDINGS, WALL, RIM
    palette[parts.SURFACE], palette[parts.GOAL], palette[parts.MARKING] = SURFACE, GOAL, MARKING
    palette[parts.NOTHING] = NOTHING
    image = np.empty((lens.rows, lens.width, 3), dtype=np.uint8)
    parts.draw_field(field_record(field), lens.x, lens.y, rays, palette, image)
    return image


def field_record(field: Mapping[str, float]) -> np.record:
    """For compiled code."""
    half_length, half_width = 0.5 * field["length"], 0.5 * field["width"]
    line, wall = LINE * (half_length + half_width), WALL_WIDTH * field["width"]
    area = 0.5 * field["penalty_width"] if field["penalty_depth"] > 0 else 0.0
    numbers = np.zeros(1, dtype=parts.FIELD)
    numbers[0] = (
        half_length, half_width, 0.5 * field["goal_width"], field["goal_depth"], field["corner"],
        field["center_radius"], half_length - field["penalty_depth"], area, field["penalty_point"],
        line, 1.3 * line, wall, 0.25 * wall,
    )  # fmt: skip
    return numbers[0]
