"""The neutral scene: what a world looks like, and how each part of it follows from the numbers of a run.

One scene serves every viewer: `scene/glb.py` writes it for the lab, `scene/scene_spec.py` for offscreen images, and
`node_poses` below says where everything is, given the channels of a state. Right-handed, z up, metres.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import cos, sin
from typing import Any, Literal

import numpy as np

Place = tuple[float, float, float, float, float, float, float]
"""Position and quat_wxyz of a node or shape in the node above it."""
HERE: Place = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
Axis = tuple[float, float, float]
Vector = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Material:
    """How a surface looks."""

    colour: tuple[float, float, float, float] = (0.8, 0.8, 0.8, 1.0)
    """Red, green, blue and opacity, 0 to 1, as on a screen (sRGB)."""
    roughness: float = 0.7
    metallic: float = 0.0
    texture: np.ndarray | None = None
    """An image (rows, columns, 3) of bytes, repeated over the surface by its mesh's `uv`; multiplied with `colour`."""
    two_sided: bool = False


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """Triangles, counter-clockwise seen from outside."""

    vertices: np.ndarray
    """(n, 3) [m]."""
    faces: np.ndarray
    """(m, 3) indices."""
    uv: np.ndarray | None = None
    """(n, 2) places in the material's texture, (0, 0) at its lower left."""
    smooth: bool = False
    """Whether edges are to be rounded by the light: terrain and balls, not boxes."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A part of a node."""

    kind: Literal["box", "cylinder", "sphere", "capsule", "mesh"]
    size: tuple[float, ...] = ()
    """Full lengths of a box (3); radius and length of a cylinder or capsule along z (2; a capsule's without its caps);
    radius of a sphere (1)."""
    place: Place = HERE
    material: str = ""
    """Name in the scene's materials."""
    mesh: TriangleMesh | None = None
    casts_shadow: bool = True


@dataclass(frozen=True)
class Follows:
    """The node stands where a pose channel says: 3 components (x, y, heading) or 7 (x, y, z, quat_wxyz)."""

    channel: str


@dataclass(frozen=True)
class Turns:
    """The node turns about an axis through its place by `scale` times a number of a channel, plus `offset` [rad]."""

    channel: str
    axis: Axis
    component: int = 0
    scale: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Slides:
    """The node moves along an axis from its place by `scale` times a number of a channel, plus `offset` [m]."""

    channel: str
    axis: Axis
    component: int = 0
    scale: float = 1.0
    offset: float = 0.0


Motion = Follows | Turns | Slides


@dataclass(frozen=True, eq=False)
class Node:
    """One rigid part. Its pose in its parent is `place`; with `Follows` the channel's pose times `place`, with `Turns`
    and `Slides` `place` times the turn or shift."""

    name: str
    """`<robot>` for the robot's body, `<robot>/<part>` below; unique."""
    parent: str | None = None
    place: Place = HERE
    shapes: tuple[Shape, ...] = ()
    motion: Motion | None = None
    shown_by: str | None = None
    """Channel that hides the node, and what hangs on it, while it is below 0.5."""


# --- what can be shown of robots by channels: layers make marks of it (lab_layers.py) ----------------------------


@dataclass(frozen=True)
class WheelContact:
    """Force of the ground on a wheel: normal, traction (along), lateral (across); the arrows start at `contact`."""

    robot: str
    node: str
    """Body whose x axis is ahead, for the direction of `along`."""
    contact: str
    """Channel of the point [m], in the world."""
    normal: str
    """Channel of the ground's normal, in the world."""
    load: str
    force: str
    """Channel with the components along and across [N]."""
    kind: Literal["wheel-contact"] = "wheel-contact"


@dataclass(frozen=True)
class PointForce:
    """A force in the world's axes that acts at a node's origin, as a propeller's thrust."""

    robot: str
    node: str
    force: str
    kind: Literal["thrust", "contact-force"] = "thrust"


@dataclass(frozen=True)
class Velocity:
    """Velocity of a node: the channel is its twist in its own axes, (vx, vy, yaw rate) or six numbers."""

    robot: str
    node: str
    twist: str
    kind: Literal["velocity"] = "velocity"


@dataclass(frozen=True)
class RotationCentre:
    """Instantaneous centre of rotation of a robot on the plane, from its twist (vx, vy, yaw rate) in its own axes."""

    robot: str
    node: str
    twist: str
    kind: Literal["icr"] = "icr"


@dataclass(frozen=True)
class ArmPosture:
    """An arm: `joints` names the channel of its joint positions, `nodes` what these turn or slide, base first, so that
    a viewer can draw it in other postures."""

    robot: str
    joints: str
    nodes: tuple[str, ...]
    tool: str
    """Node of the tool."""
    kind: Literal["arm"] = "arm"


@dataclass(frozen=True)
class Score:
    """Goals of two sides."""

    channel: str
    robot: str = ""
    kind: Literal["score"] = "score"


Indicator = WheelContact | PointForce | Velocity | RotationCentre | ArmPosture | Score


@dataclass(frozen=True)
class Camera:
    """A camera of the world's own: at a place, or carried by a node. It looks along its −z, with y up (as in GLB)."""

    name: str
    place: Place
    node: str | None = None
    vertical_view: float = 0.8
    """Angle of view from bottom to top [rad]."""


Hands = Literal["planar", "omni", "tank", "flight", "plane", "arm", "soccer", "none"]


@dataclass(frozen=True)
class Actor:
    """A robot as viewers know it."""

    name: str
    node: str
    size: float
    """Radius of a ball round it [m], for cameras."""
    hands: Hands = "none"
    """How it is driven by hand; the lab knows what each does."""


@dataclass(frozen=True)
class Repeats:
    """Ground whose mirror images follow one another without end: the first mesh of `node`, a grid of lines along x and
    y. What else hangs on the node is around the first one, for viewers that draw no more."""

    node: str
    x: tuple[float, float]
    y: tuple[float, float]
    lines: tuple[int, int]


@dataclass(eq=False)
class Scene:
    """Everything that can be seen of a world."""

    nodes: list[Node] = field(default_factory=list)
    """Parents before children."""
    materials: dict[str, Material] = field(default_factory=dict)
    actors: list[Actor] = field(default_factory=list)
    cameras: list[Camera] = field(default_factory=list)
    indicators: list[Indicator] = field(default_factory=list)
    centre: Vector = (0.0, 0.0, 0.0)
    radius: float = 3.0
    """What is worth seeing at the start: a ball [m]."""
    indoors: bool = False
    """A field in a hall or a tool on a bench: a viewer leaves out the sky."""

    repeats: Repeats | None = None
    """Ground that goes on without end."""

    def channels(self) -> list[str]:
        """Channels that poses and visibility need, in a fixed order."""
        found = [node.motion.channel for node in self.nodes if node.motion is not None]
        found += [node.shown_by for node in self.nodes if node.shown_by is not None]
        return list(dict.fromkeys(found))

    def description(self) -> dict[str, Any]:
        """What a remote viewer needs beside the shapes: plain data, sent once."""
        return {
            "nodes": [described_node(node) for node in self.nodes if node.motion is not None or node.shown_by],
            "channels": self.channels(),
            "actors": [vars(actor) for actor in self.actors],
            "cameras": [{**vars(camera), "place": list(camera.place)} for camera in self.cameras],
            "indicators": [
                {name: list(value) if isinstance(value, tuple) else value for name, value in vars(one).items()}
                for one in self.indicators
            ],
            "centre": list(self.centre),
            "radius": self.radius,
            "indoors": self.indoors,
            "repeats": None if self.repeats is None else vars(self.repeats),
        }


def described_node(node: Node) -> dict[str, Any]:
    found: dict[str, Any] = {"name": node.name, "parent": node.parent, "place": list(node.place)}
    if node.shown_by is not None:
        found["shown_by"] = node.shown_by
    match node.motion:
        case Follows(channel):
            found["motion"] = {"kind": "follows", "channel": channel}
        case Turns() | Slides() as motion:
            kind = "turns" if isinstance(motion, Turns) else "slides"
            found["motion"] = {
                "kind": kind,
                "channel": motion.channel,
                "component": motion.component,
                "axis": list(motion.axis),
                "scale": motion.scale,
                "offset": motion.offset,
            }
    return found


# --- where everything is --------------------------------------------------------------------------------------


def node_poses(
    scene: Scene, values: Mapping[str, np.ndarray] | Callable[[str], np.ndarray | None]
) -> dict[str, np.ndarray]:
    """World pose (7: position, quat_wxyz) of every node, from the values of channels; a channel that is missing (a
    recording need not hold all) leaves its nodes at rest. A hidden node is left out, and what hangs on it."""
    look = values if callable(values) else values.get
    poses: dict[str, np.ndarray] = {}
    for node in scene.nodes:
        above = IDENTITY if node.parent is None else poses.get(node.parent)
        shown = look(node.shown_by) if node.shown_by is not None else None
        if above is None or (shown is not None and float(np.ravel(shown)[0]) < 0.5):
            continue
        value = look(node.motion.channel) if node.motion is not None else None
        poses[node.name] = compose(above, local_pose(node, None if value is None else np.ravel(value)))
    return poses


def local_pose(node: Node, value: np.ndarray | None) -> np.ndarray:
    place = np.asarray(node.place, dtype=float)
    if node.motion is None or value is None:
        return place
    match node.motion:
        case Follows():
            return compose(pose_of(value), place)
        case Turns(_, axis, component, scale, offset):
            half = 0.5 * (scale * float(value[component]) + offset)
            s = sin(half)
            return compose(place, np.array([0.0, 0.0, 0.0, cos(half), s * axis[0], s * axis[1], s * axis[2]]))
        case Slides(_, axis, component, scale, offset):
            by = scale * float(value[component]) + offset
            return compose(place, np.array([by * axis[0], by * axis[1], by * axis[2], 1.0, 0.0, 0.0, 0.0]))


def pose_of(value: Sequence[float] | np.ndarray) -> np.ndarray:
    """Seven numbers of a pose channel; a pose on the plane is lifted to z = 0."""
    if len(value) == 3:
        half = 0.5 * float(value[2])
        return np.array([value[0], value[1], 0.0, cos(half), 0.0, 0.0, sin(half)], dtype=float)
    return np.asarray(value, dtype=float)


IDENTITY = np.array(HERE)


def compose(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The pose b in the frame a."""
    x, y, z = rotated(a, b[0], b[1], b[2])
    w1, x1, y1, z1 = (float(c) for c in a[3:7])
    w2, x2, y2, z2 = (float(c) for c in b[3:7])
    return np.array(
        [
            a[0] + x,
            a[1] + y,
            a[2] + z,
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        ]
    )


def rotated(pose: np.ndarray, x: float, y: float, z: float) -> Vector:
    """A vector of the pose's frame in the frame above."""
    w, a, b, c = (float(value) for value in pose[3:7])
    # v + 2 w (q × v) + 2 q × (q × v)
    tx, ty, tz = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return (
        float(x + w * tx + b * tz - c * ty),
        float(y + w * ty + c * tx - a * tz),
        float(z + w * tz + a * ty - b * tx),
    )
