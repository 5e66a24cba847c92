"""What a recording holds: its header, its streams, and how channels become columns and fields."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from botz.channels import Channel

DEFAULT_STREAM = "state"


@dataclass(frozen=True)
class StreamSpec:
    """A selection of channels that is recorded at one rate."""

    name: str
    """`state` is the default stream."""
    every: int
    """Every so many steps."""
    channels: tuple[str, ...]
    """Full channel names."""


@dataclass(frozen=True)
class RecordingHeader:
    """What is known before the first step."""

    scenario: dict[str, Any]
    """The resolved scenario as plain JSON data."""
    scenario_name: str
    engine: str
    seed: int
    step_ns: int
    """Integration step [ns]; the time of step k is k * step_ns."""
    info: dict[str, str] = field(default_factory=dict)
    """Versions, machine, wall-clock start and the like."""


def component_units(channel: Channel) -> tuple[str, ...]:
    """One unit for each number of the channel: `m, m, rad` is three, `m` of a vector is repeated."""
    units = tuple(part.strip() for part in channel.unit.split(","))
    return units if len(units) == channel.size else (channel.unit,) * channel.size


def column_names(channel: Channel) -> tuple[str, ...]:
    """`vivi/pose.x`, `vivi/pose.y`, …; the channel's own name for a single number."""
    if not channel.components:
        return (channel.name,)
    return tuple(f"{channel.name}.{component}" for component in channel.components)


def field_name(text: str) -> str:
    """`text` as a ROS field name: small letters, digits and single underscores, a letter first."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    if not name or not name[0].isalpha():
        name = f"f_{name}".rstrip("_")
    return f"{name}_value" if keyword.iskeyword(name) else name


def unique_names(names: Iterable[str], taken: Iterable[str] = (), *, longest: int = 0) -> list[str]:
    """The same names, later ones numbered where they would meet an earlier one: `speed`, `speed_2`.

    `longest` > 0 shortens names to so many characters."""
    used = set(taken)
    result = []
    for name in names:
        name = name[:longest].rstrip("_") if longest else name
        candidate, number = name, 2
        while candidate in used:
            ending = f"_{number}"
            candidate = (name[: longest - len(ending)] if longest else name) + ending
            number += 1
        used.add(candidate)
        result.append(candidate)
    return result
