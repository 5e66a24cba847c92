"""Tables with commands for the robot as a whole: each engine takes those that it knows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from driving import Drive, controller_of, world

from botz.channels import Channel
from botz.control.base import ControllerSetup
from botz.errors import InputError

INPUTS = (Channel("bot/left/voltage", "V", ""), Channel("bot/right/voltage", "V", ""))
LAYOUT = [("left/voltage", 1), ("right/voltage", 1), ("tank", 2), ("drive", 2)]


def table(tmp_path, text, **more):
    file = tmp_path / "drive.csv"
    file.write_text(text, encoding="utf-8")
    return controller_of(type="table", file=str(file), **more)


def started(controller):
    engine = SimpleNamespace(command_layout=lambda robot: LAYOUT, note_commands=lambda *_: None)
    controller.reset(ControllerSetup("bot", 0.01, np.random.default_rng(0), INPUTS, engine))  # type: ignore[arg-type]
    return controller


def test_tank_and_drive_columns_become_commands(tmp_path):
    tank = started(table(tmp_path, "time,tank.right,tank.left\n0,0.5,-0.25\n1,1,1\n", interpolate="linear"))
    assert tank.update(0.0, {}) == {"tank": [-0.25, 0.5]}
    assert tank.update(0.5, {})["tank"] == pytest.approx([0.375, 0.75])
    drive = started(table(tmp_path, "time,drive.turn\n0.1,0.5\n"))
    assert drive.update(0.0, {}) is None
    assert drive.update(0.1, {}) == {"drive": [0.0, 0.5]}


def test_a_motion_and_single_inputs_go_together(tmp_path):
    both = started(table(tmp_path, "time,drive.forward,left/voltage\n0,0.5,3\n"))
    assert both.update(0.0, {}) == {"drive": [0.5, 0.0], "left/voltage": 3.0}


def test_two_rows_do_not_share_a_command(tmp_path):
    tank = started(table(tmp_path, "time,tank.left,tank.right\n0,1,1\n1,0,0\n"))
    first = tank.update(0.0, {})
    tank.update(1.0, {})
    assert first == {"tank": [1.0, 1.0]}


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("twist.vx", r"drive\.csv:1: column 'twist\.vx' is no command of robot 'bot'; .*tank\.left"),
        ("tank.lft", r"did you mean 'tank\.left'"),
        ("drive", r"column 'drive' is no command"),
        ("tank.left,drive.turn", r"column 'drive\.turn' beside 'tank\.left': use one kind of command"),
    ],
)
def test_columns_that_this_robot_does_not_take(tmp_path, column, message):
    zeros = ",0" * (column.count(",") + 1)
    with pytest.raises(InputError, match=message):
        started(table(tmp_path, f"time,{column}\n0{zeros}\n"))


def test_a_kinematic_robot_takes_no_tank_column(tmp_path):
    with pytest.raises(InputError, match=r"column 'tank\.left' is no command of robot 'bot'"):
        Drive(world("differential"), table(tmp_path, "time,tank.left\n0,1\n"))
