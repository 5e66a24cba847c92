"""Layers of the lab: what can be switched on over a scene, one record each.

The page makes its list, texts and legend of these records. Another installed package adds a layer by an entry point of
the group `botz.layers` that names a `Layer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from botz.registry import discovered
from botz.scene.marks import Arrow, Frame, Line, Mark, PageDrawn, Point, Ring, Spot, Text, channels_of
from botz.scene.world_scene import (
    Actor,
    ArmPosture,
    Node,
    PointForce,
    RotationCentre,
    Scene,
    Turns,
    Velocity,
    WheelContact,
    node_poses,
)

ENTRY_POINTS = "botz.layers"
MOST_FRAMES = 160
"""More only hide each other."""
MOST_SPOKES = 12
Marks = Callable[[Scene], Sequence[Mark]]


@dataclass(frozen=True, kw_only=True)
class Layer:
    """What can be switched on over a scene."""

    name: str
    texts: Mapping[str, tuple[str, str]]
    """Title, and what it shows, by language: `en`, `pt-BR`; the page falls back to English."""
    marks: Marks
    """What it draws of a scene; the layer is not offered where that is nothing."""
    on: bool = False
    """Whether it is shown until the user switches it off."""
    colour: str = "#ffd166"
    unit: str = ""
    """Of its arrows; layers of one unit share a scale."""
    longest: float = 1.2
    """How long the longest arrows are, in sizes of a robot."""
    least: float = 0.01
    """Arrows for less than this are short."""

    def described(self, scene: Scene) -> dict[str, Any]:
        marks = [mark.described() for mark in self.marks(scene)]
        channels = dict.fromkeys(channel for mark in marks for channel in channels_of(mark))
        return {**vars(self), "texts": dict(self.texts), "marks": marks, "channels": list(channels)}


def described_layers(scene: Scene) -> list[dict[str, Any]]:
    """The layers that have something to show of a scene, as plain data."""
    return [shown for layer in all_layers() if (shown := layer.described(scene))["marks"]]


def all_layers() -> list[Layer]:
    others: list[Layer] = list(discovered(ENTRY_POINTS).values())
    own = {layer.name for layer in LAYERS}
    return [*LAYERS, *(layer for layer in others if layer.name not in own)]  # a name of Botz is not taken over


# --- forces and velocities ------------------------------------------------------------------------------------


def contact_spot(wheel: WheelContact) -> Spot:
    return Spot(node=wheel.node, point=wheel.contact)


def wheel_arrows(force: Callable[[WheelContact], str], components: tuple[int, int, int]) -> Marks:
    """A force on each wheel that touches the ground, in the axes of the contact."""

    def marks(scene: Scene) -> list[Arrow]:
        return [
            Arrow(at=contact_spot(one), channel=force(one), components=components, axes="ground", normal=one.normal,
                  beside=one.load, shown_by=one.load)
            for one in scene.indicators if isinstance(one, WheelContact)
        ]  # fmt: skip

    return marks


def force_arrows(scene: Scene, kind: str) -> list[Mark]:
    forces = [one for one in scene.indicators if isinstance(one, PointForce) and one.kind == kind]
    return [Arrow(at=Spot(node=one.node), channel=one.force) for one in forces]


def contacts(scene: Scene) -> list[Mark]:
    wheels = [one for one in scene.indicators if isinstance(one, WheelContact)]
    return [*(Point(at=contact_spot(one), shown_by=one.load) for one in wheels), *force_arrows(scene, "contact-force")]


def velocities(scene: Scene) -> list[Mark]:
    """Of each robot, and of its wheels' places where they touch the ground."""
    moving = {one.robot: one for one in reversed(scene.indicators) if isinstance(one, Velocity)}
    marks: list[Mark] = []
    for one in scene.indicators:
        if isinstance(one, Velocity):
            marks.append(Arrow(at=Spot(node=one.node, on_top=True), channel=one.twist, axes="twist"))
        elif isinstance(one, WheelContact) and one.robot in moving:
            twist = moving[one.robot].twist
            marks.append(Arrow(at=contact_spot(one), channel=twist, axes="twist", shown_by=one.load))
    return marks


def rotation_centres(scene: Scene) -> list[Mark]:
    """With lines from it to the wheels."""
    marks: list[Mark] = []
    for one in scene.indicators:
        if isinstance(one, RotationCentre):
            centre = Spot(node=one.node, rest_of=one.twist)
            marks += [Point(at=centre, size=4.0), Ring(at=centre, radius=0.2 * actor_of(scene, one.node).size)]
            marks += [Line(at=Spot(node=wheel), to=centre) for wheel in wheels_of(scene, one.node)]
    return marks


def wheels_of(scene: Scene, body: str) -> list[str]:
    """What turns below a body, one node for each place."""
    poses = node_poses(scene, {})
    near = 0.25 * actor_of(scene, body).size
    below, wheels = {body}, list[str]()
    for node in scene.nodes:
        if node.parent not in below:
            continue
        below.add(node.name)
        place = poses[node.name][:3]
        if isinstance(node.motion, Turns) and all(np.linalg.norm(place - poses[one][:3]) >= near for one in wheels):
            wheels.append(node.name)
    return wheels[:MOST_SPOKES]


# --- frames, names, and what the page draws itself --------------------------------------------------------------


def actor_of(scene: Scene, node: str) -> Actor:
    """The robot that a node belongs to; for other nodes one of middle size."""
    actors = sorted(scene.actors, key=lambda actor: actor.size) or [Actor("", "", 0.15 * scene.radius)]
    own = (one for one in scene.actors if one.node == node or node.startswith(f"{one.name}/"))
    return next(own, actors[len(actors) // 2])


def frames(scene: Scene) -> list[Mark]:
    """Robots first."""
    bodies = [actor.node for actor in scene.actors]
    parts = [node.name for node in scene.nodes if moves(node) and node.name not in bodies]
    return [Frame(at=Spot(node=node), length=frame_length(scene, node)) for node in [*bodies, *parts][:MOST_FRAMES]]


def moves(node: Node) -> bool:
    return node.motion is not None or node.shown_by is not None


def frame_length(scene: Scene, node: str) -> float:
    """A body's axes stand out of it, its parts' are shorter. An arm's size is its reach, many times as long as its
    links are thick, and its frames stand close together."""
    actor = actor_of(scene, node)
    whole, part = (0.16, 0.11) if actor.hands == "arm" else (0.9, 0.35)
    return (whole if node == actor.node else part) * actor.size


def names(scene: Scene) -> list[Mark]:
    return [Text(at=Spot(node=one.node), text=one.name, above=1.15 * one.size) for one in scene.actors]


def arms(scene: Scene) -> list[Mark]:
    return [PageDrawn(channel=one.joints) for one in scene.indicators if isinstance(one, ArmPosture)]


def for_robots(scene: Scene) -> list[Mark]:
    return [PageDrawn() for _ in scene.actors[:1]]


def always(scene: Scene) -> list[Mark]:
    return [PageDrawn()]


LAYERS = (
    Layer(
        name="normal", marks=wheel_arrows(lambda one: one.load, (-1, -1, 0)), colour="#4cc38a", unit="N",
        texts={"en": ("Normal forces", "of the ground on each wheel"),
               "pt-BR": ("Forças normais", "do solo em cada roda")},
    ),
    Layer(
        name="traction", marks=wheel_arrows(lambda one: one.force, (0, -1, -1)), colour="#f5a524", unit="N",
        texts={"en": ("Traction", "force along each wheel"),
               "pt-BR": ("Tração", "força ao longo de cada roda")},
    ),
    Layer(
        name="lateral", marks=wheel_arrows(lambda one: one.force, (-1, 1, -1)), colour="#b07cf7", unit="N",
        texts={"en": ("Lateral forces", "force across each wheel"),
               "pt-BR": ("Forças laterais", "força transversal em cada roda")},
    ),
    Layer(
        name="velocity", marks=velocities, colour="#3da9fc", unit="m/s", longest=1.8, least=0.05,
        texts={"en": ("Velocity", "of each robot, and of its wheels where they touch the ground"),
               "pt-BR": ("Velocidade", "de cada robô, e das rodas onde tocam o solo")},
    ),
    Layer(
        name="thrust", marks=lambda scene: force_arrows(scene, "thrust"), colour="#ff6b6b", unit="N",
        texts={"en": ("Thrust", "of propellers and forces on bodies"),
               "pt-BR": ("Empuxo", "das hélices e forças nos corpos")},
    ),
    Layer(
        name="contacts", marks=contacts, unit="N",
        texts={"en": ("Contacts", "points where bodies touch, and the force on an arm's tool"),
               "pt-BR": ("Contatos", "pontos onde os corpos se tocam, e a força na ferramenta do braço")},
    ),
    Layer(
        name="frames", marks=frames,
        texts={"en": ("Frames", "axes of the parts: x red, y green, z blue"),
               "pt-BR": ("Referenciais", "eixos das partes: x vermelho, y verde, z azul")},
    ),
    Layer(
        name="icr", marks=rotation_centres, colour="#ff4f9a",
        texts={"en": ("Centre of rotation", "the point that a wheeled robot turns about"),
               "pt-BR": ("Centro de rotação", "o ponto em torno do qual o robô com rodas gira")},
    ),
    Layer(
        name="workspace", marks=arms,
        texts={"en": ("Workspace", "6000 points that the arm's tool can reach"),
               "pt-BR": ("Espaço de trabalho", "6000 pontos que a ferramenta do braço alcança")},
    ),
    Layer(
        name="solutions", marks=arms,
        texts={"en": ("Other postures", "ghosts of the arm that bring the tool to the same pose"),
               "pt-BR": ("Outras posturas", "fantasmas do braço que levam a ferramenta à mesma pose")},
    ),
    Layer(
        name="trail", marks=for_robots, on=True,
        texts={"en": ("Path", "so far, as a line"),
               "pt-BR": ("Trajetória", "o caminho até agora, como linha")},
    ),
    Layer(
        name="trail-arrows", marks=for_robots,
        texts={"en": ("Path as arrows", "with its direction"),
               "pt-BR": ("Trajetória em setas", "com o seu sentido")},
    ),
    Layer(
        name="shadows", marks=always, on=True,
        texts={"en": ("Shadows", "switch off for more speed"),
               "pt-BR": ("Sombras", "desligue para ganhar velocidade")},
    ),
    Layer(
        name="grid", marks=always,
        texts={"en": ("Grid", "squares of one metre"),
               "pt-BR": ("Grade", "quadrados de um metro")},
    ),
    Layer(
        name="names", marks=names,
        texts={"en": ("Names", "above the robots"),
               "pt-BR": ("Nomes", "acima dos robôs")},
    ),
)  # fmt: skip
"""In the order of the page's list."""
