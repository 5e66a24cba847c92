"""Where aircraft start from: a pad for those that rise straight up, a runway for the others. Only to be seen: nothing
touches them but the ground below."""

from __future__ import annotations

import numpy as np

from botz.scene.parts import placed
from botz.scene.tessellation import lathe
from botz.scene.world_scene import Material, Shape, TriangleMesh

THIN = 0.004
"""Height of a pad above the ground [m]."""


def landing_pad(materials: dict[str, Material], radius: float) -> tuple[Shape, ...]:
    """A round pad with a ring and an H, x up the letter."""
    materials.setdefault("pad", Material((0.30, 0.33, 0.37, 1.0), 0.9))
    materials.setdefault("pad-mark", Material((0.93, 0.94, 0.95, 1.0), 0.8))
    bar, tall, wide = 0.11 * radius, 0.8 * radius, 0.5 * radius

    def flat(x: float, y: float, along: float, across: float) -> Shape:
        place = placed(x, y, 1.6 * THIN)
        return Shape("box", (along, across, 0.4 * THIN), place, "pad-mark", casts_shadow=False)

    def turned(inner: float, outer: float, low: float, high: float) -> TriangleMesh:
        profile = [(inner, low), (outer, low), (outer, high), (inner, high)]
        return lathe([(share * radius, level * THIN) for share, level in profile], sides=96)

    plate, ring = turned(0.0, 1.0, 0.0, 1.5), turned(0.80, 0.88, 1.4, 1.8)
    return (
        Shape("mesh", material="pad", mesh=plate, casts_shadow=False),
        Shape("mesh", material="pad-mark", mesh=ring, casts_shadow=False),
        flat(0.0, 0.5 * (wide - bar), tall, bar),
        flat(0.0, -0.5 * (wide - bar), tall, bar),
        flat(0.0, 0.0, bar, wide - bar),
    )


def runway(materials: dict[str, Material], width: float) -> tuple[Shape, ...]:
    """A strip along x, ten times as long as wide, with its middle line and thresholds."""
    materials.setdefault("asphalt", Material((0.27, 0.28, 0.30, 1.0), 0.95))
    materials.setdefault("pad-mark", Material((0.93, 0.94, 0.95, 1.0), 0.8))
    length, high = 10.0 * width, 0.004 * width
    found = [Shape("box", (length, width, high), placed(0.0, 0.0, 0.5 * high), "asphalt", casts_shadow=False)]

    def line(x: float, y: float, along: float, across: float) -> Shape:
        return Shape("box", (along, across, high), placed(x, y, 0.8 * high), "pad-mark", casts_shadow=False)

    found += [line(float(x), 0.0, 0.3 * width, 0.03 * width) for x in np.linspace(-0.44, 0.44, 16) * length]
    for end in (-0.48, 0.48):
        found += [line(end * length, float(y), 0.25 * width, 0.05 * width) for y in np.linspace(-0.4, 0.4, 8) * width]
    return tuple(found)
