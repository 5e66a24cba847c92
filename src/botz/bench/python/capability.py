"""The record of the Python interface: it is measured, and no family."""

from __future__ import annotations

from botz.scenario.families import Capability

CAPABILITY = Capability(name="python", benchmark="botz.bench.python.suite:run")
