"""The state of the engine `vehicle`, all that a snapshot holds and nothing else; and the work of one vehicle's step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from botz.engines.vehicle.model import CORNERS, REAL, Model, axles_of
from botz.kernels import fields_of, record, words
from botz.physics.wheels.axle_block import AXLE_STATE, AXLE_WORK
from botz.physics.wheels.wheel_block import BODY, FOUR, LANES, VECTOR, WHEEL_STATE, WHEEL_WORK, start_wheels
from botz.scenario.vehicle.schema import VehicleScenario
from botz.transforms import quaternion_from_attitude, rotation_of_unit

ROBOT_STATE = record(
    # centre of mass, attitude, velocity and angular momentum (body and wheels, about the centre of mass, in the
    # world); `_lost` is what rounding took from each
    x=VECTOR, x_lost=VECTOR, quat=(REAL, 4), quat_lost=(REAL, 4), v=VECTOR, v_lost=VECTOR,
    spin=VECTOR, spin_lost=VECTOR,
    # deflections of the chassis' corners; what the motors drew from the battery and their work at the wheels
    corner_u=CORNERS, energy=REAL, energy_lost=REAL, work=REAL, work_lost=REAL,
    # memory of contacts: how far any point may have moved, what was seen of the ground and when
    travelled=REAL, corner_margin=REAL, corner_seen=REAL, steepest=REAL, cos_needed=REAL, tile_seen=REAL,
    # memory of the battery's voltage under load
    bus=REAL,
    # what can be observed: of the step that led to the present state
    angular=VECTOR, acceleration=VECTOR, power=REAL, corner_force=VECTOR, corner_depth=(REAL, 8),
)  # fmt: skip

# What these have beyond the others comes first: to Numba a record that begins like another is a kind of it.
ROBOT_WORK = record(
    # of Runge-Kutta: where the step began, and the sums of its stages' rates
    power_sum=REAL, working_sum=REAL, corner_base=CORNERS, corner_sum=CORNERS,
    x_base=VECTOR, quat_base=(REAL, 4), v_base=VECTOR, spin_base=VECTOR,
    x_sum=VECTOR, quat_sum=(REAL, 4), v_sum=VECTOR, spin_sum=VECTOR, quat_rate=(REAL, 4),
    corner_rate=CORNERS, **fields_of(BODY),
)  # fmt: skip
_WHEEL_STAGES = words("""
    x_base y_base x_sum y_sum wall_base_x wall_base_y wall_base_z wall_sum_x wall_sum_y wall_sum_z
""")
WHEEL_STEP = record(**dict.fromkeys(_WHEEL_STAGES, FOUR), **fields_of(WHEEL_WORK))
AXLE_STEP = record(
    **dict.fromkeys(words("p_base z_base angle_base p_sum z_sum angle_sum"), FOUR), **fields_of(AXLE_WORK)
)


class State(NamedTuple):
    """Of all vehicles of a scenario, in the model's order."""

    robots: np.ndarray
    wheels: np.ndarray
    axles: np.ndarray


class Work(NamedTuple):
    """Scratch of one vehicle's step: never saved, never read before it is written in a step or in a look."""

    robot: np.ndarray
    """The body as its wheels see it; the other two have as many blocks as the largest vehicle."""
    wheels: np.ndarray
    axles: np.ndarray


def build_state(model: Model) -> State:
    return State(
        robots=np.zeros(model.robots.size, ROBOT_STATE),
        wheels=np.zeros(model.wheels.size, WHEEL_STATE),
        axles=np.zeros(model.axles.size, AXLE_STATE),
    )


def build_work(model: Model) -> Work:
    wheels = int((model.robots["wheel_stop"] - model.robots["wheel_start"]).max())
    axles = int((model.robots["axle_stop"] - model.robots["axle_start"]).max())
    return Work(np.zeros(1, ROBOT_WORK), np.zeros(wheels, WHEEL_STEP), np.zeros(axles, AXLE_STEP))


def start_state(model: Model, state: State, scenario: VehicleScenario, heights: list[float]) -> None:
    """Fill the state in: each robot at its place, at the given height of its centre of mass."""
    for array in state:
        array.view(np.uint8)[...] = 0
    start_wheels(state.wheels)
    for r, (robot, height) in enumerate(zip(scenario.robots.values(), heights, strict=True)):
        fixed, own = model.robots[r], state.robots[r]
        own.x = [robot.position[0], robot.position[1], height]
        own.quat = quaternion_from_attitude(*robot.attitude)
        rotation = rotation_of_unit(*own.quat)
        own.v = rotation @ np.array(robot.velocity)
        own.bus = fixed.battery
        angular = np.array(robot.angular_velocity)
        speeds = [angular[1] + robot.velocity[0] / robot.wheels[axle.wheels[0]].radius for axle in axles_of(robot)]
        set_momenta(model, state, r, angular, speeds)


def set_momenta(model: Model, state: State, r: int, angular: np.ndarray, speeds: list[float]) -> None:
    """Momenta of a robot and of its axles from its angular velocity in its axes and their absolute speeds."""
    fixed, own = model.robots[r], state.robots[r]
    momentum = fixed.inertia @ angular
    for index, omega in enumerate(speeds):
        block, i = fixed.axle_start + index // LANES, index % LANES
        axle = model.axles[block]
        if not axle["free"][i]:
            continue
        ratio, rotor = axle["ratio"][i], axle["rotor"][i]
        whole = 1.0 / axle["inverse_inertia"][i]
        state.axles[block]["p"][i] = whole * omega + axle["coupling"][i] * whole * angular[1]
        momentum[1] += axle["inertia"][i] * omega + rotor * (ratio * omega + (1.0 - ratio) * angular[1])
    own.spin = rotation_of_unit(*own.quat) @ momentum
