"""A master that drives an arm: how far the arm is behind, a line that is cut, packets that do not count."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from botz.control.teleop_motion import RAMP
from botz.control.teleop_script import read_table
from botz.control.teleoperated import Teleoperated
from botz.scenario.arm import PlacedArm
from botz.scenario.load import load
from botz.sim.simulation import Simulation
from botz.verify.checks import Check, close, same, worst

SCENARIO, CONTROLLER, ROBOT = "titan4-teleop", "operator", "titan"
PERIOD = 0.01
"""Of the controller [s]."""
FOLLOWING = 8.8
"""Until then the clutch of the shipped script is closed [s]."""
LOST_IN_A_ROW = 4
"""At 5 % loss five messages in a row are lost once in three million."""


def servo_bound(robot: PlacedArm, speed: float) -> float:
    """How far an arm is from a reference whose speed v is at most `speed`, however it changes [rad].

    A slave gives no accelerations, so they disturb the servo. With valves of lag τ the error is
    E = s (τs + 1)/(τs³ + s² + 2ζω s + ω²) V, whose impulse response g gives |e| <= max |v| ∫|g| dt. What the lag
    leaves of friction and gravity is not in it: they change in the seconds of the motion, not in the 15 ms of the
    valves, and the bound is that of a reference that alternates as badly as it can.
    """
    omega, zeta = robot.servo.frequency, robot.servo.damping
    largest = 0.0
    for lag in {joint.actuator.lag for joint in robot.joints.values()}:
        poles = np.roots([lag, 1.0, 2.0 * zeta * omega, omega**2])
        slope = np.polyval(np.polyder([lag, 1.0, 2.0 * zeta * omega, omega**2]), poles)
        times = np.linspace(0.0, 30.0 / np.min(-poles.real), 100_001)
        response = (poles * (lag * poles + 1.0) / slope) @ np.exp(np.outer(poles, times))
        largest = max(largest, float(np.trapezoid(np.abs(response.real), times)))
    return speed * largest


def started(seed: int = 0, *changes: str) -> tuple[Simulation, Any]:
    simulation = Simulation(load(SCENARIO, overrides=changes), seed=seed)
    operator: Any = simulation._controllers[CONTROLLER][0]
    assert isinstance(operator, Teleoperated)
    return simulation, operator


def follows_a_slow_master(samples: int) -> Iterator[Check]:
    """Through 200 ms and 5 % loss the arm is behind a master of speed v by at most v (delay + period + (1 + k)/rate +
    ramp · v/v_max) + servo, with k = 4 messages lost in a row."""
    errors, servo, hurried, fast, lost = [], [], 0.0, 0.0, 0
    settings = started()[1].spec.settings
    for seed in range(1 if samples < 1000 else 8):
        simulation, operator = started(seed)
        table = read_table(operator._file, tuple(simulation.spec.robots[ROBOT].joints))
        last = np.array(table.at(0.0)["joints"])
        while simulation.time < FOLLOWING:
            values = simulation.step(n=round(PERIOD / simulation.engine.dt))
            hands = np.array(table.at(simulation.time)["joints"])
            hurried = max(hurried, float(np.abs(hands - last).max()) / PERIOD)
            last = hands
            errors.append(float(np.abs(hands - values[f"{ROBOT}/position"]).max()))
            fast = max(fast, float(np.abs(values[f"{ROBOT}/reference/speed"]).max()))
            servo.append(float(np.abs(values[f"{ROBOT}/reference/position"] - values[f"{ROBOT}/position"]).max()))
        lost += operator.to_slave.lost
    fastest = settings.limits.joint_speed * min(joint.speed for joint in simulation.spec.robots[ROBOT].joints.values())
    rate = operator.spec.master.rate
    behind = settings.line.delay + PERIOD + (1 + LOST_IN_A_ROW) / rate + RAMP * hurried / fastest
    bound = servo_bound(simulation.spec.robots[ROBOT], fast)
    yield worst(
        "teleoperation: arm behind its master [rad]", errors, hurried * behind + bound, f"v = {hurried:.3g} rad/s."
    )
    yield worst("teleoperation: arm from its reference [rad]", servo, bound, "The last term of the bound.")
    least = 0.9 * hurried * settings.line.delay
    words = "as late as the line" if max(errors) >= least and lost > 0 else "neither late nor lossy"
    yield same("teleoperation: the line delays and loses", "as late as the line", words, f"At least {least:.3g} rad.")


def stops_when_the_line_is_cut(samples: int) -> Iterator[Check]:
    """No message any more: the reference stands still after what is still on the line and the timeout, and the arm with
    it."""
    simulation, operator = started()
    settings = operator.spec.settings
    dt = simulation.engine.dt
    values = simulation.step(n=round(4.5 / dt))
    before, fast = (float(np.abs(values[f"{ROBOT}/{name}"]).max()) for name in ("speed", "reference/speed"))
    yield same(
        "line cut: the arm was moving", "moving", "moving" if before > 0.1 else "at rest", "Else it shows nothing."
    )
    operator.to_slave.put = lambda message, t: None
    values = simulation.step(n=round((settings.line.delay + settings.timeout + 2.0 * PERIOD) / dt))
    held = values[f"{ROBOT}/reference/position"].copy()
    moved, strayed = [], []
    for _ in range(10):
        values = simulation.step(n=round(0.1 / dt))
        moved.append(float(np.abs(values[f"{ROBOT}/reference/position"] - held).max()))
        strayed.append(float(np.abs(values[f"{ROBOT}/position"] - held).max()))
    yield worst(
        "line cut: reference after delay and timeout [rad]", moved, 0.0, "Exactly still: nothing is added to it."
    )
    bound = servo_bound(simulation.spec.robots[ROBOT], fast)
    yield worst("line cut: arm from where it is held [rad]", strayed, bound, "The servo's error.")
    still = float(np.abs(values[f"{ROBOT}/speed"]).max())
    yield close("line cut: joint speeds a second later [rad/s]", 0.0, still, 1e-3, "It has come to rest in 40/s.")


def packets_that_do_not_count(samples: int) -> Iterator[Check]:
    """Garbage, damaged, replayed and foreign packets leave the arm as it would be without them, bit for bit."""
    rng = np.random.default_rng(77)
    # The line draws for every message, answers to rubbish too. Without loss and jitter nothing depends on the draws.
    lossless = f"controllers.{CONTROLLER}.settings.line.loss=0"
    clean, _ = started(0, lossless)
    dirty, operator = started(0, lossless)
    taken: list[str] = []
    arrived = operator.to_slave.arrived

    def with_rubbish(t: float) -> list[str]:
        found = list(arrived(t))
        taken.extend(found)
        for _ in range(3 if samples < 1000 else 10):
            found.append(spoilt(rng, taken))
        return found

    operator.to_slave.arrived = with_rubbish
    difference, verdicts = [], operator.slave.counts
    for _ in range(60):
        one, other = clean.step(n=100), dirty.step(n=100)
        difference.append(float(np.abs(one[f"{ROBOT}/position"] - other[f"{ROBOT}/position"]).max()))
    refused = sum(count for verdict, count in verdicts.items() if verdict not in ("accepted", "greeted"))
    yield worst("rubbish on the line: joints [rad]", difference, 0.0, f"{refused} packets did not count.")
    yield same("rubbish on the line: refused", "yes", "yes" if refused > 100 else f"{refused}", "Else none arrived.")


def spoilt(rng: np.random.Generator, taken: list[str]) -> str:
    """A packet that must not count: noise, a damaged one, an old one again, or one of an invented session."""
    kind = int(rng.integers(4))
    if kind == 0 or not taken:
        return "".join(chr(int(code)) for code in rng.integers(32, 127, size=int(rng.integers(1, 200))))
    message = taken[int(rng.integers(len(taken)))]
    if kind == 1:
        at = int(rng.integers(len(message)))
        return message[:at] + chr(ord(message[at]) ^ 1) + message[at + 1 :]
    if kind == 2 and '"hello"' not in message:
        return message
    text = '{"session":"0123456789abcd","number":1000000,"time":1000,"joints":[1,1,1,1,1,1]}'
    return f"{zlib.crc32(text.encode()):08x} {text}"


FUNCTIONS = (follows_a_slow_master, stops_when_the_line_is_cut, packets_that_do_not_count)
