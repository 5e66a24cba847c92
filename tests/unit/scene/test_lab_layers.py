"""Layers of the lab: their texts, what they draw of small scenes, and that another package cannot replace one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from botz.scene import lab_layers
from botz.scene.lab_layers import LAYERS, Layer, all_layers, described_layers, frame_length, wheels_of
from botz.scene.marks import Arrow, Frame, Line, Point, Ring
from botz.scene.world_scene import (
    Actor,
    ArmPosture,
    Follows,
    Node,
    RotationCentre,
    Scene,
    Turns,
    Velocity,
    WheelContact,
)

BY_NAME: dict[str, Layer] = {layer.name: layer for layer in LAYERS}
UP = (0.0, 0.0, 1.0)


def cart() -> Scene:
    """A body with a front wheel that is steered, and a rear wheel with a disc in it."""
    scene = Scene(actors=[Actor("cart", "cart", 0.5)])
    scene.nodes += [
        Node("cart", motion=Follows("cart/pose")),
        Node("cart/fork", "cart", (0.4, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0), motion=Turns("cart/steering", UP)),
        Node("cart/front", "cart/fork", motion=Turns("cart/front/angle", UP)),
        Node("cart/rear", "cart", (-0.4, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0), motion=Turns("cart/rear/angle", UP)),
        Node("cart/flag", "cart"),
        Node("ground"),
    ]
    contact = WheelContact("cart", "cart", "c", "n", "l", "f")
    scene.indicators += [contact, Velocity("cart", "cart", "cart/twist"), RotationCentre("cart", "cart", "cart/twist")]
    return scene


def test_each_has_a_name_and_texts_of_its_own_in_both_languages():
    for language in ("en", "pt-BR"):
        texts = [layer.texts[language] for layer in LAYERS]
        assert all(title and about for title, about in texts) and len(dict(texts)) == len(LAYERS)
    assert len(BY_NAME) == len(LAYERS)
    assert all(layer.texts["en"] != layer.texts["pt-BR"] for layer in LAYERS)


def test_a_name_of_botz_is_not_taken_over(monkeypatch: pytest.MonkeyPatch):
    others = {"one": replace(LAYERS[0], colour="#000000"), "two": replace(LAYERS[0], name="two")}
    monkeypatch.setattr(lab_layers, "discovered", lambda group: others)
    assert all_layers() == [*LAYERS, others["two"]]


def test_only_those_are_offered_that_have_something_to_show():
    offered = [layer["name"] for layer in described_layers(cart())]
    assert set(BY_NAME) - set(offered) == {"thrust", "workspace", "solutions"}
    assert [layer["name"] for layer in described_layers(Scene())] == ["shadows", "grid"]
    arm = Scene(actors=[Actor("arm", "arm", 1.0)], nodes=[Node("arm")])
    arm.indicators.append(ArmPosture("arm", "arm/position", ("arm",), "arm"))
    channels = {layer["name"]: layer["channels"] for layer in described_layers(arm)}
    assert channels["solutions"] == ["arm/position"] and "velocity" not in channels


def test_channels_are_those_of_marks_and_their_spots():
    channels = {layer["name"]: layer["channels"] for layer in described_layers(cart())}
    assert set(channels["traction"]) == {"c", "n", "l", "f"}
    assert set(channels["velocity"]) == {"c", "l", "cart/twist"}
    assert channels["contacts"] == ["l", "c"]
    assert channels["frames"] == channels["names"] == []


def test_velocity_is_shown_of_bodies_and_where_wheels_touch_the_ground():
    wheel, body = BY_NAME["velocity"].marks(cart())
    assert isinstance(wheel, Arrow) and wheel.at.point == "c" and wheel.shown_by == "l"
    assert isinstance(body, Arrow) and body.at.on_top and body.shown_by is None
    assert {wheel.axes, body.axes} == {"twist"} and {wheel.channel, body.channel} == {"cart/twist"}


def test_the_centre_of_rotation_has_a_line_to_each_wheel():
    point, ring, *lines = BY_NAME["icr"].marks(cart())
    assert isinstance(point, Point) and isinstance(ring, Ring) and point.at == ring.at
    assert point.at.rest_of == "cart/twist"
    wheels = [line.at.node for line in lines if isinstance(line, Line) and line.to == point.at]
    # What turns at the same place is one wheel.
    assert wheels == wheels_of(cart(), "cart") == ["cart/fork", "cart/rear"]


def test_frames_of_an_arm_are_short_beside_its_reach_and_those_of_a_body_stand_out_of_it():
    scene = Scene(actors=[Actor("arm", "arm", 2.0, "arm"), Actor("cart", "cart", 2.0, "planar")])
    assert frame_length(scene, "arm/link") < frame_length(scene, "arm") < 0.4
    assert frame_length(scene, "cart") > 1.0
    small = Scene(actors=[Actor("cart", "cart", 0.2, "planar")])
    assert frame_length(small, "cart") == pytest.approx(0.1 * frame_length(scene, "cart"))
    framed = [mark.at.node for mark in BY_NAME["frames"].marks(cart()) if isinstance(mark, Frame)]
    assert framed == ["cart", "cart/fork", "cart/front", "cart/rear"]
