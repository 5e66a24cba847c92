"""A force element of your own: a parachute.

A force element is a function `f(p, frame)` that Numba compiles. At every step the simulator calls it with your
parameters `p` and with a `frame`: where its link is, how it moves, the air around it. The function adds to
`frame.force` and `frame.torque`, and that is all. A scenario names it by file and name, see parachute.yaml:

    elements:
      canopy:
        type: parachute.py:parachute
        link: load
        parameters: {drag_area: 1.5, opening_height: 30}

Try it with

    botz run examples/elements/parachute.yaml

What `frame` has to read, all in SI units and in the world's axes (z up):

    time, step                        now, and the step's length (0 where the simulator looks ahead inside a step)
    position, rotation                of the link's frame; rotation is 3 x 3, from the link's axes to the world's
    velocity, angular                 of the link: its origin's velocity and its angular velocity
    joint_position, joint_speed       of the joint that the scenario names with `joint:`
    joint_axis, joint_anchor          its axis, and a point on it
    air_density, wind, ground         the air, its velocity, and the height of the ground below the link
    inputs                            commands, in the order of `inputs=` of force_element
    states                            numbers of yours that live on from step to step; they begin at 0

and to write, all 0 before each call:

    force, torque                     on the link, in the world's axes; the torque about the link's origin
    joint_effort                      between the two links of the joint
    reports                           what you want to see: each becomes a channel of the recording

Inside the function use numbers, `math`, loops and small tuples; NumPy works, but arrays that you make cost time. Change
`states` only where `frame.step > 0`: inside a step the simulator tries several futures, and none of them has happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt

from botz import force_element


@dataclass
class Parachute:
    """What the scenario gives under `parameters`. A number without a default must be given."""

    drag_area: float  # drag coefficient times area of the open canopy [m²]
    opening_height: float = 50.0  # above the ground, where it opens [m]
    opening_time: float = 0.5  # time constant of its opening [s]
    line: tuple[float, float, float] = (0.0, 0.0, 0.0)  # where its lines hold the link, in the link's frame [m]

    def __post_init__(self) -> None:
        # What is wrong with a parameter is told to the user together with its place in the scenario.
        if self.drag_area <= 0 or self.opening_time <= 0:
            raise ValueError("drag_area and opening_time must be positive")


@force_element(
    Parachute,
    states=1,
    reports=[("open", "1", "share of the canopy that is open"), ("pull", "N", "force in the lines")],
)
def parachute(p, frame):
    # It opens below a height and does not fold again: its one state is how far it is open, from 0 to 1.
    if frame.step > 0.0 and (frame.states[0] > 0.0 or frame.position[2] - frame.ground < p.opening_height):
        frame.states[0] = 1.0 - (1.0 - frame.states[0]) * exp(-frame.step / p.opening_time)

    # The point where the lines hold, from the link's origin, in the world's axes: r = R · line.
    rotation, line, angular = frame.rotation, p.line, frame.angular
    rx = rotation[0, 0] * line[0] + rotation[0, 1] * line[1] + rotation[0, 2] * line[2]
    ry = rotation[1, 0] * line[0] + rotation[1, 1] * line[1] + rotation[1, 2] * line[2]
    rz = rotation[2, 0] * line[0] + rotation[2, 1] * line[1] + rotation[2, 2] * line[2]

    # Its velocity through the air: that of the origin, plus angular velocity × r, less the wind.
    vx = frame.velocity[0] + angular[1] * rz - angular[2] * ry - frame.wind[0]
    vy = frame.velocity[1] + angular[2] * rx - angular[0] * rz - frame.wind[1]
    vz = frame.velocity[2] + angular[0] * ry - angular[1] * rx - frame.wind[2]

    # Drag against it: F = −½ ρ c A |v| v.
    speed = sqrt(vx * vx + vy * vy + vz * vz)
    factor = -0.5 * frame.air_density * p.drag_area * frame.states[0] * speed
    fx, fy, fz = factor * vx, factor * vy, factor * vz

    # A force at r is the same force at the origin and the torque r × F.
    frame.force[0] += fx
    frame.force[1] += fy
    frame.force[2] += fz
    frame.torque[0] += ry * fz - rz * fy
    frame.torque[1] += rz * fx - rx * fz
    frame.torque[2] += rx * fy - ry * fx

    frame.reports[0] = frame.states[0]
    frame.reports[1] = -factor * speed
