"""A master that drives an arm: how far the arm is behind, a line that is cut, packets that do not count."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from botz.control.teleop.controller import Teleoperated
from botz.control.teleop.motion import RAMP
from botz.control.teleop.script import read_table
from botz.engines.arm.engine import ArmEngine
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


def servo_response(simulation: Simulation, times: np.ndarray, derivative: int) -> np.ndarray:
    """G(t), or a derivative: what every joint is behind, a time t after the speed of one's reference has gone up by 1.

    A slave gives no accelerations, and a valve follows with the lag τ. The torque of computed torque, which knows the
    friction f(v) at the reference's speed v, and the arm's own friction f(v − ė) with the slope B make of it, for the
    error e and D = H⁻¹B, without an integral part:

        (τs³ + (1 + τD)s² + (2ζω + D)s + ω²) e = (τs + 1 + τD) v̇,

    a sum of three exponentials for each eigenvalue of D. B is that of joints at rest, where friction is steepest: a
    steeper one damps, but leaves more to the lag, τD, and ∫G dt = (1 + τD)/ω² grows with it.
    """
    robot, engine = simulation.spec.robots[ROBOT], simulation.engine
    assert isinstance(engine, ArmEngine)
    omega, zeta = robot.servo.frequency, robot.servo.damping
    lag = max(joint.actuator.lag for joint in robot.joints.values())
    frictions = [joint.friction for joint in robot.joints.values()]
    steepest = np.diag([one.viscous + one.coulomb / one.smoothing for one in frictions])
    inertia = np.asarray(engine.arms[ROBOT].inertia(engine.state.q))
    brakes, modes = np.linalg.eig(np.linalg.solve(inertia, steepest))
    found = []
    for brake in brakes:
        denominator = [lag, 1.0 + lag * brake, 2.0 * zeta * omega + brake, omega**2]
        poles = np.roots(denominator)
        shares = poles**derivative * (lag * poles + 1.0 + lag * brake) / np.polyval(np.polyder(denominator), poles)
        found.append((shares @ np.exp(np.outer(poles, times))).real)
    return np.einsum("ij,jt,jk->tik", modes, np.array(found), np.linalg.inv(modes))


def servo_bound(simulation: Simulation, speeds: Sequence[np.ndarray], derivative: int = 0) -> np.ndarray:
    """How far any joint can be from its reference at the end of each period, whose speeds are given: the changes Δv at
    the beginnings add up to |e(t)| <= Σ |G(t − t_k)| |Δv_k| [rad]. Its derivative: how much slower or faster it can be.

    What the valves' lag leaves of gravity, τ H⁻¹Ġ/ω², is not in it: of an arm that takes seconds to move it is 3e-5 rad
    at most, and 1e-6 rad of the light joint that is furthest behind.
    """
    n = len(speeds)
    jumps = np.abs(np.diff(speeds, axis=0, prepend=0.0))
    sizes = np.abs(servo_response(simulation, PERIOD * np.arange(1, n + 1), derivative))
    joints = range(jumps.shape[1])
    summed = [[np.convolve(sizes[:, i, k], jumps[:, k])[:n] for k in joints] for i in joints]
    return np.asarray(np.sum(summed, axis=1).max(axis=0))


def periods(simulation: Simulation, seconds: float) -> Iterator[Mapping[str, Any]]:
    """Runs on, and shows all channels at the end of each of the controller's periods."""
    for _ in range(round(seconds / PERIOD)):
        yield simulation.step(n=round(PERIOD / simulation.engine.dt))


def started(seed: int = 0, *changes: str) -> tuple[Simulation, Any]:
    simulation = Simulation(load(SCENARIO, overrides=changes), seed=seed)
    operator: Any = simulation._controllers[CONTROLLER][0]
    assert isinstance(operator, Teleoperated)
    return simulation, operator


def follows_a_slow_master(samples: int) -> Iterator[Check]:
    """Through 200 ms and 5 % loss the arm is behind a master of speed v by at most v (delay + period + (1 + k)/rate +
    ramp · v/v_max) + servo, with k = 4 messages lost in a row."""
    errors, servo, bound, hurried, lost = [], [], 0.0, 0.0, 0
    settings = started()[1].spec.settings
    for seed in range(1 if samples < 1000 else 8):
        simulation, operator = started(seed)
        table = read_table(operator._file, tuple(simulation.spec.robots[ROBOT].joints))
        last, speeds = np.array(table.at(0.0)["joints"]), []
        for values in periods(simulation, FOLLOWING):
            hands = np.array(table.at(simulation.time)["joints"])
            hurried = max(hurried, float(np.abs(hands - last).max()) / PERIOD)
            last = hands
            errors.append(float(np.abs(hands - values[f"{ROBOT}/position"]).max()))
            speeds.append(values[f"{ROBOT}/reference/speed"].copy())
            servo.append(float(np.abs(values[f"{ROBOT}/reference/position"] - values[f"{ROBOT}/position"]).max()))
        bound = max(bound, float(servo_bound(simulation, speeds).max()))
        lost += operator.to_slave.lost
    fastest = settings.limits.joint_speed * min(joint.speed for joint in simulation.spec.robots[ROBOT].joints.values())
    rate = operator.spec.master.rate
    behind = settings.line.delay + PERIOD + (1 + LOST_IN_A_ROW) / rate + RAMP * hurried / fastest
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
    speeds = []
    for values in periods(simulation, 4.5):
        speeds.append(values[f"{ROBOT}/reference/speed"].copy())
    before = float(np.abs(values[f"{ROBOT}/speed"]).max())
    yield same(
        "line cut: the arm was moving", "moving", "moving" if before > 0.1 else "at rest", "Else it shows nothing."
    )
    operator.to_slave.put = lambda message, t: None
    for values in periods(simulation, settings.line.delay + settings.timeout + 2.0 * PERIOD):
        speeds.append(values[f"{ROBOT}/reference/speed"].copy())
    held, stopped = values[f"{ROBOT}/reference/position"].copy(), len(speeds)
    moved, strayed = [], []
    for values in periods(simulation, 1.0):
        speeds.append(values[f"{ROBOT}/reference/speed"].copy())
        moved.append(float(np.abs(values[f"{ROBOT}/reference/position"] - held).max()))
        strayed.append(float(np.abs(values[f"{ROBOT}/position"] - held).max()))
    yield worst(
        "line cut: reference after delay and timeout [rad]", moved, 0.0, "Exactly still: nothing is added to it."
    )
    bound = float(servo_bound(simulation, speeds)[stopped:].max())
    yield worst("line cut: arm from where it is held [rad]", strayed, bound, "The servo's error.")
    still = float(np.abs(values[f"{ROBOT}/speed"]).max())
    slowest = float(servo_bound(simulation, speeds, 1)[-1])
    why = "The error's derivative: friction falls with the speed, so that a light joint creeps to its place."
    yield close("line cut: joint speeds a second later [rad/s]", 0.0, still, slowest, why)


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
