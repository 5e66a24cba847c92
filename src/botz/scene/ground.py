"""The ground: a plate with quiet tiles for level worlds, and terrain coloured by height and slope."""

from __future__ import annotations

from math import ceil, floor, log10

import numpy as np

from botz.scene.world_scene import Material, Shape, TriangleMesh
from botz.terrain.height_grid import HeightGrid

MOST_LINES = 257
"""Of a terrain's mesh along either axis."""
AROUND_LINES = 40
"""Of each mirror image about a terrain."""
TEXTURE = 1024
"""Pixels of a terrain's texture along its longer side."""
TILE = 256
"""Pixels of the plate's texture."""
Colour = tuple[float, float, float]

GRASS: tuple[Colour, ...] = ((0.36, 0.44, 0.27), (0.46, 0.52, 0.31), (0.58, 0.58, 0.38), (0.68, 0.63, 0.46))
"""From low to high ground."""
EARTH: Colour = (0.53, 0.43, 0.32)
ROCK: Colour = (0.47, 0.46, 0.45)
CONTOUR: Colour = (0.20, 0.20, 0.16)
SKIRT: Colour = (0.40, 0.33, 0.26)


def ground_plate(
    materials: dict[str, Material],
    extent: tuple[float, float],
    *,
    centre: tuple[float, float] = (0.0, 0.0),
    z: float = 0.0,
    cell: float = 1.0,
    name: str = "ground",
) -> Shape:
    """A level rectangle with tiles of side `cell` [m], lines between them on whole cells of the world; its material is
    added to `materials`."""
    materials[name] = Material((1.0, 1.0, 1.0, 1.0), 0.92, texture=tiles())
    (x0, x1), (y0, y1) = ((centre[k] - 0.5 * extent[k], centre[k] + 0.5 * extent[k]) for k in (0, 1))
    corners = np.array([[x0, y0, z], [x1, y0, z], [x1, y1, z], [x0, y1, z]])
    mesh = TriangleMesh(corners, np.array([[0, 1, 2], [0, 2, 3]]), uv=corners[:, :2] / (2.0 * cell))
    return Shape("mesh", material=name, mesh=mesh, casts_shadow=False)


def tiles() -> np.ndarray:
    """Two by two tiles, alternately a little lighter, with thin lines between and a stronger one at every second: the
    corner between tiles is the image's corner."""
    image = np.empty((TILE, TILE, 3))
    half = TILE // 2
    place = np.arange(TILE)
    lighter = ((place[:, None] // half) + (place[None, :] // half)) % 2 == 1
    image[:] = np.where(lighter[..., None], (0.80, 0.815, 0.825), (0.765, 0.78, 0.79))
    image *= 1.0 + 0.008 * (smooth_noise((TILE, TILE), (16, 16), seed=1, wrap=True) - 0.5)[..., None]
    thin = np.minimum(place % half, half - 1 - place % half) < 1
    strong = np.minimum(place, TILE - 1 - place) < 1
    for line, shade in ((thin, 0.90), (strong, 0.80)):
        image[line[:, None] | line[None, :]] = np.array((0.80, 0.815, 0.825)) * shade
    return as_bytes(image)


# --- terrain -----------------------------------------------------------------------------------------------


def terrain_mesh(
    materials: dict[str, Material],
    grid: HeightGrid,
    *,
    most: int = MOST_LINES,
    name: str = "terrain",
    focus: list[tuple[float, float]] | None = None,
) -> tuple[Shape, ...]:
    """The ground of a height grid: its surface, thinned to `most` lines each way, and what is around it. Where the
    height at the edge goes on, so does the picture; where a run ends at the edge, the ground is cut off there.

    `focus`: points that robots start from or drive to; lines that must be left out are rather those far from them.
    """
    rows = kept_lines(grid.heights, grid.x, most, None if focus is None else [p[0] for p in focus])
    columns = kept_lines(grid.heights.T, grid.y, most, None if focus is None else [p[1] for p in focus])
    x, y, heights = grid.x[rows], grid.y[columns], grid.heights[np.ix_(rows, columns)]
    low_corner, sides = np.array([grid.x_min, grid.y_min]), np.array([grid.x_max - grid.x_min, grid.y_max - grid.y_min])
    own_image = grid.texture_file is not None
    materials[name] = Material((1.0, 1.0, 1.0, 1.0), 0.95, texture=_given_image(grid) if own_image else relief(grid))
    surface = surface_mesh(x, y, heights)
    flat = surface.vertices[:, :2]
    uv = flat / grid.texture_scale if own_image else (flat - low_corner) / sides
    found = [
        Shape(
            "mesh",
            material=name,
            mesh=TriangleMesh(surface.vertices, surface.faces, uv, smooth=True),
            casts_shadow=False,
        )
    ]
    around = f"{name}-around"
    if grid.outside == "end":
        materials[around] = Material((*SKIRT, 1.0), 0.95)
        found.append(Shape("mesh", material=around, mesh=_skirt(x, y, heights), casts_shadow=False))
    else:
        apron = _mirror_images(grid) if grid.outside == "mirror" else _apron(x, y, heights)
        low, high = apron.vertices[:, :2].min(axis=0), apron.vertices[:, :2].max(axis=0)
        # A little paler, so that the edge is seen where there is one.
        shade = 1.0 if grid.outside == "mirror" else 0.94
        image = materials[name].texture if own_image else relief(grid, low, high, pixels=TEXTURE // 2)
        materials[around] = Material((shade, shade, shade, 1.0), 0.95, texture=image)
        flat = apron.vertices[:, :2]
        uv = flat / grid.texture_scale if own_image else (flat - low) / (high - low)
        mesh = TriangleMesh(apron.vertices, apron.faces, uv, smooth=True)
        found.append(Shape("mesh", material=around, mesh=mesh, casts_shadow=False))
    return tuple(found)


def kept_lines(heights: np.ndarray, place: np.ndarray, most: int, focus: list[float] | None) -> np.ndarray:
    """Which rows of a grid are drawn: all of few; of many, those where the ground bends most, so that an edge stays
    where it is, and no gap becomes much wider than the mean."""
    n = len(place)
    if n <= most:
        return np.arange(n)
    bend = np.zeros(n)
    bend[1:-1] = np.abs(heights[2:] - 2.0 * heights[1:-1] + heights[:-2]).max(axis=1)
    weight = np.sqrt(bend)
    weight = 0.5 + 0.5 * n * weight / weight.sum() if weight.sum() > 0.0 else np.ones(n)
    if focus:
        away = np.abs(place[:, None] - np.array(focus)[None, :]).min(axis=1) / (place[-1] - place[0])
        weight = weight / (0.15 + away)
    gone = np.cumsum(np.minimum(weight, weight.sum() / most))
    inner = np.searchsorted(gone, np.linspace(gone[0], gone[-1], most))
    return (
        np.unique(np.concatenate([[0], np.minimum(inner, n - 1), [n - 1]]))[:most] if most > 2 else np.array([0, n - 1])
    )


def surface_mesh(x: np.ndarray, y: np.ndarray, heights: np.ndarray) -> TriangleMesh:
    """Triangles over a grid of heights (n_x, n_y), seen from above."""
    n, m = heights.shape
    vertices = np.column_stack([np.repeat(x, m), np.tile(y, n), heights.ravel()])
    corner = (np.arange(n - 1)[:, None] * m + np.arange(m - 1)[None, :]).ravel()
    faces = np.concatenate(
        [np.stack([corner, corner + m, corner + m + 1], axis=1), np.stack([corner, corner + m + 1, corner + 1], axis=1)]
    )
    return TriangleMesh(vertices, faces, smooth=True)


def _edge(x: np.ndarray, y: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """The border (k, 3), once around counter-clockwise, its first point at the end again."""
    n, m = len(x), len(y)
    i = np.concatenate([np.arange(n - 1), np.full(m - 1, n - 1), np.arange(n - 1, 0, -1), np.zeros(m, dtype=int)])
    j = np.concatenate([np.zeros(n - 1, dtype=int), np.arange(m - 1), np.full(n - 1, m - 1), np.arange(m - 1, -1, -1)])
    return np.stack([x[i], y[j], heights[i, j]], axis=1)


def _skirt(x: np.ndarray, y: np.ndarray, heights: np.ndarray) -> TriangleMesh:
    """Walls from the border down to a level below everything."""
    top = _edge(x, y, heights)
    depth = max(0.03 * max(float(np.ptp(x)), float(np.ptp(y))), 0.1 * float(np.ptp(heights)))
    bottom = top.copy()
    bottom[:, 2] = float(heights.min()) - depth
    k = len(top)
    here = np.arange(k - 1)
    # Seen from outside, the border runs to the right.
    faces = np.concatenate(
        [np.stack([here + k, here + k + 1, here + 1], axis=1), np.stack([here + k, here + 1, here], axis=1)]
    )
    return TriangleMesh(np.concatenate([top, bottom]), faces)


def _apron(x: np.ndarray, y: np.ndarray, heights: np.ndarray) -> TriangleMesh:
    """The border's heights, continued straight outwards: over the sides, and level in the corners."""
    reach = 0.75 * max(float(np.ptp(x)), float(np.ptp(y)))
    parts = []
    for along_x, at in ((False, 0), (False, -1), (True, 0), (True, -1)):
        if along_x:  # beyond the least or the greatest y
            line = heights[:, at]
            ys = np.array([y[0] - reach, y[0]]) if at == 0 else np.array([y[-1], y[-1] + reach])
            xs = np.concatenate([[x[0] - reach], x, [x[-1] + reach]])
            values = np.repeat(np.concatenate([line[:1], line, line[-1:]])[:, None], 2, axis=1)
            parts.append(surface_mesh(xs, ys, values))
        else:
            xs = np.array([x[0] - reach, x[0]]) if at == 0 else np.array([x[-1], x[-1] + reach])
            parts.append(surface_mesh(xs, y, np.repeat(heights[at][None, :], 2, axis=0)))
    return _joined(parts)


def _joined(parts: list[TriangleMesh]) -> TriangleMesh:
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])[:-1]
    faces = np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=True)])
    return TriangleMesh(np.concatenate([part.vertices for part in parts]), faces, smooth=True)


def _mirror_images(grid: HeightGrid) -> TriangleMesh:
    """The eight mirror images about the grid, with fewer lines."""
    x, y = (
        np.linspace(low, high, AROUND_LINES + 1) for low, high in ((grid.x_min, grid.x_max), (grid.y_min, grid.y_max))
    )
    wide, deep = grid.x_max - grid.x_min, grid.y_max - grid.y_min
    parts = []
    for i, j in ((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)):
        xs, ys = x + i * wide, y + j * deep
        parts.append(surface_mesh(xs, ys, grid.height(xs[:, None], ys[None, :])))
    return _joined(parts)


def relief(
    grid: HeightGrid, corner: np.ndarray | None = None, opposite: np.ndarray | None = None, *, pixels: int = TEXTURE
) -> np.ndarray:
    """A picture of the terrain, or of a larger rectangle about it: grass that pales with the height, earth on slopes,
    rock on steep ones, fine contours."""
    x_min, y_min = (grid.x_min, grid.y_min) if corner is None else (float(corner[0]), float(corner[1]))
    x_max, y_max = (grid.x_max, grid.y_max) if opposite is None else (float(opposite[0]), float(opposite[1]))
    sides = np.array([x_max - x_min, y_max - y_min])
    nx, ny = (max(16, int(n)) for n in np.ceil(pixels * sides / sides.max()))
    x = x_min + (np.arange(nx) + 0.5) * sides[0] / nx
    y = y_max - (np.arange(ny) + 0.5) * sides[1] / ny  # the first row of an image is its upper one
    heights = grid.height(x[None, :], y[:, None])
    steep = np.hypot(np.gradient(heights, axis=1) * nx / sides[0], np.gradient(heights, axis=0) * ny / sides[1])
    low, high = float(grid.heights.min()), float(grid.heights.max())
    noise = _clouds((ny, nx), sides)
    share = np.clip((heights - low) / max(high - low, 1e-9) + 0.25 * (noise - 0.5), 0.0, 1.0)
    image = _between(np.array(GRASS), share if high - low > 1e-6 else 0.35 + 0.5 * (noise - 0.5))
    for colour, start, full in ((EARTH, 0.12, 0.35), (ROCK, 0.45, 0.9)):
        part = np.clip((steep + 0.12 * (noise - 0.5) - start) / (full - start), 0.0, 1.0)[..., None]
        image += (np.array(colour) - image) * (part * part * (3.0 - 2.0 * part))
    image *= (1.0 + 0.28 * (noise - 0.5))[..., None]
    if high - low > 0.02:
        image += (np.array(CONTOUR) - image) * (0.20 * _contours(heights, high - low))[..., None]
    return as_bytes(image)


def _contours(heights: np.ndarray, span: float) -> np.ndarray:
    """How much of each pixel a contour covers, a line being about a pixel and a half wide; every fifth is stronger."""
    rough = span / 10.0
    unit = 10.0 ** floor(log10(rough))
    step = next(unit * k for k in (1, 2, 5, 10) if unit * k >= rough * 0.999)
    across = np.hypot(*np.gradient(heights))
    found = np.zeros_like(heights)
    for every, strength in ((step, 0.6), (5.0 * step, 1.0)):
        away = np.abs(heights / every - np.round(heights / every)) * every
        line = np.clip(1.25 - away / np.maximum(across, 1e-12), 0.0, 1.0)
        # Level ground is no line, however near to a contour it lies.
        found = np.maximum(found, strength * np.where(across > 1e-4 * step, line, 0.0))
    return found


def _given_image(grid: HeightGrid) -> np.ndarray:
    from PIL import Image

    assert grid.texture_file is not None
    with Image.open(grid.texture_file) as image:
        image.thumbnail((2 * TEXTURE, 2 * TEXTURE))
        return np.asarray(image.convert("RGB"))


# --- colours -----------------------------------------------------------------------------------------------


def _between(colours: np.ndarray, share: np.ndarray) -> np.ndarray:
    place = np.clip(share, 0.0, 1.0) * (len(colours) - 1)
    return np.stack([np.interp(place, np.arange(len(colours)), colours[:, k]) for k in range(3)], axis=-1)


def _clouds(shape: tuple[int, int], sides: np.ndarray) -> np.ndarray:
    """Noise of several sizes between 0 and 1, about 0.5: patches of metres down to grains of some pixels."""
    total, weights = np.zeros(shape), 0.0
    for octave, (patch, weight) in enumerate(((3.0, 0.8), (1.0, 0.9), (0.3, 1.0), (0.1, 0.9), (0.04, 0.7))):
        counts = tuple(min(shape[1 - k] // 3, max(2, ceil(sides[k] / patch))) for k in (0, 1))
        total += weight * smooth_noise(shape, (counts[1], counts[0]), seed=17 + octave)
        weights += weight
    return np.clip(0.5 + 1.6 * (total / weights - 0.5), 0.0, 1.0)


def smooth_noise(shape: tuple[int, int], counts: tuple[int, int], *, seed: int, wrap: bool = False) -> np.ndarray:
    """Values at a coarse grid of `counts` cells, drawn once for all, and smoothly between."""
    values = np.random.default_rng(seed).random((counts[0] + 1, counts[1] + 1))
    if wrap:
        values[-1], values[:, -1] = values[0], values[:, 0]
    for axis in (0, 1):
        place = (np.arange(shape[axis]) + 0.5) / shape[axis] * counts[axis]
        cell = np.minimum(place.astype(int), counts[axis] - 1)
        t = place - cell
        t = t * t * (3.0 - 2.0 * t)
        t = t[:, None] if axis == 0 else t[None, :]
        before, after = np.take(values, cell, axis=axis), np.take(values, cell + 1, axis=axis)
        values = before + (after - before) * t
    return values


def as_bytes(image: np.ndarray) -> np.ndarray:
    """An image of numbers between 0 and 1 as bytes, in steps of two, which a PNG packs better and nobody sees."""
    return (np.clip(image, 0.0, 1.0) * 127.0 + 0.5).astype(np.uint8) * 2
