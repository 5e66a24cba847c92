"""The lab's server by what pages see of it: a real one on loopback, real runs in processes of their own."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import msgpack
import numpy as np
import pytest
from common import PATIENCE
from lab_rig import ROBOT, SCENARIO, Page, RunningLab, lab_at
from websockets.sync.client import connect

import botz
import botz.scenario.library
from botz.errors import InputError
from botz.sim.attached import AttachedRun

LONG = {"time.duration": 1e6}
POSE, TWIST = f"{ROBOT}/pose", f"{ROBOT}/twist"


@pytest.fixture(scope="module")
def driver(lab: RunningLab) -> Iterator[Page]:
    """A page that drives a run which lasts as long as the tests of this file."""
    page = Page(lab, name="driver")
    run = page.start(set=LONG, factor=1.0)
    assert run["status"] == "running", run["error"]
    page.key = run["id"]  # type: ignore[attr-defined]
    yield page
    page.stop(run["id"])
    page.close()


@pytest.fixture
def driven(driver: Page) -> tuple[Page, str]:
    """The same, with the run going on and the page in its seat, and watched."""
    key: str = driver.key  # type: ignore[attr-defined]
    while driver.hear() is not None:
        pass
    driver.say(t="seat", run=key, action="take")
    driver.say(t="pause", run=key, on=False)
    driver.say(t="speed", run=key, factor=1.0)
    driver.say(t="watch", run=key, channels=[POSE, TWIST], rate=60)
    driver.wait_for(lambda m: m["t"] == "watching")
    driver.run(key, lambda run: run["driver"] == driver.viewer and run["status"] == "running" and run["factor"] == 1.0)
    return driver, key


# --- what is there ---------------------------------------------------------------------------------------------


def test_scenarios_of_the_library_and_under_the_root_are_listed(lab: RunningLab):
    found = {one["name"]: one for one in lab.json("/api/scenarios")}
    assert found[SCENARIO]["engine"] == "kinematics" and found[SCENARIO]["description"]
    texts = found[SCENARIO]["texts"]
    assert texts["en"][1] == found[SCENARIO]["description"] and set(texts) == {"en", "pt-BR"}
    assert texts["pt-BR"][0] and texts["pt-BR"] != texts["en"]
    assert lab.json(f"/api/form?scenario={SCENARIO}")["texts"] == texts
    assert set(botz.scenario.library.names("scenario")) < set(found)
    assert {"below/small.yaml", "fails.yaml"} == set(found) - set(botz.scenario.library.names("scenario"))


def test_robot_files_are_no_scenarios_of_the_list(tmp_path: Path):
    from botz.view.lab.catalogue import Catalogue

    (tmp_path / "robot.yaml").write_text("extends: vivi\n")
    (tmp_path / "heavier.yaml").write_text("extends: ./robot.yaml\n")
    (tmp_path / "longer.yaml").write_text("extends: differential-circle\ntime: {duration: 30}\n")
    (tmp_path / "longest.yaml").write_text("extends: ./longer.yaml\ndescription: For ever\n")
    (tmp_path / "lost.yaml").write_text("extends: ./nowhere.yaml\n")
    catalogue = Catalogue(tmp_path)
    own = {one["name"]: one for one in catalogue.entries() if one["name"].endswith(".yaml")}
    # What cannot be read is listed, with the reason.
    assert set(own) == {"longer.yaml", "longest.yaml", "lost.yaml"}
    assert own["longer.yaml"]["engine"] == own["longest.yaml"]["engine"] == "kinematics"
    assert own["longest.yaml"]["description"] == "For ever" and "nowhere" in own["lost.yaml"]["description"]
    for name in ("robot.yaml", "heavier.yaml"):
        with pytest.raises(InputError, match="is a robot file"):
            catalogue.load(name)


@pytest.mark.parametrize("comes", ["early", "wrong"])
def test_a_run_that_waits_goes_on_when_a_page_comes(own_shared_memory: None, tmp_path: Path, comes: str):
    from botz.view.lab.lab import InitialRun

    loaded = botz.load(SCENARIO, overrides={"time.duration": 1000})
    with lab_at(tmp_path, initial=InitialRun(loaded, waits=True)) as lab:
        page = lab.page()
        listed = next(m for m in reversed(page.told) if m["t"] == "runs")
        if not listed["runs"]:
            listed = page.wait_for(lambda m: m["t"] == "runs" and m["runs"], "the run")
        (run,) = listed["runs"]
        if comes == "early":  # while its process is on its way
            page.say(t="watch", run=run["id"], channels=[POSE], rate=20)
        else:
            waiting = page.run(run["id"], lambda one: one["status"] != "starting")
            assert waiting["status"] == "paused" and waiting["time"] == 0.0
            page.say(t="watch", run=run["id"], channels=["no/such"], rate=20)
            assert "no/such" in page.error()
        page.run(run["id"], lambda one: one["status"] == "running")
        page.stop(run["id"])


def test_a_first_start_says_that_kernels_are_compiled(lab: RunningLab, page: Page, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("botz.kernel_cache.must_compile", lambda engine: engine == "kinematics")
    page.say(t="start", scenario=SCENARIO)
    line = page.wait_for(lambda m: m["t"] == "log", "the run's first line")
    assert "kernels of 'kinematics' are compiled, once" in line["text"]
    assert line["said"] == [["run.compiles", {"engine": "kinematics"}]]
    monkeypatch.undo()
    page.stop(page.run(line["run"], lambda one: one["status"] != "starting")["id"])
    assert not [m for m in page.told if m["t"] == "log" and m is not line and "compiled" in m["text"]]


def test_a_page_with_the_cookie_may_take_its_time_to_say_hello(lab: RunningLab, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("botz.view.lab.app.HELLO_SECONDS", 0.2)
    guard = lab.server.lab.guard
    cookie = {"cookie": f"{guard.cookie}={guard.session}"}
    with connect(lab.ws, origin=lab.origin, additional_headers=cookie, compression=None) as slow:  # type: ignore[arg-type]
        stranger = lab.page(hello=False)
        code, reason = stranger.closed()
        assert code == 1008 and "said nothing" in reason
        slow.send(msgpack.packb({"t": "hello", "token": None, "name": "slow"}))
        assert msgpack.unpackb(slow.recv(timeout=PATIENCE))["t"] == "welcome"  # type: ignore[arg-type]


def test_whatever_a_page_says_is_a_sign_of_life(monkeypatch: pytest.MonkeyPatch):
    from botz.view.lab.clients import Allowance
    from botz.view.lab.protocols import LabWebSocket

    heard: list[bytes] = []
    monkeypatch.setattr(LabWebSocket.__mro__[1], "data_received", lambda self, data: heard.append(data))
    protocol: Any = LabWebSocket.__new__(LabWebSocket)
    protocol._opened, protocol._strangers_bytes, protocol._bytes = False, 100, Allowance(100.0, 1.0)
    protocol.transport = SimpleNamespace(is_closing=lambda: False, get_write_buffer_size=lambda: 0)
    protocol.ping_timeout, waiting = 10.0, Mock()
    protocol.pong_timer, protocol.loop = waiting, Mock()
    protocol.data_received(b"late")
    waiting.cancel.assert_called_once_with()
    protocol.loop.call_later.assert_called_once_with(10.0, protocol.keepalive_timeout)
    assert protocol.pong_timer is protocol.loop.call_later.return_value and heard == [b"late"]


def test_a_form_holds_the_main_parameters_with_their_units_and_bounds(lab: RunningLab):
    form = lab.json(f"/api/form?scenario={SCENARIO}")
    assert (form["name"], form["engine"]) == (SCENARIO, "kinematics")
    fields = {one["key"]: one for one in form["fields"]}
    spec: Any = botz.load(SCENARIO).spec
    duration = fields["time.duration"]
    assert duration["value"] == spec.time.duration and duration["unit"] == "s" and duration["kind"] == "number"
    assert duration["above"] == 0.0 and duration["help"]
    assert fields["seed"]["kind"] == "integer"
    pose = [fields[f"robots.{ROBOT}.pose.{k}"] for k in range(3)]
    assert [one["value"] for one in pose] == list(spec.robots[ROBOT].pose)
    assert [one["unit"] for one in pose] == ["m", "m", "rad"]


@pytest.mark.parametrize("name", ["vivi-rough", "soccer", "titan4-pick", "lophorina-waypoints", "below/small.yaml"])
def test_a_form_that_is_sent_back_as_it_is_changes_nothing(lab: RunningLab, name: str):
    from botz.view.lab.forms import changes_of

    form = lab.json(f"/api/form?scenario={name}")
    filled = {one["key"]: one["value"] for one in form["fields"]}
    assert len(filled) > 5
    assert changes_of(lab.server.lab.catalogue.load(name), filled) == {}


def test_every_ground_of_the_form_can_be_chosen(lab: RunningLab):
    from botz.view.lab.forms import changes_of, fields_of, with_ground

    loaded = lab.server.lab.catalogue.load("vivi-rough")
    (ground,) = [
        one for one in lab.json("/api/form?scenario=vivi-rough")["fields"] if one["key"].endswith("terrain.type")
    ]
    assert "half-pipe" in ground["choices"]
    for kind in ground["choices"]:
        on_it = with_ground(loaded, kind)
        changed: Any = on_it.spec
        assert changed.world.terrain.type == kind
        assert list(changed.world.terrain.x) == [-6.0, 6.0]
        assert changes_of(on_it, {ground["key"]: kind}) == {}
        # The form of another ground has that ground's fields and no others.
        shown = {one["key"] for one in lab.json(f"/api/form?scenario=vivi-rough&terrain={kind}")["fields"]}
        assert shown == {one.key for one in fields_of(changed)}
        assert ("world.terrain.iso_class" in shown) == (kind == "rough")
        assert ("world.terrain.slope" in shown) == (kind == "plane")


def test_a_form_takes_units_and_no_duration_of_zero(lab: RunningLab):
    from botz.view.lab.forms import changes_of
    from botz.view.lab.sentences import LabError

    loaded = lab.server.lab.catalogue.load("vivi-rough")
    longer: Any = loaded.with_(changes_of(loaded, {"time.duration": "2 min"})).spec
    assert longer.time.duration == 120.0
    with pytest.raises(LabError, match=r"time\.duration: must be greater than 0"):
        changes_of(loaded, {"time.duration": 0})


PROPERTIES = {
    # scenario: fields with their units, and what one of them sets
    "vivi-rough": ({"chassis.mass": "kg", "wheels.*.suspension.stiffness": "N/m", "motors.*.gear_ratio": ""}, 4),
    "skid-circle": ({"wheels.*.tyre.static": "", "wheels.*.suspension.damping": "N*s/m", "motors.*.voltage": "V"}, 2),
    "soccer": ({"mass": "kg", "grip": "", "wheels.*.motor.stall_torque": "Nm"}, 2),
    "puma-wave": ({"payload.mass": "kg", "joints.elbow.friction.coulomb": "", "joints.*.actuator.lag": "s"}, 6),
    "quadrotor-square": ({"links.body.mass": "kg", "joints.*.damping": "", "actuators.*.frequency": "rad/s"}, 4),
    "skid-steer-slip": ({"wheels.*.slip.mean": ""}, 4),
}


@pytest.mark.parametrize("name", PROPERTIES)
def test_forms_offer_masses_frictions_springs_and_motors(lab: RunningLab, name: str):
    from botz.view.lab.forms import changes_of

    wanted, count = PROPERTIES[name]
    fields = {one["key"]: one for one in lab.json(f"/api/form?scenario={name}")["fields"]}
    loaded = lab.server.lab.catalogue.load(name)
    robot = list(loaded.data["robots"])[-1]
    for key, unit in wanted.items():
        field = fields[f"robots.{robot}.{key}"]
        assert field["group"] == "properties" and field["help"]
        assert field["unit"] == unit
    # One value for all wheels, motors or joints that are alike; checked by the same schema as the file.
    changes = changes_of(loaded, {field["key"]: field["value"] + 0.01})
    assert len(changes) == count == len(field["keys"])
    changed: Any = loaded.with_(changes).data["robots"][robot]
    kind, _, *rest = field["key"].split(".")[2:]
    for one in changed[kind].values():
        for part in rest:
            one = one[part]
        assert one == field["value"] + 0.01


def test_properties_take_units_and_are_checked_as_in_a_file(lab: RunningLab, page: Page):
    set_ = {
        "time.duration": 0.01,
        "robots.vivi.chassis.mass": "50000 g",
        "robots.vivi.wheels.*.suspension.travel": 0.05,
    }
    run = page.start("vivi-rough", set=set_, factor=0.0)
    assert run["set"] == set_
    ended = page.run(run["id"], lambda one: one["status"] == "finished", "its end")
    recording = botz.read(lab.server.lab.recordings.folder / ended["recording"])
    (robot,) = recording.scenario["robots"].values()
    assert robot["chassis"]["mass"] == 50.0
    assert [one["suspension"]["travel"] for one in robot["wheels"].values()] == [0.05] * 4
    for key, value, problem in (
        ("chassis.mass", 0, "must be greater than 0"),
        ("chassis.mass", "-1 kg", "greater than 0"),
        ("chassis.mass", "3 m", "kg"),
        ("motors.*.efficiency", 1.5, "at most 1"),
        ("wheels.front_left.suspension.travel", 0.1, "not in this scenario's form"),
    ):
        page.say(t="start", scenario="vivi-rough", set={f"robots.vivi.{key}": value})
        assert problem in page.error()


def test_a_refused_start_names_the_fields_and_no_command_line(page: Page):
    wrong = {"time.duration": "30 deg", "robots.vivi.attitude.2": "30 kg", "robots.vivi.position.0": 1.0}
    page.say(t="start", scenario="vivi-rough", set=wrong)
    answer = page.wait_for(lambda message: message["t"] == "error", "an error")
    assert answer["about"] == "start" and "--set" not in answer["text"]
    assert answer["text"].splitlines() == [f"{key}: {words}" for key, words in answer["fields"].items()]
    assert set(answer["fields"]) == {"time.duration", "robots.vivi.attitude.2"}
    assert "is an angle, needs a time" in answer["fields"]["time.duration"]


@pytest.mark.parametrize("word", ["drone", "arm", "futebol", "quadricóptero", "carro"])
def test_scenarios_have_keywords_and_pictures(lab: RunningLab, word: str):
    entries = lab.json("/api/scenarios")
    assert any(word in one["keywords"].split() for one in entries)
    by_name = {one["name"]: one["keywords"].split() for one in entries}
    assert "avião" not in by_name["castor-tractrix"], "it swings, and has no wing"
    assert "vento" not in by_name["vivi-half-pipe"], "it winds along, and there is no wind"
    assert "avião" in by_name["fixed-wing-glide"] and "vento" in by_name["hexarotor-wind"]
    of_library = [one for one in entries if one["name"] in botz.scenario.library.names("scenario")]
    assert of_library and all(one.get("picture") for one in of_library)
    answer = lab.get(f"/{of_library[0]['picture']}")
    assert answer.headers["content-type"] == "image/webp" and answer.content.startswith(b"RIFF")
    for other in ("nothing", "..%2Fsoccer", "soccer.webp"):
        assert lab.get(f"/api/pictures/{other}").status_code == 404


@pytest.mark.parametrize(
    "wrong",
    [
        {"controllers.circle.type": "/tmp/evil.py:Evil"},
        {"record.rate": 10},
        {"extends": "x"},
        {"time.duration": "long"},
        {"seed": 0.5},
        {"time.duration": -1},
    ],
)
def test_what_is_not_in_the_form_or_does_not_fit_is_not_set(page: Page, wrong: dict[str, Any]):
    page.say(t="start", scenario=SCENARIO, set=wrong)
    assert next(iter(wrong)) in page.error()


# --- a run -----------------------------------------------------------------------------------------------------


def test_a_run_is_described_and_its_frames_hold_what_was_asked_for(driven: tuple[Page, str]):
    page, key = driven
    run = page.run(key, lambda run: True)
    assert (run["scenario"], run["engine"], run["driver"], run["set"]) == (SCENARIO, "kinematics", page.viewer, LONG)
    assert [c[0] for c in run["channels"] if c[0] in (POSE, TWIST)] == [POSE, TWIST]
    assert run["robots"][0]["hands"] == "planar" and run["robots"][0]["axes"] == ["forward", "turn"]
    first, later = page.frame(), page.frame()
    assert first["v"].shape == (6,) and later["s"] > first["s"] and later["x"] > first["x"]
    # The radius of the circle is speed by yaw rate: where it is follows from how it is turned.
    radius = first["v"][3] / first["v"][5]
    assert first["v"][1] == pytest.approx(-radius * np.cos(first["v"][2]), abs=1e-4)


def test_a_paused_run_stands_and_takes_single_steps(driven: tuple[Page, str]):
    page, key = driven
    page.say(t="pause", run=key, on=True)
    page.run(key, lambda run: run["status"] == "paused")
    time.sleep(0.1)
    while page.hear() is not None:
        pass
    here = page.frame()["s"]
    page.say(t="step", run=key, n=1)
    assert page.frame(lambda frame: frame["s"] != here)["s"] == here + 1
    page.say(t="step", run=key, n=20)
    assert page.frame(lambda frame: frame["s"] >= here + 21)["s"] == here + 21
    page.say(t="pause", run=key, on=False)
    page.frame(lambda frame: frame["s"] > here + 100)


def test_a_run_goes_slower_and_faster(driven: tuple[Page, str]):
    page, key = driven

    def speed(factor: float) -> float:
        page.say(t="speed", run=key, factor=factor)
        page.run(key, lambda run: run["factor"] == factor)
        time.sleep(0.2)
        while page.hear() is not None:
            pass
        first = page.frame()
        last = page.frame(lambda frame: frame["x"] > first["x"] + 0.5)
        return (last["s"] - first["s"]) * 1e-3 / (last["x"] - first["x"])

    slow = speed(0.1)
    assert speed(10.0) > 2.0 * slow
    assert speed(0.0) > 2.0 * slow  # as fast as it can


def test_a_driven_robot_answers_and_its_hands_are_told_when(driven: tuple[Page, str], lab: RunningLab):
    page, key = driven
    for number in range(1, 30):
        axes = {"forward": 0.5, "turn": 0.0}
        page.say(t="drive", run=key, robot=ROBOT, mode="drive", axes=axes, buttons={}, seq=1000 + number)
        frame = page.frame(lambda frame, number=number: frame["a"] >= 1000 + number)
        time.sleep(0.01)
    assert frame["a"] == 1029
    assert frame["v"][3] == pytest.approx(0.22, abs=1e-6) and frame["v"][5] == pytest.approx(0.0, abs=1e-6)
    page.say(t="release", run=key)
    page.frame(lambda frame: not frame["v"][3:].any())  # at rest at once
    page.frame(lambda frame: frame["v"][5] > 0.0)  # and then its controller takes over


def test_the_recording_holds_what_the_hands_did(lab: RunningLab, page: Page):
    run = page.start(set=LONG, factor=1.0)
    key = run["id"]
    page.say(t="watch", run=key, channels=[TWIST], rate=60)
    page.frame()
    for number in range(20):
        axes = {"forward": -1.0}
        page.say(t="drive", run=key, robot=ROBOT, mode="drive", axes=axes, buttons={}, seq=number)
        page.frame(lambda frame, number=number: frame["a"] >= number)
    recording = page.stop(key)["recording"]
    rec = botz.read(lab.server.lab.recordings.path_of(recording))
    _, _, sources = rec.commands(ROBOT)
    assert any(source.startswith("outside") for source in sources)
    assert rec[TWIST][:, 0].min() == pytest.approx(-0.44)
    # The page's numbers are the recording's.
    table = lab.table(recording, f"{POSE},{TWIST}")
    assert table.shape[1] == 7
    np.testing.assert_array_equal(table[:, 0], rec.time(POSE).astype("f4"))
    np.testing.assert_array_equal(table[:, 1:4], rec[POSE].astype("f4"))
    np.testing.assert_array_equal(table[:, 4:], rec[TWIST].astype("f4"))
    thin = lab.table(recording, POSE, "&rate=10&from=0.1&to=0.35")
    np.testing.assert_allclose(thin[:, 0], [0.1, 0.2, 0.3, 0.35], atol=0.0101)
    info = lab.json(f"/api/recordings/{recording}/info")
    assert info["duration"] == rec.duration and info["seed"] == rec.seed and info["step_ns"] == rec.step_ns
    assert [c[0] for c in info["channels"]] == list(rec)
    (entry,) = [one for one in lab.json("/api/recordings") if one["id"] == recording]
    assert (entry["scenario"], entry["engine"], entry["status"]) == (SCENARIO, "kinematics", "interrupted")


def test_the_robot_stops_when_its_driver_is_gone(driven: tuple[Page, str], lab: RunningLab, page: Page):
    driver, key = driven
    guest = page
    driver.say(t="seat", run=key, action="give", to=guest.viewer)
    guest.run(key, lambda run: run["driver"] == guest.viewer)
    guest.say(t="watch", run=key, channels=[TWIST], rate=60)
    for number in range(5):
        guest.say(t="drive", run=key, robot=ROBOT, mode="drive", axes={"forward": 1.0}, buttons={}, seq=number)
        guest.frame(lambda frame, number=number: frame["a"] >= number)
    guest.vanish()
    driver.run(key, lambda run: run["driver"] is None)
    stood = driver.frame(lambda frame: not frame["v"][3:].any())
    assert stood["v"].shape == (6,)
    lab.pages.remove(guest)


def test_a_silent_driver_has_let_go(driven: tuple[Page, str]):
    """Long before the scenario's own timeout, which a slow run stretches."""
    page, key = driven
    page.say(t="speed", run=key, factor=0.05)
    page.run(key, lambda run: run["factor"] == 0.05)
    page.say(t="drive", run=key, robot=ROBOT, mode="drive", axes={"forward": 1.0}, buttons={}, seq=9000)
    moving = page.frame(lambda frame: frame["a"] == 9000)
    stood = page.frame(lambda frame: not frame["v"][3:].any())
    assert (stood["s"] - moving["s"]) * 1e-3 < 0.3  # the watchdog of the physics comes after 0.3 s of simulated time


def test_one_drives_and_the_others_watch(driven: tuple[Page, str], page: Page):
    driver, key = driven
    guest = page
    drive = {"t": "drive", "run": key, "robot": ROBOT, "mode": "drive", "axes": {"forward": 1.0}, "seq": 1}
    refused: list[dict[str, Any]] = [drive, *({"t": kind, "run": key} for kind in ("reset", "stop", "release"))]
    refused += [{"t": "pause", "run": key, "on": True}, {"t": "step", "run": key}]
    refused += [{"t": "speed", "run": key, "factor": 2.0}, {"t": "seat", "run": key, "action": "take"}]
    refused += [{"t": "seat", "run": key, "action": "give", "to": guest.viewer}]
    for message in refused:
        guest.say(**message)
        assert "seat" in guest.error()
    guest.say(t="seat", run=key, action="ask")
    asked = driver.wait_for(lambda m: m["t"] == "asked")
    assert (asked["run"], asked["from"]) == (key, guest.viewer)
    driver.say(t="seat", run=key, action="give", to=guest.viewer)
    guest.run(key, lambda run: run["driver"] == guest.viewer)
    driver.say(**drive)
    assert "seat" in driver.error()
    guest.say(t="pause", run=key, on=True)
    guest.run(key, lambda run: run["status"] == "paused")
    guest.say(t="seat", run=key, action="give")
    driver.run(key, lambda run: run["driver"] is None)
    driver.say(t="seat", run=key, action="take")
    driver.run(key, lambda run: run["driver"] == driver.viewer)


def test_viewers_are_told_who_is_there(lab: RunningLab, page: Page):
    other = lab.page(name="Ana")
    page.wait_for(lambda m: m["t"] == "viewers" and {"id": other.viewer, "name": "Ana"} in m["viewers"])
    other.close()
    page.wait_for(lambda m: m["t"] == "viewers" and other.viewer not in [one["id"] for one in m["viewers"]])


def test_reset_goes_back_to_the_beginning_and_keeps_the_recording(lab: RunningLab, page: Page):
    run = page.start(set=LONG, factor=20.0)
    key, first = run["id"], run["recording"]
    page.say(t="watch", run=key, channels=[POSE], rate=60)
    page.frame(lambda frame: frame["s"] > 20000)
    page.say(t="pause", run=key, on=True)
    page.run(key, lambda run: run["status"] == "paused")
    page.say(t="reset", run=key)
    again = page.run(key, lambda run: run["recording"] not in (None, first) and run["status"] != "starting")
    assert again["status"] == "paused"  # as it was
    assert page.frame(lambda frame: frame["s"] < 20000)["s"] < 20000
    page.stop(key)
    kept = {one["id"]: one for one in lab.json("/api/recordings")}
    assert {first, again["recording"]} <= set(kept)
    assert kept[first]["duration"] > 20.0
    page.say(t="reset", run=key)  # of one that has ended: it begins anew
    page.run(key, lambda run: run["status"] == "running" or run["status"] == "paused")
    page.stop(key)


def test_a_run_starts_from_any_point_of_a_recording(lab: RunningLab, page: Page):
    before = page.start(set={"time.duration": 3.0}, factor=0.0)
    before = page.run(before["id"], lambda run: run["status"] == "finished")
    rec = botz.read(lab.server.lab.recordings.path_of(before["recording"]))
    assert rec.duration == pytest.approx(3.0)
    origin = {"recording": before["recording"], "time": 1.23}
    run = page.start(from_=origin, factor=1.0, set={"time.duration": 500.0})
    assert run["duration"] == pytest.approx(501.23)
    page.say(t="watch", run=run["id"], channels=[POSE], rate=60)
    page.frame(lambda frame: frame["s"] > 1400)
    again = page.stop(run["id"])
    continued = botz.read(lab.server.lab.recordings.path_of(again["recording"]))
    assert continued.steps()[0] == 1230
    common = np.intersect1d(rec.steps(), continued.steps())
    assert len(common) > 10
    np.testing.assert_array_equal(
        rec[POSE][np.isin(rec.steps(), common)], continued[POSE][np.isin(continued.steps(), common)]
    )


def test_a_run_that_fails_says_why_to_every_page(lab: RunningLab, page: Page):
    other = lab.page()
    run = page.start("fails.yaml", factor=1.0)
    failed = other.run(run["id"], lambda run: run["status"] == "failed")
    assert "the controller has had enough" in failed["error"]
    assert lab.get("/api/health").json()["status"] == "ok"


def test_so_many_runs_at_once_and_no_more(driven: tuple[Page, str], monkeypatch: pytest.MonkeyPatch):
    page, _ = driven
    monkeypatch.setattr("botz.view.lab.runs.MOST_RUNS", 1)
    page.say(t="start", scenario=SCENARIO)
    assert "1 runs are going on" in page.error()


def test_frames_do_not_wait_for_acknowledgements(driven: tuple[Page, str], lab: RunningLab):
    sockets = [one.transport.get_extra_info("socket") for one in lab.server._server.server_state.connections]
    assert sockets and all(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for one in sockets)


def test_unknown_channels_are_named(driven: tuple[Page, str]):
    page, key = driven
    page.say(t="watch", run=key, channels=["rover/pos"], rate=60)
    assert "did you mean 'rover/pose'" in page.error()


def test_a_page_watches_so_many_runs_and_then_the_newest(driven: tuple[Page, str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("botz.view.lab.clients.MOST_SUBSCRIPTIONS", 1)
    page, _ = driven
    other = page.start(set=LONG, factor=1.0)["id"]
    page.say(t="watch", run=other, channels=[POSE], rate=60)
    page.wait_for(lambda m: m["t"] == "watching" and m["run"] == other)
    page.frame(lambda frame: frame["run"] == other)
    heard = [m["run"] for _ in range(30) if (m := page.hear(0.05)) and m["t"] == "frame"]
    assert heard and set(heard) == {other}
    page.stop(other)


def test_a_page_that_comes_late_is_told_the_newest_lines_only(lab: RunningLab, driven: tuple[Page, str]):
    _, key = driven
    run = lab.server.lab.runs[key]
    before = list(run.logs)
    run.logs.extend(("warning", f"line {number}") for number in range(50))
    late = lab.page()
    late.run(key, lambda run: True)  # comes after the lines
    told = [m["text"] for m in late.told if m["t"] == "log" and m["run"] == key]
    assert told == [f"line {number}" for number in range(30, 50)]
    run.logs.clear()
    run.logs.extend(before)


# --- around it -------------------------------------------------------------------------------------------------


def test_what_goes_wrong_inside_is_told_without_details(lab: RunningLab, monkeypatch: pytest.MonkeyPatch, caplog: Any):
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("a secret of the machine")

    monkeypatch.setattr("botz.view.lab.recordings.Recordings.entries", broken)
    answer = lab.get("/api/recordings")
    assert answer.status_code == 500
    assert answer.json()["error"] == "this failed; the lab's log says why"
    assert "a secret" in caplog.text and "a secret" not in answer.text


def test_the_scene_of_run_and_recording_is_the_same_file(driven: tuple[Page, str], lab: RunningLab):
    page, key = driven
    run = page.run(key, lambda run: True)
    of_run = lab.get(f"/api/runs/{key}/scene.glb")
    of_recording = lab.get(f"/api/recordings/{run['recording']}/scene.glb")
    assert of_run.headers["content-type"] == "model/gltf-binary" and of_run.content[:4] == b"glTF"
    assert of_run.content == of_recording.content
    plain = lab.get(f"/api/runs/{key}/scene.glb", **{"accept-encoding": "identity"})
    assert of_run.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
    assert plain.content == of_run.content
    assert int(of_run.headers["content-length"]) < len(plain.content)


def test_an_export_is_a_job_with_a_file(lab: RunningLab, page: Page):
    run = page.start(set={"time.duration": 1.0}, factor=0.0)
    recording = page.run(run["id"], lambda run: run["status"] == "finished")["recording"]
    job = lab.post(f"/api/recordings/{recording}/export", {"format": "glb", "fps": 20, "from": 0.0, "to": 0.5}).json()
    status: dict[str, Any] = {}
    deadline = time.monotonic() + 120
    while status.get("status") not in ("done", "failed") and time.monotonic() < deadline:
        status = lab.json(f"/api/exports/{job['job']}")
        time.sleep(0.05)
    assert status["status"] == "done", status
    file = lab.get(f"/api/exports/{job['job']}/file")
    assert file.content[:4] == b"glTF" and f"{recording}.glb" in file.headers["content-disposition"]


def test_other_solutions_hold_the_tool_in_the_same_place():
    from botz.view.lab.solutions import Arms

    spec: Any = botz.load("puma-wave").spec
    (robot,) = spec.robots
    arm = botz.SerialArm(spec.robots[robot])
    joints = arm.middle + 0.2
    arms = Arms()
    others = arms.solutions("x", spec, robot, joints)
    assert len(others) >= 3
    for other in others:
        np.testing.assert_allclose(arm.forward(other), arm.forward(joints), atol=1e-9)
        assert np.abs(np.array(other) - joints).max() > 1e-3
    points = np.frombuffer(arms.workspace("x", spec, robot), dtype="<f4").reshape(-1, 3)
    assert len(points) > 1000 and np.isfinite(points).all()
    assert np.linalg.norm(points, axis=1).max() < 2.0 * arm.reach


def test_a_lab_that_ends_keeps_what_its_runs_have_recorded(tmp_path: Path):
    with lab_at(tmp_path / "runs") as lab:
        page = lab.page()
        run = page.start(set=LONG, factor=1.0)
        page.say(t="watch", run=run["id"], channels=[POSE], rate=60)
        page.frame(lambda frame: frame["s"] > 300)
    (folder,) = (tmp_path / "runs").iterdir()
    rec = botz.read(folder)
    assert rec.complete and rec.summary["status"] == "interrupted" and rec.duration > 0.2


# --- the first minutes -----------------------------------------------------------------------------------------


def test_a_run_that_waits_begins_with_the_first_page_that_watches(tmp_path: Path):
    from botz.view.lab.lab import InitialRun

    loaded = botz.load(SCENARIO, overrides=["time.duration=86400"])
    with lab_at(tmp_path, initial=InitialRun(loaded, label=SCENARIO, waits=True)) as lab:
        page = lab.page()
        page.wait_for(lambda m: m["t"] == "runs" and [one["status"] for one in m["runs"]] == ["paused"], "the run")
        time.sleep(0.2)
        (run,) = [one.described() for one in lab.server.lab.runs]
        assert (run["status"], run["time"]) == ("paused", 0.0)
        assert run["duration"] is None  # it lasts until it is stopped
        page.say(t="watch", run=run["id"], channels=[POSE], rate=60)
        page.run(run["id"], lambda one: one["status"] == "running", "the run")
        assert page.frame(lambda frame: frame["s"] > 100)


@pytest.mark.parametrize("when", ["ended", "about to end"])
def test_hands_that_learn_late_of_a_runs_end_are_told_no_error(
    lab: RunningLab, monkeypatch: pytest.MonkeyPatch, when: str
):
    page = lab.page()
    key = page.start(set={"time.duration": 1000.0}, factor=1.0)["id"]
    if when == "ended":
        page.stop(key)
    else:
        monkeypatch.setattr(AttachedRun, "finished", True)
    for _ in range(3):
        axes = {"forward": 0.5, "turn": 0.0}
        page.say(t="drive", run=key, robot=ROBOT, mode="drive", axes=axes, buttons={}, seq=1)
        page.say(t="release", run=key)
    page.say(t="stop", run="nowhere")  # what is asked for with a mistake is still answered
    first = page.wait_for(lambda message: message["t"] == "error")
    assert first["about"] == "stop"
