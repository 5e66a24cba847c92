"""Teleoperation over a real socket: a master drives, strangers do not, and silence holds the arm."""

from __future__ import annotations

import errno
import select
import socket
import threading
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_match import PATIENCE, deliver, ignored, stopped_clock

from botz.channels import Channel, ChannelTable
from botz.cli import teleoperation as command
from botz.cli.teleoperation import motion_of, play
from botz.control.teleop import line as teleop_line
from botz.control.teleop import slave as teleop_slave
from botz.control.teleop.master import MasterEnd
from botz.control.teleop.script import MasterTable
from botz.control.teleop.sessions import MOST_TO_ONE
from botz.endpoints.server_process import turn_until
from botz.endpoints.soccer import team as team_link
from botz.endpoints.teleop import client as master_client
from botz.endpoints.teleop import slave as teleoperation_link
from botz.endpoints.teleop.client import HELLO_PERIOD, Master, NoSlave
from botz.endpoints.teleop.slave import LONGEST_PACKET, PERIOD, TeleoperationLink
from botz.endpoints.udp_port import NOBODY, packets
from botz.errors import BotzError, InputError
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.links import TeleoperationLink as Settings
from botz.scenario.layers import document
from botz.scenario.library import find

ARM = SerialArm.of("titan4")
START = np.array([0.2, 0.9, -1.6, 0.5, 0.3, 0.4])


class FakeArmRun:
    """A run with one arm that is at once where it is told to be."""

    finished = False
    step_ns = 1_000_000

    def __init__(self, *names: str):
        data = document(find("robot", "titan4"), "robot").plain()
        self.about: dict[str, Any] = {"arms": {name: {"robot": data, "gravity": [0, 0, -9.8]} for name in names}}
        channels = []
        for name in names:
            channels += [
                Channel(f"{name}/position", "rad", "", ARM.names),
                Channel(f"{name}/reference/position", "rad", "", ARM.names),
                Channel(f"{name}/tool/pose", "m", "", ("x", "y", "z", "qw", "qx", "qy", "qz")),
                Channel(f"{name}/tool/wrench", "N", "", ("fx", "fy", "fz", "mx", "my", "mz")),
                Channel(f"{name}/gripper/opening", "m", ""),
            ]
        self.channels = ChannelTable(channels)
        self.row = np.zeros(self.channels.width)
        self.step = 0
        for name in names:
            self.place(name, START)
        self.commands: list[tuple[str, dict[str, Any]]] = []
        self.refuses: BotzError | None = None

    def place(self, name: str, q: np.ndarray) -> None:
        for channel in ("position", "reference/position"):
            self.row[self.channels.slices[f"{name}/{channel}"]] = q
        self.row[self.channels.slices[f"{name}/tool/pose"]] = [*ARM.forward(q)[:3, 3], 1, 0, 0, 0]

    def latest(self) -> tuple[int, np.ndarray]:
        return self.step, self.row.copy()

    def command(self, robot: str, command: Mapping[str, Any]) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.commands.append((robot, dict(command)))
        self.place(robot, command["position"])


class Bench:
    """A link at a socket, a clock that a test turns, and a master's socket."""

    def __init__(self, run: FakeArmRun, clock: SimpleNamespace, **options: Any):
        self.run, self.clock = run, clock
        self.link = TeleoperationLink(run, Settings.model_validate({"listen": "127.0.0.1:0", **options}))
        host, port = self.link.address.split(":")
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect((host, int(port)))
        self.master = MasterEnd(17)

    def send(self, text: str) -> None:
        """One packet, and the link has taken it."""
        before = self.link.counters()["received"]
        self.socket.send(text.encode())
        while self.link.counters()["received"] == before:
            assert select.select([self.link], [], [], PATIENCE)[0], "the packet did not arrive"
            self.link.receive()

    def pass_time(self, seconds: float) -> None:
        for _ in range(round(seconds / PERIOD)):
            self.clock.now += PERIOD
            self.run.step += round(PERIOD * 1e9 / self.run.step_ns)
            self.link.send_if_due(self.clock.now)

    def answers(self) -> list[str]:
        kinds = []
        while select.select([self.socket], [], [], 0.0)[0]:
            kinds.append(self.master.take(self.socket.recv(1 << 16)))
        return kinds

    def wait_for_answer(self) -> str:
        assert select.select([self.socket], [], [], PATIENCE)[0], "no answer"
        return self.master.take(self.socket.recv(1 << 16))

    def greet(self) -> None:
        self.send(self.master.hello())
        assert self.wait_for_answer() == "greeting"

    def drive(self, seconds: float, **hands: Any) -> None:
        for _ in range(round(seconds / (2 * PERIOD))):
            self.send(self.master.drive(self.clock.now, **hands))
            self.pass_time(2 * PERIOD)

    @property
    def q(self) -> np.ndarray:
        return self.run.row[self.run.channels.slices["titan/position"]].copy()

    def close(self) -> None:
        self.socket.close()
        self.link.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    return stopped_clock(monkeypatch, teleoperation_link, team_link)


@pytest.fixture
def bench(clock: SimpleNamespace) -> Iterator[Bench]:
    made = Bench(FakeArmRun("titan"), clock)
    yield made
    made.close()


def test_a_master_drives_the_arm_and_hears_of_it(bench):
    assert bench.link.next_due() is None, "nobody drives: nothing to do"
    bench.greet()
    assert bench.master.greeting["joints"] == list(ARM.names)
    assert bench.run.commands == [], "a greeting moves nothing"
    bench.drive(0.2, joints=np.zeros(6))
    assert np.array_equal(bench.q, START)
    bench.drive(1.0, joints=np.full(6, 0.05), opening=0.02)
    assert np.allclose(bench.q, START + 0.05, atol=1e-3)
    assert {name for name, _ in bench.run.commands} == {"titan"}
    assert bench.run.commands[-1][1]["gripper/opening"] == 0.02
    assert "feedback" in bench.answers()
    feedback = bench.master.feedback
    assert feedback["state"] == "following"
    assert feedback["accepted"] == bench.master.number
    assert np.allclose(feedback["joints"], bench.q, atol=1e-3)
    assert refusals(bench.link) == {}


def refusals(link: TeleoperationLink) -> dict[str, int]:
    return {
        reason: count for reason, count in ignored(link).items() if reason not in ("accepted", "greeted")
    }  # fmt: skip


def test_silence_holds_the_arm_and_is_told(bench):
    bench.greet()
    bench.drive(0.5, twist=[0.1, 0, 0, 0, 0, 0])
    bench.answers()
    bench.pass_time(0.5 + 2 * PERIOD)
    held = bench.q
    bench.pass_time(1.0)
    assert np.array_equal(bench.q, held)
    assert not np.any(bench.run.commands[-1][1]["speed"])
    assert bench.answers() == ["feedback"]
    assert bench.master.feedback["state"] == "silent"


def test_a_stop_is_passed_on_at_once(bench):
    bench.greet()
    bench.drive(0.5, twist=[0.1, 0, 0, 0, 0, 0])
    count = len(bench.run.commands)
    bench.send(bench.master.drive(bench.clock.now, stop=True))
    assert len(bench.run.commands) == count + 1
    assert not np.any(bench.run.commands[-1][1]["speed"])


def test_a_release_gives_the_arm_back(bench):
    bench.greet()
    bench.drive(0.1, joints=START)
    bench.send(bench.master.drive(bench.clock.now, release=True, clutch=False))
    bench.pass_time(0.1)
    count = len(bench.run.commands)
    bench.pass_time(0.5)
    assert len(bench.run.commands) == count
    assert bench.link.next_due() is None


def test_a_release_stops_an_arm_that_moves(bench):
    bench.greet()
    bench.drive(0.5, twist=[0.1, 0, 0, 0, 0, 0])
    assert np.any(bench.run.commands[-1][1]["speed"])
    bench.send(bench.master.drive(bench.clock.now, twist=[0.1, 0, 0, 0, 0, 0], release=True))
    bench.pass_time(0.1)
    assert not np.any(bench.run.commands[-1][1]["speed"])
    assert bench.link.next_due() is None


def test_a_stop_that_was_overtaken_is_passed_on_at_once(bench):
    bench.greet()
    bench.drive(0.5, twist=[0.1, 0, 0, 0, 0, 0])
    stop = bench.master.drive(bench.clock.now, stop=True)
    bench.drive(0.02, twist=[0.1, 0, 0, 0, 0, 0])
    bench.send(stop)
    assert not np.any(bench.run.commands[-1][1]["speed"])
    assert refusals(bench.link) == {"old": 1}


def test_garbage_takes_no_place_in_the_line(clock, monkeypatch):
    monkeypatch.setattr(teleop_line, "MOST_UNDERWAY", 3)
    bench = Bench(FakeArmRun("titan"), clock, line={"delay": 0.2})
    for _ in range(10):
        bench.send("junk")
    bench.send(bench.master.hello())
    bench.pass_time(0.42)
    assert bench.wait_for_answer() == "greeting"
    assert refusals(bench.link) == {"malformed": 10}
    bench.close()


def test_a_flood_of_hellos_is_not_multiplied(bench):
    assert HELLO_PERIOD * MOST_TO_ONE >= 1.0, "a client that asks is never too fast"
    hello = bench.master.hello()
    for _ in range(50):
        bench.send(hello)
    assert bench.link.counters()["sent"] == bench.link.counters()["greeted"] == MOST_TO_ONE
    assert refusals(bench.link) == {"too_often": 50 - MOST_TO_ONE}


def test_garbage_and_replays_do_not_move_it(bench):
    bench.greet()
    sent = []
    for k in range(20):
        sent.append(bench.master.drive(bench.clock.now, joints=START + 0.002 * k))
        bench.send(sent[-1])
        bench.pass_time(2 * PERIOD)
    bench.pass_time(0.2)
    held = bench.q
    deliver(bench.link, b"", b"junk", b"\xff" * 100, sent[5].encode()[:-1], b"x" * (LONGEST_PACKET + 1))
    for text in sent:
        bench.send(text)
    bench.pass_time(0.1)
    assert np.array_equal(bench.q, held)
    assert refusals(bench.link) == {"malformed": 4, "too_long": 1, "old": 20}
    deliver(bench.link, *(text.encode() for text in sent))  # from another address
    assert refusals(bench.link)["unknown_session"] == 20
    assert np.array_equal(bench.q, held)


def test_the_lines_delay_and_loss_are_there_both_ways(clock):
    bench = Bench(FakeArmRun("titan"), clock, line={"delay": 0.2})
    bench.send(bench.master.hello())
    bench.pass_time(0.38)
    assert bench.answers() == []
    bench.pass_time(0.04)
    assert bench.wait_for_answer() == "greeting"
    bench.send(bench.master.drive(clock.now, joints=START))
    bench.pass_time(0.18)
    assert bench.run.commands == []
    bench.pass_time(0.04)
    assert bench.run.commands != []
    bench.close()


def test_all_is_lost_in_a_line_that_loses_all(clock):
    bench = Bench(FakeArmRun("titan"), clock, line={"loss": 1.0})
    for _ in range(20):
        bench.send(bench.master.hello())
    bench.pass_time(1.0)
    assert bench.answers() == []
    bench.close()


def test_before_the_run_has_published_anything_the_arm_is_left_alone(bench):
    row = bench.run.row.copy()
    bench.run.row[:] = 0.0
    bench.greet()
    bench.drive(0.2, joints=START)
    assert bench.run.commands == []
    bench.run.row[:] = row
    bench.drive(0.2, joints=START)
    assert np.array_equal(bench.q, START)


def test_a_command_that_the_run_refuses_does_not_end_the_link(bench):
    bench.greet()
    bench.run.refuses = InputError("not now")
    bench.drive(0.1, joints=START)
    assert refusals(bench.link)["refused"] > 0
    bench.run.refuses = None
    bench.drive(0.1, joints=START)
    assert bench.run.commands


def test_the_arm_is_chosen_by_name():
    run = FakeArmRun("left", "right")
    for chosen, arm in ((None, "left"), ("right", "right")):
        link = TeleoperationLink(run, Settings(listen="127.0.0.1:0", robot=chosen))
        assert link.addresses == {"teleoperation": link.address}
        assert link.arm == arm
        link.close()
    with pytest.raises(InputError, match="did you mean 'right'"):
        TeleoperationLink(run, Settings(listen="127.0.0.1:0", robot="rigth"))


def test_an_address_that_is_taken_is_said(bench):
    with pytest.raises(InputError, match=r"links\.teleoperation\.listen: cannot listen"):
        TeleoperationLink(bench.run, Settings(listen=bench.link.address))


class FailingSocket:
    """Raises and returns what it is given, one after the other."""

    def __init__(self, *what: Any):
        self.what = list(what)

    def recvfrom(self, size: int) -> Any:
        found = self.what.pop(0)
        if isinstance(found, OSError):
            raise found
        return found[:size], ("10.0.0.1", 7)


def test_what_the_system_says_in_place_of_a_packet_ends_nothing():
    gone, long, down = ConnectionResetError(), OSError(errno.EMSGSIZE, "too long"), OSError(errno.ENETDOWN, "down")
    opened = FailingSocket(b"one", gone, b"longer", long, b"two", down, b"later")
    found = list(packets(opened, longest=3, most=9, seconds=1.0, clock=lambda: 0.0))  # type: ignore[arg-type]
    sender = ("10.0.0.1", 7)
    assert found == [(b"one", sender), (None, sender), (None, NOBODY), (b"two", sender), down]
    assert opened.what == [b"later"]


# --- the client on a slow line, time passing while it waits -------------------------------------------------


def slow_line(clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, delay: float) -> Bench:
    """Whoever waits at a socket turns the clock and the link."""
    for module in (master_client, command):
        monkeypatch.setattr(module, "time", clock)
    bench = Bench(FakeArmRun("titan"), clock, line={"delay": delay})
    real = select.select

    def waiting(reading: list[Any], writing: list[Any], failing: list[Any], wait: float) -> Any:
        for _ in range(max(1, round(wait / PERIOD))):
            bench.pass_time(PERIOD)
            bench.link.receive()
        return real(reading, writing, failing, 0.0)

    monkeypatch.setattr(master_client, "select", SimpleNamespace(select=waiting))
    return bench


def test_the_client_is_patient_with_a_slow_line(clock, monkeypatch):
    bench = slow_line(clock, monkeypatch, 2.0)
    with Master(bench.link.address, timeout=60.0) as master:
        session = master.greeting["session"]
        for _ in range(800):
            master.send(joints=START)
            master.listen(0.02)
        assert master.received > 500
        assert master.feedback["session"] == session
        assert master.patience == pytest.approx(2.0 * 4.0 + 0.5, abs=0.2), "measured, not the time to the greeting"
    bench.close()


def test_the_command_is_patient_with_a_slow_line(clock, monkeypatch):
    bench = slow_line(clock, monkeypatch, 3.0)
    columns = {name: np.zeros(2) for name in ("vx", "vy", "vz", "wx", "wy", "wz")}
    with Master(bench.link.address, timeout=60.0) as master:
        result = play(master, MasterTable({"time": np.array([0.0, 12.0]), **columns}, ARM.names), 50.0, quiet=True)
        assert result["received"] > 200
        bench.link.slave.take = lambda *_: ("malformed", None, "")  # type: ignore[method-assign]
        with pytest.raises(BotzError, match="nothing from"):
            play(master, MasterTable({"time": np.array([0.0, 99.0]), **columns}, ARM.names), 50.0, quiet=True)
    bench.close()


# --- the client, with a link that turns as in a served run -------------------------------------------------


@pytest.fixture
def served() -> Iterator[tuple[FakeArmRun, TeleoperationLink]]:
    run = FakeArmRun("titan")
    link = TeleoperationLink(run, Settings(listen="127.0.0.1:0"))
    stop = threading.Event()
    links: dict[str, Any] = {"teleoperation": link}

    def turn() -> None:
        # Simulated time passes with the turns.
        def ends() -> bool:
            run.step += 1
            return stop.is_set()

        turn_until(ends, links, lambda message: None)

    thread = threading.Thread(target=turn)
    thread.start()
    yield run, link
    stop.set()
    thread.join(PATIENCE)
    link.close()


def test_the_client_drives_and_hears(served):
    _, link = served
    with Master(link.address, timeout=PATIENCE) as master:
        assert master.joints == list(ARM.names)
        for k in range(200):
            master.send(joints=np.zeros(6) + min(0.03, 0.001 * k))
            master.listen(0.01)
            if master.feedback and np.allclose(master.feedback["joints"], START + 0.03, atol=1e-3):
                break
        assert np.allclose(master.feedback["joints"], START + 0.03, atol=1e-3)
        assert master.received > 0 and master.round_trip is not None
        with pytest.raises(TypeError, match="no 'joint'"):
            master.send(joint=START)  # type: ignore[call-arg]
    assert not link.slave.stopped


@pytest.mark.parametrize("words", ["this session is unknown", "esta sesión terminó"])
def test_a_client_whose_session_is_over_asks_for_another(served, monkeypatch, words):
    monkeypatch.setitem(teleop_slave.REFUSALS, "unknown_session", words)
    _, link = served
    with Master(link.address, timeout=PATIENCE) as first:
        first.send(joints=START)
        assert first.listen(PATIENCE)
        link.slave.sessions.greeted.clear()  # as if the run had been started again
        link.slave.sessions.active = ""
        for _ in range(1000):
            first.send(joints=START)
            if first.listen(0.01) and first.feedback["session"] in [s["session"] for s in link.slave.sessions.greeted]:
                break
        assert first.feedback["session"] == link.slave.sessions.active != ""


def test_the_command_plays_a_table_and_shows_what_it_hears(served, tmp_path, capsys):
    _, link = served
    file = tmp_path / "hands.csv"
    rows = [",".join(str(value) for value in (t, *(START + move))) for t, move in ((0.0, 0.0), (0.6, 0.02))]
    file.write_text("\n".join(["time," + ",".join(ARM.names), *rows]), encoding="utf-8")
    with Master(link.address, timeout=PATIENCE) as client:
        table = motion_of(file, client.joints, None)
        result = play(client, table, 100.0, quiet=False)
    assert result["sent"] > 50
    assert result["received"] > 0
    assert " s  following" in capsys.readouterr().out
    assert np.all(np.array(result["joints"]) >= START - 1e-9)


def test_where_nobody_answers_the_client_says_so():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(NoSlave, match=address):
            Master(address, timeout=0.3)
    for wrong in ("", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:70000", ":20015"):
        with pytest.raises(InputError, match="needs an address"):
            Master(wrong)
