"""What a slave believes and what a master hears: hostile packets, sessions, the line, and scripts."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from teleop_rig import ARM, EVERY, PERIOD, RATE, START, Rig, connected, slow

from botz.control.registry import build
from botz.control.teleop.line import DelayLine
from botz.control.teleop.master import MasterEnd
from botz.control.teleop.messages import packed, read_from_master, unpacked
from botz.control.teleop.motion import RAMP
from botz.control.teleop.script import MasterTable, read_table
from botz.control.teleop.slave import Slave
from botz.errors import InputError
from botz.scenario.arm.motion import Line, Teleoperation, TeleoperationController
from botz.scenario.arm.schema import ArmScenario
from botz.sim.snapshots import from_plain, to_plain

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
    assert other.reason == "busy"
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


def test_greetings_are_few_whoever_asks():
    """A greeting is ten times as long as a hello, and the address that asks may be somebody else's."""
    slave = Slave(ARM, Teleoperation(), period=PERIOD)

    def answers(t: float, *senders: str) -> int:
        found = [slave.take(MasterEnd(k).hello(), sender, t, f"{t} {k}") for k, sender in enumerate(senders)]
        assert all((reply is None) == (verdict == "too_often") for verdict, reply, _ in found)
        return sum(reply is not None for _, reply, _ in found)

    assert answers(0.0, *["one"] * 100) == 5
    assert answers(0.5, *(f"stranger {k}" for k in range(100))) == 15
    assert answers(0.9, "late") == 0
    assert answers(1.0, "late") == 1, "the first five are a second ago"
    assert answers(9.0, *["one"] * 4) == 4, "a master asks four times a second"


def test_a_refusal_has_its_reason_for_programs():
    rig = connected()
    rig.drive(0.1, {"joints": START})
    stale = MasterEnd(3)
    stale.session = "never was"
    reply = rig.slave.take(stale.drive(rig.t, joints=START), "stale", rig.t, "")[1]
    assert unpacked(reply or "")["reason"] == "unknown_session"
    assert stale.take(reply or "") == "refused"
    assert stale.reason == "unknown_session" and stale.refusal


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


def test_what_arrives_together_keeps_its_order_through_a_snapshot():
    line = DelayLine(Line(delay=0.1), np.random.default_rng(2))
    for k in range(20):
        line.put(f"late {k}", 0.5)
        line.put({"early": k}, 0.25)
    saved = json.loads(json.dumps(to_plain(line.snapshot())))
    again = DelayLine(Line(delay=0.1), np.random.default_rng(2))
    again.restore(from_plain(saved))
    for one in (line, again):
        assert one.next_arrival() == 0.35
        assert one.arrived(0.4) == [{"early": k} for k in range(20)]
        assert one.next_arrival() == 0.6
        assert one.arrived(0.6) == [f"late {k}" for k in range(20)]
        assert one.next_arrival() == np.inf


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
