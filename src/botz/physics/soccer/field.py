"""The parts of a soccer field: which one a point on the ground belongs to, and a picture of them all."""

from __future__ import annotations

from math import isfinite, sqrt

import numpy as np
from numba import njit

from botz.kernels import compiled, record, words

NUMBERS = words("half_length half_width goal depth corner circle area_x area_y penalty_point line spot wall rim")
FIELD = record(**dict.fromkeys(NUMBERS, np.float64))
"""Half of the field, half of the goal's opening and its depth, legs of the corners, radius of the circle, edge of the
penalty area (0 in area_y: none), place of the penalty mark, width of lines, radius of marks, width of walls and of
their rim [m]."""
NOTHING, SURROUNDINGS, WALL, RIM, SURFACE, GOAL, MARKING = range(7)
FIELD_PARTS = 7
SAMPLES = 3
"""Across and down within a pixel, so that lines have smooth edges."""


@compiled
def field_part(field, x, y):  # -> part
    """Nothing on the field depends on the side, so one quarter says it all."""
    if not (isfinite(x) and isfinite(y)):
        return NOTHING
    x, y = abs(x), abs(y)
    beside, above = field.half_length - x, field.half_width - y  # distances to the walls, negative behind them
    if beside >= 0.0 and above >= 0.0 and beside + above >= field.corner:
        return MARKING if is_marked(field, x, y) else SURFACE
    behind_goal, post = beside + field.depth, field.goal - y
    if behind_goal >= 0.0 and post >= 0.0:
        return GOAL
    # The rim of the walls towards the field lies in their own shadow.
    rim, wall = field.rim, field.wall
    if (beside >= -rim and above >= -rim and beside + above >= field.corner - 1.4 * rim) or (
        behind_goal >= -rim and post >= -rim
    ):
        return RIM
    if (beside >= -wall and above >= -wall) or (behind_goal >= -wall and post >= -wall):
        return WALL
    return SURROUNDINGS


@compiled
def is_marked(field, x, y):
    half = 0.5 * field.line
    if x <= half:
        return True
    distance = sqrt(x * x + y * y)
    if field.circle > 0.0 and (abs(distance - field.circle) <= half or distance <= field.spot):
        return True
    if field.area_y > 0.0:
        if abs(x - field.area_x) <= half and y <= field.area_y + half:
            return True
        if abs(y - field.area_y) <= half and x >= field.area_x - half:
            return True
    dx = x - field.penalty_point
    if field.penalty_point > 0.0 and dx * dx + y * y <= field.spot * field.spot:
        return True
    return y <= field.goal and x >= field.half_length - field.line


@njit(cache=True, error_model="numpy", nogil=True)
def draw_field(field, foot_x, foot_y, rays, palette, image):
    """Fill an image. rays (rows + 1, columns + 1, 2): where those through the corners of pixels meet the ground, from
    the foot of the lens at (foot_x, foot_y)."""
    for v in range(image.shape[0]):
        for u in range(image.shape[1]):
            x0, y0 = foot_x + rays[v, u, 0], foot_y + rays[v, u, 1]
            right_x, right_y = rays[v, u + 1, 0] - rays[v, u, 0], rays[v, u + 1, 1] - rays[v, u, 1]
            down_x, down_y = rays[v + 1, u, 0] - rays[v, u, 0], rays[v + 1, u, 1] - rays[v, u, 1]
            red = green = blue = 0
            for i in range(SAMPLES):
                for j in range(SAMPLES):
                    across, down = (i + 0.5) / SAMPLES, (j + 0.5) / SAMPLES
                    x, y = x0 + across * right_x + down * down_x, y0 + across * right_y + down * down_y
                    part = field_part(field, x, y)
                    red += palette[part, 0]
                    green += palette[part, 1]
                    blue += palette[part, 2]
            n = SAMPLES * SAMPLES
            image[v, u, 0], image[v, u, 1] = (red + n // 2) // n, (green + n // 2) // n
            image[v, u, 2] = (blue + n // 2) // n
