"""What a user may write as terrain, and what is said about the rest."""

# ruff: noqa: E501 (messages are shown whole, as the user sees them)

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from pydantic import TypeAdapter, ValidationError

from botz.scenario.problems import problems_of
from botz.scenario.reading import parse
from botz.scenario.schema import Strict
from botz.scenario.terrain import GridTerrain, Roughness, Terrain

TERRAIN: TypeAdapter[Any] = TypeAdapter(Terrain)


class World(Strict):
    terrain: Terrain


class Document(Strict):
    world: World


def told(text: str) -> list[str]:
    """What a user reads about a terrain; nothing if it is good."""
    tree = parse(f"world:\n  terrain: {text}\n", Path("s.yaml"))
    try:
        Document.model_validate(tree.plain())
    except ValidationError as error:
        return [str(problem).removeprefix("s.yaml:2: world.terrain") for problem in problems_of(error, Document, tree)]
    return []


GOOD = [
    "{type: flat}",
    "{type: flat, x: [0, 1 km], y: [-3 cm, 97 cm], resolution: 50 cm, outside: end, height: -2}",
    "{type: flat, texture: {file: /a/grass.JPG, scale: 2 m}, roughness: {iso_class: C}}",
    "{type: matrix, file: /a/heights.txt}",
    "{type: matrix, file: /a/heights.NPY, roughness: {phi: 1e-6, seed: 4, shortest: 0.1, longest: 2}}",
    "{type: image, file: /a/map.png, height: [0, 2.5]}",
    "{type: image, file: /a/map.tif}",
    "{type: formula, expression: 0.1*sin(2*pi*x/3)*cos(y)}",
    "{type: plane, slope: 10 deg, direction: -90 deg, height: 1}",
    "{type: ramp, angle: -20 deg, start: -2, length: 5, blend: 0.3}",
    "{type: ramp, height: 0.5, direction: 45 deg}",
    "{type: step}",
    "{type: step, at: 2, height: -0.2, edge: 0.1}",
    "{type: bumps, count: 0}",
    "{type: bumps, height: [-0.1, 0.1], radius: [0.5, 0.5], clear: 0, seed: 9}",
    "{type: half-pipe, radius: 2, wall: 45 deg, direction: 1}",
    "{type: rough, iso_class: E}",
    "{type: rough, phi: 256e-6, seed: 3, x: [0, 100], y: [-2, 2]}",
]


@pytest.mark.parametrize("text", GOOD)
def test_good_terrains_are_taken_and_survive_a_recording(text: str):
    assert told(text) == []
    spec = TERRAIN.validate_python(parse(text, None).plain())
    assert TERRAIN.validate_python(spec.model_dump(mode="json")) == spec


@pytest.mark.parametrize("text", GOOD)
def test_editors_take_them_too(text: str):
    jsonschema.Draft202012Validator(TERRAIN.json_schema()).validate(parse(text, None).plain())


def test_every_type_is_tried():
    types = [get_args(model.model_fields["type"].annotation)[0] for model in get_args(get_args(Terrain)[0])]
    assert len(types) == 10
    assert all(any(f"type: {name}" in text for text in GOOD) for name in types)


# fmt: off
BAD = [
    ("{type: hill}", ".type: unknown 'hill'; choose from: bumps, flat, formula, half-pipe, image, matrix, plane, ramp, rough, step"),
    ("{type: half_pipe}", ".type: unknown 'half_pipe'; did you mean 'half-pipe'? (bumps, flat, formula, half-pipe, image, matrix, plane, ramp, rough, step)"),
    ("{}", ".type: missing; choose from: bumps, flat, formula, half-pipe, image, matrix, plane, ramp, rough, step"),
    ("{type: flat, x: [1]}", ".x: needs at least 2 entries, not 1"),
    ("{type: flat, x: [10, -10], y: [0, 0]}",
     ".x: needs [min, max] at least 0.001 m apart, not [10, -10]",
     ".y: needs [min, max] at least 0.001 m apart, not [0, 0]"),
    ("{type: flat, x: [0, 1 kg]}", '.x.1: "1 kg" is a mass, needs a length such as "0.12 m"'),
    ("{type: flat, x: [0, 1e300]}", ".x.1: must be at most 1e+06 m, not 1e+300"),
    ("{type: flat, resolution: 0.001}", ".resolution: 0.001 m makes 20001 points along 20 m, at most 4096; 0.00489 m would fit"),
    ("{type: flat, x: [0, 1000], resolution: 0.1}", ".resolution: 0.1 m makes 10001 points along 1000 m, at most 4096; 0.245 m would fit"),
    ("{type: flat, y: [0, 1], resolution: 2}", ".resolution: 2 m is longer than the extent along y, 1 m"),
    ("{type: flat, resolution: 0}", ".resolution: must be at least 1e-06 m, not 0"),
    ("{type: flat, outside: stop}", ".outside: unknown 'stop'; choose from: edge, end, mirror"),
    ("{type: flat, slope: 0.1}", ".slope: unknown key; choose from: height, outside, resolution, roughness, texture, type, x, y"),
    ("{type: flat, roughness: {}}", ".roughness: give either 'iso_class' (A … H) or 'phi' [m³]"),
    ("{type: flat, roughness: {iso_class: C, phi: 1}}", ".roughness: give either 'iso_class' (A … H) or 'phi' [m³]"),
    ("{type: flat, roughness: {iso_class: C, shortest: 3, longest: 2}}", ".roughness.shortest: 3 m must be less than the longest wavelength of 2 m"),
    ("{type: flat, roughness: {iso_class: C, seed: -1}}", ".roughness.seed: must be at least 0, not -1"),
    ("{type: flat, texture: {file: a.bmp}}", ".texture.file: the name 'a.bmp' does not say the kind of file; it must end in .png, .jpg, .jpeg"),
    ("{type: flat, texture: {file: a.png, scale: 0}}", ".texture.scale: must be greater than 0, not 0"),
    ("{type: matrix}", ".file: missing (path of the matrix [m]: text with blanks, commas or semicolons between numbers and # before comments, or .npy)"),
    ("{type: matrix, file: heights.xls}", ".file: the name 'heights.xls' does not say the kind of file; it must end in .txt, .csv, .npy"),
    ("{type: matrix, file: a.txt, resolution: 0.1}", ".resolution: unknown key; choose from: file, outside, roughness, texture, type, x, y"),
    ("{type: image, file: a.gif, height: [0, 1]}", ".file: the name 'a.gif' does not say the kind of file; it must end in .png, .tif, .tiff, .jpg, .jpeg"),
    ("{type: image, file: a.png, height: 3}", ".height: needs a list, not 3"),
    ("{type: formula, expression: 1 + sn(x)}", ".expression: unknown function 'sn'; did you mean 'sin'? (abs, acos, asin, atan, atan2, ceil, clip, cos, e, exp, floor, hypot, log, max, min, pi, sign, sin, sqrt, step, tan, tanh, where, x, y) (character 5)"),
    ("{type: formula, expression: 3}", '.expression: needs text, not 3; write "3"'),
    ("{type: plane, slope: 90 deg}", ".slope: must be at most 1.48353 rad (85 deg), not '90 deg'"),
    ("{type: ramp, angle: 20}", '.angle: must be at most 1.48353 rad (85 deg), not 20; 20 without a unit means 20 rad, 1145.92 degrees; write "20 deg" or "20 rad"'),
    ("{type: ramp}", ": give either 'angle' or 'height'"),
    ("{type: ramp, angle: 10 deg, height: 1}", ": give either 'angle' or 'height'"),
    ("{type: ramp, height: 1, length: 1, blend: 2}", ".blend: must be at most the ramp's length of 1 m, not 2"),
    ("{type: step, edge: 0.001}", ".edge: 0.001 m is shorter than one cell of 0.05 m; make 'resolution' finer"),
    ("{type: bumps, height: [1, 0], radius: [0.02, 1]}",
     ".height: needs [least, greatest], not [1, 0]",
     ".radius.0: 0.02 m is less than 2 cells of 0.05 m; make 'resolution' finer"),
    ("{type: bumps, count: 100000, radius: [5, 9]}", ".count: 100000 bumps this wide cover too many cells; make them fewer or smaller"),
    ("{type: bumps, count: 1.5}", ".count: needs a whole number, not 1.5"),
    ("{type: half-pipe, radius: 0}", ".radius: must be greater than 0, not 0"),
    ("{type: half-pipe, wall: 90 deg}", ".wall: must be at most 1.48353 rad (85 deg), not '90 deg'"),
    ("{type: rough}", ": give either 'iso_class' (A … H) or 'phi' [m³]"),
    ("{type: rough, iso_class: C, roughness: {iso_class: A}}", ".roughness: unknown key; choose from: iso_class, longest, outside, phi, resolution, seed, shortest, texture, type, x, y"),
    ("{type: rough, phi: 3 m}", '.phi: "3 m" is a length, needs a volume such as "2 l"'),
]
# fmt: on


@pytest.mark.parametrize("case", BAD, ids=lambda case: case[0])
def test_a_bad_terrain_is_told_exactly(case: tuple[str, ...]):
    assert told(case[0]) == list(case[1:])


@pytest.mark.parametrize("length", [0.02, 20.0, 33.333, 4095.0, 1e6])
def test_the_resolution_that_would_fit_does(length: float):
    square = f"type: flat, x: [0, {length}], y: [0, {length}]"
    (says,) = told(f"{{{square}, resolution: {length / 5000}}}")
    fits = says.rpartition("; ")[2].removesuffix(" m would fit")
    assert told(f"{{{square}, resolution: {fits}}}") == []


def test_whole_cells_fill_the_extent():
    spec = TERRAIN.validate_python({"type": "flat", "x": [0, 1], "y": [-1, 1], "resolution": 0.3})
    assert isinstance(spec, GridTerrain)
    assert spec.shape == (4, 8)


def test_the_densities_of_the_classes():
    """ISO 8608: geometric means of G_d(n0) in 1e-6 m³."""
    means = [16, 64, 256, 1024, 4096, 16384, 65536, 262144]
    found = [TypeAdapter(Roughness).validate_python({"iso_class": name}).density for name in "ABCDEFGH"]
    assert found == pytest.approx([mean * 1e-6 for mean in means], rel=1e-12)
    assert Roughness(phi=3e-4).density == 3e-4


def test_a_ramp_is_given_by_angle_or_height():
    by_angle = TERRAIN.validate_python({"type": "ramp", "angle": "45 deg", "length": 3})
    by_height = TERRAIN.validate_python({"type": "ramp", "height": 1.5, "length": 3})
    assert by_angle.steepness == pytest.approx(1.0, rel=1e-15)
    assert by_height.steepness == 0.5
    assert math.degrees(by_angle.angle) == pytest.approx(45)
