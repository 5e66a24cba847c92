"""Two robots of different families, a writer for them, and numbers that can be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from botz.channels import Channel, ChannelTable, ImuView, JointView, PoseView
from botz.record.streams import RecordingHeader, StreamSpec
from botz.record.writer import RecordingWriter

STEP_NS = 2_000_000


@dataclass
class World:
    """What a writer needs, and rows to write."""

    channels: ChannelTable
    inputs: ChannelTable
    views: tuple
    header: RecordingHeader

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(channel.name for channel in self.channels)

    def rows(self, count: int) -> np.ndarray:
        return np.random.default_rng(5).normal(size=(count, self.channels.width))

    def writer(self, path: Path, streams=None, **options) -> RecordingWriter:
        streams = streams or [StreamSpec("state", 1, self.names)]
        views = options.pop("views", self.views)
        return RecordingWriter(path, self.header, self.channels, self.inputs, streams, views, **options)


@pytest.fixture
def world() -> World:
    channels = ChannelTable(
        [
            Channel("vivi/pose", "m, m, rad", "Pose in the world", ("x", "y", "heading")),
            Channel("vivi/twist", "m/s, m/s, rad/s", "Velocity, own axes", ("vx", "vy", "yaw_rate")),
            Channel("vivi/wheels/left/angle", "rad", "Angle of the left wheel"),
            Channel("vivi/wheels/left/speed", "rad/s", "ω of the left wheel"),
            Channel("kite/pose", "m, m, m, 1, 1, 1, 1", "Pose", ("x", "y", "z", "qw", "qx", "qy", "qz")),
            Channel("kite/twist", "m/s, m/s, m/s, rad/s, rad/s, rad/s", "Twist", ("vx", "vy", "vz", "p", "q", "r")),
            Channel("kite/imu/attitude", "1", "Attitude", ("w", "x", "y", "z")),
            Channel("kite/imu/gyro", "rad/s", "Rates", ("x", "y", "z")),
            Channel("kite/imu/acceleration", "m/s²", "Specific force", ("x", "y", "z")),
        ]
    )
    inputs = ChannelTable(
        [
            Channel("vivi/left/speed", "rad/s", "Speed of the left wheel"),
            Channel("vivi/twist", "m/s, rad/s", "Chassis", ("vx", "yaw_rate")),
        ]
    )
    views = (
        PoseView("vivi", "vivi", "odom", "vivi/pose", "vivi/twist"),
        PoseView("kite", "kite", "odom", "kite/pose", "kite/twist"),
        PoseView("kite", "kite/blind", "blind", "kite/pose"),
        JointView("vivi", ("left", "right"), ("vivi/wheels/left/angle", ""), (), ("vivi/wheels/left/speed", "")),
        ImuView("kite", "imu", "kite/imu/attitude", "kite/imu/gyro", "kite/imu/acceleration"),
        ImuView("kite", "gyro", None, "kite/imu/gyro", "kite/imu/acceleration"),
    )
    scenario = {"name": "demo", "robots": {"vivi": {"wheels": [0.1, 0.2]}}, "label": "größer"}
    header = RecordingHeader(scenario, "demo", "kinematics", 42, STEP_NS, {"machine": "x", "python": "3"})
    return World(channels, inputs, views, header)
