"""Shapes of links, obstacles and objects."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from botz.scenario.schema import ByType, Strict
from botz.scenario.units import Metres, Number, Pose

Length = Annotated[Metres, Field(gt=0, le=1e4)]
Colour = Annotated[list[Annotated[Number, Field(ge=0, le=1)]], Field(min_length=3, max_length=4)]
HERE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Shape(Strict):
    """The common part of all shapes."""

    pose: Pose = HERE
    """Of its middle in the frame of its link or of the world: x, y, z [m], roll, pitch, yaw [rad]."""
    role: Literal["both", "visual", "collision"] = "both"
    """Whether it is seen, touched, or both."""
    colour: Colour | None = None
    """Red, green, blue and optionally opacity, from 0 to 1."""
    friction: Number = Field(default=0.8, ge=0, le=10)
    """Coulomb's coefficient where it slides on something: of two shapes the larger one counts, and on the ground the
    ground's."""


class BoxShape(Shape):
    type: Literal["box"]
    size: Annotated[list[Length], Field(min_length=3, max_length=3)]
    """Edges along x, y and z [m]."""


class SphereShape(Shape):
    type: Literal["sphere"]
    radius: Length
    """Radius [m]."""


class CylinderShape(Shape):
    """Along its z."""

    type: Literal["cylinder"]
    radius: Length
    """Radius [m]."""
    length: Length
    """Length along z [m]."""


class CapsuleShape(Shape):
    """A cylinder along z with half spheres at its ends."""

    type: Literal["capsule"]
    radius: Length
    """Radius [m]."""
    length: Length
    """Of the cylinder between the half spheres [m]."""


class MeshShape(Shape):
    """A mesh file: STL, OBJ, DAE, PLY or GLB. What it touches with is its convex hull."""

    type: Literal["mesh"]
    file: str
    """Path of the file, relative to the file that names it."""
    scale: Annotated[list[Number], Field(min_length=3, max_length=3)] = Field(default=[1.0, 1.0, 1.0])
    """Factors of its x, y and z; 0.001 for a mesh in millimetres."""


AnyShape = Annotated[BoxShape | SphereShape | CylinderShape | CapsuleShape | MeshShape, ByType()]
