"""Sensors of what is near: range finders and contact sensors."""

from __future__ import annotations

from math import sqrt

from botz.channels import Channel
from botz.engines.multibody.sensing import XYZ, noisy, sensor


@sensor(Channel("range", "m", "measured; the sensor's reach where nothing is nearer"), true=("rangefinder",), random=1)
def range_finder(p, s):
    # MuJoCo shows −1 where its ray meets nothing.
    distance = p.reach if s.rangefinder < 0.0 else s.rangefinder
    measured = noisy(distance, p.noise, s.random[0])
    s.range = min(max(measured, 0.0), p.reach) if distance < p.reach else p.reach


@sensor(
    Channel("force", "N", "of everything that touches the link, in the world's axes", XYZ),
    Channel("touching", "1", "1 while the force is above the threshold, else 0"),
)
def contact(p, s):
    size = 0.0
    for k in range(3):
        s.force[k] = s.outer_force[k]
        size += s.force[k] * s.force[k]
    s.touching = 1.0 if sqrt(size) > p.threshold + 1e-9 else 0.0
