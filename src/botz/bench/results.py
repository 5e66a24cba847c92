"""What a benchmark reports: rates and times, their targets, and ratios to peers measured in the same run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    metric: str
    value: float
    unit: str
    target: float | None = None
    met: bool | None = None
    peer: str | None = None
    peer_value: float | None = None
    ratio: float | None = None
    """Above 1: Botz is faster."""


def rate(metric: str, value: float, unit: str, *, target: float | None = None, peer: str | None = None,
         peer_value: float | None = None) -> Result:  # fmt: skip
    """A number of which more is better."""
    ratio = value / peer_value if peer_value else None
    return Result(metric, value, unit, target, None if target is None else value >= target, peer, peer_value, ratio)


def duration(metric: str, value: float, unit: str, *, target: float | None = None, peer: str | None = None,
             peer_value: float | None = None) -> Result:  # fmt: skip
    """A time or a cost, of which less is better."""
    ratio = peer_value / value if peer_value else None
    return Result(metric, value, unit, target, None if target is None else value <= target, peer, peer_value, ratio)
