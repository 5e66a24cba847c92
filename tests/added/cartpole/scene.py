"""How it looks: carts on a rail, side by side, each with its rod and bob."""

from __future__ import annotations

from collections.abc import Sequence

from botz.scene.ground import ground_plate
from botz.scene.parts import ROBOT_PAINTS, palette, placed
from botz.scene.world_scene import Actor, Node, Scene, Shape, Slides, Turns
from cartpole.schema import CartPoleScenario


def build(spec: CartPoleScenario, seen: Sequence[tuple[float, float]] = ()) -> Scene:
    del seen  # no terrain to thin
    scene = Scene(materials=palette(), radius=2.0)
    scene.nodes.append(Node("ground", shapes=(ground_plate(scene.materials, (20.0, 20.0)),)))
    for number, (name, robot) in enumerate(spec.robots.items()):
        length = robot.length
        deck = Shape("box", (0.3, 0.2, 0.1), material=ROBOT_PAINTS[number % len(ROBOT_PAINTS)])
        rod = Shape("cylinder", (0.01, length), placed(0.0, 0.0, -0.5 * length), "steel")
        bob = Shape("sphere", (0.05,), placed(0.0, 0.0, -length), "mark")
        sliding = Slides(f"{name}/cart/position", (1.0, 0.0, 0.0))
        scene.nodes.append(Node(name, place=placed(0.0, float(number), length + 0.3), shapes=(deck,), motion=sliding))
        turning = Turns(f"{name}/pole/angle", (0.0, -1.0, 0.0))
        scene.nodes.append(Node(f"{name}/pole", name, shapes=(rod, bob), motion=turning))
        scene.actors.append(Actor(name, name, length + 0.3))
    return scene
