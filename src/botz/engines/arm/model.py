"""The parameters of engine `arm`: arms, joints, surfaces and the objects between them. No step changes them."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, inf, sqrt
from typing import NamedTuple

import numpy as np

from botz.engines.arm.boxes import PATCH, box_axes
from botz.kernels import record, words
from botz.robots.arm_calls import BY_COLUMNS, COMPOSITE
from botz.robots.arm_records import link_records
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.schema import ArmScenario, PlacedArm
from botz.scenario.arm.world import Box
from botz.transforms import quaternion_from_attitude

TORQUE, PID, COMPUTED = 0, 1, 2
RK4, SEMI_IMPLICIT = 0, 1
PAD_POINTS = 9
"""Points of a pad that touch: a grid of three by three."""
LANES = 24
"""Points of a tool that are computed side by side: those of two pads and six more."""
PAD_FRACTION = 4.0 / 9.0
"""Stiffness of each of them by that of a corner: a whole pad is as stiff as a box on its four corners."""
CORNERS = 8
"""Of a box."""
NOWHERE = 1e9
"""Further away than anything [m]."""
STIFFEST = 2e5
"""Of a point of contact, where the scenario leaves it open [N/m]."""
INTEGRAL_FRACTION = 0.1
"""Of the actuator's torque, the most that a servo's integral part gives: enough for friction and a wrong model, too
little to wind up against an obstacle."""

WORLD = record(
    **dict.fromkeys(words("gx gy gz stiffness damping"), np.float64),
    **dict.fromkeys(words("method dynamics first_bristle"), np.int64),
)
"""Gravity; stiffness and damping ratio of a point of contact; methods of integration and of forward dynamics; where the
bristles of the objects begin."""

UNIT = record(
    **dict.fromkeys(words("friction mass widest strongest jaw_speed reach"), np.float64),
    **dict.fromkeys(words(
        "start n first_block blocks first_bristle gripper servo compensates knows inputs touches"
    ), np.int64),
)  # fmt: skip
"""An arm: where its joints, blocks of points, bristles and inputs begin; its gripper; `mass`: what a blow on the tool
finds; `touches`: whether anything is there to be met."""

JOINT = record(
    **dict.fromkeys(words("kp kd ki strongest torque_step follow per_flow stop speed lead most"), np.float64)
)
"""A joint's servo (`most`: greatest integral of its error), actuator and stops."""

POINTS = record(**dict.fromkeys(words("x y z jaw radius fraction"), (np.float64, LANES)))
"""Points of a tool side by side: their places in its axes (`jaw` −1, 1: on a pad, half the opening to that side; 0:
fixed), radii and fractions of the stiffness. A lane without a point never touches."""

PLANE = record(**dict.fromkeys(words("nx ny nz offset friction"), np.float64))
BOX = record(**dict.fromkeys(words("hx hy hz radius friction mass per_mass ixx iyy izz lift"), np.float64))
"""A box's half edges and their length; mass 0 of one that does not move; `lift`: fraction of its weight that water
carries."""
POSE = 13
"""Numbers of a box's state: position, quat_wxyz, velocity (world axes), angular velocity (its own axes)."""


class Model(NamedTuple):
    world: np.ndarray
    """One WORLD."""
    arms: np.ndarray
    """ARM of dh.py: where each stands, and its tool."""
    units: np.ndarray
    joints: np.ndarray
    """Of all arms one after the other, as …"""
    links: np.ndarray
    known: np.ndarray
    """… and the links as the servos know them, without what the grippers hold."""
    points: np.ndarray
    """Points of the tools and their pads, in blocks."""
    planes: np.ndarray
    boxes: np.ndarray
    """First those that do not move, then the objects."""
    fixed_poses: np.ndarray
    """Of the boxes that do not move (k, 13), and …"""
    fixed_axes: np.ndarray
    """… their axes (k, 9)."""


def build_model(scenario: ArmScenario, arms: dict[str, SerialArm], dt: float) -> Model:
    world = scenario.world
    robots = list(scenario.robots.values())
    things = [*world.boxes.values(), *world.objects.values()]
    surfaces = len(world.planes) + len(things)
    units = np.zeros(len(robots), dtype=UNIT)
    joints = np.zeros(sum(len(robot.joints) for robot in robots), dtype=JOINT)
    blocks: list[np.ndarray] = []
    start = inputs = slots = 0
    for unit, robot, arm in zip(units, robots, arms.values(), strict=True):
        unit.start, unit.n, unit.first_block, unit.inputs = start, arm.n, len(blocks), inputs
        unit.first_bristle = slots
        fill_unit(unit, robot, arm)
        own_blocks = touch_blocks(robot)
        unit.blocks, unit.touches = len(own_blocks), int(surfaces > 0 and len(own_blocks) > 0)
        fill_joints(joints[start : start + arm.n], robot, arm, dt)
        blocks += own_blocks
        start += arm.n
        inputs += input_width(robot)
        slots += LANES * len(own_blocks) * surfaces
    planes = np.zeros(len(world.planes), dtype=PLANE)
    for own, plane in zip(planes, world.planes.values(), strict=True):
        normal = np.array(plane.normal) / np.linalg.norm(plane.normal)
        own.nx, own.ny, own.nz = normal
        own.offset, own.friction = normal @ np.array(plane.point), plane.friction
    fixed = poses_of(world.boxes.values())
    return Model(
        world=world_record(scenario, contact_stiffness(scenario, arms, dt), slots),
        arms=joined_records([arm.arm for arm in arms.values()]),
        units=units,
        joints=joints,
        links=joined_records([arm.links for arm in arms.values()]),
        known=joined_records(
            [link_records(robot, payload=robot.servo.knows_payload, scale=robot.servo.model_scale) for robot in robots]
        ),
        points=joined_records(blocks) if blocks else np.zeros(0, dtype=POINTS),
        planes=planes,
        boxes=box_records(scenario),
        fixed_poses=fixed,
        fixed_axes=axes_of_all(fixed),
    )


def bristles_of(scenario: ArmScenario, model: Model) -> int:
    """Pairs of a point and a surface: those of the tools, then those of the objects."""
    planes, fixed, moving = len(model.planes), len(model.fixed_poses), len(scenario.world.objects)
    own = moving * (CORNERS * planes + PATCH * fixed) + PATCH * (moving * (moving - 1) // 2)
    return int(model.world[0].first_bristle) + own


def world_record(scenario: ArmScenario, stiffness: float, first_bristle: int) -> np.ndarray:
    world = np.zeros(1, dtype=WORLD)
    own, time = world[0], scenario.time
    own.gx, own.gy, own.gz = scenario.world.gravity
    own.stiffness, own.damping, own.first_bristle = stiffness, scenario.world.contact.damping, first_bristle
    own.method = RK4 if time.method == "rk4" else SEMI_IMPLICIT
    own.dynamics = COMPOSITE if time.forward_dynamics == "composite-body" else BY_COLUMNS
    return world


def joined_records(parts: list[np.ndarray]) -> np.ndarray:
    """One record array of several; `np.concatenate` forgets that its elements give their fields as attributes."""
    found = np.zeros(sum(len(part) for part in parts), dtype=parts[0].dtype)
    at = 0
    for part in parts:
        found[at : at + len(part)] = part
        at += len(part)
    return found


def input_width(robot: PlacedArm) -> int:
    return 4 * len(robot.joints) + 2 + (2 if robot.gripper is not None else 0)


def fill_unit(unit: np.record, robot: PlacedArm, arm: SerialArm) -> None:
    unit.friction = robot.tool.friction
    unit.servo = {"torque": TORQUE, "pid": PID, "computed-torque": COMPUTED}[robot.servo.type]
    unit.compensates, unit.knows = int(robot.servo.compensate_friction), int(robot.servo.knows_payload)
    unit.mass = felt_mass(arm, np.array(robot.start_joints))
    far = [float(np.linalg.norm(point)) + robot.tool.radius for point in robot.tool.points]
    if (gripper := robot.gripper) is not None:
        unit.gripper = 1
        unit.widest, unit.strongest, unit.jaw_speed = gripper.opening, gripper.force, gripper.speed
        far.append(0.5 * sqrt(gripper.pads[0] ** 2 + gripper.pads[1] ** 2 + gripper.opening**2))
    unit.reach = max(far, default=0.0)


def touch_blocks(robot: PlacedArm) -> list[np.ndarray]:
    """The balls of a tool, then a grid of three by three points on each pad, in blocks."""
    tool, gripper = robot.tool, robot.gripper
    rows = [(*point, 0.0, tool.radius, 1.0) for point in tool.points]
    if gripper is not None:
        for jaw in (-1.0, 1.0):
            for place in range(PAD_POINTS):
                x, z = 0.5 * (place % 3 - 1) * gripper.pads[0], 0.5 * (place // 3 - 1) * gripper.pads[1]
                rows.append((x, 0.0, z, jaw, 0.0, PAD_FRACTION))
    blocks = []
    for first in range(0, len(rows), LANES):
        block = np.zeros(1, dtype=POINTS)
        block["radius"] = -NOWHERE
        for lane, row in enumerate(rows[first : first + LANES]):
            for name, value in zip(words("x y z jaw radius fraction"), row, strict=True):
                block[name][0, lane] = value
        blocks.append(block)
    return blocks


def touching_cases(scenario: ArmScenario, arms: dict[str, SerialArm]) -> list[tuple[str, float, float]]:
    """What can press on what: in words, the mass that swings there, and by how many points at most."""
    world = scenario.world
    surfaces = bool(world.planes or world.boxes or world.objects)
    felt: dict[str, float] = {}
    cases: list[tuple[str, float, float]] = []
    for name, robot in scenario.robots.items():
        points = len(robot.tool.points) + (4.0 if robot.gripper is not None else 0.0)
        if surfaces and points:
            felt[name] = felt_mass(arms[name], np.array(robot.start_joints))
            cases.append((f"the tool of {name}, where it weighs {felt[name]:.3g} kg", felt[name], points))
    things = {name: thing.mass for name, thing in world.objects.items()}
    # Two bodies press on each other by four points, two pads by eight. Tilted, an object is twice as lively; between
    # two others it has twice as many points.
    points = 16.0 if len(things) > 1 else 8.0
    cases += [(f"{name} of {mass:g} kg", mass, points) for name, mass in things.items()]
    for k, (name, mass) in enumerate(things.items()):
        for other, its in [*felt.items(), *list(things.items())[:k]]:
            pair = mass * its / (mass + its)
            cases.append((f"{name} of {mass:g} kg on {other} of {its:.3g} kg", pair, 8.0))
    return cases


LIVELY = {"rk4": (1.0, 0.5), "semi-implicit": (1.5, 1.5)}
"""How many times the points, and the part of the springs, in the load of a contact. Euler's method keeps the whole
three times by which a box turns more easily than it shifts (at any corner r²/I ≤ 3/m), and the spring of friction
works with k h on the speed as well."""


def contact_load(stiffness: float, damping: float, mass: float, points: float, dt: float, method: str) -> float:
    """How hard a contact is for the step: n c h/m of its dampers and its part of n k h²/m of its springs, c = ζ √(k m).
    Up to 2 it dies away."""
    times, part = LIVELY[method]
    root = dt * sqrt(stiffness / mass)
    return times * points * root * (damping + part * root)


def stiffest(damping: float, cases: list[tuple[str, float, float]], dt: float, load: float, method: str) -> float:
    """The stiffness at which the hardest of these contacts has this load: n (ζ x + p x²) = load with x = h √(k/m)."""
    times, part = LIVELY[method]
    found = inf
    for _, mass, points in cases:
        x = (sqrt(damping**2 + 4.0 * part * load / (times * points)) - damping) / (2.0 * part)
        found = min(found, mass * (x / dt) ** 2)
    return found


def contact_stiffness(scenario: ArmScenario, arms: dict[str, SerialArm], dt: float) -> float:
    """As given, or three quarters as hard as the step can bear."""
    contact = scenario.world.contact
    if contact.stiffness is not None:
        return contact.stiffness
    return min(STIFFEST, stiffest(contact.damping, touching_cases(scenario, arms), dt, 1.5, scenario.time.method))


def felt_mass(arm: SerialArm, q: np.ndarray) -> float:
    """The least mass that a blow on the tool's point finds, over its directions: 1/λ of J H⁻¹ Jᵀ [kg]."""
    jacobian = arm.jacobian(q)[:3]
    mobility = jacobian @ np.linalg.solve(arm.inertia(q), jacobian.T)
    return 1.0 / max(float(np.linalg.eigvalsh(mobility).max()), 1e-9)


def fill_joints(joints: np.ndarray, robot: PlacedArm, arm: SerialArm, dt: float) -> None:
    inertia = np.diag(arm.inertia(np.array(robot.start_joints)))
    servo = robot.servo
    for k, (own, joint) in enumerate(zip(joints, robot.joints.values(), strict=True)):
        weight = inertia[k] if servo.type == "pid" else 1.0
        if servo.gains is not None:
            own.kp, own.kd = servo.gains.proportional[k], servo.gains.derivative[k]
            own.ki = servo.gains.integral[k] if servo.gains.integral else 0.0
        else:
            own.kp, own.kd = weight * servo.frequency**2, weight * 2.0 * servo.damping * servo.frequency
            own.ki = own.kp / servo.integral_time if servo.integral_time is not None else 0.0
        actuator = joint.actuator
        own.strongest = actuator.torque or inf
        own.torque_step = actuator.torque_rate * dt if actuator.torque_rate is not None else inf
        own.follow = 1.0 - exp(-dt / actuator.lag) if actuator.lag > 0.0 else 1.0
        own.per_flow = 1.0 / actuator.flow_speed if actuator.flow_speed is not None else 0.0
        own.stop = joint.stop_frequency
        own.speed = joint.speed or inf
        # Where the proportional part alone takes all of the torque: a reference further ahead says nothing more.
        pull = own.kp if servo.type == "pid" else own.kp * inertia[k]
        own.lead = own.strongest / pull if pull > 0.0 else inf
        push = own.ki if servo.type == "pid" else own.ki * inertia[k]
        own.most = INTEGRAL_FRACTION * own.strongest / push if push > 0.0 else 0.0


def poses_of(boxes: Iterable[Box | PlacedArm]) -> np.ndarray:
    """At rest where they begin: (k, 13)."""
    found = [[*box.pose[:3], *quaternion_from_attitude(*box.pose[3:]), *[0.0] * 6] for box in boxes]
    return np.array(found, dtype=float).reshape(-1, POSE)


def axes_of_all(poses: np.ndarray) -> np.ndarray:
    axes = np.zeros((len(poses), 9))
    box_axes(poses, axes)
    return axes


def box_records(scenario: ArmScenario) -> np.ndarray:
    world = scenario.world
    everything: list[Box] = [*world.boxes.values(), *world.objects.values()]
    boxes = np.zeros(len(everything), dtype=BOX)
    for own, box in zip(boxes, everything, strict=True):
        own.hx, own.hy, own.hz = (0.5 * edge for edge in box.size)
        own.radius, own.friction = sqrt(own.hx**2 + own.hy**2 + own.hz**2), box.friction
    for own, thing in zip(boxes[len(world.boxes) :], world.objects.values(), strict=True):
        own.mass, own.per_mass = thing.mass, 1.0 / thing.mass
        x, y, z = (edge * edge for edge in thing.size)
        own.ixx, own.iyy, own.izz = (thing.mass * square / 12.0 for square in (y + z, x + z, x + y))
        if world.water is not None and thing.floats:
            own.lift = world.water.density * thing.size[0] * thing.size[1] * thing.size[2] / thing.mass
    return boxes
