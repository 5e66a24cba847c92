"""A force element of another package, all in one file: its keys, and the function that acts."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from botz import force_element
from botz.scenario.multibody.elements import Element, LinkName, Vector
from botz.scenario.units import Metres, Quantity


class Tether(Element):
    """A rope from a link to a fixed point, with a spring and a damper in it."""

    implementation: ClassVar[str] = "botz_extras.tether:tether"
    type: Literal["tether"]
    link: LinkName
    """The link whose origin it holds."""
    anchor: Vector = Field(default=[0.0, 0.0, 0.0])
    """Where it is tied, in the world [m]."""
    length: Metres = Field(gt=0)
    """It is slack below this [m]."""
    stiffness: Annotated[float, Quantity("N/m")] = Field(gt=0)
    """Of the rope [N/m]."""
    damping: Annotated[float, Quantity("N*s/m")] = Field(default=0.0, ge=0)
    """Of the rope, while it is taut [N·s/m]."""


@dataclass
class Rope:
    """What the function gets of it."""

    anchor: tuple[float, float, float]
    length: float
    stiffness: float
    damping: float


@force_element(Rope, inputs=[("reel", "m", "rope paid out beyond its length")], reports=[("pull", "N", "in the rope")])
def tether(p, frame):
    x, y, z = p.anchor[0] - frame.position[0], p.anchor[1] - frame.position[1], p.anchor[2] - frame.position[2]
    distance = sqrt(x * x + y * y + z * z)
    slack = p.length + frame.inputs[0] - distance
    if slack < 0.0:
        closing = (x * frame.velocity[0] + y * frame.velocity[1] + z * frame.velocity[2]) / distance
        pull = max(-p.stiffness * slack - p.damping * closing, 0.0)
        frame.force[0] += pull * x / distance
        frame.force[1] += pull * y / distance
        frame.force[2] += pull * z / distance
        frame.reports[0] = pull
