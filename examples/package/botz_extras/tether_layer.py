"""A layer of another package: how far each robot is from where the world has its origin, and how fast it goes ahead."""

from __future__ import annotations

from botz.scene.lab_layers import Layer
from botz.scene.marks import Arrow, Line, Mark, Ring, Spot, Text
from botz.scene.world_scene import Follows, Scene


def tethers(scene: Scene) -> list[Mark]:
    motions = {node.name: node.motion for node in scene.nodes}
    marks: list[Mark] = []
    for actor in scene.actors:
        motion, here = motions[actor.node], Spot(node=actor.node)
        if isinstance(motion, Follows):
            marks += [
                Line(at=Spot(), to=here, size=1.0),
                Ring(at=here, radius=1.5 * actor.size),
                Text(at=here, text="x", above=2.0 * actor.size, channel=motion.channel, unit="m"),
                Arrow(at=here, channel=f"{actor.name}/twist", components=(0, -1, -1), axes="node"),
            ]
    return marks


TETHER = Layer(
    name="tether",
    texts={"en": ("Tether", "a line to each robot"), "pt-BR": ("Corda", "uma linha até cada robô")},
    marks=tethers,
    colour="#7fffd4",
    unit="m/s",
)
