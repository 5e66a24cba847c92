"""What is written comes back: any table, any stride, any number."""

from __future__ import annotations

import builtins
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from botz.channels import Channel, ChannelTable
from botz.errors import BotzError, InputError
from botz.record.reader import read
from botz.record.streams import RecordingHeader, StreamSpec
from botz.record.writer import RecordingWriter

names = st.from_regex(r"\A[a-z][a-z0-9_]{0,5}\Z")


@st.composite
def tables(draw):
    robots = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    channels = []
    for robot in robots:
        for local in draw(st.lists(st.lists(names, min_size=1, max_size=3).map("/".join), max_size=4, unique=True)):
            components = tuple(draw(st.lists(names, max_size=4, unique=True)))
            channels.append(Channel(f"{robot}/{local}", draw(st.sampled_from(["m", "1", "rad/s"])), "ä", components))
    return ChannelTable(channels)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_round_trip_of_random_tables(data):
    table = data.draw(tables())
    inputs = data.draw(tables())
    all_names = [channel.name for channel in table]
    stream_names = data.draw(st.lists(names, min_size=1, max_size=3, unique=True))
    chosen = st.lists(st.sampled_from(all_names), unique=True).map(tuple) if all_names else st.just(())
    streams = [StreamSpec(name, data.draw(st.integers(1, 7)), data.draw(chosen)) for name in stream_names]
    count = data.draw(st.integers(0, 30))
    seed = data.draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, table.width)) * 10.0 ** rng.integers(-300, 300, size=(count, table.width))
    special = rng.random(rows.shape)
    rows[special < 0.1] = np.nan
    rows[special > 0.9] = -np.inf
    rows[(special > 0.5) & (special < 0.55)] = -0.0
    step_ns = data.draw(st.integers(1, 10**9))
    header = RecordingHeader({"seed": seed}, "random", "none", seed, step_ns)
    commands = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording.mcap"
        flush_seconds = data.draw(st.sampled_from([0.0, 1e9]))
        writer = RecordingWriter(path, header, table, inputs, streams, flush_seconds=flush_seconds)
        batch = data.draw(st.integers(1, 31))
        for number, stream in enumerate(streams):
            kept = np.arange(0, count, stream.every)
            for start in range(0, len(kept), batch):
                part = kept[start : start + batch]
                writer.write_rows(number, part, rows[part])
        for robot in sorted({channel.robot for channel in inputs}):
            width = sum(channel.size for channel in inputs.of_robot(robot))
            for source in data.draw(st.lists(st.text(st.characters(codec="utf-8"), max_size=5), max_size=5)):
                commands.append((robot, int(rng.integers(0, 2**33)), rng.normal(size=width), source))
                writer.write_command(commands[-1][1], robot, commands[-1][2], source)
        writer.close({"done": "ja ω"})
        recording = read(folder)
        assert recording.complete, recording.problem
        assert recording.header == header
        assert recording.streams == tuple(streams)
        assert recording.summary == {"done": "ja ω"}
        assert {c.name: c for c in recording.channels} == {n: table[n] for s in streams for n in s.channels}
        assert recording.inputs.channels == tuple(c for r in by_robot(inputs) for c in inputs.of_robot(r))
        for name in recording.channels.slices:
            every = min(stream.every for stream in streams if name in stream.channels)
            steps = np.arange(0, count, every)
            values = table.value(rows[::every], name)
            assert recording[name].tobytes() == np.ascontiguousarray(values).tobytes()
            assert recording[name].shape == values.shape
            np.testing.assert_array_equal(recording.steps(name), steps)
            np.testing.assert_array_equal(recording.time(name), steps * step_ns / 1e9)
        for robot in by_robot(inputs):
            steps, values, sources = recording.commands(robot)
            mine = [command for command in commands if command[0] == robot]
            assert steps.tolist() == [step for _, step, _, _ in mine]
            assert sources == [source for *_, source in mine]
            for value, (_, _, expected, _) in zip(values, mine, strict=True):
                np.testing.assert_array_equal(value, expected)


def by_robot(table: ChannelTable) -> list[str]:
    return list(dict.fromkeys(channel.robot for channel in table))


def test_long_batches_are_cut_into_chunks(world, tmp_path):
    rows = world.rows(20_000)
    writer = world.writer(tmp_path / "r.mcap", flush_seconds=1e9)
    writer.write_rows(0, np.arange(20_000), rows)
    writer.close({})
    recording = read(tmp_path / "r.mcap")
    assert len(recording._contents.chunks) > 10
    np.testing.assert_array_equal(recording["kite/pose"], rows[:, world.channels.slice_of("kite/pose")])


def test_large_snapshots_get_chunks_of_their_own(world, tmp_path):
    big = np.random.default_rng(0).bytes(3 << 20)
    writer = world.writer(tmp_path / "r.mcap", flush_seconds=1e9)
    for step in range(3):
        writer.write_rows(0, [step], world.rows(1))
        writer.write_snapshot(step, big + bytes([step]))
    writer.close({})
    recording = read(tmp_path / "r.mcap")
    assert recording.snapshots() == [(step, big + bytes([step])) for step in range(3)]
    assert recording.steps().tolist() == [0, 1, 2]


def test_logs_clock_and_duration(world, tmp_path):
    writer = world.writer(tmp_path / "r.mcap")
    levels = ["debug", "info", "warning", "error", "fatal"]
    for step, level in enumerate(levels):
        writer.write_log(step, level, "x" * step)
        writer.write_clock(step, 2**62 + step, -0.5 * step)
    writer.write_log(9, "info", "half a pair \udc80")
    writer.close({"\udc80": "\udc80"})
    recording = read(tmp_path / "r.mcap")
    expected = [(step, level, "x" * step) for step, level in enumerate(levels)]
    assert recording.logs() == [*expected, (9, "info", "half a pair ?")]
    steps, wall, lateness = recording.clock()
    assert steps.tolist() == [0, 1, 2, 3, 4]
    assert wall.tolist() == [2**62 + step for step in range(5)]
    assert lateness.tolist() == [0.0, -0.5, -1.0, -1.5, -2.0]
    assert recording.duration == 0.018
    assert recording.summary == {"?": "?"}


def test_an_unfinished_recording_can_be_read_while_it_is_written(world, tmp_path):
    writer = world.writer(tmp_path / "r.mcap", flush_seconds=1e9)
    assert read(tmp_path / "r.mcap").problem.endswith("nothing was recorded before")
    rows = world.rows(10)
    writer.write_rows(0, np.arange(5), rows[:5])
    writer.flush()
    writer.write_rows(0, np.arange(5, 10), rows[5:])
    assert read(tmp_path / "r.mcap").steps().tolist() == [0, 1, 2, 3, 4]
    writer.close({})
    whole = read(tmp_path / "r.mcap")
    assert whole.complete
    np.testing.assert_array_equal(whole["vivi/pose"], rows[:, :3])


def test_flush_when_due_needs_no_further_row(world, tmp_path):
    writer = world.writer(tmp_path / "r.mcap", flush_seconds=0.0)
    writer.write_rows(0, [0], world.rows(1))
    assert read(tmp_path / "r.mcap").steps().tolist() == [0]
    writer.close({})


def test_the_fastest_stream_speaks_for_a_channel(world, tmp_path):
    streams = [StreamSpec("state", 10, world.names), StreamSpec("fast", 2, ("vivi/pose",))]
    writer = world.writer(tmp_path / "r.mcap", streams)
    rows = world.rows(20)
    writer.write_rows(0, [0, 10], rows[[0, 10]])
    writer.write_rows(1, np.arange(0, 20, 2), rows[::2])
    writer.close({})
    recording = read(tmp_path / "r.mcap")
    assert recording.steps("vivi/pose").tolist() == list(range(0, 20, 2))
    assert recording.steps("vivi/twist").tolist() == [0, 10]
    assert recording.steps().tolist() == [0, 10]
    assert recording.rates["vivi/pose"] == pytest.approx(250.0)
    assert recording.rates["vivi/twist"] == pytest.approx(50.0)
    assert recording.to_arrow("state").num_rows == 2


def test_unknown_names_come_with_the_nearest(world, tmp_path):
    world.writer(tmp_path / "r.mcap").close({})
    recording = read(tmp_path / "r.mcap")
    with pytest.raises(InputError, match="unknown channel 'vivi/poze'; did you mean 'vivi/pose'"):
        recording["vivi/poze"]
    with pytest.raises(InputError, match="unknown stream 'stat'; did you mean 'state'"):
        recording.to_arrow("stat")
    with pytest.raises(InputError, match="no commands of 'vivo'; did you mean 'vivi'"):
        recording.commands("vivo")


def test_changing_what_was_read_changes_nothing(world, tmp_path):
    writer = world.writer(tmp_path / "r.mcap")
    rows = world.rows(3)
    writer.write_rows(0, np.arange(3), rows)
    writer.close({})
    recording = read(tmp_path / "r.mcap")
    recording["vivi/pose"][:] = 0.0
    recording.steps()[:] = 0
    np.testing.assert_array_equal(recording["vivi/pose"], rows[:, :3])
    assert recording.steps().tolist() == [0, 1, 2]


def test_wrong_shapes_are_refused(world, tmp_path):
    writer = world.writer(tmp_path / "r.mcap")
    with pytest.raises(ValueError, match="rows have shape"):
        writer.write_rows(0, np.arange(2), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="inputs of 'vivi'"):
        writer.write_command(0, "vivi", np.zeros(2), "x")
    writer.close({})
    assert read(tmp_path / "r.mcap").complete


def test_to_pandas(world, tmp_path):
    pandas = pytest.importorskip("pandas")
    writer = world.writer(tmp_path / "r.mcap")
    rows = world.rows(5)
    writer.write_rows(0, np.arange(5), rows)
    writer.close({})
    frame = read(tmp_path / "r.mcap").to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.index.name == "time"
    np.testing.assert_array_equal(frame.index, np.arange(5) * 0.002)
    assert list(frame.columns[:4]) == ["vivi/pose.x", "vivi/pose.y", "vivi/pose.heading", "vivi/twist.vx"]
    np.testing.assert_array_equal(frame.to_numpy(), rows)


def test_to_pandas_without_pandas_says_what_to_install(world, tmp_path, monkeypatch):
    world.writer(tmp_path / "r.mcap").close({})
    genuine = builtins.__import__

    def without_pandas(name, *rest):
        if name == "pandas":
            raise ImportError(name)
        return genuine(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(BotzError, match="needs pandas"):
        read(tmp_path / "r.mcap").to_pandas()
