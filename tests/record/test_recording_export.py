"""Tables for other programs hold the same numbers, names and units."""

from __future__ import annotations

import csv

import numpy as np
import pyarrow.parquet
import pytest
import scipy.io

from botz.channels import Channel, ChannelTable
from botz.errors import InputError, RecordingError
from botz.record.export import export
from botz.record.reader import read
from botz.record.streams import RecordingHeader, StreamSpec
from botz.record.writer import RecordingWriter


@pytest.fixture
def recorded(world, tmp_path):
    rows = world.rows(12)
    rows[3, 0], rows[4, 1], rows[5, 2] = np.nan, np.inf, 1 / 3
    writer = world.writer(tmp_path / "r.mcap")
    writer.write_rows(0, np.arange(12), rows)
    writer.close({})
    return read(tmp_path / "r.mcap"), rows


def test_arrow_has_units(recorded):
    table = recorded[0].to_arrow()
    assert table.column_names[:3] == ["time", "vivi/pose.x", "vivi/pose.y"]
    units = {field.name: field.metadata[b"unit"].decode() for field in table.schema}
    assert units["vivi/pose.heading"] == "rad"
    assert units["vivi/wheels/left/speed"] == "rad/s"
    assert units["kite/imu/gyro.z"] == "rad/s"
    assert table.schema.field("vivi/pose.x").metadata[b"description"] == b"Pose in the world"


def test_csv_gives_the_same_numbers(recorded, tmp_path):
    recording, rows = recorded
    [path] = export(recording, tmp_path / "out.csv", "csv")
    assert path == tmp_path / "out.csv"
    with path.open(newline="", encoding="utf-8") as file:
        header, *lines = list(csv.reader(file))
    assert header[:5] == [
        "time [s]",
        "vivi/pose.x [m]",
        "vivi/pose.y [m]",
        "vivi/pose.heading [rad]",
        "vivi/twist.vx [m/s]",
    ]
    values = np.array(lines, float)
    np.testing.assert_array_equal(values[:, 0], np.arange(12) * 2 / 1000)
    np.testing.assert_array_equal(values[:, 1:], rows)


def test_parquet_gives_the_same_numbers_and_units(recorded, tmp_path):
    recording, rows = recorded
    [path] = export(recording, tmp_path / "out", "parquet")
    assert path == tmp_path / "out.parquet"
    table = pyarrow.parquet.read_table(path)
    np.testing.assert_array_equal(np.column_stack([column.to_numpy() for column in table.columns])[:, 1:], rows)
    assert table.schema.field("vivi/pose.x").metadata[b"unit"] == b"m"


def test_mat_gives_structs_of_the_robots(recorded, tmp_path):
    recording, rows = recorded
    [path] = export(recording, tmp_path / "out.mat", "mat")
    content = scipy.io.loadmat(path, simplify_cells=True)
    np.testing.assert_array_equal(content["time"], np.arange(12) * 2 / 1000)
    np.testing.assert_array_equal(content["vivi"]["pose"], rows[:, :3])
    np.testing.assert_array_equal(content["vivi"]["wheels_left_speed"], rows[:, 7])
    assert content["units"]["vivi"]["pose"] == "m, m, rad"
    assert content["units"]["time"] == "s"
    assert content["components"]["vivi"]["pose"] == "x, y, heading"
    assert len(content["components"]["vivi"]["wheels_left_speed"]) == 0


def test_mat_names_are_valid_and_apart(tmp_path):
    long = "wheels/" + "very_long_name_of_a_part" * 3
    names = ["time/x", "units/x", f"a/{long}/first", f"a/{long}/second", "a/b/c_d", "a/b_c/d", "a/end"]
    table = ChannelTable([Channel(name, "1", "") for name in names])
    streams = [StreamSpec("state", 1, tuple(names))]
    writer = RecordingWriter(tmp_path / "r.mcap", RecordingHeader({}, "", "", 0, 1), table, ChannelTable([]), streams)
    writer.write_rows(0, [0], np.arange(7.0)[None])
    writer.close({})
    [path] = export(read(tmp_path / "r.mcap"), tmp_path / "m.mat", "mat")
    content = scipy.io.loadmat(path, simplify_cells=True)
    assert content["time_2"]["x"] == 0.0
    assert content["units_2"]["x"] == 1.0
    fields = list(content["a"])
    assert all(len(field) <= 63 and field.isidentifier() for field in fields)
    assert sorted(content["a"].values()) == [2.0, 3.0, 4.0, 5.0, 6.0]


@pytest.mark.parametrize("format", ["csv", "parquet", "mat"])
def test_several_streams_give_several_files(world, tmp_path, format):
    streams = [
        StreamSpec("state", 1, world.names),
        StreamSpec("slow", 2, ("vivi/pose",)),
        StreamSpec("none", 3, ()),
    ]
    writer = world.writer(tmp_path / "r.mcap", streams)
    writer.write_rows(0, np.arange(4), world.rows(4))
    writer.write_rows(1, np.arange(0, 4, 2), world.rows(4)[::2])
    writer.close({})
    written = export(read(tmp_path / "r.mcap"), tmp_path / f"x.{format}", format)
    assert [path.name for path in written] == [f"x-{name}.{format}" for name in ("state", "slow", "none")]
    assert all(path.stat().st_size > 0 for path in written)
    if format == "csv":
        assert len(written[1].read_text(encoding="utf-8").splitlines()) == 3


def test_a_name_with_a_dot_keeps_it(recorded, tmp_path):
    [path] = export(recorded[0], tmp_path / "run-1.5", "csv")
    assert path.name == "run-1.5.csv"


def test_bad_formats_and_places(recorded, tmp_path):
    with pytest.raises(InputError, match="unknown format 'cvs'; did you mean 'csv'"):
        export(recorded[0], tmp_path / "x", "cvs")
    for format in ("csv", "parquet", "mat"):
        with pytest.raises(RecordingError, match="nowhere"):
            export(recorded[0], tmp_path / "nowhere" / "x", format)
