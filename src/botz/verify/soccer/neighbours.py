"""Neighbours of soccer robots: the search by cells finds what looking at all pairs finds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from botz.engines.soccer.contacts import find_neighbours
from botz.engines.soccer.model import widest_search
from botz.verify.checks import Check, close
from botz.verify.soccer.rig import match, shipped


def all_pairs(places: np.ndarray, playing: np.ndarray, reach: np.ndarray, margin: float) -> list[tuple[int, int]]:
    """Exhaustively, in order of their numbers."""
    offset = places[:, None] - places[None]
    near = np.sum(offset**2, axis=2) < (reach[:, None] + reach[None] + margin) ** 2
    near &= playing[:, None] & playing[None]
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(near, 1))]


def neighbours_by_cells(samples: int) -> Iterator[Check]:
    """Robots anywhere on fields of several sizes, some out of play: the same pairs, in the same order."""
    rng = np.random.default_rng(31)
    for count, field in ((10, {}), (100, {"length": 6.0, "width": 5.0}), (100, {"length": 2.2, "width": 1.8})):
        rig = match([shipped()] * count, field=field, spacing=1.05 if count > 10 else 1.6)
        model, state, work = rig.engine.model, rig.engine.state, rig.engine.work
        size, reach = model.field[0], model.robots["reach"]
        # The usual distance, and the longest that one part of a step asks for.
        margins = (float(size.margin), widest_search(float(size.feature)))
        different, found = 0, 0
        for k in range(min(max(samples // 10, 10), 1000)):
            places = rng.uniform([-size.back, -size.side], [size.back, size.side], (count, 2))
            playing = rng.random(count) < 0.9
            for robot, place, plays in zip(state.robots, places, playing, strict=True):
                robot.x, robot.y = place
                robot.playing = float(plays)
            margin = max(margins[k % 2], margins[0])
            find_neighbours(model, state, work, margin)
            pairs = [(int(i), int(j)) for i, j in state.neighbours[: int(state.match[0].neighbours)]]
            expected = all_pairs(places, playing, reach, margin)
            different += pairs != expected
            found += len(expected)
        case = f"neighbours of {count} robots on {2 * float(size.side):.2g} m"
        why = f"The same pairs in the same order; {found} pairs."
        yield close(f"{case}: crowds with other pairs", 0.0 if found else np.nan, float(different), 0.0, why)


FUNCTIONS = (neighbours_by_cells,)
