"""How a slave's reference moves: towards a master's joints or by Cartesian rates, within all limits."""

from __future__ import annotations

from math import inf

import numpy as np

from botz.robots.serial_arm import SerialArm
from botz.robots.tool_rates import joint_speeds
from botz.scenario.arm.motion import TeleoperationLimits

RAMP = 0.1
"""Time in which a joint reaches its greatest speed [s]."""
APPROACH = 0.1
"""Limits are approached as e^(−t/APPROACH) [s]: slowly enough for the servo not to overshoot into them."""
LEAD = 0.5
"""How far the reference may lead the arm, in seconds at the joint's greatest speed: an arm that is held by what it
touches pushes no harder the longer the master goes on."""
MARGIN = 1e-3
"""The reference turns back this far inside the workspace's box [m]; what is between is for rounding."""
HALVINGS = 12


class Motion:
    """Joint speeds for the next period. All methods name in `found` what held the master back."""

    def __init__(self, arm: SerialArm, limits: TeleoperationLimits, period: float):
        self._arm = arm
        self._period = period
        self.speed = np.where(np.isfinite(arm.speed), limits.joint_speed * arm.speed, 1e6)
        self._acceleration = self.speed / RAMP
        self._lead = np.where(np.isfinite(arm.speed), LEAD * self.speed, inf)
        self._tool_speed, self._turn_rate = limits.speed, limits.turn_rate
        self._low = np.full(3, -inf) if limits.low is None else np.array(limits.low)
        self._high = np.full(3, inf) if limits.high is None else np.array(limits.high)
        self._boxed = limits.low is not None or limits.high is not None

    def towards(self, q: np.ndarray, v: np.ndarray, target: np.ndarray, time: float, found: set[str]) -> np.ndarray:
        """To `target`, so as to be there after `time` [s]. Joints speed up along their ramp; they slow down at once, so
        that none passes its target."""
        inside = np.clip(target, self._arm.lower, self._arm.upper)
        if np.any(np.abs(inside - target) > 1e-9):
            found.add("range")
        away = inside - q
        wanted = away / max(time, self._period)
        if np.any(np.abs(wanted) > 1.001 * self.speed):
            found.add("speed")
        more = self._acceleration * self._period
        ramp = np.clip(wanted, np.minimum(v, 0.0) - more, np.maximum(v, 0.0) + more)
        return np.clip(ramp, -self.speed, self.speed)

    def by_rates(self, q: np.ndarray, v: np.ndarray, twist: np.ndarray, found: set[str]) -> np.ndarray:
        """The tool at `twist` (v, ω in world axes); near singularities slower, and never faster than the joints can."""
        wanted = twist.copy()
        for part, most in ((slice(0, 3), self._tool_speed), (slice(3, 6), self._turn_rate)):
            size = float(np.linalg.norm(wanted[part]))
            if size > most:
                found.add("speed")
                wanted[part] *= most / size
        speeds, excess = joint_speeds(self._arm, q, self._free_of_walls(q, wanted, found), self.speed)
        if excess > 1.001:
            found.add("speed")
        return self._changed(v, speeds)

    def braked(self, v: np.ndarray) -> np.ndarray:
        return self._changed(v, np.zeros_like(v))

    def bounded(self, q: np.ndarray, v: np.ndarray, position: np.ndarray, found: set[str]) -> np.ndarray:
        """Speeds that keep the reference in the joints' ranges, near the arm, and the tool in its box."""
        for name, low, high in (
            ("range", self._arm.lower, self._arm.upper),
            ("lead", position - self._lead, position + self._lead),
        ):
            v = self._held(q, v, low, high, name, found)
        return self._in_box(q, v, found) if self._boxed else v

    # --- parts -----------------------------------------------------------------------------------------------

    def _changed(self, v: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """From one vector of speeds towards another, all joints alike, so that the tool keeps its direction."""
        change = wanted - v
        share = float(np.max(np.abs(change) / (self._acceleration * self._period)))
        return v + change / max(1.0, share)

    @staticmethod
    def _held(
        q: np.ndarray, v: np.ndarray, low: np.ndarray, high: np.ndarray, name: str, found: set[str]
    ) -> np.ndarray:
        """Slower towards limits, and not beyond; one that is beyond already is not pulled back."""
        kept = np.clip(v, np.minimum(0.0, (low - q) / APPROACH), np.maximum(0.0, (high - q) / APPROACH))
        if np.any(np.abs(kept - v) > 1e-6):
            found.add(name)
        return kept

    def _room(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest speed of the tool along each axis that its box allows."""
        up, down = self._high - MARGIN - point, self._low + MARGIN - point
        # Between margin and face it is led back; a tool that is outside is not moved for that alone.
        up = np.where(up < -MARGIN, 0.0, up)
        down = np.where(down > MARGIN, 0.0, down)
        return down / APPROACH, up / APPROACH

    def _free_of_walls(self, q: np.ndarray, twist: np.ndarray, found: set[str]) -> np.ndarray:
        """Cartesian rates without what leads out of the box: the tool slides along its faces."""
        if not self._boxed:
            return twist
        least, most = self._room(self._arm.forward(q)[:3, 3])
        kept = np.concatenate([np.clip(twist[:3], np.minimum(least, 0.0), np.maximum(most, 0.0)), twist[3:]])
        if np.any(np.abs(kept - twist) > 1e-6):
            found.add("box")
        return kept

    def _in_box(self, q: np.ndarray, v: np.ndarray, found: set[str]) -> np.ndarray:
        point, rates = self._arm.forward(q)[:3, 3], self._arm.jacobian(q)[:3]
        least, most = self._room(point)
        held: set[int] = set()
        for _ in range(3):  # each face that stops the tool may turn it towards another
            speed = rates @ v
            more = {axis for axis in range(3) if not least[axis] - 1e-9 <= speed[axis] <= most[axis] + 1e-9} - held
            if not more:
                break
            held |= more
            rows = sorted(held)
            excess = speed[rows] - np.clip(speed[rows], least[rows], most[rows])
            v = v - np.linalg.pinv(rates[rows], rcond=1e-3) @ excess
        if not held:
            return v
        found.add("box")
        v = np.clip(v, -self.speed, self.speed)
        v = np.clip(v, np.minimum(0.0, self._arm.lower - q) / APPROACH, np.maximum(0.0, self._arm.upper - q) / APPROACH)
        return v * self._share_inside(q, v, point)

    def _share_inside(self, q: np.ndarray, v: np.ndarray, point: np.ndarray) -> float:
        """How much of the step keeps the tool in the box: all, unless limits and a singularity work against it."""
        low, high = np.minimum(self._low, point), np.maximum(self._high, point)

        def inside(share: float) -> bool:
            there = self._arm.forward(q + share * self._period * v)[:3, 3]
            return bool(np.all((there >= low) & (there <= high)))

        if inside(1.0):
            return 1.0
        good, bad = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (good + bad)
            good, bad = (middle, bad) if inside(middle) else (good, middle)
        return good
