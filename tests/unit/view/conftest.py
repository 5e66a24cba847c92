"""Recordings with known paths, made by the writer itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from recorded_runs import PLANAR

from botz.channels import ChannelTable
from botz.record.reader import Recording, read
from botz.record.streams import RecordingHeader, StreamSpec
from botz.record.writer import RecordingWriter

STEP_NS = 10_000_000
Record = Callable[..., Recording]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Writes rows and reads them back; `closed=False` leaves the file as a killed run does."""

    def make(rows: np.ndarray, channels=PLANAR, *, name="run", scenario=None, closed=True) -> Recording:
        table = ChannelTable(channels)
        path = tmp_path / f"{name}.mcap"
        header = RecordingHeader(scenario or {"name": name}, name, "kinematics", 1, STEP_NS)
        streams = [StreamSpec("state", 1, tuple(channel.name for channel in channels))]
        writer = RecordingWriter(path, header, table, ChannelTable([]), streams, flush_seconds=0.0)
        for start in range(0, len(rows), 50):
            block = rows[start : start + 50]
            writer.write_rows(0, np.arange(start, start + len(block)), block)
            writer.flush()
        writer.close({})
        if not closed:
            whole = path.read_bytes()
            path.write_bytes(whole[: len(whole) * 2 // 3])
        return read(path)

    return make
