"""Terrain: the part of a world that a user writes as `terrain: {type: …}`. The scene makes a height grid of it.

World axes: x and y horizontal, z up, metres. Some shapes have a `direction`: the angle from the x axis, counted
towards y, of the axis that their keys refer to; the distance along that axis from the world's origin is called u.
"""

from __future__ import annotations

import math
from pathlib import PurePath
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from botz.scenario import formula
from botz.scenario.misfits import Misfits, Path
from botz.scenario.schema import Strict
from botz.scenario.units import Metres, Quantity, Radians

MOST_POINTS = 4096
"""Points of a grid along either axis, at most; two at least."""
FARTHEST = 1e6
"""Largest coordinate and height of a terrain [m]."""
SHORTEST_SIDE = 1e-3
"""Of a terrain [m]."""
MOST_BUMP_CELLS = 1e9
"""Cells under all bumps together: more would take minutes to lay out."""

Coordinate = Annotated[Metres, Field(ge=-FARTHEST, le=FARTHEST)]
Range = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]
CubicMetres = Annotated[float, Quantity("m^3")]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Steepness = Annotated[Radians, Field(ge=-math.radians(85), le=math.radians(85))]


def _ends_in(*endings: str) -> AfterValidator:
    """A file name whose ending says how to read it."""

    def check(file: str) -> str:
        if PurePath(file).suffix.lower() not in endings:
            name = PurePath(file).name
            raise ValueError(f"the name {name!r} does not say the kind of file; it must end in {', '.join(endings)}")
        return file

    return AfterValidator(check)


def _parsed(expression: str) -> str:
    formula.parse(expression)
    return expression


def grid_points(extent: list[float], resolution: float) -> int:
    """Points along one side whose spacing comes nearest to `resolution` [m]."""
    return round((extent[1] - extent[0]) / resolution) + 1


class Roughness(Strict):
    """Random roughness by ISO 8608, the same in all directions: along every straight cut the displacement has the
    one-sided power spectral density G_d(n) = G_d(n0)·(n/n0)⁻² at n cycles per metre, n0 = 0.1 per metre."""

    iso_class: Literal["A", "B", "C", "D", "E", "F", "G", "H"] | None = None
    """Class: A (very good road), C (average), E (very poor) … H (hardly passable); its geometric mean is G_d(n0)."""
    phi: CubicMetres | None = Field(default=None, ge=0, le=100)
    """G_d(n0) itself instead of a class [m³]; class C has 256e-6."""
    seed: Seed | None = None
    """Seed of this roughness; null: the scenario's."""
    shortest: Metres | None = Field(default=None, gt=0)
    """Shortest wavelength, at least 2 cells; null: 4 cells [m]."""
    longest: Metres | None = Field(default=None, gt=0)
    """Longest wavelength; null: the longer side of the terrain. Longer ones than that are left out [m]."""

    @model_validator(mode="after")
    def _one_level(self) -> Roughness:
        if (self.iso_class is None) == (self.phi is None):
            raise ValueError("give either 'iso_class' (A … H) or 'phi' [m³]")
        if self.shortest is not None and self.longest is not None and self.shortest >= self.longest:
            short = f"{self.shortest:g} m must be less than the longest wavelength of {self.longest:g} m"
            raise Misfits([(("shortest",), short)])
        return self

    @property
    def density(self) -> float:
        """G_d(n0) [m³]. Source: ISO 8608:2016, geometric means of the classes."""
        if self.phi is not None:
            return self.phi
        assert self.iso_class is not None
        return 16e-6 * 4.0 ** "ABCDEFGH".index(self.iso_class)


class Texture(Strict):
    """An image to lay on the ground, for viewers; the physics does not see it."""

    file: Annotated[str, _ends_in(".png", ".jpg", ".jpeg")]
    """Path of a PNG or JPEG image, relative to the file that says it."""
    scale: Metres = Field(default=1.0, gt=0)
    """Length that one repeat of the image covers [m]."""


class TerrainBase(Strict):
    """Common part of all terrains."""

    x: Range = Field(default=[-10.0, 10.0])
    """Extent along x: [min, max] [m]."""
    y: Range = Field(default=[-10.0, 10.0])
    """Extent along y: [min, max] [m]."""
    outside: Literal["edge", "mirror", "end"] = "edge"
    """Outside the extent: `edge` continues the height at the edge, `mirror` goes on without end by mirror images of
    the terrain, `end` ends the run when a wheel leaves it."""
    texture: Texture | None = None
    """An image on the ground, for viewers."""

    @model_validator(mode="after")
    def _extents(self) -> TerrainBase:
        found: list[tuple[Path, str]] = [
            ((key,), f"needs [min, max] at least {SHORTEST_SIDE:g} m apart, not [{low:g}, {high:g}]")
            for key, (low, high) in (("x", self.x), ("y", self.y))
            if not high - low >= SHORTEST_SIDE
        ]
        if found:
            raise Misfits(found)
        return self


class Roughened(Strict):
    roughness: Roughness | None = None
    """Random roughness by ISO 8608 on top."""


class GridTerrain(TerrainBase):
    """A terrain whose spacing can be chosen."""

    resolution: Metres = Field(default=0.05, ge=1e-6)
    """Spacing of the grid, rounded so that whole cells fill the extent [m]."""

    @model_validator(mode="after")
    def _size(self) -> GridTerrain:
        found = []
        sides = {"x": self.x, "y": self.y}
        for key, (low, high) in sides.items():
            if self.resolution > high - low:
                found.append(f"{self.resolution:g} m is longer than the extent along {key}, {high - low:g} m")
        if not found:
            longest = max(high - low for low, high in sides.values())
            many = longest / self.resolution + 1
            if round(many) > MOST_POINTS:
                fits = _rounded_up(longest / (MOST_POINTS - 1))
                size = f"{many:.6g} points along {longest:g} m"
                found.append(f"{self.resolution:g} m makes {size}, at most {MOST_POINTS}; {fits:g} m would fit")
        if found:
            raise Misfits([(("resolution",), message) for message in found])
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """Points along x and y."""
        return grid_points(self.x, self.resolution), grid_points(self.y, self.resolution)


def _rounded_up(value: float) -> float:
    """To three digits, never below `value`."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return math.ceil(value / unit) * unit


class MatrixTerrain(TerrainBase, Roughened):
    """Heights from a matrix in a file. Its rows run along x and its columns along y, by eqs. 3.1-3.2 of
    [virtualbotz]: the first row is at the least x, the first column at the least y. Its size decides the spacing."""

    type: Literal["matrix"]
    file: Annotated[str, _ends_in(".txt", ".csv", ".npy")]
    """Path of the matrix [m]: text with blanks, commas or semicolons between numbers and # before comments, or .npy."""


class ImageTerrain(TerrainBase, Roughened):
    """Heights from an image, seen from above with x to the right and y up: the first row of pixels is at the greatest
    y, the first column at the least x. Pixels are points of the grid. Colours count by their brightness, in 8 bits."""

    type: Literal["image"]
    file: Annotated[str, _ends_in(".png", ".tif", ".tiff", ".jpg", ".jpeg")]
    """Path of the image: 8 or 16 bits, or a TIFF of 32-bit floats whose values are heights [m]."""
    height: Range | None = None
    """Heights of black and of white, of the full range of the image's format (0 and 255, or 65535) [m]."""


class FormulaTerrain(GridTerrain, Roughened):
    """Heights by a formula in x and y."""

    type: Literal["formula"]
    expression: Annotated[str, AfterValidator(_parsed)]
    """Height in metres as a formula of x and y, as `0.1*sin(2*pi*x/3)*cos(y)`."""


class FlatTerrain(GridTerrain, Roughened):
    """Level ground."""

    type: Literal["flat"]
    height: Coordinate = 0.0
    """Height of the ground [m]."""


class PlaneTerrain(GridTerrain, Roughened):
    """An inclined plane through the world's z axis."""

    type: Literal["plane"]
    height: Coordinate = 0.0
    """Height at the world's origin [m]."""
    slope: Steepness = 0.0
    """Angle at which it rises along `direction` [rad]."""
    direction: Radians = 0.0
    """Where it rises, from the x axis [rad]."""


class RampTerrain(GridTerrain, Roughened):
    """Level ground, a ramp, and level ground at its upper end."""

    type: Literal["ramp"]
    start: Coordinate = 1.0
    """Where the ramp begins, along `direction` from the origin [m]."""
    length: Metres = Field(default=4.0, gt=0, le=2 * FARTHEST)
    """Its horizontal length [m]."""
    angle: Steepness | None = None
    """Angle of the ramp; negative leads down. Give this or `height` [rad]."""
    height: Coordinate | None = None
    """Height of its upper end; negative leads down. Give this or `angle` [m]."""
    blend: Metres = Field(default=0.0, ge=0)
    """Horizontal length over which each of its two edges is rounded, half before and half behind it [m]."""
    direction: Radians = 0.0
    """Where it rises, from the x axis [rad]."""

    @model_validator(mode="after")
    def _one_steepness(self) -> RampTerrain:
        if (self.angle is None) == (self.height is None):
            raise ValueError("give either 'angle' or 'height'")
        if self.blend > self.length:
            raise Misfits([(("blend",), f"must be at most the ramp's length of {self.length:g} m, not {self.blend:g}")])
        return self

    @property
    def steepness(self) -> float:
        """Height per horizontal length."""
        if self.angle is not None:
            return math.tan(self.angle)
        assert self.height is not None
        return self.height / self.length


class StepTerrain(GridTerrain, Roughened):
    """Level ground, and higher (or lower) level ground behind an edge. A grid of heights has no vertical walls: the
    edge is a steep slope."""

    type: Literal["step"]
    at: Coordinate = 1.0
    """Where the edge begins, along `direction` from the origin [m]."""
    height: Coordinate = 0.1
    """Height behind the edge; negative is a step down [m]."""
    edge: Metres | None = Field(default=None, gt=0)
    """Horizontal length over which the height changes, at least one cell; null: one cell [m]."""
    direction: Radians = 0.0
    """Where it rises, from the x axis [rad]."""

    @model_validator(mode="after")
    def _edge_shows(self) -> StepTerrain:
        if self.edge is not None and self.edge < self.resolution:
            short = f"{self.edge:g} m is shorter than one cell of {self.resolution:g} m; make 'resolution' finer"
            raise Misfits([(("edge",), short)])
        return self


class BumpsTerrain(GridTerrain, Roughened):
    """Smooth round bumps at random places on level ground; where they overlap, their heights add up."""

    type: Literal["bumps"]
    count: int = Field(default=40, ge=0, le=100_000)
    """How many."""
    height: Range = Field(default=[0.03, 0.1])
    """Least and greatest height of a bump, drawn evenly between; negative ones are hollows [m]."""
    radius: Range = Field(default=[0.3, 0.8])
    """Least and greatest radius of a bump's foot, drawn evenly between [m]."""
    clear: Metres = Field(default=1.0, ge=0)
    """No bump reaches nearer to the origin than this [m]."""
    seed: Seed | None = None
    """Seed of places and sizes; null: the scenario's."""

    @model_validator(mode="after")
    def _sizes(self) -> BumpsTerrain:
        found: list[tuple[Path, str]] = [
            ((key,), f"needs [least, greatest], not [{low:g}, {high:g}]")
            for key, (low, high) in (("height", self.height), ("radius", self.radius))
            if low > high
        ]
        if self.radius[0] < 2 * self.resolution:
            small = f"{self.radius[0]:g} m is less than 2 cells of {self.resolution:g} m; make 'resolution' finer"
            found.append((("radius", 0), small))
        cells = self.count * min((2 * self.radius[1] / self.resolution) ** 2, float(self.shape[0] * self.shape[1]))
        if not found and cells > MOST_BUMP_CELLS:
            found.append((("count",), f"{self.count} bumps this wide cover too many cells; make them fewer or smaller"))
        if found:
            raise Misfits(found)
        return self


class HalfPipeTerrain(GridTerrain, Roughened):
    """A pipe lying open on the ground: its lowest line runs through the origin at height 0."""

    type: Literal["half-pipe"]
    radius: Metres = Field(default=1.0, gt=0, le=FARTHEST)
    """Radius of the pipe [m]."""
    wall: Radians = Field(default=math.radians(60), gt=0, le=math.radians(85))
    """Steepest angle of its walls: from there on outward they are straight slopes [rad]."""
    direction: Radians = 0.0
    """Where its axis points, from the x axis [rad]."""


class RoughTerrain(GridTerrain, Roughness):
    """Level ground with random roughness by ISO 8608 and nothing else."""

    type: Literal["rough"]


Terrain = Annotated[
    MatrixTerrain
    | ImageTerrain
    | FormulaTerrain
    | FlatTerrain
    | PlaneTerrain
    | RampTerrain
    | StepTerrain
    | BumpsTerrain
    | HalfPipeTerrain
    | RoughTerrain,
    Field(discriminator="type"),
]
