"""What is verified and measured beside the families: capabilities that all of them share, one record each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Capability:
    name: str
    checks: str | None = None
    """As of Family."""
    benchmark: str | None = None
    """As of Family."""


CAPABILITIES = {"lab": Capability("lab", benchmark="botz.bench.lab:run")}
"""By name."""
