"""The empty soccer field as a camera sees it: surface, markings, walls, goals and what is around it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from botz.scene.lens import Lens

# No hue, so that none of it looks like a patch or the ball.
SURROUNDINGS = (104, 104, 107)
WALL = (168, 168, 170)
WALL_EDGE = (128, 128, 131)
SURFACE = (44, 46, 47)
GOAL = (66, 67, 70)
MARKING = (228, 228, 228)
NOTHING = (0, 0, 0)
"""Where the lens shows nothing."""

SAMPLES = 3
"""Across and down within a pixel, so that lines have smooth edges."""
ROWS_AT_ONCE = 64


def empty_field(lens: Lens, field: Mapping[str, float]) -> np.ndarray:
    """(rows, width, 3) RGB."""
    image = np.empty((lens.rows, lens.width, 3), dtype=np.uint8)
    within = (np.arange(SAMPLES) + 0.5) / SAMPLES - 0.5
    u = (np.arange(lens.width)[:, None] + within).ravel()
    for first in range(0, lens.rows, ROWS_AT_ONCE):
        rows = np.arange(first, min(first + ROWS_AT_ONCE, lens.rows))
        v = (rows[:, None] + within).ravel()
        gx, gy = lens.ground(u[None, :], v[:, None])
        colours = field_colours(lens.x + gx, lens.y + gy, field)
        blocks = colours.reshape(len(rows), SAMPLES, lens.width, SAMPLES, 3)
        total = blocks.sum(axis=(1, 3), dtype=np.int64)
        image[rows] = (total + SAMPLES * SAMPLES // 2) // (SAMPLES * SAMPLES)
    return image


def field_colours(x: np.ndarray, y: np.ndarray, field: Mapping[str, float]) -> np.ndarray:
    """Colours of points on the ground [m]. Nothing on the field depends on the side, so one quarter says it all."""
    half_length, half_width = 0.5 * field["length"], 0.5 * field["width"]
    seen = np.isfinite(x) & np.isfinite(y)
    x, y = np.where(seen, np.abs(x), 1e9), np.where(seen, np.abs(y), 1e9)
    goal, depth, corner = 0.5 * field["goal_width"], field["goal_depth"], field["corner"]
    wall, line = 0.036 * half_width, 0.004 * (half_length + half_width)
    radius, spot = field["center_radius"], 1.3 * line

    inside = (x <= half_length) & (y <= half_width) & (half_length - x + half_width - y >= corner)
    in_goal = (x > half_length) & (x <= half_length + depth) & (y <= goal)
    walls = (x <= half_length + wall) & (y <= half_width + wall)
    walls |= (x <= half_length + depth + wall) & (y <= goal + wall)
    # The rim of the walls towards the field lies in their own shadow.
    free_x, free_y = half_length + 0.25 * wall, half_width + 0.25 * wall
    rim = (x <= free_x) & (y <= free_y) & ((half_length - x) + (half_width - y) >= corner - 0.35 * wall)
    rim |= (x <= half_length + depth + 0.25 * wall) & (y <= goal + 0.25 * wall)

    def on(distance: np.ndarray) -> np.ndarray:
        return np.abs(distance) <= 0.5 * line

    area_x, area_y = half_length - field["penalty_depth"], 0.5 * field["penalty_width"]
    marks = on(x)
    if radius > 0:
        marks |= on(np.hypot(x, y) - radius) | (np.hypot(x, y) <= spot)
    if field["penalty_depth"] > 0 and field["penalty_width"] > 0:
        marks |= on(x - area_x) & (y <= area_y + 0.5 * line)
        marks |= on(y - area_y) & (x >= area_x - 0.5 * line)
    if field["penalty_point"] > 0:
        marks |= np.hypot(x - field["penalty_point"], y) <= spot
    goal_line = on(x - half_length + 0.5 * line) & (y <= goal)

    colours = np.empty((*x.shape, 3), dtype=np.uint8)
    colours[...] = SURROUNDINGS
    colours[walls] = WALL
    colours[rim & walls] = WALL_EDGE
    colours[inside] = SURFACE
    colours[in_goal] = GOAL
    colours[(marks | goal_line) & inside] = MARKING
    colours[~seen] = NOTHING
    return colours
