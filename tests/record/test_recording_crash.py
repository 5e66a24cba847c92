"""Recordings that were cut short, damaged or made to harm: what is whole is read, nothing else happens."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import zstandard
from mcap.writer import Writer

from botz.errors import BotzError, InputError, RecordingError
from botz.record.reader import read
from botz.record.streams import StreamSpec

CHILD = """
    import sys
    import numpy as np
    from pathlib import Path
    from botz.channels import Channel, ChannelTable
    from botz.record.streams import RecordingHeader, StreamSpec
    from botz.record.writer import RecordingWriter
    from botz.errors import RecordingError

    channels = ChannelTable([Channel("a/x", "m", ""), Channel("b/y", "m", "", ("u", "v"))])
    header = RecordingHeader({}, "child", "none", 1, 1_000_000)
    streams = [StreamSpec("state", 1, ("a/x", "b/y"))]
    def open_writer():
        return RecordingWriter(Path(sys.argv[1]), header, channels, ChannelTable([]), streams, flush_seconds=1e9)
    def rows(steps):
        return np.column_stack([np.sin(steps * 1.0), steps * 2.0, np.cos(steps * 3.0)])
"""


def child(script: str, path: Path) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(CHILD) + textwrap.dedent(script), str(path)]


def check_rows(recording, least: int) -> None:
    steps = recording.steps("a/x")
    assert len(steps) >= least
    np.testing.assert_array_equal(steps, np.arange(len(steps)))
    np.testing.assert_array_equal(recording.steps("b/y"), steps)
    np.testing.assert_array_equal(recording["a/x"], np.sin(steps * 1.0))
    np.testing.assert_array_equal(recording["b/y"], np.column_stack([steps * 2.0, np.cos(steps * 3.0)]))


def test_killed_writer_leaves_what_was_flushed(tmp_path):
    script = """
        writer = open_writer()
        for start in range(0, 10**9, 100):
            steps = np.arange(start, start + 100)
            writer.write_rows(0, steps, rows(steps))
            if start % 500 == 0:
                writer.flush()
                print(start + 100, flush=True)
    """
    path = tmp_path / "r.mcap"
    with subprocess.Popen(child(script, path), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        flushed = 0
        while flushed < 3000:
            flushed = int(process.stdout.readline())
        process.kill()
    recording = read(path)
    check_rows(recording, flushed)
    assert not recording.complete
    assert f"read up to t = {recording.duration:.6g} s" in recording.problem
    assert recording.duration == recording.steps()[-1] / 1000
    assert recording.summary == {}


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are a POSIX thing")
def test_full_disk_stops_with_the_reason_and_keeps_the_rest(tmp_path):
    script = """
        import resource
        writer = open_writer()
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        flushed = 0
        try:
            for start in range(0, 10**9, 500):
                steps = np.arange(start, start + 500)
                writer.write_rows(0, steps, rows(steps))
                writer.flush()
                flushed = start + 500
        except RecordingError as error:
            print(flushed)
            print(error)
        try:
            writer.write_rows(0, steps, rows(steps))
            print("went on")
        except RecordingError:
            print("still failed")
        writer.close({"a": "b"})
        writer.close({"a": "b"})
        print("closed")
    """
    path = tmp_path / "r.mcap"
    done = subprocess.run(child(script, path), capture_output=True, text=True, timeout=120, check=True)
    flushed, message, again, closed = done.stdout.splitlines()
    assert str(path) in message
    assert "too large" in message.lower()
    assert (again, closed) == ("still failed", "closed")
    recording = read(path)
    check_rows(recording, int(flushed))
    assert len(recording.steps()) == int(flushed)
    assert not recording.complete
    assert "no end mark" in recording.problem


def test_write_error_in_close_is_told_once(world, tmp_path, monkeypatch):
    writer = world.writer(tmp_path / "r.mcap")
    writer.write_rows(0, np.arange(10), world.rows(10))
    writer.flush()
    writer.write_rows(0, np.arange(10, 20), world.rows(10))
    whole = (tmp_path / "r.mcap").stat().st_size
    raw = writer._file._file

    class Full:
        """A disk that takes a few bytes more and then is full."""

        def write(self, data):
            if len(data) > 5:
                return raw.write(data[:5])
            raise OSError(28, "No space left on device")

        def __getattr__(self, name):
            return getattr(raw, name)

    monkeypatch.setattr(writer._file, "_file", Full())
    with pytest.raises(RecordingError, match="No space left on device"):
        writer.close({})
    writer.close({})
    assert (tmp_path / "r.mcap").stat().st_size == whole
    np.testing.assert_array_equal(read(tmp_path / "r.mcap").steps(), np.arange(10))


def test_unwritable_place_is_named(world, tmp_path):
    with pytest.raises(RecordingError, match=r"nowhere.r\.mcap"):
        world.writer(tmp_path / "nowhere" / "r.mcap")


def chunked(world, path: Path) -> tuple[np.ndarray, int]:
    """A file of several chunks; returns its rows and where its description ends."""
    writer = world.writer(path, [StreamSpec("state", 1, world.names), StreamSpec("slow", 2, ("vivi/pose",))])
    end = path.stat().st_size
    rows = world.rows(60)
    for start in range(0, 60, 6):
        writer.write_rows(0, np.arange(start, start + 6), rows[start : start + 6])
        writer.write_rows(1, np.arange(start, start + 6, 2), rows[start : start + 6 : 2])
        writer.write_command(start, "vivi", np.full(3, float(start)), f"source {start}")
        writer.write_snapshot(start, b"snap" * start)
        writer.write_log(start, "info", f"at {start}")
        writer.write_clock(start, start, 0.0)
        writer.flush()
    writer.close({"end": "yes"})
    return rows, end


def use_everything(recording) -> None:
    for channel in recording.channels:
        assert len(recording[channel.name]) == len(recording.time(channel.name)) == len(recording.steps(channel.name))
    for robot in {channel.robot for channel in recording.inputs}:
        steps, values, sources = recording.commands(robot)
        assert len(steps) == len(values) == len(sources)
    for stream in recording.streams:
        recording.to_arrow(stream.name)
    (
        recording.snapshots(),
        recording.logs(),
        recording.clock(),
        recording.problem,
        recording.duration,
        recording.rates,
    )


def test_cut_anywhere_reads_a_prefix(world, tmp_path):
    rows, description_end = chunked(world, tmp_path / "whole.mcap")
    data = (tmp_path / "whole.mcap").read_bytes()
    rng = np.random.default_rng(11)
    cuts = {*rng.integers(0, len(data), 60).tolist(), 0, 1, 8, description_end, len(data) - 1, len(data) - 30}
    lengths = {}
    for cut in sorted(cuts):
        path = tmp_path / "cut.mcap"
        path.write_bytes(data[:cut])
        try:
            recording = read(path)
        except InputError as error:
            assert cut < description_end
            assert "cut.mcap" in str(error)
            continue
        assert not recording.complete
        use_everything(recording)
        for name in recording.channels.slices:
            count = len(recording.steps(name))
            np.testing.assert_array_equal(recording[name], world.channels.value(rows[:count], name))
        if cut >= description_end:
            lengths[cut] = count = len(recording.steps("vivi/pose"))
            assert count % 6 == 0
            starts = list(range(0, count, 6))
            steps, values, sources = recording.commands("vivi")
            assert steps.tolist() == starts
            np.testing.assert_array_equal(values, np.repeat(steps[:, None], 3, axis=1))
            assert sources == [f"source {start}" for start in starts]
            assert recording.snapshots() == [(start, b"snap" * start) for start in starts]
            assert recording.logs() == [(start, "info", f"at {start}") for start in starts]
    assert lengths[description_end] == 0
    assert lengths[len(data) - 1] == 60
    assert list(lengths.values()) == sorted(lengths.values())


def test_cut_between_chunk_and_its_index_still_reads_the_chunk(world, tmp_path):
    rows, _ = chunked(world, tmp_path / "whole.mcap")
    data = (tmp_path / "whole.mcap").read_bytes()
    from mcap.reader import make_reader

    with (tmp_path / "whole.mcap").open("rb") as file:
        chunk = make_reader(file).get_summary().chunk_indexes[4]
    for extra in (0, 40):
        (tmp_path / "cut.mcap").write_bytes(data[: chunk.chunk_start_offset + chunk.chunk_length + extra])
        recording = read(tmp_path / "cut.mcap")
        np.testing.assert_array_equal(recording["kite/pose"], rows[:30, world.channels.slice_of("kite/pose")])
        assert recording.commands("vivi")[0].tolist() == [0, 6, 12, 18, 24]


def test_flipped_bytes_never_crash_and_never_change_a_number(world, tmp_path):
    rows, _ = chunked(world, tmp_path / "whole.mcap")
    data = bytearray((tmp_path / "whole.mcap").read_bytes())
    rng = np.random.default_rng(3)
    outcomes = set()
    for at in rng.integers(0, len(data), 150).tolist():
        damaged = data.copy()
        damaged[at] ^= int(rng.integers(1, 256))
        (tmp_path / "d.mcap").write_bytes(damaged)
        try:
            recording = read(tmp_path / "d.mcap")
            use_everything(recording)
            outcomes.add(recording.complete)
            if "vivi/wheels/left/speed" in recording:
                speed = recording["vivi/wheels/left/speed"]
                np.testing.assert_array_equal(speed, rows[: len(speed), 7])
        except BotzError as error:
            assert "d.mcap" in str(error)
            outcomes.add("refused")
    assert outcomes == {True, False, "refused"}


def test_a_chunk_with_a_wrong_checksum_ends_the_reading_there(world, tmp_path):
    chunked(world, tmp_path / "r.mcap")
    data = bytearray((tmp_path / "r.mcap").read_bytes())
    from mcap.reader import make_reader

    with (tmp_path / "r.mcap").open("rb") as file:
        chunk = make_reader(file).get_summary().chunk_indexes[2]
    data[chunk.chunk_start_offset + 9 + 24] ^= 1  # the stored checksum
    (tmp_path / "r.mcap").write_bytes(data)
    recording = read(tmp_path / "r.mcap")
    assert recording.steps().tolist() == list(range(12))
    assert not recording.complete
    assert "wrong checksum" in recording.problem


@pytest.mark.parametrize("content", [b"", b"\x89MCAP0", b"PK\x03\x04 something else", b"x y z\n1 2 3\n"])
def test_other_files_are_refused_by_name(tmp_path, content):
    (tmp_path / "other.mcap").write_bytes(content)
    with pytest.raises(InputError, match=r"other\.mcap: not an MCAP file"):
        read(tmp_path / "other.mcap")


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(InputError, match=r"no\.mcap: no such file"):
        read(tmp_path / "no.mcap")
    with pytest.raises(InputError, match=r"holds no recording\.mcap"):
        read(tmp_path)


def foreign(path: Path, metadata: dict[str, str] | None, channel: dict[str, str] | None = None) -> Path:
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start("ros2", "other")
        if metadata is not None:
            writer.add_metadata("botz/header", metadata)
        schema = writer.register_schema("botz_msgs/msg/A", "ros2msg", b"float64 x\n")
        number = writer.register_channel("/a/state", "cdr", schema, channel or {})
        writer.add_message(number, 0, b"\0\1\0\0short", 0)
        writer.finish()
    return path


GOOD = {
    "format": "1",
    "scenario": "{}",
    "scenario_name": "n",
    "engine": "e",
    "seed": "1",
    "step_ns": "1000",
    "info": "{}",
    "streams": '[{"name": "state", "every": 1, "channels": ["a/x"]}]',
}
FIELDS = {"x": {"channel": "a/x", "unit": "m", "components": [], "description": ""}}
ROLE = {"role": "stream", "stream": "state", "robot": "a", "every": 1, "fields": FIELDS}


def test_mcap_of_another_program_is_not_a_recording(tmp_path):
    with pytest.raises(InputError, match="not a recording of Botz"):
        read(foreign(tmp_path / "f.mcap", None))


@pytest.mark.parametrize(
    "change",
    [
        {"format": "99"},
        {"seed": "many"},
        {"step_ns": "0"},
        {"step_ns": "-5"},
        {"scenario": "["},
        {"scenario": "[" * 100_000},
        {"scenario": "3"},
        {"info": "null"},
        {"streams": "{}}"},
        {"streams": '[{"name": "state"}]'},
        {"streams": '[{"name": "state", "every": Infinity, "channels": []}]'},
    ],
)
def test_damaged_headers_are_refused_by_name(tmp_path, change):
    with pytest.raises(InputError, match=r"f\.mcap"):
        read(foreign(tmp_path / "f.mcap", {**GOOD, **change}))


@pytest.mark.parametrize(
    "role",
    [
        "{",
        "[]",
        json.dumps({**ROLE, "fields": 3}),
        json.dumps({**ROLE, "fields": {"x": {"channel": "a/x"}}}),
        json.dumps({**ROLE, "every": None}),
        json.dumps({"role": "command", "robot": "a", "fields": {"x": FIELDS["x"], "y": FIELDS["x"]}}),
        json.dumps({**ROLE, "fields": {"x": {**FIELDS["x"], "channel": "nameless"}}}),
    ],
)
def test_damaged_channel_descriptions_are_refused_by_name(tmp_path, role):
    with pytest.raises(InputError, match=r"f\.mcap.*description"):
        read(foreign(tmp_path / "f.mcap", GOOD, {"botz": role}))


def test_short_messages_are_left_out(tmp_path):
    recording = read(foreign(tmp_path / "f.mcap", GOOD, {"botz": json.dumps(ROLE)}))
    assert recording["a/x"].shape == (0,)


def hostile_chunk(path: Path, claimed: int, packed: bytes, compression: str = "zstd") -> Path:
    from mcap.data_stream import RecordBuilder
    from mcap.records import Chunk, Header, Metadata

    builder = RecordBuilder()
    builder.write(b"\x89MCAP0\r\n")
    Header("ros2", "x").write(builder)
    Metadata("botz/header", GOOD).write(builder)
    Chunk(compression, packed, 0, 0, 0, claimed).write(builder)
    path.write_bytes(builder.end())
    return path


def test_a_chunk_that_claims_too_much_is_refused(tmp_path):
    with pytest.raises(RecordingError, match=r"h\.mcap: refused.*bytes unpacked"):
        read(hostile_chunk(tmp_path / "h.mcap", 1 << 40, b"x"))


def test_a_frame_that_unpacks_to_more_than_the_chunk_says_is_not_unpacked(tmp_path):
    bomb = zstandard.ZstdCompressor(level=1).compress(bytes(64 << 20))
    recording = read(hostile_chunk(tmp_path / "h.mcap", 100, bomb))
    assert not recording.complete
    assert "another size" in recording.problem


@pytest.mark.parametrize(("packed", "compression"), [(b"not zstd", "zstd"), (b"", "zstd"), (b"abc", "rar")])
def test_chunks_that_cannot_be_unpacked_are_told(tmp_path, packed, compression):
    recording = read(hostile_chunk(tmp_path / "h.mcap", 100, packed, compression))
    assert not recording.complete
    assert "damaged" in recording.problem


def test_a_record_of_absurd_length_is_refused(world, tmp_path):
    world.writer(tmp_path / "h.mcap").close({})
    with (tmp_path / "h.mcap").open("r+b") as file:
        file.seek(9)
        file.write((1 << 60).to_bytes(8, "little"))
    with pytest.raises(RecordingError, match=r"h\.mcap: damaged"):
        read(tmp_path / "h.mcap")


def test_a_tail_of_zeros_is_told(world, tmp_path):
    chunked(world, tmp_path / "r.mcap")
    data = (tmp_path / "r.mcap").read_bytes()
    (tmp_path / "r.mcap").write_bytes(data[: summary_of(data) - 13] + bytes(5000))
    recording = read(tmp_path / "r.mcap")
    assert "damaged from byte" in recording.problem
    assert len(recording.steps()) == 60


def summary_of(data: bytes) -> int:
    return int.from_bytes(data[-28:-20], "little")


class Clock:
    """Wall time that a test moves."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr("botz.record.writer.time", SimpleNamespace(monotonic=lambda: self.now))


@pytest.mark.parametrize(("options", "synced"), [({}, [4, 8, 12]), ({"sync_seconds": None}, [])])
def test_flushed_every_fifth_of_a_second_and_synced_every_second(world, tmp_path, monkeypatch, options, synced):
    clock = Clock(monkeypatch)
    syncs: list[int] = []
    monkeypatch.setattr("botz.record.mcap_file.os.fsync", lambda number: syncs.append(turn))
    path = tmp_path / "r.mcap"
    writer = world.writer(path, **options)
    rows = world.rows(30)
    for turn in range(1, 13):
        clock.now = 100.0 + 0.25 * turn
        writer.write_rows(0, np.array([2 * turn]), rows[:1])
        assert read(path).steps()[-1] == 2 * turn
        writer.write_rows(0, np.array([2 * turn + 1]), rows[:1])  # not yet due
        assert read(path).steps()[-1] == 2 * turn
    assert syncs == synced
    turn = 99
    writer.close({})
    assert syncs == [*synced, 99] if synced else not syncs


def test_duration_of_a_cut_recording_is_that_of_its_last_state(world, tmp_path):
    path = tmp_path / "r.mcap"
    writer = world.writer(path)
    writer.write_rows(0, np.arange(10), world.rows(10))
    writer.write_snapshot(500, b"later")
    writer.write_command(600, "vivi", np.zeros(3), "x")
    writer.write_log(700, "info", "later still")
    writer.flush()
    cut = read(path)
    assert cut.duration == 9 * world.header.step_ns / 1e9
    assert "read up to t = 0.018 s" in cut.problem
    writer.close({})
    assert read(path).duration == 700 * world.header.step_ns / 1e9


def test_a_disk_that_cannot_be_synced_is_told(world, tmp_path, monkeypatch):
    def broken(number):
        raise OSError(5, "Input/output error")

    writer = world.writer(tmp_path / "r.mcap")
    writer.write_rows(0, np.arange(10), world.rows(10))
    monkeypatch.setattr("botz.record.mcap_file.os.fsync", broken)
    with pytest.raises(RecordingError, match="Input/output error"):
        writer.close({})


def test_a_run_with_few_rows_is_flushed_between_them(tmp_path, monkeypatch):
    from botz.record.writer import RecordingWriter
    from botz.run import simulate

    looks: list[int] = []
    monkeypatch.setattr(RecordingWriter, "flush_if_due", lambda self: looks.append(0))
    turns: list[int] = []
    settings = {"record.rate": 1.0, "record.snapshots": 0, "time.duration": 3.0, "record.sync": False}
    simulate("differential-circle", overrides=settings, out=tmp_path, progress=lambda step, until: turns.append(step))
    assert len(looks) >= len(turns) > 5
