"""What a running physics process shares: its latest state, a lossless ring for the recorder, slots for commands.

A segment is a file of fixed size mapped into memory, in a folder of the user's own (mode 0700) on a memory file system
where there is one. A mapped file, unlike Python's named segments, is never unlinked by a reader that exits (before
Python 3.13 the resource tracker does that), can be listed, and works alike on every system. Its name is the run's id.

One process writes each part, so no locks are needed: a counter that is odd while its owner writes tells a reader to
look again (seqlock), and the ring's two counters each have one writer.
"""

from __future__ import annotations

import json
import mmap
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from botz.errors import BotzError, InputError
from botz.private_folder import private_folder, starts_with, user_mark

OURS = b"BOTZ"
"""How every file of ours begins; no other file is ever removed."""
MAGIC = int.from_bytes(OURS + b"1", "little")
BEING_MADE = int.from_bytes(OURS + b"0", "little")
"""The first word of a segment that is not laid out yet, and of locks."""
PAGE = 4096
SLOTS_PER_ROBOT = 4
"""How many processes may send commands to one robot at once."""
RING_BYTES = 8 << 20
PATIENCE = 2.0
"""A state is written within microseconds; one that stays half written this long [s] was left by a kill -9."""

# Words of the control block, int64 each.
(
    W_MAGIC, W_PID, W_BIRTH, W_DESCRIPTOR, W_STATUS, W_STOP, W_PAUSE, W_STEP, W_HEAD, W_TAIL, W_DROPPED, W_SEQUENCE,
    W_STATE_STEP, W_STEP_UNTIL, W_FACTOR,
) = range(15)  # fmt: skip
STARTING, RUNNING, FINISHED = range(3)


@intrinsic
def memory_fence(typing_context):
    """A full memory barrier: weakly ordered processors keep the order in which counters and data are written."""

    def generate(context, builder, signature, arguments):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), generate


@njit(cache=True)
def fence():
    memory_fence()


def segment_folder() -> Path:
    """Folder of this user's segments: memory where the system has it. In a folder that all users share, somebody else
    may have put something under this name before: that is refused."""
    chosen = os.environ.get("BOTZ_SHM_DIR")
    if chosen:
        base = Path(chosen)
    else:
        base = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path(tempfile.gettempdir())
    try:
        return private_folder(base / f"botz-{user_mark()}")
    except OSError as error:
        raise BotzError(f"no folder for shared memory: {error}; set BOTZ_SHM_DIR to a folder of your own") from error


def process_birth(pid: int) -> int:
    """When a process started, in the system's own count; tells it from a later one with the same number. 0 if unknown,
    −1 if there is none."""
    if sys.platform == "linux":
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            return -1 if fields[0] in "ZX" else int(fields[19])  # a dead process may stay on the list
        except (OSError, IndexError, ValueError):
            return -1
    if sys.platform == "win32":
        import ctypes

        query_limited_information = 0x1000
        handle = ctypes.windll.kernel32.OpenProcess(query_limited_information, False, pid)
        if not handle:
            return -1
        ctypes.windll.kernel32.CloseHandle(handle)
        return 0
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return -1
    except OSError:
        return 0
    return 0


def owner_words() -> bytes:
    """The first words of a file of ours: that it is one, and whose."""
    return np.array([BEING_MADE, os.getpid(), process_birth(os.getpid())], dtype=np.int64).tobytes()


class Segment:
    """One run's shared memory, created by the process that starts the run or opened by a reader."""

    def __init__(self, path: Path, size: int, *, create: bool):
        self.path = path
        flags = os.O_RDWR | getattr(os, "O_BINARY", 0) | (os.O_CREAT | os.O_EXCL if create else 0)
        descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            if create:
                os.write(descriptor, owner_words())  # so that it can be removed when this process is killed here
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(descriptor, 0, size)  # a full memory file system is an error here, not a crash
                else:
                    os.ftruncate(descriptor, size)
            self._map = mmap.mmap(descriptor, os.fstat(descriptor).st_size)
        except (OSError, ValueError) as error:
            if not create:
                raise BotzError(f"{path} is not a run's shared memory ({error})") from error
            path.unlink(missing_ok=True)
            raise BotzError(f"cannot reserve {size} bytes of shared memory in {path.parent}: {error}") from error
        finally:
            os.close(descriptor)
        self._bytes = np.frombuffer(self._map, dtype=np.uint8)
        self.words = self._bytes[:PAGE].view(np.int64)
        fence()  # compiled now, not in the middle of a real-time run

    # --- making and finding --------------------------------------------------------------------------------

    @classmethod
    def create(
        cls, descriptor: Mapping[str, Any], *, width: int, robots: int, command_width: int, ring: int = RING_BYTES
    ) -> Segment:
        """`descriptor` says what the numbers mean (channel tables and so on); it holds no terrain and no meshes."""
        clean_up()
        run_id = secrets.token_hex(8)
        slots = SLOTS_PER_ROBOT * robots
        layout = {"width": width, "command_width": command_width, "ring": ring, "slots": slots}
        text = json.dumps({**descriptor, "run_id": run_id, "layout": layout}).encode()
        sizes = [PAGE, len(text), 8 * width, slots * 8 * (4 + command_width), ring]
        offsets = np.cumsum([0] + [-(-size // PAGE) * PAGE for size in sizes])
        segment = cls(segment_folder() / run_id, int(offsets[-1]), create=True)
        segment._bytes[offsets[1] : offsets[1] + len(text)] = np.frombuffer(text, dtype=np.uint8)
        segment.words[W_DESCRIPTOR] = len(text)
        segment._lay_out()
        segment.words[W_MAGIC] = MAGIC
        return segment

    @classmethod
    def attach(cls, run_id: str) -> Segment:
        if not run_id.isalnum():
            raise InputError(f"{run_id!r} is not the id of a run")
        path = segment_folder() / run_id
        if not path.exists():
            raise InputError(f"no run {run_id!r} is going on; running now: {', '.join(running()) or 'none'}")
        segment = cls(path, 0, create=False)
        if segment.words[W_MAGIC] != MAGIC:
            raise BotzError(f"{path} is not a run's shared memory, or one of another version of Botz")
        segment._lay_out()
        return segment

    def _lay_out(self) -> None:
        length = int(self.words[W_DESCRIPTOR])
        self.descriptor: dict[str, Any] = json.loads(bytes(self._bytes[PAGE : PAGE + length]))
        layout = self.descriptor["layout"]
        width, commands, ring, count = (layout[key] for key in ("width", "command_width", "ring", "slots"))
        sizes = [PAGE, length, 8 * width, count * 8 * (4 + commands), ring]
        offsets = [int(o) for o in np.cumsum([0] + [-(-size // PAGE) * PAGE for size in sizes])]
        self.row = self._bytes[offsets[2] : offsets[2] + sizes[2]].view(np.float64)
        slots = self._bytes[offsets[3] : offsets[3] + sizes[3]].view(np.float64).reshape(count, 4 + commands)
        self.slot_words = slots[:, :4].view(np.int64)
        """Each slot's sequence, pid of its writer, stamp [ns], and the sequence that the physics took last."""
        self.slot_values = slots[:, 4:]
        self.ring = self._bytes[offsets[4] : offsets[4] + ring]

    @property
    def run_id(self) -> str:
        return self.path.name

    @property
    def factor(self) -> float:
        """The factor of real time that is asked for; 0 for as fast as possible."""
        return float(self.words[W_FACTOR : W_FACTOR + 1].view(np.float64)[0])

    @factor.setter
    def factor(self, value: float) -> None:
        self.words[W_FACTOR : W_FACTOR + 1].view(np.float64)[0] = value

    def unlink(self) -> None:
        """Take the segment off the list. Those who have it mapped keep it; what they read no longer changes."""
        remove(self.path)

    # --- latest state: written by the physics alone --------------------------------------------------------

    def publish(self, step: int, row: np.ndarray) -> None:
        words = self.words
        words[W_SEQUENCE] += 1
        fence()
        self.row[:] = row
        words[W_STATE_STEP] = step
        fence()
        words[W_SEQUENCE] += 1

    def latest(self) -> tuple[int, np.ndarray]:
        """Step and row of the latest published state, whole."""
        deadline = time.perf_counter() + PATIENCE
        while time.perf_counter() < deadline:
            before = int(self.words[W_SEQUENCE])
            fence()
            step, row = int(self.words[W_STATE_STEP]), self.row.copy()
            fence()
            if before % 2 == 0 and before == int(self.words[W_SEQUENCE]):
                return step, row
            time.sleep(0)
        raise BotzError(f"run {self.run_id} ended while it wrote its state")

    # --- commands: each writer has slots of its own ------------------------------------------------------

    def claim_slot(self, robot: int) -> int:
        """A slot for this process' commands to one robot; slots of processes that have died are free again."""
        lock = self.path.with_suffix(".lock")
        for _ in range(200):
            try:
                descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
                os.write(descriptor, owner_words())
                os.close(descriptor)
                break
            except FileExistsError:
                time.sleep(0.005)
        # A lock held for a second belongs to a process that was killed.
        try:
            for index in range(SLOTS_PER_ROBOT * robot, SLOTS_PER_ROBOT * (robot + 1)):
                pid = int(self.slot_words[index, 1])
                if pid == 0 or process_birth(pid) == -1:
                    self.slot_words[index, 1] = os.getpid()
                    return index
        finally:
            lock.unlink(missing_ok=True)
        raise BotzError(f"run {self.run_id}: {SLOTS_PER_ROBOT} processes already send commands to this robot")

    def release_slot(self, slot: int) -> None:
        self.slot_words[slot, 1] = 0

    def send(self, slot: int, values: np.ndarray) -> None:
        """Put a command into this process' slot; NaN leaves an entry as it is."""
        words = self.slot_words[slot]
        writing = int(words[0]) | 1  # odd already where a process was killed while it wrote
        words[0] = writing
        fence()
        words[2] = time.monotonic_ns()
        self.slot_values[slot, : len(values)] = values
        self.slot_values[slot, len(values) :] = np.nan
        fence()
        words[0] = writing + 1

    def taken(self, slot: int) -> bool:
        """Whether the physics has taken the last command of a slot."""
        return int(self.slot_words[slot, 3]) == int(self.slot_words[slot, 0])

    def receive(self, seen: np.ndarray) -> list[tuple[int, int, np.ndarray]]:
        """New commands as (stamp, slot, values), in the order of their stamps [ns of the monotonic clock]; `seen` (an
        entry a slot) is kept up to date."""
        fresh = []
        for slot in np.flatnonzero(self.slot_words[:, 0] != seen):
            sequence = int(self.slot_words[slot, 0])
            if sequence % 2:
                continue
            fence()
            stamp = int(self.slot_words[slot, 2])
            values = self.slot_values[slot].copy()
            fence()
            if sequence == int(self.slot_words[slot, 0]):
                seen[slot] = sequence
                self.slot_words[slot, 3] = sequence
                fresh.append((stamp, int(slot), values))
        return sorted(fresh, key=lambda item: item[:2])

    # --- the ring: physics writes, the recorder reads ------------------------------------------------------

    def push(self, frame: bytes, *, wait: float) -> bool:
        """Append a frame; where the ring is full, wait up to `wait` seconds for room, then drop it and count it."""
        size = len(frame) + 8
        if size > self.ring.size:
            raise BotzError(f"a frame of {size} bytes does not fit a ring of {self.ring.size}")
        words = self.words
        deadline = time.perf_counter() + wait
        while int(words[W_HEAD]) - int(words[W_TAIL]) + size > self.ring.size:
            if time.perf_counter() >= deadline:
                words[W_DROPPED] += 1
                return False
            time.sleep(0.0005)
        head = int(words[W_HEAD])
        self._copy_in(head, len(frame).to_bytes(8, "little"))
        self._copy_in(head + 8, frame)
        fence()
        words[W_HEAD] = head + size
        return True

    def pop(self) -> bytes | None:
        words = self.words
        tail = int(words[W_TAIL])
        if tail == int(words[W_HEAD]):
            return None
        fence()
        size = int.from_bytes(self._copy_out(tail, 8), "little")
        frame = self._copy_out(tail + 8, size)
        fence()
        words[W_TAIL] = tail + 8 + size
        return frame

    def _copy_in(self, position: int, data: bytes) -> None:
        source = np.frombuffer(data, dtype=np.uint8)
        start = position % self.ring.size
        first = min(source.size, self.ring.size - start)
        self.ring[start : start + first] = source[:first]
        self.ring[: source.size - first] = source[first:]

    def _copy_out(self, position: int, size: int) -> bytes:
        start = position % self.ring.size
        first = min(size, self.ring.size - start)
        return self.ring[start : start + first].tobytes() + self.ring[: size - first].tobytes()


def running() -> list[str]:
    """Ids of the runs going on."""
    return [path.name for path in sorted(segment_folder().iterdir()) if path.suffix != ".lock" and is_alive(path)]


def is_alive(path: Path) -> bool:
    """Whether a file is a segment whose owner, a process, still runs."""
    if not starts_with(path, OURS):
        return False
    try:
        with path.open("rb") as file:
            words = np.frombuffer(file.read(8 * 3), dtype=np.uint8)
    except OSError:
        return False
    words = words[: words.size // 8 * 8].view(np.int64)
    return words.size == 3 and process_birth(int(words[W_PID])) == int(words[W_BIRTH])


def clean_up() -> None:
    """Remove what runs ended by `kill -9` have left behind: regular files that begin as ours do."""
    for path in segment_folder().iterdir():
        if starts_with(path, OURS) and not is_alive(path.with_suffix("")):
            remove(path)


def remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        return  # Windows keeps a file that somebody has mapped; a later run removes it
