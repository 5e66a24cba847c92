"""What engine `arm` refuses before the first step: joints that move nothing, servos, stops, friction and contacts that
are too fast for the step, objects that begin inside something."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from botz.engines.arm import model as layout
from botz.engines.arm.boxes import overlap_of
from botz.engines.arm.state import State
from botz.errors import InputError, Problem
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.schema import ArmScenario, PlacedArm

SUNK = 0.02
"""How deep an object may begin in something, as a part of its half edge, beside a millimetre."""


def check_masses(scenario: ArmScenario, arms: dict[str, SerialArm]) -> None:
    """Every joint must move something that has mass: H is positive in the starting position."""
    problems = []
    for name, arm in arms.items():
        with np.errstate(all="ignore"):
            inertia = arm.inertia(np.array(scenario.robots[name].start_joints))
        key = f"robots.{name}.joints"
        if not np.isfinite(inertia).all():
            problems.append(Problem("lengths and masses are too large to compute with", key=key))
            continue
        sizes, directions = np.linalg.eigh(inertia)
        if not sizes[0] > 1e-12 * sizes[-1]:
            joints = [one for one, part in zip(arm.names, directions[:, 0], strict=True) if abs(part) > 0.3]
            message = (
                f"{', '.join(joints)} can move without moving any inertia; give the links masses, or the joint a "
                "rotor_inertia"
            )
            problems.append(Problem(message, key=f"{key}.{joints[0]}"))
    if problems:
        raise InputError(problems)


def check_step(scenario: ArmScenario, arms: dict[str, SerialArm], model: layout.Model, start: State, h: float) -> None:
    """In the starting position: everything slow against steps of `h` seconds, the servos' errors die away, and nothing
    begins inside something else."""
    problems: list[Problem] = []
    for name, robot in scenario.robots.items():
        inertia = arms[name].inertia(np.array(robot.start_joints))
        problems += stops_too_fast(name, robot, h)
        problems += friction_too_sharp(name, robot, inertia, h)
        if robot.servo.type != "torque" and robot.servo.gains is None:
            problems += servo_too_fast(name, robot, inertia, h)
            problems += servo_unstable(name, robot, inertia)
    stiffness = float(model.world[0].stiffness)
    problems += contact_too_stiff(scenario, arms, stiffness, h)
    problems += contact_too_soft(scenario, stiffness)
    problems += objects_inside(scenario, model, start)
    if problems:
        raise InputError(problems)


def liveliness(inertia: np.ndarray, springs: np.ndarray) -> tuple[float, float]:
    """How lively the joints are together against each alone: least and largest eigenvalue of H⁻¹ D."""
    sizes = np.linalg.eigvals(np.linalg.solve(inertia, np.diag(springs))).real
    return float(sizes.min()), float(sizes.max())


def coupling(robot: PlacedArm, inertia: np.ndarray) -> tuple[float, float]:
    """Liveliness under the servo: PID's springs are made for one joint each, computed torque sets the accelerations."""
    return liveliness(inertia, np.diag(inertia)) if robot.servo.type == "pid" else (1.0, 1.0)


def stops_too_fast(name: str, robot: PlacedArm, h: float) -> Iterator[Problem]:
    for joint, spec in robot.joints.items():
        if spec.range is not None and 2.0 * spec.stop_frequency * h > 1.0:
            message = f"{spec.stop_frequency:g} rad/s is too fast for steps of {h:g} s; at most {0.5 / h:.3g} rad/s"
            yield Problem(message, key=f"robots.{name}.joints.{joint}.stop_frequency")


def friction_too_sharp(name: str, robot: PlacedArm, inertia: np.ndarray, h: float) -> Iterator[Problem]:
    steepest = np.array(
        [one.friction.viscous + one.friction.coulomb / one.friction.smoothing for one in robot.joints.values()]
    )
    braked = liveliness(inertia, steepest)[1] * h
    if not braked > 2.0:
        return
    joint, spec = list(robot.joints.items())[int(np.argmax(steepest / np.diag(inertia)))]
    friction, place = spec.friction, f"robots.{name}.joints.{joint}.friction"
    if friction.viscous > friction.coulomb / friction.smoothing:
        message = (
            f"{friction.viscous:g} is too much for what the joint moves in steps of {h:g} s; at most "
            f"{2.0 * friction.viscous / braked:.2g}, or a rotor_inertia, or a shorter time.step"
        )
        yield Problem(message, key=f"{place}.viscous")
    else:
        message = (
            f"{friction.smoothing:g} is too sharp for steps of {h:g} s: the joint would tremble instead of "
            f"resting; at least {0.5 * braked * friction.smoothing:.2g}, or a rotor_inertia, or a shorter "
            "time.step"
        )
        yield Problem(message, key=f"{place}.smoothing")


def servo_too_fast(name: str, robot: PlacedArm, inertia: np.ndarray, h: float) -> Iterator[Problem]:
    servo = robot.servo
    together = coupling(robot, inertia)[1]
    rate = servo.frequency * max(2.0 * servo.damping, 1.0)
    if rate * together * h > 1.0:
        most = servo.frequency / (rate * together * h)
        other = ", or computed-torque" if servo.type == "pid" else ""
        message = (
            f"{servo.frequency:g} rad/s with a damping of {servo.damping:g} is too fast for steps of {h:g} s; at "
            f"most {most:.3g} rad/s, or a shorter time.step{other}"
        )
        yield Problem(message, key=f"robots.{name}.servo.frequency")


def servo_unstable(name: str, robot: PlacedArm, inertia: np.ndarray) -> Iterator[Problem]:
    """Routh's condition for s³ + λ (2ζω s² + ω² s + ω²/T), λ of the slowest motion, and for τ s³ + s² + 2ζω s + ω² with
    a valve's lag τ."""
    servo, key = robot.servo, f"robots.{name}.servo"
    slowest = coupling(robot, inertia)[0]
    braking = 2.0 * servo.damping * servo.frequency
    if servo.integral_time is not None and servo.integral_time * braking * slowest <= 1.0:
        least = 1.0 / (braking * slowest) if braking > 0.0 else float("inf")
        message = f"{servo.integral_time:g} s lets the error grow; it needs more than {least:.3g} s"
        yield Problem(message, key=f"{key}.integral_time")
    for joint, spec in robot.joints.items():
        lag = spec.actuator.lag
        if lag * servo.frequency**2 >= braking and lag > 0.0:
            message = (
                f"{servo.frequency:g} rad/s is too fast for the lag of {lag:g} s of {joint}; below "
                f"{2.0 * servo.damping / lag:.3g} rad/s"
            )
            yield Problem(message, key=f"{key}.frequency")
            break


def contact_too_stiff(
    scenario: ArmScenario, arms: dict[str, SerialArm], stiffness: float, h: float
) -> Iterator[Problem]:
    """Springs and dampers of all points that can press on a body at once must be slow against the step."""
    damping, method = scenario.world.contact.damping, scenario.time.method
    cases = layout.touching_cases(scenario, arms)
    for what, mass, points in cases:
        if layout.contact_load(stiffness, damping, mass, points, h, method) > 2.0:
            most = layout.stiffest(damping, cases, h, 2.0, method)
            message = (
                f"{stiffness:g} N/m is too stiff for {what} in steps of {h:g} s; at most {most:.2g} N/m, or "
                "a shorter time.step"
            )
            yield Problem(message, key="world.contact.stiffness")
            break


def contact_too_soft(scenario: ArmScenario, stiffness: float) -> Iterator[Problem]:
    """No weight may be too much for the springs of four corners."""
    weight = float(np.linalg.norm(scenario.world.gravity))
    for name, thing in scenario.world.objects.items():
        sinks = thing.mass * weight / (4.0 * stiffness)
        if sinks > 0.1 * min(thing.size):
            message = (
                f"{stiffness:.3g} N/m is too soft for {name}: its {thing.mass:g} kg would sink in by "
                f"{sinks:.2g} m; at least {thing.mass * weight / (0.4 * min(thing.size)):.2g} N/m"
            )
            yield Problem(message, key="world.contact.stiffness")


def objects_inside(scenario: ArmScenario, model: layout.Model, start: State) -> Iterator[Problem]:
    """Objects must not begin inside something: the springs would throw them out."""
    for k, name in enumerate(scenario.world.objects):
        # Pairs of objects are asked about once.
        for depth, other in inside_of(scenario, model, start.poses[: k + 1], k):
            yield Problem(f"begins {depth:.3g} m inside {other}; move it out", key=f"world.objects.{name}.pose")


def inside_of(scenario: ArmScenario, model: layout.Model, poses: np.ndarray, k: int) -> Iterator[tuple[float, str]]:
    """How deep object k is in what, where that is too deep; `poses` are those of the objects that are asked about."""
    world = scenario.world
    names = [*world.boxes, *world.objects]
    everything = np.concatenate([model.fixed_poses, poses])
    axes = layout.axes_of_all(everything)
    b = len(world.boxes) + k
    half = np.array([model.boxes[b].hx, model.boxes[b].hy, model.boxes[b].hz])
    slack = SUNK * float(half.min()) + 1e-3
    for plane, name in zip(model.planes, world.planes, strict=True):
        normal = np.array([plane.nx, plane.ny, plane.nz])
        reach = float(np.abs(axes[b].reshape(3, 3) @ normal) @ half)
        depth = plane.offset - normal @ everything[b, :3] + reach
        if depth > slack:
            yield depth, name
    for other in range(len(everything)):
        depth = overlap_of(model.boxes, everything, axes, other, b) if other != b else 0.0
        if depth > slack:
            yield depth, names[other]
