"""Inverse kinematics of any serial arm by damped least squares."""

from __future__ import annotations

from botz.frames import compiled


@compiled
def numeric_solutions(links, flange, wanted, limits, scratch, frames, room, joints):  # -> count, status
    return 0, 3
