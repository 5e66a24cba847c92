"""Master, line and slave without sockets: what moves the arm, what does not, and how far behind it may be."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from botz.control.registry import build
from botz.control.teleop_line import DelayLine
from botz.control.teleop_master import MasterEnd
from botz.control.teleop_messages import packed, read_from_master, unpacked
from botz.control.teleop_motion import MARGIN, RAMP
from botz.control.teleop_script import MasterTable, read_table
from botz.control.teleop_slave import Seen, Slave
from botz.engines.serial_arm import SerialArm
from botz.errors import InputError
from botz.scenario.arm import ArmScenario
from botz.scenario.arm_motion import Line, Teleoperation, TeleoperationController
from botz.sim.snapshots import from_plain, to_plain

ARM = SerialArm.of("titan4")
START = np.array([0.2, 0.9, -1.6, 0.5, 0.3, 0.4])
PERIOD, RATE = 0.01, 50.0
EVERY = round(1.0 / (RATE * PERIOD))


class Rig:
    """A master, both ways of the line, the slave, and an arm that is always where its reference is."""

    def __init__(self, *, rng: int = 1, **options: Any):
        self.settings = Teleoperation.model_validate(options)
        self.rng = np.random.default_rng(rng)
        self.slave = Slave(ARM, self.settings, name="titan", period=PERIOD)
        self.master = MasterEnd(4711)
        self.there = DelayLine(self.settings.line, self.rng)
        self.back = DelayLine(self.settings.line, self.rng)
        self.ticks = 0
        self.q = START.copy()
        self.v = np.zeros(6)
        self.wrench = np.zeros(6)
        self.sent: list[str] = []
        """All that the master has sent."""
        self.cut = False
        self.verdicts: list[str] = []
        self.path: list[np.ndarray] = [self.q]

    @property
    def t(self) -> float:
        return self.ticks * PERIOD

    def seen(self) -> Seen:
        tool = np.array([*ARM.forward(self.q)[:3, 3], 1.0, 0.0, 0.0, 0.0])
        return Seen(self.t, self.q, self.q, tool, self.wrench, 0.05)

    def say(self, **what: Any) -> None:
        self.sent.append(self.master.drive(self.t, **what))
        if not self.cut:
            self.there.put(self.sent[-1], self.t)

    def tick(self, sender: str = "master") -> dict[str, Any] | None:
        accepted = False
        for data in self.there.arrived(self.t):
            verdict, reply, _ = self.slave.take(data, sender, self.t, f"session-{self.ticks}")
            self.verdicts.append(verdict)
            accepted |= verdict == "accepted"
            if reply is not None:
                self.back.put(reply, self.t)
        command = self.slave.command(self.t, self.seen())
        if accepted:
            self.back.put(self.slave.feedback(self.t, self.seen()), self.t)
        for data in self.back.arrived(self.t):
            self.master.take(data)
        if command is not None:
            assert np.allclose(command["position"], self.q, atol=1e-12), "the reference jumped"
            self.v = command["speed"]
            self.q = self.q + PERIOD * self.v
        self.path.append(self.q)
        self.ticks += 1
        return command

    def greet(self) -> None:
        while not self.master.session:
            if self.ticks % 50 == 0:
                self.there.put(self.master.hello(), self.t)
            self.tick()

    def drive(self, seconds: float, hands: Any) -> None:
        """`hands` is what the master says, or a function of the time since now."""
        began = self.ticks
        while self.ticks < began + round(seconds / PERIOD):
            if (self.ticks - began) % EVERY == 0:
                self.say(**(hands((self.ticks - began) * PERIOD) if callable(hands) else hands))
            self.tick()

    def tool(self) -> np.ndarray:
        return ARM.forward(self.q)[:3, 3]


def connected(**options: Any) -> Rig:
    rig = Rig(**options)
    rig.greet()
    return rig


def largest_speed(rig: Rig) -> np.ndarray:
    return np.max(np.abs(np.diff(rig.path, axis=0)), axis=0) / PERIOD


# --- following ---------------------------------------------------------------------------------------------


def slow(t: float) -> np.ndarray:
    """A master's sweep from the slave's start, at most 0.2 rad/s."""
    return START + 0.2 * np.array([1, -0.5, 0.8, 0.5, -1, 1]) * (1.0 - np.cos(t))


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
    return bool(np.all(places >= np.array(low) - 1e-8) and np.all(places <= np.array(high) + 1e-8))


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


# --- what must not move it ---------------------------------------------------------------------------------


def test_garbage_does_not_move_it():
    rig = connected()
    rig.drive(0.5, {"joints": START})
    good = rig.master.drive(rig.t, joints=START + 0.3)
    rng = np.random.default_rng(0)
    spoilt = [good[:k] for k in range(len(good))]
    spoilt += [good[:k] + chr(33 + rng.integers(90)) + good[k + 1 :] for k in range(len(good))]
    spoilt += ["", "x", "{}", "null", "[" * 5000, packed({}), packed({"session": rig.master.session})]
    before = rig.slave.snapshot()
    for data in [one for one in spoilt if one != good]:
        verdict, reply, why = rig.slave.take(data, "master", rig.t, "new")
        assert verdict == "malformed" and reply is None and why
    after = rig.slave.snapshot()
    assert {name for name in after if name != "counts" and not same(before[name], after[name])} == set()
    assert rig.slave.take(good, "master", rig.t, "new")[0] == "accepted"


def same(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other)) if isinstance(one, np.ndarray) else bool(one == other)


def test_old_doubled_and_replayed_messages_do_not_move_it():
    rig = connected()
    rig.drive(2.0, lambda t: {"joints": START + 0.1 * t})
    rig.drive(0.5, {"joints": START + 0.2})
    held = rig.q.copy()
    everything = list(rig.sent)
    for data in everything:
        assert rig.slave.take(data, "master", rig.t, "new")[0] == "old"
        rig.tick()
    assert np.allclose(rig.q, held, atol=1e-9)


def test_another_sessions_messages_do_not_move_it():
    rig = connected()
    rig.drive(1.0, lambda t: {"joints": START + 0.1 * t})
    recorded = list(rig.sent)
    rig.say(release=True, clutch=False)
    rig.tick()
    rig.master = MasterEnd(99)
    rig.greet()
    rig.drive(0.5, {"joints": rig.q})
    held = rig.q.copy()
    for data in recorded:
        assert rig.slave.take(data, "master", rig.t, "new")[0] == "unknown_session"
        assert rig.slave.take(data, "stranger", rig.t, "new")[0] == "unknown_session"
        rig.tick()
    assert np.allclose(rig.q, held)


def test_a_recorded_hello_and_what_followed_it_do_not_drive():
    rig = connected()
    rig.drive(1.0, lambda t: {"joints": START + 0.1 * t})
    recorded = [MasterEnd(4711).hello(), *rig.sent]
    for _ in range(200):
        rig.tick()
    held = rig.q.copy()
    assert rig.slave.situation(rig.t) == "silent"
    for k, data in enumerate(recorded):
        rig.slave.take(data, "attacker", rig.t, f"other-{k}")
        rig.tick()
    assert np.array_equal(rig.q, held)


def test_a_message_from_another_address_does_not_count():
    rig = connected()
    rig.drive(0.1, {"joints": START})
    data = rig.master.drive(rig.t, joints=START + 1.0)
    assert rig.slave.take(data, "stranger", rig.t, "new")[0] == "unknown_session"
    assert rig.slave.take(data, "master", rig.t, "new")[0] == "accepted"


def test_messages_that_were_held_up_for_long_do_not_count():
    rig = connected(timeout=0.3)
    rig.drive(0.5, {"joints": START})
    held_up = []
    for k in range(30):
        held_up.append(rig.master.drive(rig.t, joints=START + 0.05 * k))
        for _ in range(EVERY):
            rig.tick()
    for _ in range(100):
        rig.tick()
    verdicts = [rig.slave.take(data, "master", rig.t, "new")[0] for data in held_up]
    assert set(verdicts) == {"late"}
    rig.drive(0.2, {"joints": START})
    assert np.allclose(rig.q, START)


def test_clocks_that_drift_apart_do_not_end_a_session():
    """0.05 % for an hour is 1.8 s, six timeouts."""
    slave = Slave(ARM, Teleoperation(timeout=0.3), period=PERIOD)
    master = MasterEnd(1)
    master.take(slave.take(master.hello(), "m", 0.0, "s")[1] or "")
    for second in range(3600):
        assert slave.take(master.drive(second * 0.9995, joints=START), "m", float(second), "")[0] == "accepted"


def test_a_second_master_takes_over_only_from_a_silent_or_released_one():
    rig = connected(timeout=0.3)
    rig.drive(0.2, {"joints": START})
    other = MasterEnd(7)
    other.take(rig.slave.take(other.hello(), "other", rig.t, "second")[1] or "")
    assert other.session == "second"
    verdict, reply, _ = rig.slave.take(other.drive(rig.t, joints=START + 1), "other", rig.t, "")
    assert verdict == "busy"
    assert other.take(reply or "") == "refused"
    assert "another master" in other.refusal
    for _ in range(40):
        rig.tick()
    assert rig.slave.take(other.drive(rig.t, joints=START + 1), "other", rig.t, "")[0] == "accepted"
    assert rig.slave.take(rig.master.drive(rig.t, joints=START), "master", rig.t, "")[0] == "unknown_session"
    for _ in range(20):
        rig.tick()
    assert np.array_equal(rig.q, START), "the new master's offset was taken"


def test_masters_that_change_between_two_updates_do_not_make_it_jump():
    rig = connected()
    rig.drive(0.5, {"joints": START})
    other = MasterEnd(7)
    other.take(rig.slave.take(other.hello(), "other", rig.t, "second")[1] or "")
    assert rig.slave.take(rig.master.drive(rig.t, joints=START, release=True), "master", rig.t, "")[0] == "accepted"
    assert rig.slave.take(other.drive(rig.t, joints=START + 1), "other", rig.t, "")[0] == "accepted"
    for _ in range(20):
        rig.tick()
    assert np.array_equal(rig.q, START)


def test_any_master_that_was_greeted_may_stop_the_arm():
    rig = connected()
    rig.drive(0.2, {"joints": START})
    other = MasterEnd(7)
    other.take(rig.slave.take(other.hello(), "other", rig.t, "second")[1] or "")
    rig.slave.take(other.drive(rig.t, stop=True), "other", rig.t, "")
    assert rig.slave.situation(rig.t) == "stopped"


def test_a_flood_of_hellos_does_not_take_the_arm_away():
    rig = connected()
    rig.drive(0.1, {"joints": START})
    for k in range(1000):
        rig.slave.take(MasterEnd(k).hello(), f"stranger {k}", rig.t, f"token {k}")
    assert len(rig.slave.sessions.greeted) <= 17
    assert rig.slave.take(rig.master.drive(rig.t, joints=START), "master", rig.t, "")[0] == "accepted"


def test_a_hello_that_is_sent_again_gives_the_same_session():
    slave = Slave(ARM, Teleoperation(), period=PERIOD)
    master = MasterEnd(3)
    first = unpacked(slave.take(master.hello(), "m", 0.0, "one")[1] or "")
    again = unpacked(slave.take(master.hello(), "m", 0.1, "two")[1] or "")
    assert first["session"] == again["session"] == "one"
    assert first["joints"] == list(ARM.names)
    assert first["upper"][5] is None, "the wrist turns without end"


ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = (
    "session",
    "number",
    "time",
    "joints",
    "twist",
    "clutch",
    "stop",
    "reset",
    "release",
    "opening",
    "hello",
    "nonce",
)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60) | st.dictionaries(st.sampled_from(KEYS), ANYTHING))
def test_whatever_arrives_is_a_verdict_and_no_error(message):
    data = message
    if isinstance(message, dict):
        text = json.dumps(message)
        from zlib import crc32

        data = f"{crc32(text.encode()):08x} {text}"
    rig = Rig()
    rig.slave.take(data, "anybody", 0.0, "token")
    rig.tick()
    assert np.array_equal(rig.q, START)


def test_numbers_that_are_none_are_refused():
    for value in ("NaN", "Infinity", "1e999", "true", '"1"', "null", "1001", "[1]"):
        text = f'{{"session":"s","number":1,"time":0,"twist":[0,0,0,0,0,{value}]}}'
        from zlib import crc32

        with pytest.raises(ValueError):
            read_from_master(f"{crc32(text.encode()):08x} {text}", 6)


# --- gripper, feedback, line, script -----------------------------------------------------------------------


def test_the_gripper_goes_where_the_master_says_within_its_opening():
    rig = connected()
    rig.say(joints=START, opening=0.03)
    assert (rig.tick() or {})["gripper/opening"] == 0.03
    rig.say(joints=START, opening=5.0, clutch=False)
    assert (rig.tick() or {})["gripper/opening"] == ARM.robot.gripper.opening
    rig.say(joints=START, stop=True, opening=0.0)
    assert (rig.tick() or {})["gripper/opening"] == ARM.robot.gripper.opening, "a stop holds what it holds"


def test_the_master_hears_of_error_and_force():
    rig = connected()
    rig.wrench = np.array([3.0, 0.0, -4.0, 0.1, 0.2, 0.3])
    rig.drive(0.1, {"joints": START})
    rig.say(joints=START + np.array([0.2, 0, 0, 0, 0, 0]))
    place = rig.tool()
    rig.tick()
    feedback = rig.master.feedback
    assert feedback["force"] == 5.0
    assert feedback["wrench"] == rig.wrench.tolist()
    assert feedback["opening"] == 0.05
    assert feedback["accepted"] == rig.master.number
    assert np.allclose(feedback["error"], [0.2, 0, 0, 0, 0, 0], atol=1e-6)
    assert feedback["tool"][:3] == pytest.approx(place, abs=1e-8)
    assert 0.0 <= feedback["age"] < PERIOD + 1e-9


def test_the_master_believes_no_foreign_and_no_old_feedback():
    rig = connected()
    rig.drive(0.2, {"joints": START})
    newest = rig.master.feedback
    older = {**newest, "number": newest["number"] - 1, "force": 99.0}
    foreign = {**newest, "number": newest["number"] + 1, "session": "other"}
    for data in (packed(older), packed(foreign), packed(newest), "junk", packed({"greeting": 1, "session": "x"})):
        assert rig.master.take(data) == ""
    assert rig.master.feedback is newest


def test_the_line_delays_spreads_and_loses():
    line = DelayLine(Line(delay=0.1, jitter=0.05, loss=0.25), np.random.default_rng(2))
    for k in range(4000):
        line.put(k, 0.001 * k)
    assert line.lost / 4000 == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / 4000))
    arrived, times = [], []
    for ms in range(4200):
        for k in line.arrived(0.001 * ms):
            arrived.append(k)
            times.append(0.001 * (ms - k))
    assert sorted(arrived) == sorted(set(arrived)) and len(arrived) == 4000 - line.lost
    assert min(times) >= 0.1 - 1e-9 and max(times) <= 0.151 + 1e-9
    assert arrived != sorted(arrived), "one overtakes another"
    assert line.next_arrival() == np.inf


def test_a_line_that_jitters_is_followed_in_order():
    rig = connected(line={"delay": 0.05, "jitter": 0.06})
    rig.drive(5.0, lambda t: {"joints": slow(t)})
    assert "old" in rig.verdicts
    assert np.max(np.abs(slow(5.0) - rig.q)) <= 0.2 * (0.05 + 0.06 + PERIOD + 2 / RATE + RAMP / 4)


SCRIPT = """time, shoulder_yaw, shoulder_pitch, elbow, wrist_pitch, wrist_yaw, wrist_roll, clutch
0.0, 0.2, 0.9, -1.6, 0.5, 0.3, 0.4, 1
0.5, 0.2, 0.9, -1.6, 0.5, 0.3, 0.4, 1
2.5, 0.4, 0.9, -1.6, 0.5, 0.3, 0.4, 1
3.0, 0.4, 0.9, -1.6, 0.5, 0.3, 0.4, 0
4.0, 0.2, 0.9, -1.6, 0.5, 0.3, 0.4, 1
6.0, 0.4, 0.9, -1.6, 0.5, 0.3, 0.4, 1
"""


class FakeEngine:
    name = "arm"

    def __init__(self) -> None:
        from botz.scenario.layers import document
        from botz.scenario.library import find

        data = document(find("robot", "titan4"), "robot").plain()
        start = START.tolist()
        self.scenario = ArmScenario.model_validate({"engine": "arm", "robots": {"bot": {**data, "start": start}}})


class InARun:
    """The controller with an arm that is always where its reference is."""

    def __init__(self, folder: Path, **options: Any):
        file = folder / "master.csv"
        file.write_text(SCRIPT, encoding="utf-8")
        spec = TeleoperationController.model_validate(
            {"type": "teleoperation", "robot": "bot", "master": {"file": str(file)}, "settings": options}
        )
        self.controller = build(spec, allow_user_code=False)
        self.rng = np.random.default_rng(11)
        self.controller.reset(SimpleNamespace(robot="bot", period=PERIOD, rng=self.rng, inputs=(), engine=FakeEngine()))
        self.q, self.v, self.ticks = START.copy(), np.zeros(6), 0

    def run(self, seconds: float) -> np.ndarray:
        path = []
        for _ in range(round(seconds / PERIOD)):
            measured = {"position": self.q, "reference/position": self.q, "tool/pose": np.ones(7),
                        "tool/wrench": np.zeros(6), "gripper/opening": 0.0}  # fmt: skip
            command = self.controller.update(self.ticks * PERIOD, measured)
            self.ticks += 1
            if command is not None:
                self.q = command["position"] + PERIOD * command["speed"]
            path.append(self.q)
        return np.array(path)


def test_a_script_drives_through_the_line_with_its_clutch(tmp_path):
    run = InARun(tmp_path, line={"delay": 0.1, "loss": 0.05})
    path = run.run(7.0)
    # 0.2 rad, the hand's way back with the clutch open, and 0.2 rad again.
    assert path[-1][0] == pytest.approx(START[0] + 0.4, abs=0.005)
    assert np.all(np.diff(path[:, 0]) >= -1e-12), "never back"
    assert run.controller.master.feedback["state"] == "following"


def test_a_snapshot_goes_on_bit_for_bit(tmp_path):
    options = {"line": {"delay": 0.13, "jitter": 0.05, "loss": 0.1}}
    whole = InARun(tmp_path, **options)
    whole.run(2.5)
    saved = json.loads(json.dumps(to_plain(whole.controller.snapshot())))
    state = whole.rng.bit_generator.state
    rest = whole.run(2.0)
    again = InARun(tmp_path, **options)
    again.controller.restore(from_plain(saved))
    again.rng.bit_generator.state = state
    again.q, again.ticks = whole.q * 0.0, 250
    again.q = InARun(tmp_path, **options).run(2.5)[-1]
    assert np.array_equal(again.run(2.0), rest)


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        ("time, vx, vy, vz, wx, wy", "0,0,0,0,0,0", "no column 'wz'"),
        ("time, vx, vy, vz, wx, wy, wz, shoulder_yaw", "0,0,0,0,0,0,0,0", "not both"),
        ("time, clutch", "0,1", "no motion"),
        ("time, vx, vy, vz, wx, wy, wz, cluch", "0,0,0,0,0,0,0,0", "did you mean 'clutch'"),
        ("vx, vy, vz, wx, wy, wz", "0,0,0,0,0,0", "no column 'time'"),
    ],
)
def test_a_wrong_script_is_refused_by_name(tmp_path, header, row, message):
    file = tmp_path / "hands.csv"
    file.write_text(f"{header}\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_table(file, ARM.names)


def test_a_table_is_straight_between_rows_and_its_flags_hold():
    columns = {name: np.array([0.0, 1.0]) for name in ("vx", "vy", "vz", "wx", "wy", "wz")}
    columns |= {"time": np.array([1.0, 3.0]), "stop": np.array([0.0, 1.0]), "opening": np.array([0.1, 0.2])}
    table = MasterTable(columns, ARM.names)
    assert table.at(2.0) == {"twist": [0.5] * 6, "stop": False, "opening": 0.1}
    assert table.at(9.0) == {"twist": [1.0] * 6, "stop": True, "opening": 0.2}
