"""A robot as links and joints, whatever file it came from: what readers make, and builders and writers take.

Frames follow URDF: a joint's frame is that of its child link, and the joint turns or slides along `axis` of it. Where
a file places joints elsewhere, its reader moves the link's frame and everything in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from botz.errors import Problem
from botz.transforms import posed

if TYPE_CHECKING:
    from botz.scenario.multibody.elements import Element
    from botz.scenario.multibody.sensors import Sensor

SHAPES = ("box", "sphere", "cylinder", "capsule", "ellipsoid", "plane", "mesh")
JOINTS = ("fixed", "revolute", "continuous", "prismatic")


@dataclass(frozen=True)
class Place:
    """Where in a file something is said."""

    file: Path | None = None
    line: int | None = None

    def problem(self, message: str, key: str = "") -> Problem:
        return Problem(message, file=self.file, line=self.line, key=key)


NOWHERE = Place()


def turned_to(normal: Sequence[float]) -> np.ndarray:
    """The 4x4 matrix of a rotation that takes z to a direction."""
    z = np.array(normal)
    length = np.linalg.norm(z)
    if length < 1e-12:
        return np.eye(4)
    z /= length
    x = np.cross([0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [0.0, 0.0, 1.0], z)
    x /= np.linalg.norm(x)
    return posed(np.column_stack([x, np.cross(z, x), z]), np.zeros(3))


def identity() -> np.ndarray:
    return np.eye(4)


@dataclass(frozen=True, eq=False)
class Inertial:
    mass: float
    """[kg]"""
    centre: np.ndarray
    """Centre of mass in the link's frame (3) [m]."""
    inertia: np.ndarray
    """About the centre of mass, in the link's axes (3, 3) [kg·m²]."""
    place: Place = NOWHERE


@dataclass(frozen=True, eq=False)
class ModelShape:
    kind: str
    """One of SHAPES."""
    size: tuple[float, ...] = ()
    """box: three edges; sphere: radius; cylinder, capsule: radius, length; ellipsoid: three radii [m]."""
    pose: np.ndarray = field(default_factory=identity)
    """In the link's frame (4, 4)."""
    file: Path | None = None
    """Of a mesh."""
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Of a mesh."""
    visual: bool = True
    collision: bool = True
    colour: tuple[float, float, float, float] | None = None
    friction: float = 0.8
    place: Place = NOWHERE


@dataclass(frozen=True, eq=False)
class ModelLink:
    name: str
    inertial: Inertial | None = None
    shapes: tuple[ModelShape, ...] = ()
    place: Place = NOWHERE


@dataclass(frozen=True, eq=False)
class ModelJoint:
    name: str
    kind: str
    """One of JOINTS; `floating` where a robot that moves freely hangs on a frame of the world."""
    parent: str
    """Name of a link; '' is the world, for a robot that is fixed to it."""
    child: str
    pose: np.ndarray = field(default_factory=identity)
    """Of the child's frame in the parent's with the joint at 0 (4, 4)."""
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """In the child's frame, of length 1."""
    lower: float | None = None
    upper: float | None = None
    speed: float | None = None
    """Largest speed; None: any."""
    effort: float | None = None
    """Largest effort; None: any."""
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    """Of a spring towards `rest`."""
    rest: float = 0.0
    place: Place = NOWHERE


GAINS = ("frequency", "damping_ratio", "integral_time", "proportional", "integral", "derivative", "effort")
"""What a servo of a scenario has besides; files of other programs have no words for it."""


@dataclass(frozen=True, eq=False)
class ModelActuator:
    """What a file's transmission asks for: how a joint is commanded."""

    joint: str
    kind: str
    """position, velocity or effort."""
    place: Place = NOWHERE
    speed: float | None = None
    """Largest speed that is asked for; None: the joint's [rad/s, m/s]."""
    lag: float = 0.0
    """Time constant with which the reference follows its command; 0: at once [s]."""
    lag_down: float | None = None
    """The same where the command's size falls; None: as `lag` [s]."""
    gains: Mapping[str, float] = field(default_factory=dict)
    """Those of GAINS that are said."""


@dataclass(frozen=True, eq=False)
class RobotModel:
    name: str
    links: dict[str, ModelLink]
    joints: dict[str, ModelJoint]
    actuators: dict[str, ModelActuator] = field(default_factory=dict)
    """By joint."""
    elements: dict[str, Element] = field(default_factory=dict)
    """Force elements of recognised plugins, by name."""
    sensors: dict[str, Sensor] = field(default_factory=dict)
    """Sensors that the file describes, by name."""
    fixed_base: bool = False
    """The file ties its root to the world."""
    notes: tuple[Problem, ...] = ()
    """What was not recognised, was corrected or should be looked at: told to the user, no error."""
    file: Path | None = None
    format: str = ""
    """urdf, sdf, mjcf or yaml."""
    root_pose: np.ndarray = field(default_factory=identity)
    """Where an MJCF file draws its root in the world (4, 4); a scenario's `pose` takes the place of it."""
    method: str | None = None
    """The integrator that an MJCF file names, as 'time.method' calls it."""
    native: Any = None
    """A compiled-ready `mujoco.MjSpec` of an MJCF file, which may hold more than links and joints; else None."""

    @property
    def root(self) -> str:
        """The link that no joint moves."""
        children = {joint.child for joint in self.joints.values()}
        return next(name for name in self.links if name not in children)

    def children(self, link: str) -> list[ModelJoint]:
        return [joint for joint in self.joints.values() if joint.parent == link]
