"""Robots from above: the outlines of what a scene shows of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from botz.scenario.load import load
from botz.scene.build import descriptions_of
from botz.scene.shapes import prism
from botz.scene.tessellation import tessellated
from botz.scene.world_scene import Shape
from botz.view.silhouettes import _area, convex_hull, outline_of, recorded_silhouettes, silhouettes_of


def border(shape: Shape) -> np.ndarray:
    surface = tessellated(shape)
    return outline_of(surface.positions[:, :2], surface.faces)


@pytest.mark.parametrize("chamfer", [0.0, 0.02])
def test_a_polygon_keeps_its_corners(chamfer: float):
    bent = np.array([[1.0, 0.5], [-1.0, 0.5], [-1.0, -0.5], [0.2, -0.5], [0.0, 0.1]])
    found = border(Shape("mesh", mesh=prism(bent, 0.0, 0.3, chamfer=chamfer)))
    assert _area(found) == pytest.approx(_area(bent), rel=1e-6) and len(found) == 5
    assert _area(convex_hull(bent)) > 1.1 * _area(bent), "its hull would not show the notch"


@pytest.mark.parametrize(
    ("kind", "size", "area"),
    [("box", (2.0, 1.0, 0.3), 2.0), ("cylinder", (0.5, 2.0), 0.25 * np.pi), ("sphere", (0.5,), 0.25 * np.pi)],
)
def test_solids(kind: Any, size: tuple[float, ...], area: float):
    assert _area(border(Shape(kind, size))) == pytest.approx(area, rel=0.02)


def test_a_vehicle_shows_its_wheels_beside_its_body():
    spec: Any = load("vivi-rough").spec
    seen = silhouettes_of(spec)["vivi"]
    chassis = spec.robots["vivi"].chassis
    assert np.ptp(seen.body, axis=0) == pytest.approx(
        [chassis.front + chassis.rear, chassis.left + chassis.right], rel=0.1
    )
    middles = np.array([0.5 * (part.min(axis=0) + part.max(axis=0)) for part in seen.parts])
    for wheel in spec.robots["vivi"].wheels.values():
        assert np.hypot(*(middles - wheel.position[:2]).T).min() < wheel.width


def test_a_soccer_robot_is_a_square():
    spec: Any = load("soccer-five").spec
    name, robot = next(iter(spec.robots.items()))
    assert _area(silhouettes_of(spec)[name].body) == pytest.approx(robot.side**2, rel=0.1)


def test_every_robot_of_the_parade_has_one():
    spec: Any = load("wheeled-parade").spec
    assert silhouettes_of(spec).keys() == spec.robots.keys()
    assert all(_area(one.body) > 0.0 for one in silhouettes_of(spec).values())


def test_what_is_known_by_links_alone_has_none(monkeypatch: pytest.MonkeyPatch):
    spec = load("differential-circle").spec
    bare = [replace(one, nodes=()) for one in descriptions_of(spec)]
    monkeypatch.setattr("botz.view.silhouettes.descriptions_of", lambda _: bare)
    assert silhouettes_of(spec) == {}


def test_a_scenario_that_cannot_be_read_has_none():
    assert recorded_silhouettes({"engine": "vehicle", "robots": {"r": 3}}) == {}
