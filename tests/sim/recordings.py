"""How the tests of the loop look at recordings, and a sink that keeps everything it is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from botz.record.reader import Recording


def bits(rec: Recording) -> dict[str, bytes]:
    """Steps and values of every channel, as bytes."""
    return {c.name: rec.steps(c.name).tobytes() + rec[c.name].tobytes() for c in rec.channels}


class Kept:
    """A sink for `run_loop`."""

    def __init__(self) -> None:
        self.blocks: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
        self.commands: list[tuple[int, str, list[float], str]] = []
        self.snapshots: list[tuple[int, bytes]] = []
        self.clock: list[int] = []

    def write_rows(self, stream: int, steps: np.ndarray, rows: np.ndarray) -> None:
        self.blocks.setdefault(stream, []).append((steps.copy(), rows.copy()))

    def write_command(self, step: int, robot: str, values: np.ndarray, source: str) -> None:
        self.commands.append((step, robot, values.tolist(), source))

    def write_snapshot(self, step: int, data: bytes) -> None:
        self.snapshots.append((step, data))

    def write_log(self, step: int, level: str, text: str) -> None: ...

    def write_clock(self, step: int, wall_ns: int, lateness_s: float) -> None:
        self.clock.append(step)

    def steps(self, stream: int = 0) -> np.ndarray:
        return np.concatenate([steps for steps, _ in self.blocks[stream]])

    def rows(self, stream: int = 0) -> np.ndarray:
        return np.concatenate([rows for _, rows in self.blocks[stream]])

    def as_bytes(self) -> dict[str, Any]:
        streams = {index: (self.steps(index).tobytes(), self.rows(index).tobytes()) for index in self.blocks}
        return {"streams": streams, "commands": self.commands, "snapshots": self.snapshots}
