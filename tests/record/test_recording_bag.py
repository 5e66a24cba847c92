"""The folder of a run as a bag of rosbag2, read by a program that knows nothing of Botz."""

from __future__ import annotations

import pytest

import botz


def test_the_folder_is_a_bag_with_standard_messages_of_sensors(tmp_path):
    rosbag2 = pytest.importorskip("rosbags.rosbag2")
    typesys = pytest.importorskip("rosbags.typesys")
    settings = {
        "time.duration": 0.3,
        "record.rate": 50.0,
        "robots.lophorina.sensors": {
            "gnss": {"type": "gps", "link": "body", "rate": 50.0},
            "compass": {"type": "magnetometer", "link": "body", "rate": 50.0},
            "baro": {"type": "barometer", "link": "body", "rate": 50.0},
        },
    }
    rec = botz.simulate("lophorina-hover", overrides=settings, out=tmp_path)
    store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    found: dict[str, list] = {}
    with rosbag2.Reader(tmp_path) as reader:
        for connection in reader.connections:
            store.register(typesys.get_types_from_msg(connection.msgdef.data, connection.msgtype))
        latched = {
            one.topic
            for one in reader.connections
            if any(qos.durability.name == "TRANSIENT_LOCAL" for qos in one.ext.offered_qos_profiles)
        }
        announced = {one.topic: one.msgcount for one in reader.connections}
        for connection, time_ns, raw in reader.messages():
            found.setdefault(connection.topic, []).append((time_ns, store.deserialize_cdr(raw, connection.msgtype)))
        assert reader.message_count == sum(announced.values())
        assert (reader.start_time, reader.end_time) == (0, round(rec.duration * 1e9) + 1)
    assert {topic: len(messages) for topic, messages in found.items()} == {k: n for k, n in announced.items() if n}
    assert latched == {"/lophorina/robot_description", "/robot_description", "/tf_static"}
    assert all(announced[topic] == 1 for topic in latched)
    placed = {one.child_frame_id for one in found["/tf_static"][0][1].transforms}
    assert found["/lophorina/gnss"][0][1].header.frame_id == "lophorina/gnss/sensor"
    assert {f"lophorina/{name}/sensor" for name in ("gnss", "compass", "baro")} <= placed
    steps = rec.steps("lophorina/gnss/position")
    kinds = {topic: type(messages[0][1]).__name__ for topic, messages in found.items()}
    assert kinds["/lophorina/gnss"].endswith("NavSatFix")
    assert kinds["/lophorina/compass"].endswith("MagneticField")
    assert kinds["/lophorina/baro"].endswith("FluidPressure")
    for k in range(len(steps)):
        time_ns, fix = found["/lophorina/gnss"][k]
        assert time_ns == steps[k] * rec.step_ns
        assert [fix.latitude, fix.longitude, fix.altitude] == rec["lophorina/gnss/position"][k].tolist()
        assert (fix.status.status, fix.status.service, fix.position_covariance_type) == (0, 1, 0)
        field = found["/lophorina/compass"][k][1].magnetic_field
        assert [field.x, field.y, field.z] == rec["lophorina/compass/field"][k].tolist()
        assert found["/lophorina/baro"][k][1].fluid_pressure == rec["lophorina/baro/pressure"][k]
