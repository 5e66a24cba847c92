"""The record of the lab: it is measured, and no family."""

from __future__ import annotations

from botz.scenario.families import Capability

CAPABILITY = Capability(name="lab", benchmark="botz.bench.lab.suite:run")
