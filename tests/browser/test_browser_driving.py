"""Hands in a real browser: buttons, keys, a gamepad, and what happens when they are gone. Recordings are the judge."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from browser_rig import NO_SHADOWS, PAD, LabPage

import botz

ROBOT = "duo"
POSE, TWIST = f"{ROBOT}/pose", f"{ROBOT}/twist"
STILL = "still.yaml"
WIDE = {"width": 900, "height": 520}

OpenPage = Callable[..., LabPage]


def moving(page: LabPage, component: int, sign: float) -> None:
    """Until the page is told that the robot moves."""
    page.wish(TWIST, POSE)
    page.until(
        "([name, k, sign]) => (botzLab.value(name)?.[k] ?? 0) * sign > 0.05", "motion", [TWIST, component, float(sign)]
    )


def standing(page: LabPage) -> float:
    """Until the page is told that the robot stands; since when, at the latest."""
    still = "(name) => botzLab.value(name)?.every((one) => one === 0) && [botzLab.lastFrame.time]"
    return float(page.until(still, "rest", TWIST)[0])


def longer(page: LabPage, seconds: float) -> None:
    """Until the run has gone on for so long."""
    page.until("(time) => botzLab.lastFrame.time > time", "time to pass", page.time + seconds)


def assert_stopped(rec: botz.Recording, *, seconds: float = 0.3) -> None:
    """After the last command of a trembling hand (only a change is recorded) the robot is at rest in time, for good."""
    steps, values, sources = rec.commands(ROBOT)
    from_hand = np.array([source.startswith("outside") for source in sources]) & (np.abs(values).max(axis=1) > 0.0)
    assert from_hand.sum() > 3, "the hand did not tremble"
    last = steps[from_hand][-1]
    # A command of step k shows in the state of step k + 1.
    assert_at_rest(rec, (last + 1) * rec.step_ns * 1e-9 + seconds)


def assert_at_rest(rec: botz.Recording, since: float) -> None:
    """It has moved before, and from then on not at all."""
    time, speed = rec.time(TWIST), np.abs(rec[TWIST]).max(axis=1)
    assert speed[time <= since].max() > 0.1, "it never moved"
    after = time > since + 0.5 * rec.step_ns * 1e-9
    assert after.sum() > 100, "the recording ends too early to tell"
    assert speed[after].max() == 0.0


# --- buttons -----------------------------------------------------------------------------------------------------


def test_a_run_is_chosen_started_paused_stepped_slowed_and_begun_anew_with_the_mouse(open_page: OpenPage):
    page = open_page(viewport=WIDE)
    click = page.page.click
    click(f'[data-scenario="{STILL}"]')
    # The form: another start, in its own field.
    page.page.wait_for_selector(f"#field-robots-{ROBOT}-pose-0", state="attached")
    page.page.evaluate("document.querySelectorAll('.setup-form details').forEach((one) => (one.open = true))")
    page.page.fill(f"#field-robots-{ROBOT}-pose-0", "0.75")
    click('.setup-foot [data-t="library.start"]')
    page.begun()
    page.status("running")
    assert page.value(POSE)[0] == pytest.approx(0.75)
    assert page.run["set"] == {f"robots.{ROBOT}.pose.0": 0.75}
    longer(page, 0.0)

    click('[data-tip="transport.pause"]')
    page.status("paused")
    page.page.wait_for_timeout(300)
    paused_at = page.time
    page.page.wait_for_timeout(300)
    assert page.time == paused_at
    reached = paused_at
    for length, seconds in [("image", 0.033), ("image", 0.033), ("tenth", 0.1), ("physics", 0.001), ("physics", 0.001)]:
        page.page.select_option(".step-length", length)
        click('[data-tip="transport.step"]')
        reached += seconds
        page.until("(time) => botzLab.lastFrame.time > time", f"a step: {length}", reached - 0.5e-3)
        page.page.wait_for_timeout(200)
        assert page.time == pytest.approx(reached, abs=1e-9), length

    for tip, factor in [("slower", 0.5), ("slower", 0.25), ("faster", 0.5), ("faster", 1), ("faster", 2)]:
        click(f'[data-tip="transport.{tip}"]')
        page.until("(factor) => botzLab.lab.store.currentRun.factor === factor", f"factor {factor}", factor)
        assert page.page.locator('.live-row [data-tip="transport.speed"]').input_value() == str(factor)

    click('[data-tip="transport.resume"]')
    page.status("running")
    # Far enough and slow enough that the page sees the new beginning before the run is as far again.
    page.until("() => botzLab.lastFrame.time > 4", "some seconds")
    for factor in (1, 0.5, 0.25):
        click('[data-tip="transport.slower"]')
        page.until("(factor) => botzLab.lab.store.currentRun.factor === factor", f"factor {factor}", factor)
    first, reached = page.run["recording"], page.time
    seen = page.events()
    click('[data-tip="transport.reset"]')
    page.until(
        """(first) => [botzLab.lab.store.currentRun]
             .some((run) => run?.status === "running" && run.recording !== first)""",
        "a new beginning",
        first,
    )
    page.until("(time) => botzLab.lastFrame && botzLab.lastFrame.time < time", "an early frame", reached)
    assert page.event("status", after=seen)["status"] == "starting"
    assert page.value(POSE)[0] == pytest.approx(0.75)

    click('[data-tip="transport.stop"]')
    second = page.replayed()
    assert second != first
    assert page.lab.recording(first).duration >= reached > page.lab.recording(second).time(POSE)[0] == 0.0


# --- keys and pad ------------------------------------------------------------------------------------------------


def test_keys_drive_and_the_recorded_robot_answers(open_page: OpenPage):
    page = open_page()
    page.start(STILL)
    page.press("KeyW")
    moving(page, 0, +1)
    longer(page, 0.2)
    page.let_go("KeyW")
    standing(page)
    page.press("KeyD")
    moving(page, 2, -1)
    longer(page, 0.2)
    page.press("Space")  # stop, whatever is held
    rest = standing(page)
    longer(page, 0.5)
    assert page.js("botzLab.state.driving") is False
    page.let_go("KeyD")
    rec = page.lab.recording(page.stop())
    assert_at_rest(rec, rest)
    pose, twist = rec[POSE], rec[TWIST]
    assert pose[-1, 0] > 0.05 and pose[-1, 2] < -0.05
    # Full deflection: twice the robot's length a second; then a turn on the spot, to the right.
    assert twist[:, 0].max() == pytest.approx(0.8) and twist[:, 0].min() == 0.0
    assert twist[:, 2].min() == pytest.approx(-1.5) and twist[:, 2].max() == 0.0
    assert len(page.js("botzLab.pilot.latencies")) > 0


def test_a_run_that_ends_under_a_held_key_leaves_no_errors(open_page: OpenPage):
    page = open_page()
    page.start(STILL)
    page.press("KeyW")
    moving(page, 0, +1)
    page.stop()
    page.page.wait_for_timeout(500)  # the hand does not know yet
    page.let_go("KeyW")
    assert page.js("[...document.querySelectorAll('.toast.error, .toast.warning')].map((one) => one.textContent)") == []


PLACES = """() => {
  const found = {};
  for (let i = 1; i < 60; i++)
    for (let j = 1; j < 40; j++) {
      const name = botzLab.world.robotAt(i / 60, j / 40);
      if (name) (found[name] ??= []).push([i / 60, j / 40]);
    }
  return found;
}"""


def test_a_click_chooses_the_robot_that_is_driven_and_the_line_names_it(open_page: OpenPage):
    page = open_page(viewport=WIDE)
    page.js("botzLab.lab.store.set({ library: false })")
    page.start("soccer")
    page.js("botzLab.lab.pause()")
    page.status("paused")
    page.drawn()
    first = page.js("botzLab.state.robot")
    box = page.page.locator("canvas").first.bounding_box()
    assert box is not None

    def covered(place: list[float]) -> bool:
        """Whether something of the page lies over the view there."""
        x, y = box["x"] + place[0] * box["width"], box["y"] + place[1] * box["height"]
        return not page.js("([x, y]) => document.elementFromPoint(x, y)?.tagName === 'CANVAS'", [x, y])

    places = page.js(PLACES)
    open_ones = {name: [one for one in seen if not covered(one)] for name, seen in places.items()}
    other = next(name for name, seen in open_ones.items() if seen and name != first)
    x, y = open_ones[other][0]
    page.page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])
    page.until("(name) => botzLab.state.robot === name", "the chosen robot", other)
    page.js("botzLab.lab.pause()")
    page.status("running")
    page.until("(name) => document.querySelector('.drive-hint')?.textContent.includes(name)", "its name", other)
    # A press that turns the view chooses nothing.
    page.page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    page.page.mouse.up()
    assert page.js("botzLab.state.robot") == other


def test_a_gamepad_drives_and_unplugging_it_stops_the_robot(open_page: OpenPage):
    page = open_page(scripts=(NO_SHADOWS, PAD))
    page.start(STILL)
    page.pad()
    page.until("botzLab.state.gamepad", "the pad")
    page.pad(axes=(0.0, -0.55, 0.0, 0.0))
    moving(page, 0, +1)
    longer(page, 0.2)
    page.pad(axes=(0.0, 0.0, -1.0, 0.0))
    moving(page, 2, +1)
    page.pad(axes=(0.0, 0.9, 0.0, 0.0), trembles=True)
    moving(page, 0, -1)
    longer(page, 0.3)
    page.pad(plugged=False)
    page.event("pad-lost")
    standing(page)
    longer(page, 0.5)
    assert page.js("botzLab.state.gamepad") is None
    rec = page.lab.recording(page.stop())
    assert_stopped(rec)
    twist = rec[TWIST]
    # Half way, the slack in the middle taken off: (0.55 − 0.1) / 0.9.
    assert twist[:, 0].max() == pytest.approx(0.4)
    assert twist[:, 0].min() < -0.6 and twist[:, 2].max() == pytest.approx(1.5)


def test_lost_focus_stops_the_robot_until_the_key_is_pressed_anew(open_page: OpenPage):
    page = open_page()
    page.start(STILL)
    page.press("KeyW")
    moving(page, 0, +1)
    page.js("window.dispatchEvent(new Event('blur'))")
    assert page.event("hands-lost") == "toast.handsFocus"
    rest = standing(page)
    page.press("KeyW")  # held on: the keyboard repeats it
    longer(page, 0.5)
    assert_at_rest(page.lab.recording(page.stop()), rest)


# --- cut off -----------------------------------------------------------------------------------------------------


def close(page: LabPage) -> None:
    """The window is gone, without a word."""
    page.close()


def freeze(page: LabPage) -> None:
    """A page that hangs says nothing more, though its connection stands; in the end it lets go of run and seat."""
    page.js(
        """() => {
          const end = performance.now() + 1500;
          while (performance.now() < end);
          testPad.axes = [0, 0, 0, 0];
          botzLab.pilot.halt();
          botzLab.send({ t: "seat", run: botzLab.state.run, action: "give" });
        }"""
    )


@pytest.mark.parametrize("cut", [close, freeze])
def test_a_driver_that_is_cut_off_stops_the_robot_in_time(open_page: OpenPage, cut: Callable[[LabPage], None]):
    page, watcher = open_page(scripts=(NO_SHADOWS, PAD)), open_page()
    page.start(STILL)
    watcher.begun()
    page.pad(axes=(0.0, -0.9, 0.0, 0.0), trembles=True)
    moving(watcher, 0, +1)
    longer(watcher, 0.5)
    cut(page)
    standing(watcher)
    longer(watcher, 0.6)
    watcher.until("botzLab.lab.store.currentRun.driver === null", "the seat")
    assert_stopped(watcher.lab.recording(watcher.stop()))


# --- one drives, others watch ------------------------------------------------------------------------------------


def test_the_seat_is_handed_over_and_who_watches_cannot_drive(open_page: OpenPage):
    ana = open_page("?name=Ana", viewport=WIDE)
    bia = open_page("?name=Bia", viewport=WIDE)
    ana.start(STILL)
    bia.begun()
    assert bia.page.locator(".seat-chip").get_attribute("data-state") == "other"
    assert bia.page.locator('[data-tip="transport.pause"]').is_disabled()
    bia.press("KeyW")
    longer(bia, 0.4)
    bia.let_go("KeyW")
    assert not bia.value(TWIST).any() and not bia.value(POSE).any()
    assert "drive" not in bia.js("botzLab.events.map((one) => one.kind)")

    bia.page.click("#tab-people")
    bia.page.click('.seat-card [data-t="seat.ask"]')
    ask = ana.page.locator(".ask")
    ask.wait_for()
    assert "Bia" in ask.inner_text()
    ask.locator('[data-t="seat.give"]').click()
    bia.until("botzLab.lab.store.isDriver", "the seat")
    ana.until("!botzLab.lab.store.isDriver", "the seat to be gone")

    ana.press("KeyS")
    bia.press("KeyW")
    moving(bia, 0, +1)
    longer(bia, 0.2)
    bia.let_go("KeyW")
    standing(bia)
    longer(bia, 0.4)
    ana.let_go("KeyS")
    rec = bia.lab.recording(bia.stop())
    assert rec[TWIST][:, 0].min() == 0.0 < rec[POSE][-1, 0]
    assert ana.replayed() == bia.js("botzLab.state.recording")
