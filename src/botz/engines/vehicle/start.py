"""Where a vehicle stands at the start: its height above the ground."""

from __future__ import annotations

import numpy as np

from botz.engines.vehicle.model import RIM_BLEND, rotation_matrix
from botz.scenario.vehicle.schema import PlacedVehicle
from botz.terrain.height_grid import HeightGrid
from botz.transforms import quaternion_from_attitude

POINTS = 37
"""Points of the lower half of a rim that are looked at."""


def wheel_places(robot: PlacedVehicle) -> np.ndarray:
    """Where the wheels' centres are at the start, above z = 0 of the centre of mass: (wheels, 3)."""
    rotation = rotation_matrix(np.array(quaternion_from_attitude(*robot.attitude)))
    centres = np.array([wheel.position for wheel in robot.wheels.values()])
    return centres @ rotation.T + np.array([robot.position[0], robot.position[1], 0.0])


def standing_height(robot: PlacedVehicle, ground: HeightGrid, gravity: float) -> tuple[float, float]:
    """Height of the centre of mass at which the springs carry the weight, and the least at which no spring is pressed
    beyond its travel and no corner touches: below that, a vehicle would begin inside the ground.

    With its attitude as given, h of each rim point is linear in the height where the ground is level, and nearly so
    elsewhere; the weight is found by halving.
    """
    rotation = rotation_matrix(np.array(quaternion_from_attitude(*robot.attitude)))
    up = max(rotation[2, 2], 0.1)
    place = np.array([robot.position[0], robot.position[1], 0.0])
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, POINTS)
    pressed, springs = [], []
    for wheel in robot.wheels.values():
        half = 0.5 * wheel.width if wheel.rims == 2 else 0.0
        rim = np.array(
            [
                [wheel.radius * np.sin(angle), side, -wheel.radius * np.cos(angle)]
                for side in (half, -half)
                for angle in angles
            ]
        )
        points = (rim + np.array(wheel.position)) @ rotation.T + place
        # Standing on both rims presses a wheel up by a quarter of the width over which they blend.
        both = 0.25 * RIM_BLEND * wheel.width if wheel.rims == 2 else 0.0
        pressed.append(float(np.max(ground.height(points[:, 0], points[:, 1]) - points[:, 2])) + both)
        springs.append(wheel.suspension)
    chassis = robot.chassis
    corners = np.array(
        [
            [x, y, z]
            for x in (chassis.front, -chassis.rear)
            for y in (chassis.left, -chassis.right)
            for z in (chassis.top, -chassis.bottom)
        ]
    )
    corners = corners @ rotation.T + place
    corner = float(np.max(ground.height(corners[:, 0], corners[:, 1]) - corners[:, 2]))
    clear = max(*pressed, corner)
    if rotation[2, 2] < 0.1:
        return clear, clear - 1e-6

    def carried(height: float) -> float:
        total = 0.0
        for lift, spring in zip(pressed, springs, strict=True):
            h = max((lift - height) / up, 0.0)
            beyond = max(h - spring.travel, 0.0)
            total += spring.stiffness * h + spring.progression * beyond**2
        return total * up

    weight = chassis.mass * gravity
    low, high = min(pressed) - 10.0, clear
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if carried(middle) > weight else (low, middle)
    travel = max(lift - spring.travel * up for lift, spring in zip(pressed, springs, strict=True))
    return max(high, corner), max(travel, corner) - 1e-6
