"""Where a vehicle can stand: its height above the ground at the start, and where no vehicle may be put."""

from __future__ import annotations

import numpy as np

from botz.engines.vehicle.model import RIM_BLEND
from botz.scenario.vehicle.schema import PlacedVehicle
from botz.terrain.height_grid import HeightGrid
from botz.transforms import rotation_from_attitude

POINTS = 37
"""Points of the lower half of a rim that are looked at."""


def start_rotation(robot: PlacedVehicle) -> np.ndarray:
    return rotation_from_attitude(*robot.attitude)


def all_wheels_inside(robot: PlacedVehicle, ground: HeightGrid, x: float, y: float, rotation: np.ndarray) -> bool:
    """Whether the centres of all wheels are over the grid, with the centre of mass at (x, y)."""
    centres = np.array([wheel.position for wheel in robot.wheels.values()])
    places = centres @ rotation.T + np.array([x, y, 0.0])
    return bool(ground.contains(places[:, 0], places[:, 1]).all())


def lifts(
    robot: PlacedVehicle, ground: HeightGrid, x: float, y: float, rotation: np.ndarray
) -> tuple[list[float], float]:
    """Heights of the centre of mass at which each wheel begins to touch, and at which the first corner does."""
    place = np.array([x, y, 0.0])
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, POINTS)
    pressed = []
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
    return pressed, float(np.max(ground.height(corners[:, 0], corners[:, 1]) - corners[:, 2]))


def least_height(robot: PlacedVehicle, ground: HeightGrid, x: float, y: float, rotation: np.ndarray) -> float:
    """The least height of the centre of mass at which no spring is pressed beyond its travel and no corner touches:
    below that, a vehicle is inside the ground."""
    pressed, corner = lifts(robot, ground, x, y, rotation)
    if rotation[2, 2] < 0.1:
        return max(*pressed, corner) - 1e-6
    springs = (wheel.suspension for wheel in robot.wheels.values())
    travel = max(lift - spring.travel * rotation[2, 2] for lift, spring in zip(pressed, springs, strict=True))
    return max(travel, corner) - 1e-6


def standing_height(robot: PlacedVehicle, ground: HeightGrid, gravity: float) -> tuple[float, float]:
    """Height of the centre of mass at which the springs carry the weight, and the least one.

    With its attitude as given, h of each rim point is linear in the height where the ground is level, and nearly so
    elsewhere; the weight is found by halving.
    """
    rotation = start_rotation(robot)
    x, y = robot.position[:2]
    up = max(rotation[2, 2], 0.1)
    least = least_height(robot, ground, x, y, rotation)
    pressed, corner = lifts(robot, ground, x, y, rotation)
    clear = max(*pressed, corner)
    if rotation[2, 2] < 0.1:
        return clear, least
    springs = [wheel.suspension for wheel in robot.wheels.values()]

    def carried(height: float) -> float:
        total = 0.0
        for lift, spring in zip(pressed, springs, strict=True):
            h = max((lift - height) / up, 0.0)
            beyond = max(h - spring.travel, 0.0)
            total += spring.stiffness * h + spring.progression * beyond**2
        return total * up

    weight = robot.chassis.mass * gravity
    low, high = min(pressed) - 10.0, clear
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if carried(middle) > weight else (low, middle)
    return max(high, corner), least
