"""Botz: one simulator for robots in motion.

>>> import botz
>>> rec = botz.simulate("differential-circle")
>>> rec["rover/pose"]

- `load(scenario)`: a checked scenario, of a name, a file or a mapping; `with_` changes it
- `simulate(scenario)`: run it and get its `Recording`
- `Simulation(scenario)`: step through it yourself: `reset`, `step`, `snapshot`, `restore`
- `read(path)`: open a recording
- `compare(recording, [others])`: how far recordings lie apart
- `render_video(recording, file)`: film one
- `state_at(recording, seconds)`: the state of a run at any time, to start another from
- `SerialArm.of(name_or_file)`: an arm to compute with: kinematics, inverse kinematics, dynamics
- `force_element(Parameters)`: make a force element of a function of yours, for robots of engine `multibody`
- `sensor(*channels)`: make a sensor of a function of yours, for robots of engine `multibody`
- `AttachedRun(run_id)`: read along with a run in another process and send it commands
"""

from __future__ import annotations

from botz import interrupts as _interrupts

if _interrupts.is_command():
    _interrupts.end_at_once()

from typing import TYPE_CHECKING, Any

from botz import kernel_cache as _kernel_cache  # noqa: F401, before Numba: it sets where compiled code is kept
from botz.errors import BotzError, ControllerError, DivergedError, InputError, RecordingError

if TYPE_CHECKING:
    from botz.engines.multibody.elements.base import force_element
    from botz.engines.multibody.sensing import sensor
    from botz.record.compare import compare
    from botz.record.reader import Recording, read
    from botz.replay import state_at
    from botz.robots.serial_arm import SerialArm
    from botz.run import simulate
    from botz.scenario.load import LoadedScenario, load
    from botz.sim.attached import AttachedRun
    from botz.sim.simulation import Simulation
    from botz.view.video import render_video

_LAZY = {
    "load": "botz.scenario.load",
    "LoadedScenario": "botz.scenario.load",
    "simulate": "botz.run",
    "Simulation": "botz.sim.simulation",
    "Recording": "botz.record.reader",
    "read": "botz.record.reader",
    "AttachedRun": "botz.sim.attached",
    "SerialArm": "botz.robots.serial_arm",
    "force_element": "botz.engines.multibody.elements.base",
    "sensor": "botz.engines.multibody.sensing",
    "state_at": "botz.replay",
    "compare": "botz.record.compare",
    "render_video": "botz.view.video",
}

__all__ = [
    "AttachedRun",
    "BotzError",
    "ControllerError",
    "DivergedError",
    "InputError",
    "LoadedScenario",
    "Recording",
    "RecordingError",
    "SerialArm",
    "Simulation",
    "compare",
    "force_element",
    "load",
    "read",
    "render_video",
    "sensor",
    "simulate",
    "state_at",
]


def __getattr__(name: str) -> Any:
    """Import on first use, so that `botz --help` does not wait for NumPy and Numba."""
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'botz' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
