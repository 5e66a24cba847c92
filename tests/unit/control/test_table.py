"""Constant commands, tables of commands, and the mistakes in their files."""

from __future__ import annotations

import numpy as np
import pytest
from driving import Drive, controller_of, world

from botz.control.table import read_columns
from botz.errors import InputError


def table(tmp_path, text, **more):
    file = tmp_path / "drive.csv"
    file.write_text(text, encoding="utf-8")
    return controller_of(type="table", file=str(file), **more)


def test_constant_twist_and_raw_commands():
    drive = Drive(world("differential"), controller_of(type="constant", command={"twist": [0.5, 0, 0.25]})).run(1)
    assert drive.twist == pytest.approx([0.5, 0.0, 0.25])
    raw = controller_of(type="constant", command={"left/speed": "60 rpm", "right/speed": "60 rpm"})
    assert Drive(world("differential"), raw).run(1).twist == pytest.approx([0.05 * 2 * np.pi, 0, 0])


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ({"left/sped": 1}, "did you mean 'left/speed'"),
        ({"twist": [0, 1, 0]}, "would slip sideways"),
        ({"twist": [0, 1]}, "finite numbers"),
        ({"left/speed": [1, 2]}, "finite number"),
    ],
)
def test_a_wrong_constant_command_shows_before_the_first_step(command, message):
    with pytest.raises(InputError, match=message):
        Drive(world("differential"), controller_of(type="constant", command=command))


def test_a_skid_steer_turns_by_raw_commands():
    drive = Drive(world("skid-steer"), controller_of(type="constant", command={"left/speed": -1, "right/speed": 1}))
    drive.run(0.5)
    assert drive.twist[2] > 0.1
    assert abs(drive.measured["front_left/slip"][1]) > 0.01


def test_rows_hold_until_the_next_and_the_last_one_stays(tmp_path):
    drive = Drive(world("differential"), table(tmp_path, "time,left/speed,right/speed\n0.1,1,2\n0.2,3,4\n"), every=1)
    drive.run(0.4)
    commands = np.array(drive.commands)
    assert (commands[:10] == 0).all()
    assert (commands[10:20] == [1, 2]).all()
    assert (commands[20:] == [3, 4]).all()


def test_linear_interpolation(tmp_path):
    text = "# a ramp\ntime, twist.vx , twist.yaw_rate\n\n0,0,0\n1,1,0.5\n"
    drive = Drive(world("differential"), table(tmp_path, text, interpolate="linear"), every=1)
    drive.run(0.51)
    assert drive.twist == pytest.approx([0.5, 0.0, 0.25])
    drive.run(1.0)
    assert drive.twist == pytest.approx([1.0, 0.0, 0.5])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("time,left/speed\n", "no rows below the header"),
        ("time\n0\n", "no column besides 'time'"),
        ("t,left/speed\n0,1\n", r"drive\.csv:1: no column 'time'"),
        ("time,left/speed,left/speed\n0,1,1\n", "column 'left/speed' is there twice"),
        ("time,,left/speed\n0,1,1\n", "column 2 has no name"),
        ("time,left/speed\n0,1\n1,fast\n", r"drive\.csv:3: left/speed: needs a finite number, not 'fast'"),
        ("time,left/speed\n0,nan\n", r"drive\.csv:2: left/speed: needs a finite number, not 'nan'"),
        ("time,left/speed\n0,inf\n", "needs a finite number, not 'inf'"),
        ("time,left/speed\n0,1\n0,2\n", r"drive\.csv:3: time: 0 s does not come after 0 s"),
        ("time,left/speed\n1,1\n\n0.5,2\n", r"drive\.csv:4: time: 0\.5 s does not come after 1 s"),
        ("time,left/speed\n0,1,2\n", r"drive\.csv:2: 3 values, the header has 2 columns"),
        ("time,left/speed\n0,\n", "needs a finite number, not ''"),
    ],
)
def test_broken_tables(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        table(tmp_path, text)


def test_all_mistakes_at_once_but_no_flood(tmp_path):
    with pytest.raises(InputError) as caught:
        table(tmp_path, "time,left/speed\n" + "".join(f"{i},x\n" for i in range(50)))
    assert len(caught.value.problems) == 21
    assert caught.value.problems[0].line == 2
    assert "30 more" in str(caught.value)


def test_a_missing_file_and_one_that_is_no_text(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_columns(tmp_path / "nothing.csv", required=("time",))
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(InputError, match="not a text file"):
        read_columns(tmp_path / "bytes.csv", required=("time",))
    with pytest.raises(InputError, match="cannot be read"):
        read_columns(tmp_path, required=("time",))


def test_a_column_that_is_no_command_shows_before_the_first_step(tmp_path):
    with pytest.raises(InputError, match=r"column 'lft/speed' is no command.*did you mean 'left/speed'"):
        Drive(world("differential"), table(tmp_path, "time,lft/speed\n0,1\n"))
