"""How multibody robots start: not inside of things, in the units of their joints, and with what is beyond them told."""

from __future__ import annotations

import re
from typing import Any

import pytest
from multibody_rig import BALL, FREE, Rig, body, box, limb

from botz.engines.multibody.start import DEEPEST
from botz.errors import InputError


def problems(robots: dict[str, Any], world: dict[str, Any] | None = None) -> dict[str, str]:
    with pytest.raises(InputError) as caught:
        Rig(robots, world)
    return {problem.key or "": problem.message for problem in caught.value.problems}


def at(z: float, x: float = 0.0, **changes: Any) -> dict[str, Any]:
    """A cube of 20 cm somewhere."""
    return box(pose={"x": x, "z": z}, **changes)


# --- inside of things ------------------------------------------------------------------------------------------------


def test_a_robot_inside_the_ground_is_refused_with_the_height_that_it_needs():
    message = problems({"a": at(-0.02)})["robots.a.pose"]
    assert message == "'a/box' starts 0.12 m inside the ground; raise its z to 0.1 or more"
    Rig({"a": at(0.1)})


def test_the_height_that_is_told_is_enough_and_little_less_is_not():
    """A cube on its corner: half its diagonal, √3/10 m."""
    turned = {"roll": 0.785398163, "pitch": 0.615479709}
    found = problems({"a": box(pose={"z": 0.05, **turned})})["robots.a.pose"]
    z = float(re.findall(r"z to ([\d.]+) or more", found)[0])
    assert z == pytest.approx(0.1 * 3**0.5, abs=1e-3)
    Rig({"a": box(pose={"z": z, **turned})})
    problems({"a": box(pose={"z": z - DEEPEST - 2e-3, **turned})})


@pytest.mark.parametrize("depth", [-0.5, 0.0, 0.9 * DEEPEST])
def test_what_stands_or_has_sunk_in_a_little_is_not_refused(depth: float):
    Rig({"a": at(0.1 - depth)})


def test_a_slope_is_a_ground_too():
    slope = {"terrain": {"type": "plane", "x": [-5, 5], "y": [-5, 5], "slope": 0.3}}
    message = problems({"a": BALL | {"pose": {"z": -0.5}}}, slope)["robots.a.pose"]
    z = float(re.findall(r"m inside the ground; raise its z to (-?[\d.]+) or more", message)[0])
    Rig({"a": BALL | {"pose": {"z": z}}}, slope)


def test_obstacles_and_other_robots_are_named():
    wall = {"obstacles": {"wall": {"type": "box", "size": [1, 1, 1], "pose": {"z": 0.5}}}}
    found = problems({"a": at(1.0)}, wall)
    assert found == {"robots.a.pose": "'a/box' starts 0.1 m inside the obstacle 'wall'; move it away"}
    found = problems({"a": at(1.0), "b": at(1.0, x=0.15), "c": at(1.0, x=2.0)})
    assert found == {"robots.b.pose": "'b/box' starts 0.05 m inside 'a/box'; move it away"}


def test_each_robot_is_told_once_of_a_thing_and_of_its_deepest_part():
    feet = {
        "links": {name: body(shapes=[{"type": "sphere", "radius": 0.1}]) for name in ("trunk", "left", "right")},
        "joints": {
            side: {"type": "fixed", "parent": "trunk", "child": side, "pose": [0, y, low, 0, 0, 0]}
            for side, y, low in (("left", 0.3, -0.2), ("right", -0.3, -0.25))
        },
    }
    found = problems({"a": feet, "b": {**feet, "pose": {"x": 2.0}}})
    assert list(found) == ["robots.a.pose", "robots.b.pose"]
    assert found["robots.a.pose"] == "'a/right' starts 0.35 m inside the ground; raise its z to 0.35 or more"


def test_links_of_one_robot_may_overlap():
    shapes = [{"type": "sphere", "radius": 0.1}]
    links = {name: body(shapes=shapes) for name in ("one", "two", "three")}
    joints = {
        "first": {"type": "continuous", "parent": "one", "child": "two", "pose": [0.05, 0, 0, 0, 0, 0]},
        "second": {"type": "continuous", "parent": "two", "child": "three", "pose": [0.05, 0, 0, 0, 0, 0]},
    }
    rig = Rig({"a": {"links": links, "joints": joints, "pose": {"z": 1.0}}})
    assert rig.engine.data.ncon, "the first and the last touch"


# --- units -----------------------------------------------------------------------------------------------------------


def test_starts_are_given_in_units_of_their_joints():
    wrong = limb(
        start={"tilt": "5 cm", "slide": "10 deg", "spin": "1 rad"}, start_speed={"slide": "3 rpm", "spin": "2 Hz"}
    )
    found = problems({"a": wrong}, FREE)
    assert found["robots.a.start.tilt"] == '"5 cm" is a length, needs an angle such as "45 deg"'
    assert "is an angle, needs a length" in found["robots.a.start.slide"]
    assert "is an angular speed, needs a speed" in found["robots.a.start_speed.slide"]
    assert "write rpm or rad/s" in found["robots.a.start_speed.spin"] and len(found) == 4


def test_starts_with_their_units_and_plain_numbers_are_taken():
    rig = Rig(
        {"a": limb(start={"tilt": "30 deg", "slide": "10 cm", "spin": 1.0}, start_speed={"spin": "60 rpm"})}, FREE
    )
    assert rig["a/tilt/position"] == pytest.approx(0.5235987756)
    assert rig["a/slide/position"] == pytest.approx(0.1) and rig["a/spin/position"] == 1.0
    assert rig["a/spin/speed"] == pytest.approx(6.283185307)


# --- what is beyond --------------------------------------------------------------------------------------------------


def test_written_commands_beyond_an_actuator_are_noted_once():
    engine = Rig({"a": limb()}, FREE).engine
    engine.note_commands("a", "in x.csv", {"tilt/position": [-1.0, 0.5], "slide/effort": [5.0], "spin/speed": [1e6]})
    assert engine.notes == ("a/tilt/position: -1 rad, in x.csv, is beyond its least, -0.8 rad; it is held there",)
    engine.note_commands("a", "in x.csv", {"tilt/position": [-1.0, 0.5]})
    assert len(engine.notes) == 1
    engine.note_commands("a", "in y.csv", {"slide/effort": [-6.0, 7.0], "nothing/else": [1.0]})
    assert [note.split(", in")[0] for note in engine.notes[1:]] == ["a/slide/effort: -6 N", "a/slide/effort: 7 N"]
