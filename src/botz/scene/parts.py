"""What the scenes of all families share: colours, wheels, bodies and the ground."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import atan2, cos, pi, sin, sqrt
from typing import Literal

import numpy as np

from botz.scene.shapes import joined, moved, prism, rectangle, turned
from botz.scene.world_scene import HERE, Material, Place, Shape, TriangleMesh
from botz.transforms import rotation_about

ROBOT_PAINTS = ("paint", "paint-2", "paint-3", "paint-4", "paint-5", "paint-6", "paint-7", "paint-8")
"""Materials of robots, the first one's first."""


def palette() -> dict[str, Material]:
    """The common materials by name; a scene adds its own."""

    def plain(red: int, green: int, blue: int, roughness: float = 0.6, metallic: float = 0.0) -> Material:
        return Material((red / 255, green / 255, blue / 255, 1.0), roughness, metallic)

    paints = [
        (38, 112, 178), (226, 112, 36), (46, 148, 108), (186, 62, 72),
        (122, 92, 176), (222, 172, 44), (40, 150, 172), (196, 92, 148),
    ]  # fmt: skip
    return {
        **{name: plain(*colour, roughness=0.42) for name, colour in zip(ROBOT_PAINTS, paints, strict=True)},
        "body": plain(232, 234, 236, roughness=0.45),
        "trim": plain(58, 63, 70, roughness=0.55),
        "dark": plain(34, 37, 42, roughness=0.6),
        "rubber": plain(38, 39, 41, roughness=0.9),
        "rim": plain(206, 210, 214, roughness=0.35, metallic=0.55),
        "spoke": plain(168, 174, 180, roughness=0.4, metallic=0.5),
        "steel": plain(178, 182, 186, roughness=0.3, metallic=0.8),
        "roller": plain(92, 98, 106, roughness=0.75),
        "mark": plain(255, 196, 36, roughness=0.5),
        "lamp": plain(255, 246, 214, roughness=0.2),
        "tail": plain(214, 44, 44, roughness=0.35),
        "glass": plain(26, 40, 56, roughness=0.15, metallic=0.2),
        "white": plain(246, 247, 248, roughness=0.6),
        "ghost": Material((0.36, 0.55, 0.75, 0.28), 0.8),
    }


# --- places ------------------------------------------------------------------------------------------------


def placed(x: float, y: float, z: float) -> Place:
    return (x, y, z, 1.0, 0.0, 0.0, 0.0)


def turned_place(x: float, y: float, z: float, angle: float, axis: Sequence[float] = (0.0, 0.0, 1.0)) -> Place:
    """A place turned about a unit axis by an angle [rad]."""
    c, s = cos(0.5 * angle), sin(0.5 * angle)
    return (x, y, z, c, s * axis[0], s * axis[1], s * axis[2])


def facing(start: Sequence[float], direction: Sequence[float]) -> Place:
    """A place whose z points along a direction: for cylinders and capsules."""
    x, y, z = (float(value) for value in direction)
    flat = sqrt(x * x + y * y)
    axis = (-y / flat, x / flat, 0.0) if flat > 1e-12 else (0.0, 1.0, 0.0)
    return turned_place(start[0], start[1], start[2], atan2(flat, z), axis)


# --- wheels ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)  # equal wheels share their meshes, which travel once
def wheel_shapes(
    radius: float,
    width: float,
    *,
    profile: Literal["flat", "round"] = "flat",
    tread: Literal["plain", "lugs"] = "plain",
    spokes: int = 5,
    tyre: str = "rubber",
    rim: str = "rim",
    spoke: str = "spoke",
    mark: str = "mark",
) -> tuple[Shape, ...]:
    """A wheel that turns about y of its frame: tyre, rim, spokes on both sides, and a mark that shows its turning.

    `flat` stands on both edges of its width, `round` on a circle in its middle. Lugs are cut into the tread: no part
    of the wheel reaches beyond its radius.
    """
    half, inner = 0.5 * width, 0.66 * radius
    depth = 0.07 * radius if tread == "lugs" else 0.0
    lip = min(0.1 * width, 0.05 * radius)
    found = [
        Shape("mesh", material=tyre, mesh=_tyre(radius - depth, inner, half, profile)),
        Shape("mesh", material=rim, mesh=_rim(1.01 * inner, inner - 0.11 * radius, half - 0.5 * lip)),
    ]
    if tread == "lugs":
        found.append(Shape("mesh", material=tyre, mesh=_lugs(radius, depth, half), casts_shadow=False))
    blades = [_spoke(inner, half, k * 2.0 * pi / spokes, radius) for k in range(spokes)]
    found.append(Shape("mesh", material=mark, mesh=blades[0]))
    found.append(Shape("mesh", material=spoke, mesh=joined(blades[1:])))
    found.append(Shape("cylinder", (0.17 * radius, 0.94 * width), facing((0, 0, 0), (0, 1, 0)), material=rim))
    # A stripe on both flanks of the tyre, over the spoke of the same colour.
    low, high = 1.03 * inner, (0.96 * radius if profile == "flat" else 0.86 * radius) - depth
    stripe = (0.16 * radius, width * (1.02 if profile == "flat" else 0.93), high - low)
    found.append(Shape("box", stripe, placed(0.0, 0.0, 0.5 * (low + high)), material=mark, casts_shadow=False))
    return tuple(found)


def _tyre(outer: float, inner: float, half: float, profile: str) -> TriangleMesh:
    if profile == "round":
        # A half ellipse from flank to flank, its top in the middle.
        angle = np.linspace(pi, 0.0, 15)
        crown = [(inner + (outer - inner) * sin(a) ** 0.8, half * cos(a)) for a in angle]
        return turned([crown, [(inner, half), (inner, -half)]])
    edge = min(0.12 * (outer - inner), 0.08 * half)
    return turned(
        [
            [(outer, -half), (outer, half)],  # both edges of the tread are where it stands
            [(outer, half), (outer - 2 * edge, half), (inner + edge, half), (inner, half - edge)],
            [(inner, half - edge), (inner, edge - half)],
            [(inner, edge - half), (inner + edge, -half), (outer - 2 * edge, -half), (outer, -half)],
        ]
    )


def _rim(outer: float, inner: float, half: float) -> TriangleMesh:
    lip = 0.3 * (outer - inner)
    return turned(
        [
            [(outer, -half), (outer, half)],
            [(outer, half), (inner + lip, half)],
            [(inner + lip, half), (inner, 0.55 * half), (inner, -0.55 * half), (inner + lip, -half)],
            [(inner + lip, -half), (outer, -half)],
        ]
    )


def _spoke(inner: float, half: float, angle: float, radius: float) -> TriangleMesh:
    """From the hub to the rim, narrower outside; the angle is counted from z towards x."""
    low, high, near, far = 0.1 * radius, inner - 0.05 * radius, 0.075 * radius, 0.045 * radius
    outline = np.array([[-near, low], [near, low], [far, high], [-far, high]])
    plate = prism(outline, -0.8 * half, 0.8 * half, chamfer=min(0.02 * radius, 0.2 * half))
    upright = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # x, y, z to x, z, −y
    return moved(plate, rotation_about(np.array([0.0, 1.0, 0.0]), angle) @ upright, (0.0, 0.0, 0.0))


def _lugs(radius: float, depth: float, half: float) -> TriangleMesh:
    """Blocks across the tread, in two staggered rows; their outer corners lie on the circle."""
    count = 18
    pitch = 2.0 * pi / count
    block = 0.28 * pitch * radius
    top = sqrt(radius**2 - block**2)
    found = []
    for row in (0, 1):
        y0, y1 = (-half, -0.04 * half) if row == 0 else (0.04 * half, half)
        # Their top leans a little inwards at the sides, as cut blocks do.
        lug = prism(rectangle(-block, block, y0, y1), radius - 1.6 * depth, top)
        for k in range(count):
            turn = rotation_about(np.array([0.0, 1.0, 0.0]), (k + 0.5 * row) * pitch)
            found.append(moved(lug, turn, (0.0, 0.0, 0.0)))
    return joined(found)


# --- bodies ------------------------------------------------------------------------------------------------


def chassis_box(
    low: Sequence[float], high: Sequence[float], material: str, *, chamfer: float = 0.08, place: Place = HERE
) -> Shape:
    """A box between two corners (x, y, z) whose edges are cut off, by this share of its shortest side."""
    shortest = min(high[k] - low[k] for k in range(3))
    cut = chamfer * shortest
    outline = rectangle(low[0], high[0], low[1], high[1], cut=1.5 * cut)
    return Shape("mesh", material=material, mesh=prism(outline, low[2], high[2], chamfer=cut), place=place)


def arrow(x: float, y: float, z: float, length: float, material: str = "white", *, thick: float = 0.0) -> Shape:
    """A flat arrowhead that points along x, its lower face at z: where the front of a robot is."""
    half = 0.42 * length
    outline = np.array([[0.5 * length, 0.0], [-0.5 * length, half], [-0.25 * length, 0.0], [-0.5 * length, -half]])
    thick = thick or 0.06 * length
    mesh = prism(outline + np.array([x, y]), z, z + thick)
    return Shape("mesh", material=material, mesh=mesh, casts_shadow=False)


def antenna(x: float, y: float, z: float, height: float, material: str = "mark") -> tuple[Shape, ...]:
    """A thin mast with a ball on top."""
    thin = 0.018 * height
    return (
        Shape("cylinder", (2.2 * thin, 0.06 * height), placed(x, y, z + 0.03 * height), material="dark"),
        Shape("cylinder", (thin, height), placed(x, y, z + 0.5 * height), material="trim"),
        Shape("sphere", (3.2 * thin,), placed(x, y, z + height), material=material),
    )


def ghostly(shapes: Sequence[Shape], material: str = "ghost") -> tuple[Shape, ...]:
    """The same shapes as one translucent thing without shadows."""
    return tuple(Shape(one.kind, one.size, one.place, material, one.mesh, casts_shadow=False) for one in shapes)
