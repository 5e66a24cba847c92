"""Master, line and slave without sockets: how the arm follows, and what it never does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from teleop_rig import ARM, PERIOD, RATE, START, Rig, connected, largest_speed, slow

from botz.control.teleop.master import MasterEnd
from botz.control.teleop.motion import MARGIN, RAMP
from botz.control.teleop.slave import Seen, Slave
from botz.scenario.arm.motion import Teleoperation

# --- following ---------------------------------------------------------------------------------------------


def test_it_follows_a_slow_master_through_a_bad_line_within_the_stated_bound():
    delay, losses = 0.2, 4
    rig = connected(line={"delay": delay, "loss": 0.05})
    errors: list[float] = []
    began = rig.ticks

    def hands(t: float) -> dict[str, Any]:
        errors.append(float(np.max(np.abs(slow(t) - rig.q))))
        return {"joints": slow(t)}

    rig.drive(30.0, hands)
    # v (delay + wait for the next update + time to the message after those lost + ramp to the speed that catches up)
    bound = 0.2 * (delay + PERIOD + (1 + losses) / RATE + RAMP * 0.2 / 0.8)
    assert max(errors) <= bound
    assert max(errors) >= 0.2 * delay * 0.9, "the delay must be seen"
    assert rig.there.lost > 0.02 * rig.there.sent
    assert rig.slave.counts["accepted"] > 1300
    feedback = rig.master.feedback
    assert feedback["state"] == "following"
    assert rig.ticks - began == 3000
    # The master knows where its arm was one delay ago.
    assert np.max(np.abs(np.array(feedback["joints"]) - rig.path[-1 - round(delay / PERIOD)])) < 0.2 * 5 / RATE


def test_the_reference_is_smooth_between_messages():
    rig = connected()
    rig.drive(6.0, lambda t: {"joints": slow(t)})
    # Followed as the staircase that the messages are, it would be v/period = 20 rad/s²; the master has 0.2.
    assert changes_of_speed(rig).max() <= 0.5


def changes_of_speed(rig: Rig) -> np.ndarray:
    return np.abs(np.diff(rig.path, n=2, axis=0)) / PERIOD**2


def test_a_message_that_is_lost_now_and_then_is_not_felt():
    rig = connected()

    def hands(t: float) -> dict[str, Any]:
        rig.cut = round(t * RATE) % 5 == 3
        return {"joints": slow(t)}

    rig.drive(6.0, hands)
    assert changes_of_speed(rig).max() <= 1.5, "20 where it waits for the next message and catches up"


def test_a_scale_makes_the_slaves_motion_smaller():
    rig = connected(scale=0.25)
    rig.drive(1.0, {"joints": np.full(6, 0.3)})
    rig.drive(3.0, {"joints": np.full(6, 0.5)})
    assert np.allclose(rig.q, START + 0.25 * 0.2, atol=1e-4)


def test_it_holds_its_place_within_the_timeout_when_the_line_is_cut():
    rig = connected(line={"delay": 0.2}, timeout=0.3)
    rig.drive(2.0, lambda t: {"twist": [0.1, 0.05, 0, 0, 0, 0.1]})
    assert np.abs(rig.v).max() > 0.05
    rig.cut = True
    last_sent = rig.t
    rig.drive(1.0, lambda t: {"twist": [0.1, 0.05, 0, 0, 0, 0.1]})
    stood = round((last_sent - 1 / RATE + 0.2 + 0.3) / PERIOD) + 2
    assert np.all(np.diff(rig.path[stood:], axis=0) == 0.0)
    assert rig.slave.situation(rig.t) == "silent"
    # When the line is back the master goes on from where its hands are, and nothing jumps.
    rig.cut = False
    held = rig.q.copy()
    rig.drive(1.0, {"joints": np.ones(6)})
    assert np.allclose(rig.q, held)
    assert rig.slave.situation(rig.t) == "following"


# --- clutch ------------------------------------------------------------------------------------------------


def test_a_master_that_is_somewhere_else_moves_nothing_at_first():
    rig = connected()
    rig.drive(1.0, {"joints": np.zeros(6)})
    assert np.array_equal(rig.q, START)
    rig.drive(2.0, {"joints": np.full(6, 0.1)})
    assert np.allclose(rig.q, START + 0.1, atol=1e-4)


def test_a_master_that_agrees_counts_as_it_is():
    rig = connected()
    rig.drive(1.0, {"joints": START + 0.005})
    assert np.allclose(rig.q, START + 0.005, atol=1e-5)


def test_with_the_clutch_open_the_master_may_go_anywhere():
    rig = connected()
    rig.drive(2.0, {"joints": START})
    rig.drive(2.0, lambda t: {"joints": START - 0.1 * t})
    rig.drive(1.0, lambda t: {"joints": START - 0.2 + t, "clutch": False})
    held = rig.q.copy()
    rig.drive(1.0, lambda t: {"joints": START + 0.8 - 3.0 * t, "clutch": False})
    assert np.array_equal(rig.q, held)
    assert rig.master.feedback["state"] == "clutch open"
    rig.drive(1.0, {"joints": START - 2.2})
    assert np.array_equal(rig.q, held)
    rig.drive(2.0, lambda t: {"joints": START - 2.2 + 0.05 * t})
    assert np.allclose(rig.q, held + 0.1, atol=0.01)


def test_a_clutch_that_opens_between_two_updates_counts_too():
    rig = connected()
    rig.drive(0.1, {"joints": np.zeros(6)})
    rig.say(joints=np.zeros(6), clutch=False)
    rig.say(joints=np.full(6, 0.5))
    rig.tick()
    rig.drive(1.0, {"joints": np.full(6, 0.5)})
    assert np.allclose(rig.q, START)


# --- emergency stop ----------------------------------------------------------------------------------------


def test_the_emergency_stop_stays_until_a_reset_with_the_clutch_open():
    rig = connected()
    rig.drive(1.0, lambda t: {"twist": [0.1, 0, 0, 0, 0, 0]})
    rig.say(twist=[0.1, 0, 0, 0, 0, 0], stop=True)
    command = rig.tick()
    assert command is not None and not np.any(command["speed"])
    held = rig.q.copy()
    for hands in (
        {"twist": [0.1, 0, 0, 0, 0, 0]},
        {"twist": [0.1, 0, 0, 0, 0, 0], "reset": True},
        {"twist": [0.1, 0, 0, 0, 0, 0], "clutch": False},
        {"twist": [0.1, 0, 0, 0, 0, 0], "reset": True, "stop": True, "clutch": False},
    ):
        rig.drive(0.2, hands)
        assert rig.master.feedback["state"] == "stopped"
        assert np.array_equal(rig.q, held)
    rig.drive(0.1, {"clutch": False, "reset": True})
    assert rig.master.feedback["state"] == "clutch open"
    assert np.array_equal(rig.q, held)
    rig.drive(0.5, {"twist": [0.1, 0, 0, 0, 0, 0]})
    assert rig.tool()[0] > ARM.forward(held)[0, 3] + 0.02


def test_an_emergency_stop_brings_the_reference_to_where_the_arm_is():
    slave = Slave(ARM, Teleoperation(), period=PERIOD)
    master = MasterEnd(1)
    master.take(slave.take(master.hello(), "m", 0.0, "s")[1] or "")
    behind = START - 0.02
    for k in range(100):
        slave.take(master.drive(k * PERIOD, joints=START + 0.002 * k), "m", k * PERIOD, "")
        seen = Seen(k * PERIOD, behind, START, np.zeros(7), np.zeros(6))
        slave.command(k * PERIOD, seen)
    slave.take(master.drive(1.0, stop=True), "m", 1.0, "")
    command = slave.command(1.0, Seen(1.0, behind, START, np.zeros(7), np.zeros(6)))
    assert command is not None
    assert np.array_equal(command["position"], behind)
    # Later it stays there, though the arm sinks: a stop that followed the arm would let it creep down.
    command = slave.command(1.01, Seen(1.01, behind - 0.01, START, np.zeros(7), np.zeros(6)))
    assert command is not None and np.array_equal(command["position"], behind)


def test_the_stop_outlives_its_master():
    rig = connected()
    rig.drive(0.2, {"joints": START})
    rig.say(stop=True)
    rig.say(release=True, clutch=False)
    rig.tick()
    rig.master = MasterEnd(5)
    rig.greet()
    rig.drive(0.5, lambda t: {"twist": [0.1, 0, 0, 0, 0, 0]})
    assert rig.master.feedback["state"] == "stopped"
    assert np.array_equal(rig.q, START)


def test_a_stop_counts_though_it_was_overtaken_or_long_underway():
    rig = connected(timeout=0.3)
    rig.drive(0.5, {"twist": [0.1, 0, 0, 0, 0, 0]})
    overtaken = rig.master.drive(rig.t, stop=True)
    rig.drive(0.1, {"twist": [0.1, 0, 0, 0, 0, 0]})
    assert rig.slave.take(overtaken, "stranger", rig.t, "")[0] == "unknown_session"
    assert not rig.slave.stopped
    assert rig.slave.take(overtaken, "master", rig.t, "")[0] == "old"
    assert rig.slave.stopped
    rig.drive(0.1, {"clutch": False, "reset": True})
    assert not rig.slave.stopped
    underway = rig.master.drive(rig.t, stop=True)
    for _ in range(100):
        rig.tick()
    assert rig.slave.take(underway, "master", rig.t, "")[0] == "late"
    assert rig.slave.stopped


def test_a_stop_from_before_the_reset_does_not_come_back():
    rig = connected()
    rig.drive(0.1, {"joints": START})
    other = MasterEnd(7)
    other.take(rig.slave.take(other.hello(), "other", rig.t, "second")[1] or "")
    stops = [(rig.master.drive(rig.t, stop=True), "master"), (other.drive(rig.t, stop=True), "other")]
    for data, sender in stops:
        rig.slave.take(data, sender, rig.t, "")
    assert rig.slave.stopped
    rig.drive(0.1, {"clutch": False, "reset": True})
    for data, sender in stops:
        assert rig.slave.take(data, sender, rig.t, "")[0] == "old"
    assert not rig.slave.stopped
    assert rig.slave.take(other.drive(rig.t, stop=True), "other", rig.t, "")[0] == "busy"
    assert rig.slave.stopped, "a new one counts"


def test_a_stop_holds_the_jaws_where_they_are():
    rig = connected()
    rig.drive(0.1, {"joints": START, "opening": 0.0})
    rig.opening = 0.07
    rig.say(joints=START, opening=0.0, stop=True)
    assert (rig.tick() or {})["gripper/opening"] == 0.07
    rig.opening = 0.069
    rig.say(joints=START, opening=0.0)
    assert (rig.tick() or {})["gripper/opening"] == 0.07, "it stays there, though the jaws yield"
    rig.say(clutch=False, reset=True)
    assert (rig.tick() or {})["gripper/opening"] == 0.07
    rig.say(joints=START, opening=0.0)
    assert (rig.tick() or {})["gripper/opening"] == 0.0


def test_a_master_that_leaves_leaves_the_arm_at_rest():
    rig = connected()
    rig.drive(0.5, {"twist": [0.1, 0, 0, 0, 0, 0]})
    assert np.abs(rig.v).max() > 0.05
    rig.say(twist=[0.1, 0, 0, 0, 0, 0], release=True)
    last = rig.tick()
    assert last is not None and not np.any(last["speed"])
    assert [rig.tick() for _ in range(20)] == [None] * 20


# --- limits ------------------------------------------------------------------------------------------------


def test_no_joint_is_faster_than_its_share():
    rig = connected(limits={"joint_speed": 0.5})
    rig.drive(0.1, {"joints": START})
    rig.drive(1.0, {"joints": START + 1.0})
    assert rig.slave.limits
    assert "speed" in rig.master.feedback["limits"]
    assert rig.master.feedback["state"] == "limited"
    speed = largest_speed(rig)
    assert np.all(speed <= 0.5 * ARM.speed * (1 + 1e-9))
    assert np.allclose(speed[:5], 0.5 * ARM.speed[:5])


def test_no_joint_leaves_its_range():
    rig = connected()
    rig.drive(0.1, {"joints": START})
    rig.drive(12.0, {"joints": START + 9.0})
    assert np.all(ARM.within(rig.path, slack=1e-12))
    assert np.allclose(rig.q[:5], ARM.upper[:5], atol=1e-3)
    assert "range" in rig.master.feedback["limits"]
    assert max(rig.master.feedback["error"]) > 5.0, "the master hears how far it is away"


def test_cartesian_rates_are_those_of_the_tool():
    rig = connected(scale=0.5)
    wanted = np.array([0.1, -0.06, 0.04, 0.0, 0.0, 0.1])
    rig.drive(1.0, {"twist": wanted})
    rig.drive(0.5, {"twist": wanted})
    before = ARM.forward(rig.path[-51])
    moved = ARM.forward(rig.q)
    assert np.allclose(moved[:3, 3] - before[:3, 3], 0.5 * wanted[:3] * 0.5, atol=1e-4)
    turn = moved[:3, :3] @ before[:3, :3].T
    assert np.allclose([turn[2, 1], turn[0, 2], turn[1, 0]], 0.5 * wanted[3:] * 0.5, atol=1e-3)


def test_the_tool_is_not_faster_than_its_limits():
    rig = connected(limits={"speed": 0.2, "turn_rate": 0.3})
    rig.drive(1.0, {"twist": [3.0, 0, 4.0, 0, 5.0, 0]})
    places = np.array([ARM.forward(q)[:3, 3] for q in rig.path])
    assert np.max(np.linalg.norm(np.diff(places, axis=0), axis=1)) / PERIOD <= 0.2 * 1.01
    assert "speed" in rig.master.feedback["limits"]


def inside(places: np.ndarray, low: list[float], high: list[float]) -> bool:
    return bool(np.all(places >= np.array(low) - 1e-12) and np.all(places <= np.array(high) + 1e-12))


@pytest.mark.parametrize("direction", [[1, 0, 0], [0, 0.8, 1], [-1, 0.3, 0.2], [0.2, 0, -1], [1, 1, 1]])
def test_the_tool_stays_in_its_box_and_slides_along_its_faces(direction):
    place = ARM.forward(START)[:3, 3]
    low, high = (place - 0.1).tolist(), (place + 0.12).tolist()
    rig = connected(limits={"low": low, "high": high})
    rig.drive(4.0, {"twist": [*(0.2 * np.array(direction)), 0, 0, 0]})
    places = np.array([ARM.forward(q)[:3, 3] for q in rig.path])
    assert inside(places, low, high)
    assert "box" in rig.master.feedback["limits"]
    for axis, way in enumerate(direction):
        if abs(way) >= 0.3:
            assert abs(rig.tool()[axis] - (high if way > 0 else low)[axis]) < 3 * MARGIN
    # And back out of the corner.
    rig.drive(1.0, {"twist": [*(-0.05 * np.array(direction)), 0, 0, 0]})
    assert "box" not in rig.master.feedback["limits"]


def test_joints_that_lead_out_of_the_box_are_held_too():
    place = ARM.forward(START)[:3, 3]
    low, high = (place - 0.1).tolist(), (place + 0.1).tolist()
    rig = connected(limits={"low": low, "high": high})
    rng = np.random.default_rng(3)
    rig.drive(0.1, {"joints": START})
    for _ in range(12):
        rig.drive(1.5, {"joints": START + rng.uniform(-1.0, 1.0, 6)})
    places = np.array([ARM.forward(q)[:3, 3] for q in rig.path])
    assert inside(places, low, high)
    assert np.ptp(places, axis=0).max() > 0.15, "it moves in its box"
    rig.drive(4.0, {"joints": START})
    assert np.allclose(rig.q, START, atol=1e-3), "and comes back when the master does"


def test_a_miniature_arm_slides_along_a_face_too():
    place = ARM.forward(START)[:3, 3]
    rig = connected(limits={"high": [9.0, 9.0, float(place[2]) + 0.03]})
    rig.drive(0.1, {"joints": START})
    up = START + np.array([0.0, 0.3, 0.0, 0.0, 0.0, 0.0])
    rig.drive(2.0, {"joints": up})
    assert "box" in rig.master.feedback["limits"]
    rig.drive(3.0, lambda t: {"joints": up + np.array([-0.2 * t, 0, 0, 0, 0, 0])})
    assert rig.q[0] == pytest.approx(START[0] - 0.6, abs=0.05), "pushing upwards does not keep it from turning"
    assert place[2] + 0.02 < rig.tool()[2] <= place[2] + 0.03


def test_a_tool_that_starts_outside_its_box_can_only_come_nearer():
    place = ARM.forward(START)[:3, 3]
    rig = connected(limits={"high": (place - [0.1, -1, -1]).tolist()})
    rig.drive(0.5, {"twist": [0.2, 0, 0, 0, 0, 0]})
    assert rig.tool()[0] <= place[0] + 1e-6
    rig.drive(2.0, {"twist": [-0.1, 0, 0, 0, 0, 0]})
    assert rig.tool()[0] < place[0] - 0.15


def test_an_arm_that_is_held_is_not_pushed_ever_harder():
    rig = connected()
    rig.drive(0.1, {"joints": START})
    stuck = rig.q.copy()
    slave = rig.slave
    for k in range(1000):
        rig.ticks += 1
        slave.take(rig.master.drive(rig.t, joints=START + 2.0), "master", rig.t, "")
        command = slave.command(rig.t, Seen(rig.t, stuck, slave.reference, np.zeros(7), np.zeros(6)))
        assert command is not None, k
    lead = slave.reference - stuck
    assert np.all(lead <= 0.5 * ARM.speed + 1e-9)
    assert "lead" in slave.limits


def test_rates_that_lead_nowhere_move_nothing():
    """The stretched arm cannot go further out; without damping it would turn its joints as fast as they can."""
    rig = Rig()
    rig.q = np.zeros(6)
    rig.path = [rig.q]
    rig.greet()
    rig.drive(0.3, {"twist": [0.3, 0.0, 0.0, 0.0, 0.0, 0.0]})
    assert np.all(largest_speed(rig) <= 0.02 * ARM.speed)


def test_nothing_explodes_at_a_singularity():
    rig = Rig()
    rig.q = np.zeros(6)
    rig.path = [rig.q]
    rig.greet()
    rig.drive(3.0, {"twist": [0.3, 0.0, 0.0, 0.0, 0.0, 0.0]})
    rig.drive(3.0, {"twist": [-0.3, 0.2, 0.1, 0.0, 0.5, 0.0]})
    assert np.all(np.isfinite(rig.path))
    assert np.all(largest_speed(rig) <= ARM.speed * (1 + 1e-9))
