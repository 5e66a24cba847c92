"""What processes share: whole rows, a ring that loses nothing, slots for commands, and no litter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from common import PATIENCE

from botz.errors import BotzError, InputError
from botz.sim import shared_memory
from botz.sim.attached import pack_command, unpack_command
from botz.sim.shared_memory import SLOTS_PER_ROBOT, W_DROPPED, Segment, clean_up, process_birth, running

pytestmark = pytest.mark.usefixtures("shared_memory_folder")


def segment_of(width: int = 64, robots: int = 2, ring: int = 4096) -> Segment:
    return Segment.create({"about": "a test"}, width=width, robots=robots, command_width=3, ring=ring)


@contextmanager
def python(code: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A Python process with the segment's module; it is ended with the test."""
    head = "import sys, time, numpy as np\nfrom botz.sim.shared_memory import *\n"
    process = subprocess.Popen(
        [sys.executable, "-c", head + code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_reader_never_sees_a_torn_row():
    segment = segment_of(width=512)
    code = """
segment, row, k = Segment.attach(sys.argv[1]), np.empty(512), 0
print("ready", flush=True)
while True:
    k += 1
    row[:] = k
    segment.publish(k, row)
"""
    with python(code, segment.run_id) as writer:
        assert first_line(writer) == "ready"
        torn, seen, deadline = 0, set(), time.monotonic() + PATIENCE
        for _ in range(20_000):
            step, row = segment.latest()
            torn += int(not (row == step).all())
            seen.add(step)
        while len(seen) < 100 and time.monotonic() < deadline:
            seen.add(segment.latest()[0])
    assert torn == 0
    assert len(seen) >= 100, "the writer did not write"


def test_the_ring_loses_nothing_and_keeps_the_order():
    segment = segment_of(ring=1000)
    code = """
segment = Segment.attach(sys.argv[1])
rng = np.random.default_rng(1)
for k in range(3000):
    assert segment.push(k.to_bytes(4, "little") + rng.bytes(int(rng.integers(0, 300))), wait=1e9)
"""
    rng = np.random.default_rng(1)
    with python(code, segment.run_id):
        deadline = time.monotonic() + PATIENCE
        for k in range(3000):
            expected = k.to_bytes(4, "little") + rng.bytes(int(rng.integers(0, 300)))
            while (frame := segment.pop()) is None:
                assert time.monotonic() < deadline
            assert frame == expected
    assert segment.pop() is None
    assert segment.words[W_DROPPED] == 0


def test_a_full_ring_drops_and_counts():
    segment = segment_of(ring=100)
    assert [segment.push(bytes(32), wait=0.0) for _ in range(4)] == [True, True, False, False]
    assert segment.words[W_DROPPED] == 2
    assert segment.pop() == bytes(32)
    assert segment.push(b"x" * 32, wait=0.0)
    assert [segment.pop(), segment.pop(), segment.pop()] == [bytes(32), b"x" * 32, None]
    assert segment.push(bytes(92), wait=0.0) and segment.pop() == bytes(92), "a frame may fill the ring"
    with pytest.raises(BotzError, match="does not fit"):
        segment.push(bytes(93), wait=0.0)


def test_a_full_ring_waits_for_its_reader():
    segment = segment_of(ring=100)
    assert segment.push(bytes(80), wait=0.0)
    with python("print(Segment.attach(sys.argv[1]).push(b'late', wait=1e9), flush=True)", segment.run_id) as writer:
        time.sleep(0.1)
        assert segment.pop() == bytes(80)
        assert first_line(writer) == "True"
    assert segment.pop() == b"late"
    assert segment.words[W_DROPPED] == 0


def test_a_segment_survives_its_readers():
    segment = segment_of()
    segment.publish(7, np.arange(64.0))
    with python("print(Segment.attach(sys.argv[1]).latest()[0], flush=True)", segment.run_id) as reader:
        assert first_line(reader) == "7"
        assert reader.wait(timeout=PATIENCE) == 0
    with python("Segment.attach(sys.argv[1])\nprint(1, flush=True)\ntime.sleep(1000)", segment.run_id) as reader:
        assert first_line(reader) == "1"
        reader.kill()
        reader.wait()
    assert segment.path.exists()
    assert Segment.attach(segment.run_id).latest()[0] == 7


def test_a_segment_is_small_private_and_named_by_its_run(shared_memory_folder: Path):
    segment = Segment.create({}, width=200, robots=3, command_width=10)
    assert segment.path == shared_memory_folder / segment.run_id
    assert len(segment.run_id) >= 16 and segment.descriptor["run_id"] == segment.run_id
    assert segment_of().run_id != segment.run_id
    assert segment.path.stat().st_size < 10 << 20
    if os.name == "posix":
        assert shared_memory_folder.stat().st_mode & 0o777 == 0o700
        assert segment.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_folder_open_to_others_is_refused_and_left_as_it_is(shared_memory_folder: Path):
    shared_memory_folder.chmod(0o777)
    with pytest.raises(BotzError, match=r"other users may write into .* \(mode 0777\); set BOTZ_SHM_DIR"):
        segment_of()
    assert shared_memory_folder.stat().st_mode & 0o777 == 0o777


@pytest.mark.skipif(os.name != "posix", reason="links and owners are POSIX's")
def test_a_link_in_the_folders_place_is_refused_and_what_it_points_to_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    important = tmp_path / "important"
    important.mkdir()
    (important / "thesis.tex").write_text("two years of work", encoding="utf-8")
    os.utime(important / "thesis.tex", (1e9, 1e9))
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / f"botz-{os.getuid()}").symlink_to(important)
    monkeypatch.setenv("BOTZ_SHM_DIR", str(shared))
    for use in (clean_up, running, segment_of):
        with pytest.raises(BotzError, match="is a symbolic link; set BOTZ_SHM_DIR"):
            use()
    assert [path.name for path in important.iterdir()] == ["thesis.tex"]


@pytest.mark.skipif(os.name != "posix", reason="owners are POSIX's")
def test_a_folder_of_another_user_is_refused(monkeypatch: pytest.MonkeyPatch):
    uid = os.getuid()
    monkeypatch.setattr("botz.private_folder.user_mark", lambda: str(uid))
    monkeypatch.setattr(shared_memory, "user_mark", lambda: str(uid))
    monkeypatch.setattr(os, "getuid", lambda: uid + 1)
    with pytest.raises(BotzError, match="belongs to another user; set BOTZ_SHM_DIR"):
        running()


def test_attaching_to_nothing_is_explained(shared_memory_folder: Path):
    segment = segment_of()
    with pytest.raises(InputError, match=f"running now: {segment.run_id}"):
        Segment.attach("0123456789abcdef")
    with pytest.raises(InputError, match="not the id"):
        Segment.attach("../../etc/passwd")
    (shared_memory_folder / "empty").touch()
    (shared_memory_folder / "other").write_bytes(bytes(8192))
    for name in ("empty", "other"):
        with pytest.raises(BotzError, match="not a run's shared memory"):
            Segment.attach(name)


# --- commands ----------------------------------------------------------------------------------------------


def test_commands_arrive_once_whole_and_in_order():
    segment = segment_of(robots=2)
    seen = segment.slot_words[:, 0].copy()
    first, second = segment.claim_slot(1), segment.claim_slot(0)
    assert (first // SLOTS_PER_ROBOT, second // SLOTS_PER_ROBOT) == (1, 0)
    segment.send(first, np.array([1.0, 2.0, 3.0]))
    segment.send(second, np.array([4.0, 5.0]))
    assert not segment.taken(first)
    [(_, slot_a, a), (_, slot_b, b)] = segment.receive(seen)
    assert segment.taken(first)
    assert (slot_a, a.tolist()) == (first, [1.0, 2.0, 3.0])
    assert slot_b == second and b[:2].tolist() == [4.0, 5.0] and np.isnan(b[2])
    assert segment.receive(seen) == []
    segment.send(first, np.array([6.0, 6.0, 6.0]))
    segment.send(first, np.array([7.0, 7.0, 7.0]))
    assert [values.tolist() for _, _, values in segment.receive(seen)] == [[7.0, 7.0, 7.0]], "the latest counts"


def test_slots_are_claimed_released_and_taken_from_the_dead():
    segment = segment_of(robots=2)
    mine = [segment.claim_slot(0) for _ in range(SLOTS_PER_ROBOT - 1)]
    assert sorted(mine) == list(range(SLOTS_PER_ROBOT - 1))
    with python(
        "print(Segment.attach(sys.argv[1]).claim_slot(0), flush=True)\ntime.sleep(1000)", segment.run_id
    ) as other:
        theirs = int(first_line(other))
        assert theirs == SLOTS_PER_ROBOT - 1
        with pytest.raises(BotzError, match="already send"):
            segment.claim_slot(0)
        assert segment.claim_slot(1) == SLOTS_PER_ROBOT, "another robot has slots of its own"
        other.kill()
        other.wait()
    assert segment.claim_slot(0) == theirs
    segment.release_slot(mine[1])
    assert segment.claim_slot(0) == mine[1]


def test_a_lock_left_by_a_killed_process_does_not_block():
    segment = segment_of()
    lock = segment.path.with_suffix(".lock")
    lock.touch()
    assert segment.claim_slot(0) == 0
    assert not lock.exists()


def test_commands_pack_and_unpack():
    layout = [("left/speed", 1), ("right/speed", 1), ("twist", 3)]
    packed = pack_command(layout, "duo", {"twist": (1, 2, 3), "left/speed": 4})
    command = unpack_command(layout, np.concatenate([packed, [np.nan]]))
    assert set(command) == {"left/speed", "twist"}
    assert command["left/speed"] == 4.0 and command["twist"].tolist() == [1.0, 2.0, 3.0]
    for wrong, words in [
        ({"twist": (1, 2)}, "finite numbers"),
        ({"left/speed": np.inf}, "one finite"),
        ({"left/sped": 1}, "did you mean"),
        ({"left/speed": "fast"}, "one finite"),
        ({"left/speed": {}}, "one finite"),
    ]:
        with pytest.raises(InputError, match=words):
            pack_command(layout, "duo", wrong)


# --- litter ------------------------------------------------------------------------------------------------


def test_segments_of_the_dead_are_removed_and_those_of_the_living_stay(shared_memory_folder: Path):
    code = "print(Segment.create({}, width=1, robots=1, command_width=1).run_id, flush=True)\ntime.sleep(1000)"
    with python(code) as one, python(code) as other:
        dead, alive = first_line(one), first_line(other)
        assert sorted(running()) == sorted([dead, alive])
        (shared_memory_folder / f"{dead}.lock").write_bytes(shared_memory.owner_words())
        (shared_memory_folder / f"{alive}.lock").write_bytes(shared_memory.owner_words())
        os.kill(one.pid, signal.SIGKILL)
        one.wait()
        assert running() == [alive]
        clean_up()
        assert sorted(path.name for path in shared_memory_folder.iterdir()) == [alive, f"{alive}.lock"]


def test_only_files_of_ours_are_removed(shared_memory_folder: Path):
    data = {"notes.txt": b"mine", "empty": b"", "0123456789abcdef": bytes(8192), "fedcba9876543210.lock": b""}
    for name, content in data.items():
        (shared_memory_folder / name).write_bytes(content)
    (shared_memory_folder / "folder").mkdir()
    kept = {*data, "folder"}
    if os.name == "posix":
        left = shared_memory_folder.parent / "left"  # begins as ours do, but lies elsewhere
        left.write_bytes(shared_memory.OURS)
        (shared_memory_folder / "link").symlink_to(left)
        os.mkfifo(shared_memory_folder / "pipe")  # opening it would wait for ever
        kept |= {"link", "pipe"}
    for path in shared_memory_folder.iterdir():
        os.utime(path, (1e9, 1e9), follow_symlinks=False)
    assert running() == []
    clean_up()
    assert {path.name for path in shared_memory_folder.iterdir()} == kept


def test_a_segment_left_half_made_is_removed(shared_memory_folder: Path):
    code = """
os.posix_fallocate = os.ftruncate = lambda *_: (print("half", flush=True), time.sleep(1000))
Segment.create({}, width=1, robots=1, command_width=1)
"""
    with python(f"import os{code}") as maker:
        assert first_line(maker) == "half"
        clean_up()
        assert len(list(shared_memory_folder.iterdir())) == 1, "it is being made"
        maker.kill()
        maker.wait()
        clean_up()
        assert list(shared_memory_folder.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process started")
def test_a_process_number_that_was_used_again_does_not_keep_a_segment_alive():
    segment = segment_of()
    assert running() == [segment.run_id]
    segment.words[shared_memory.W_BIRTH] -= 1
    assert running() == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_dead_child_that_nobody_waited_for_is_dead():
    with python("") as child:
        deadline = time.monotonic() + PATIENCE
        while process_birth(child.pid) != -1 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert process_birth(child.pid) == -1
        assert Path(f"/proc/{child.pid}").exists(), "it was not a zombie after all"
    assert process_birth(os.getpid()) > 0
