"""The shipped scenarios load, and their controllers accept their robots."""

from __future__ import annotations

import numpy as np
import pytest

from botz.control.base import ControllerSetup, Measured
from botz.control.registry import build
from botz.engines.registry import make_engine
from botz.scenario import library
from botz.scenario.load import load


@pytest.mark.parametrize("name", library.names("scenario"))
def test_a_shipped_scenario_loads_and_its_robots_move(name):
    spec = load(name).spec
    assert spec.title.en and spec.description.en
    assert 1 <= spec.time.duration <= 300
    engine = make_engine(spec)
    row = np.empty(engine.channels.width)
    engine.observe(row)
    start = row.copy()
    driven: set[str] = set()
    for title, one in spec.controllers.items():
        controller = build(one, allow_user_code=False, name=title)
        every = spec.time.steps_between(one.rate)
        inputs = tuple(engine.inputs_table.of_robot(one.robot))
        setup = ControllerSetup(one.robot, every * engine.dt, np.random.default_rng(0), inputs, engine)
        controller.reset(setup)
        # Some begin at rest and some end so; a goalkeeper may stand right.
        measured = Measured(engine.channels, row, one.robot)
        # A teleoperator's messages take their time on the line and must not stop coming.
        moments = np.arange(0.0, 4.0, setup.period) if one.type == "teleoperation" else (0.0, 1.0)
        for moment in moments:
            command = controller.update(moment, measured)
            if command is None:
                continue
            if any(np.any(value) for value in command.values()):
                driven.add(one.robot)
                engine.inputs[engine.robot_inputs(one.robot)] = engine.resolve_command(one.robot, command)
    assert driven or not spec.controllers, "a match for teams has none"
    engine.advance(0, max(10, round(0.1 / engine.dt)), 0, np.empty((0, row.size)))
    engine.observe(row)
    for robot in driven:
        moves = f"{robot}/position" if spec.engine == "arm" else f"{robot}/pose"
        before, after = engine.channels.value(start, moves), engine.channels.value(row, moves)
        assert np.abs(after - before).max() > 0
