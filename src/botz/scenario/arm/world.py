"""What surrounds an arm: gravity, water, planes, boxes, and objects that can be gripped."""

from __future__ import annotations

from math import hypot
from typing import Annotated

from pydantic import Field, model_validator

from botz.scenario.misfits import Misfits, Path
from botz.scenario.schema import Name, Strict
from botz.scenario.units import Kilograms, Metres, MetresPerSecond, Number, Pose, Quantity

Vector = Annotated[list[Metres], Field(min_length=3, max_length=3)]
Sizes = Annotated[list[Annotated[Metres, Field(gt=0, le=1e3)]], Field(min_length=3, max_length=3)]
Direction = Annotated[list[Number], Field(min_length=3, max_length=3)]


class Water(Strict):
    """Water all around: links with a volume float, links with a drag area are braked."""

    density: Annotated[float, Quantity("kg/m^3")] = Field(default=1025.0, ge=0, le=2e4)
    """Of sea water by default [kg/m³]."""
    current: Annotated[list[MetresPerSecond], Field(min_length=3, max_length=3)] = Field(default=[0.0, 0.0, 0.0])
    """Velocity of the water in the world [m/s]."""


class Surface(Strict):
    friction: Number = Field(default=0.5, ge=0, le=10)
    """Coulomb's coefficient; between two surfaces the geometric mean of both counts."""


class Plane(Surface):
    """A half space."""

    point: Vector = Field(default=[0.0, 0.0, 0.0])
    """A point of the plane [m]."""
    normal: Direction = Field(default=[0.0, 0.0, 1.0])
    """Direction out of it."""

    @model_validator(mode="after")
    def _has_direction(self) -> Plane:
        size = hypot(*self.normal)
        if not 1e-6 <= size <= 1e6:
            raise Misfits([(("normal",), f"needs a direction of ordinary length, as [0, 0, 1]; this is {size:g} long")])
        return self


class Box(Surface):
    """A box that does not move."""

    size: Sizes
    """Edges along its x, y and z [m]."""
    pose: Pose
    """Of its middle: x, y, z [m], roll, pitch, yaw [rad]."""


class ArmObject(Box):
    """A box that can be pushed, gripped, carried and set down."""

    mass: Kilograms = Field(gt=0, le=1e6)
    """Mass, spread evenly [kg]."""
    floats: bool = True
    """Where there is water, it carries the object by its volume."""


class ContactLaw(Strict):
    """How surfaces give way: springs and dampers at each point of contact, friction that sticks or slides."""

    stiffness: Annotated[float, Quantity("N/m")] | None = Field(default=None, gt=0, le=1e10)
    """Of a point of contact; null: the stiffest that the step can follow with ease, at most 2e5 [N/m]."""
    damping: Number = Field(default=0.5, ge=0, le=10)
    """Damping ratio of a body that stands on four points."""


class ArmWorld(Strict):
    gravity: Annotated[list[Annotated[float, Quantity("m/s^2")]], Field(min_length=3, max_length=3)] = Field(
        default=[0.0, 0.0, -9.80665]
    )
    """Acceleration of free fall in the world, in any direction [m/s²]."""
    water: Water | None = None
    """The water around; null: none."""
    planes: dict[Name, Plane] = Field(default={}, max_length=100)
    """Floors and walls, by name."""
    boxes: dict[Name, Box] = Field(default={}, max_length=100)
    """Fixed boxes, by name."""
    objects: dict[Name, ArmObject] = Field(default={}, max_length=100)
    """Boxes that can be moved, by name."""
    contact: ContactLaw = ContactLaw()
    """How surfaces give way."""

    @model_validator(mode="after")
    def _names_differ(self) -> ArmWorld:
        found: list[tuple[Path, str]] = []
        taken: dict[str, str] = {}
        for kind in ("planes", "boxes", "objects"):
            for name in getattr(self, kind):
                if (other := taken.setdefault(name, kind)) != kind:
                    found.append(((kind, name), f"one of the {other} has this name already"))
        if found:
            raise Misfits(found)
        return self
