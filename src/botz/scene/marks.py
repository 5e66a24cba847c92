"""Marks that layers draw over the world: arrows, points, lines, rings, frames and texts, which channels move.

A mark says where it is by a `Spot` and what it shows by names of channels; a viewer follows these without knowing what
they mean. Sizes that are not in metres are multiples of a viewer's usual thickness of marks, which suits the robot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

CHANNEL_KEYS = ("point", "rest_of", "channel", "normal", "shown_by", "beside")
"""Fields of marks and spots that name a channel."""


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A place: `offset` from a node's origin, in the node's axes; without a node, in the world. What stands at a spot
    is hidden with its node."""

    node: str | None = None
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    point: str | None = None
    """Channel of the place itself [m], in the world."""
    rest_of: str | None = None
    """Channel of the node's twist: the place is the point of the node's plane x, y that does not move."""
    on_top: bool = False
    """Whether it is lifted, along the node's z, onto what is drawn of the node."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """What all marks share."""

    shown_by: str | None = None
    """Channel that hides the mark while it is not above 0."""

    def described(self) -> dict[str, Any]:
        """As plain data; the name of the class tells a viewer what it is."""
        return {"kind": type(self).__name__, **asdict(self)}


@dataclass(frozen=True, kw_only=True)
class Arrow(Mark):
    """A vector from a spot, at the scale of its layer."""

    at: Spot
    channel: str
    components: tuple[int, int, int] = (0, 1, 2)
    """Numbers of the channel along x, y and z; −1 for none."""
    axes: Literal["world", "node", "ground", "twist"] = "world"
    """Whose axes these are. `ground`: x ahead of the node, z along `normal`. `twist`: the channel is the node's twist
    in its axes, (vx, vy, yaw rate) or six numbers, and the arrow is the velocity of the spot."""
    normal: str | None = None
    """Channel of the ground's normal, in the world."""
    beside: str | None = None
    """Channel that is drawn at the same scale though it is no arrow: what is small beside it stays small."""


@dataclass(frozen=True, kw_only=True)
class Point(Mark):
    at: Spot
    size: float = 2.2


@dataclass(frozen=True, kw_only=True)
class Line(Mark):
    """Straight from one spot to another."""

    at: Spot
    to: Spot
    size: float = 0.35


@dataclass(frozen=True, kw_only=True)
class Ring(Mark):
    """Level, round a spot."""

    at: Spot
    radius: float
    """[m]"""


@dataclass(frozen=True, kw_only=True)
class Frame(Mark):
    """The axes of a node: x red, y green, z blue."""

    at: Spot
    length: float
    """[m]"""


@dataclass(frozen=True, kw_only=True)
class Text(Mark):
    """Words above a spot, of one size on the screen; with a channel followed by its number."""

    at: Spot
    text: str
    above: float = 0.0
    """[m]"""
    channel: str | None = None
    component: int = 0
    unit: str = ""


@dataclass(frozen=True, kw_only=True)
class PageDrawn(Mark):
    """What the lab's page draws by code of its own, which knows the layer by its name."""

    channel: str | None = None
    """What that code reads."""


def channels_of(described: dict[str, Any]) -> Iterator[str]:
    """Channels that a described mark follows."""
    for key, value in described.items():
        if isinstance(value, dict):
            yield from channels_of(value)
        elif key in CHANNEL_KEYS and value is not None:
            yield value
