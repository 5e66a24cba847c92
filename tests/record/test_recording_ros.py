"""Every number of a recording, as seen by three programs that know nothing of Botz."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from mcap.records import DataEnd

from botz.channels import Channel, ChannelTable, JointView, PoseView
from botz.record.streams import RecordingHeader, StreamSpec
from botz.record.writer import RecordingWriter

COUNT = 40


def write_all(world, path: Path) -> np.ndarray:
    rows = world.rows(COUNT)
    streams = [
        StreamSpec("state", 1, world.names),
        StreamSpec("slow", 10, ("vivi/pose", "vivi/wheels/left/speed")),
    ]
    writer = world.writer(path, streams)
    writer.write_rows(0, np.arange(25), rows[:25])
    writer.flush()
    writer.write_rows(0, np.arange(25, COUNT), rows[25:])
    writer.write_rows(1, np.arange(0, COUNT, 10), rows[::10])
    writer.write_command(3, "vivi", np.array([1.5, -2.5, 0.25]), "go-to-pose")
    writer.write_command(700, "vivi", np.array([0.0, np.nan, np.inf]), "")
    writer.write_snapshot(5, bytes(range(256)))
    writer.write_log(6, "warning", "the wheel slips: ω too large")
    writer.write_clock(7, 1_700_000_000_123_456_789, 0.125)
    writer.close({"steps": "40"})
    return rows


def by_mcap_ros2(path: Path) -> dict[str, list]:
    reader = pytest.importorskip("mcap.reader")
    decoder = pytest.importorskip("mcap_ros2.decoder")
    found: dict[str, list] = {}
    with path.open("rb") as file:
        for _, channel, message, decoded in reader.make_reader(
            file, decoder_factories=[decoder.DecoderFactory()]
        ).iter_decoded_messages():
            assert message.log_time == message.publish_time
            found.setdefault(channel.topic, []).append((message.log_time, decoded))
    return found


def by_rosbags(path: Path) -> dict[str, list]:
    highlevel = pytest.importorskip("rosbags.highlevel")
    found: dict[str, list] = {}
    with highlevel.AnyReader([path]) as reader:
        for connection, time_ns, raw in reader.messages():
            decoded = reader.deserialize(raw, connection.msgtype)
            found.setdefault(connection.topic, []).append((time_ns, decoded))
    return found


def xyz(vector) -> list[float]:
    return [vector.x, vector.y, vector.z]


def quat(rotation) -> list[float]:
    return [rotation.x, rotation.y, rotation.z, rotation.w]


def stamp_ns(stamp) -> int:
    return stamp.sec * 1_000_000_000 + stamp.nanosec


@pytest.mark.parametrize("decode", [by_mcap_ros2, by_rosbags])
def test_every_number_of_every_topic(world, tmp_path, decode):
    path = tmp_path / "recording.mcap"
    rows = write_all(world, path)
    topics = decode(path)
    standard = {"/vivi/odom", "/kite/odom", "/kite/blind", "/vivi/joint_states", "/kite/imu", "/kite/gyro", "/tf"}
    own = {"/vivi/state", "/kite/state", "/vivi/slow", "/vivi/command"}
    assert set(topics) == standard | own | {"/botz/snapshot", "/botz/clock", "/rosout"}
    step_ns = world.header.step_ns

    def same(seen, expected):
        np.testing.assert_array_equal(np.array(seen, float), np.array(expected, float))

    at = world.channels.slice_of
    for topic in standard | {"/vivi/state", "/kite/state"}:
        assert [time for time, _ in topics[topic]] == [k * step_ns for k in range(COUNT)]
    for k, row in enumerate(rows):
        vivi = topics["/vivi/state"][k][1]
        assert vivi.step == k
        assert stamp_ns(vivi.stamp) == k * step_ns
        same(vivi.pose, row[at("vivi/pose")])
        same(vivi.twist, row[at("vivi/twist")])
        same([vivi.wheels_left_angle, vivi.wheels_left_speed], row[6:8])
        kite = topics["/kite/state"][k][1]
        for field in ("pose", "twist", "imu/attitude", "imu/gyro", "imu/acceleration"):
            same(getattr(kite, field.replace("/", "_")), row[at(f"kite/{field}")])

        x, y, heading = row[at("vivi/pose")]
        planar = [x, y, 0.0], [0.0, 0.0, np.sin(heading / 2), np.cos(heading / 2)]
        w, qx, qy, qz = row[at("kite/pose")][3:]
        spatial = row[at("kite/pose")][:3], [qx, qy, qz, w]
        vx, vy, rate = row[at("vivi/twist")]
        twists = {
            "/vivi/odom": [vx, vy, 0, 0, 0, rate],
            "/kite/odom": row[at("kite/twist")],
            "/kite/blind": [0] * 6,
        }
        poses = {"/vivi/odom": planar, "/kite/odom": spatial, "/kite/blind": spatial}
        frames = {"/vivi/odom": "vivi", "/kite/odom": "kite", "/kite/blind": "kite/blind"}
        transforms = {t.child_frame_id: t for t in topics["/tf"][k][1].transforms}
        assert set(transforms) == set(frames.values())
        for topic, (position, rotation) in poses.items():
            odometry = topics[topic][k][1]
            assert stamp_ns(odometry.header.stamp) == k * step_ns
            assert (odometry.header.frame_id, odometry.child_frame_id) == ("world", frames[topic])
            same(xyz(odometry.pose.pose.position), position)
            same(quat(odometry.pose.pose.orientation), rotation)
            twist = odometry.twist.twist
            same(xyz(twist.linear) + xyz(twist.angular), twists[topic])
            same(list(odometry.pose.covariance) + list(odometry.twist.covariance), [0.0] * 72)
            transform = transforms[frames[topic]]
            assert stamp_ns(transform.header.stamp) == k * step_ns
            assert transform.header.frame_id == "world"
            same(xyz(transform.transform.translation), position)
            same(quat(transform.transform.rotation), rotation)

        joints = topics["/vivi/joint_states"][k][1]
        assert list(joints.name) == ["left", "right"]
        same(joints.position, [row[6], np.nan])
        same(joints.velocity, [])
        same(joints.effort, [row[7], np.nan])
        imu, gyro = topics["/kite/imu"][k][1], topics["/kite/gyro"][k][1]
        w, qx, qy, qz = row[at("kite/imu/attitude")]
        same(quat(imu.orientation), [qx, qy, qz, w])
        same(imu.orientation_covariance, [0.0] * 9)
        same(gyro.orientation_covariance, [-1.0] + [0.0] * 8)
        for message in (imu, gyro):
            same(xyz(message.angular_velocity), row[at("kite/imu/gyro")])
            same(xyz(message.linear_acceleration), row[at("kite/imu/acceleration")])

    slow = [message for _, message in topics["/vivi/slow"]]
    assert [message.step for message in slow] == [0, 10, 20, 30]
    same([message.pose for message in slow], rows[::10, :3])
    same([message.wheels_left_speed for message in slow], rows[::10, 7])
    (first_ns, first), (last_ns, last) = topics["/vivi/command"]
    assert (first_ns, first.step, first.source) == (3 * step_ns, 3, "go-to-pose")
    same([first.left_speed, *first.twist], [1.5, -2.5, 0.25])
    assert (last_ns, last.step, last.source) == (700 * step_ns, 700, "")
    assert stamp_ns(last.stamp) == 1_400_000_000
    same([last.left_speed, *last.twist], [0.0, np.nan, np.inf])
    [(_, snapshot)] = topics["/botz/snapshot"]
    assert (snapshot.step, bytes(snapshot.data)) == (5, bytes(range(256)))
    [(_, log)] = topics["/rosout"]
    assert (log.level, log.msg, log.name, log.line) == (30, "the wheel slips: ω too large", "botz", 0)
    [(_, clock)] = topics["/botz/clock"]
    assert (clock.step, clock.wall_ns, clock.lateness) == (7, 1_700_000_000_123_456_789, 0.125)


@pytest.mark.filterwarnings("ignore:.*_time is deprecated")
def test_summary_index_and_checksums(world, tmp_path):
    reader = pytest.importorskip("mcap.reader")
    stream_reader = pytest.importorskip("mcap.stream_reader")
    path = tmp_path / "recording.mcap"
    write_all(world, path)
    with path.open("rb") as file:
        records = list(stream_reader.StreamReader(file, validate_crcs=True).records)
        file.seek(0)
        indexed = reader.make_reader(file)
        summary = indexed.get_summary()
        header = indexed.get_header()
        assert [record.name for record in indexed.iter_metadata()] == ["botz/header", "botz/summary"]
        counts: dict[int, int] = {}
        for _, channel, _ in indexed.iter_messages():
            counts[channel.id] = counts.get(channel.id, 0) + 1
        window = list(indexed.iter_messages("/vivi/state", start_time=10 * 2_000_000, end_time=30 * 2_000_000))
    assert header.profile == "ros2"
    assert header.library.startswith("botz ")
    assert records
    assert summary.statistics.channel_message_counts == counts
    assert summary.statistics.message_count == sum(counts.values())
    assert (summary.statistics.message_start_time, summary.statistics.message_end_time) == (0, 1_400_000_000)
    assert len(summary.chunk_indexes) == summary.statistics.chunk_count == 2
    assert [message.log_time // 2_000_000 for _, _, message in window] == list(range(10, 30))
    data = path.read_bytes()
    [end] = [record for record in records if isinstance(record, DataEnd)]
    assert end.data_section_crc != 0
    length = data.rindex(b"\x0f\x04\x00\x00\x00\x00\x00\x00\x00", 0, summary_start(data))
    assert zlib.crc32(data[:length]) == end.data_section_crc


def summary_start(data: bytes) -> int:
    """The footer is 20 bytes and the magic 8."""
    return int.from_bytes(data[-28:-20], "little")


def test_schemas_carry_units_components_and_descriptions(world, tmp_path):
    reader = pytest.importorskip("mcap.reader")
    path = tmp_path / "recording.mcap"
    write_all(world, path)
    with path.open("rb") as file:
        summary = reader.make_reader(file).get_summary()
    schemas = {schema.name: schema.data.decode() for schema in summary.schemas.values()}
    assert "# [m, m, rad] (x, y, heading) Pose in the world\nfloat64[3] pose\n" in schemas["botz_msgs/msg/ViviState"]
    assert "# [rad/s] ω of the left wheel\nfloat64 wheels_left_speed\n" in schemas["botz_msgs/msg/ViviState"]
    assert all(schema.encoding == "ros2msg" for schema in summary.schemas.values())
    assert all(channel.message_encoding == "cdr" for channel in summary.channels.values())


@pytest.mark.parametrize("decode", [by_mcap_ros2, by_rosbags])
def test_names_that_meet_are_told_apart(tmp_path, decode):
    names = ["a_b/c/d_e", "a_b/c_d/e", "a_b/step", "a_b/stamp", "a_b/class", "a_b/2d", "a_b/odd  näme", "a/b_c/d"]
    channels = ChannelTable([Channel(name, "1", "line one\nline two\n===\nMSG: x/Y # end") for name in names])
    streams = [
        StreamSpec("odom", 1, tuple(names)),
        StreamSpec("b_odom", 2, ("a/b_c/d",)),
        StreamSpec("command", 3, ()),
    ]
    header = RecordingHeader({}, "names", "none", 0, 1)
    inputs = ChannelTable([Channel("a/command", "1", ""), Channel("a_b/go", "1", "")])
    pose = ChannelTable([*channels, Channel("a/pose", "m, m, rad", "", ("x", "y", "heading"))])
    writer = RecordingWriter(tmp_path / "r.mcap", header, pose, inputs, streams, [PoseView("a", "a", "odom", "a/pose")])
    row = np.arange(pose.width, dtype=float)[None]
    writer.write_rows(0, [1], row)
    writer.write_rows(1, [2], row)
    writer.write_rows(2, [2], row)
    writer.write_command(1, "a", np.array([7.0]), "x")
    writer.write_command(1, "a_b", np.array([8.0]), "x")
    writer.close({})
    topics = decode(tmp_path / "r.mcap")
    assert set(topics) == {
        "/a/odom",
        "/a/odom_stream",
        "/a_b/odom",
        "/a/b_odom",
        "/a/command",
        "/a_b/command",
        "/tf",
    }
    [(_, message)] = topics["/a_b/odom"]
    fields = ["c_d_e", "c_d_e_2", "step_2", "stamp_2", "class_value", "f_2d", "odd_n_me"]
    assert [getattr(message, field) for field in fields] == list(range(7))
    assert topics["/a/odom_stream"][0][1].b_c_d == 7.0
    assert topics["/a/b_odom"][0][1].b_c_d == 7.0
    assert topics["/a/command"][0][1].command == 7.0
    assert topics["/a_b/command"][0][1].go == 8.0


def test_views_only_of_recorded_robots_with_known_channels(world, tmp_path):
    views = (*world.views, PoseView("vivi", "ghost", "ghost", "vivi/unknown"))
    writer = world.writer(tmp_path / "r.mcap", [StreamSpec("state", 1, ("vivi/wheels/left/speed",))], views=views)
    writer.write_rows(0, np.arange(3), world.rows(3))
    writer.close({})
    topics = by_mcap_ros2(tmp_path / "r.mcap")
    assert set(topics) == {"/vivi/state", "/vivi/odom", "/vivi/joint_states", "/tf"}
    assert [t.child_frame_id for t in topics["/tf"][0][1].transforms] == ["vivi"]


def joint_world(view: JointView, path: Path, rows: np.ndarray) -> None:
    names = ("first", "second", "third")
    channels = ChannelTable(
        [
            Channel("arm/position", "rad", "joint variables", names),
            Channel("arm/speed", "rad/s", "joint speeds", names),
            Channel("arm/torque", "N·m", "torques", names),
            Channel("arm/gripper/opening", "m", "between the pads"),
        ]
    )
    writer = RecordingWriter(
        path,
        RecordingHeader({}, "joints", "none", 0, 1_000_000),
        channels,
        ChannelTable([]),
        [StreamSpec("state", 1, tuple(channel.name for channel in channels))],
        [view],
    )
    writer.write_rows(0, np.arange(len(rows)), rows)
    writer.close({})


@pytest.mark.parametrize("decode", [by_mcap_ros2, by_rosbags])
def test_joints_whose_channels_are_vectors(tmp_path, decode):
    rows = np.random.default_rng(1).normal(size=(5, 10))
    names = ("first", "second", "third")
    view = JointView("arm", names, ("arm/position",), ("arm/speed",), ("arm/torque",))
    joint_world(view, tmp_path / "r.mcap", rows)
    states = decode(tmp_path / "r.mcap")["/arm/joint_states"]
    assert len(states) == 5
    for row, (_, state) in zip(rows, states, strict=True):
        assert list(state.name) == list(names)
        assert list(state.position) == row[:3].tolist()
        assert list(state.velocity) == row[3:6].tolist()
        assert list(state.effort) == row[6:9].tolist()


def test_one_vector_of_the_wrong_size_and_a_list_that_is_not_parallel_are_told(tmp_path):
    names = ("first", "second", "third")
    short = JointView("arm", names, ("arm/gripper/opening",))
    with pytest.raises(ValueError, match=r"'arm/gripper/opening' has 1 components; its view needs 3"):
        joint_world(short, tmp_path / "a.mcap", np.zeros((1, 10)))
    two = JointView("arm", names, ("arm/gripper/opening", "arm/gripper/opening"))
    with pytest.raises(ValueError, match="position is not parallel to the joints' names"):
        joint_world(two, tmp_path / "b.mcap", np.zeros((1, 10)))


def rerun_command() -> str | None:
    beside = Path(sys.executable).parent / "rerun"
    return shutil.which("rerun") or (str(beside) if beside.exists() else None)


@pytest.mark.skipif(rerun_command() is None, reason="rerun-sdk is not installed")
def test_rerun_checks_and_converts_it(world, tmp_path):
    write_all(world, tmp_path / "recording.mcap")
    # A home of its own: the program asks about usage data at its first start, and sends none then.
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}

    def rerun(*words: str) -> str:
        command = [str(rerun_command()), *words]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    assert "error" not in rerun("mcap", "check", "recording.mcap").lower()
    converted = rerun("mcap", "convert", "recording.mcap", "-o", "recording.rrd")
    for topic in ("/vivi/state", "/kite/state", "/vivi/slow", "/vivi/odom", "/kite/imu", "/tf", "/vivi/command"):
        assert f"{topic}," in converted
    rerun("rrd", "verify", "recording.rrd")
