"""Recordings with known paths, made by the writer itself, and robots of every kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from botz.engines.base import Channel, ChannelTable
from botz.engines.wheeled_robot import WheeledRobotModel
from botz.record.reader import Recording, read
from botz.record.streams import RecordingHeader, StreamSpec
from botz.record.writer import RecordingWriter
from botz.scenario.kinematics import WheeledRobot

STEP_NS = 10_000_000
Record = Callable[..., Recording]

PLANAR = [
    Channel("vivi/pose", "m, m, rad", "Pose in the world", ("x", "y", "heading")),
    Channel("vivi/twist", "m/s, m/s, rad/s", "Velocity, own axes", ("vx", "vy", "yaw_rate")),
    Channel("vivi/left/speed", "rad/s", "Speed of the left wheel"),
    Channel("vivi/left/ticks", "1", "Encoder"),
]


def circle(count: int, radius: float = 1.0) -> np.ndarray:
    """Rows of PLANAR: one turn on a circle."""
    angle = np.linspace(0.0, 2 * np.pi, count)
    speed = np.full(count, 0.5)
    columns = [radius * np.sin(angle), radius * (1 - np.cos(angle)), angle, speed, 0 * angle, speed / radius, angle, angle]
    return np.column_stack(columns)


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
            writer.write_rows("state", np.arange(start, start + len(block)), block)
        writer.close({})
        if not closed:
            whole = path.read_bytes()
            path.write_bytes(whole[: len(whole) * 2 // 3])
        return read(path)

    return make


def wheel(kind: str, x: float, y: float, **more) -> dict:
    return {"type": kind, "position": [x, y], **more}


ROBOTS: dict[str, dict] = {
    "differential": {
        "wheels": {
            "right": wheel("fixed", 0.0, -0.2, radius=0.1, driven=True),
            "left": wheel("fixed", 0.0, 0.2, radius=0.1, driven=True),
        }
    },
    "castor": {
        "wheels": {
            "right": wheel("fixed", 0.0, -0.2, driven=True),
            "left": wheel("fixed", 0.0, 0.2, driven=True),
            "rear": wheel("castor", -0.3, 0.0, offset=-0.04),
        }
    },
    "bicycle": {
        "wheels": {
            "rear": wheel("fixed", 0.0, 0.0, radius=0.3, driven=True),
            "front": wheel("steered", 1.0, 0.0, radius=0.3),
        }
    },
    "three-omni": {
        "wheels": {
            f"w{k}": wheel("swedish", 0.2 * np.cos(a), 0.2 * np.sin(a), heading=a + np.pi / 2, driven=True)
            for k, a in enumerate(np.radians([60.0, 180.0, 300.0]))
        }
    },
    "mecanum": {
        "wheels": {
            f"w{k}": wheel("swedish", 0.2 * sx, 0.15 * sy, roller_angle=-sx * sy * np.pi / 4, driven=True)
            for k, (sx, sy) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)])
        }
    },
    "ball": {"wheels": {"ball": wheel("spherical", 0.0, 0.0, radius=0.1, driven=True)}},
    "synchro": {
        "wheels": {f"w{k}": wheel("steered", x, y, driven=True) for k, (x, y) in enumerate([(0.2, 0), (-0.1, 0.2), (-0.1, -0.2)])},
        "drives": {"drive": {"wheels": ["w0", "w1", "w2"]}},
        "steering": {"turn": {"wheels": ["w0", "w1", "w2"]}},
    },
    "driven-castors": {
        "wheels": {f"c{k}": wheel("castor", x, y, offset=-0.03, driven=True) for k, (x, y) in enumerate([(0.2, 0.2), (-0.2, -0.2)])}
    },
    "skid-steer": {
        "wheels": {
            f"{side}{end}": wheel("fixed", x, y, driven=True)
            for side, y in (("left", 0.2), ("right", -0.2))
            for end, x in (("_front", 0.2), ("_rear", -0.2))
        },
        "drives": {"left": {"wheels": ["left_front", "left_rear"]}, "right": {"wheels": ["right_front", "right_rear"]}},
    },
    "supported": {
        "wheels": {
            "right": wheel("fixed", 0.0, -0.2, driven=True),
            "left": wheel("fixed", 0.0, 0.2, driven=True),
            "skid": wheel("support", 0.2, 0.0),
            "ball": wheel("spherical", -0.2, 0.0),
        },
        "body": {"outline": [[0.3, 0.0], [-0.3, 0.25], [-0.3, -0.25]]},
    },
}  # fmt: skip


def model_of(name: str) -> WheeledRobotModel:
    return WheeledRobotModel(WheeledRobot.model_validate(ROBOTS[name]))
