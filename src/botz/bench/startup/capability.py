"""The record of starting up: it is measured, and no family."""

from __future__ import annotations

from botz.scenario.families import Capability

CAPABILITY = Capability(name="startup", benchmark="botz.bench.startup.suite:run")
