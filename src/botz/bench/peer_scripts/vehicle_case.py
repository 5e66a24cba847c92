"""What the peers' vehicle scripts have in common: numbers as XML, and whether the vehicle did what it should."""

import numpy as np


def words(*numbers):
    """Numbers as an XML attribute, with all their digits."""
    return " ".join(f"{number:.17g}" for number in numbers)


def chassis_mass(case):
    """What is left of the vehicle's mass when its wheels have theirs [kg]."""
    return case["mass"] - len(case["wheels"]) * case["wheel_mass"]


def require_a_drive(case, heights, position, upright):
    """A vehicle that lies on its roof, has sunk in or stands still has not done the same work: raise if it does."""
    if not np.isfinite(position).all():
        raise RuntimeError("the vehicle's position is not finite")
    (x_min, x_max), (y_min, y_max) = case["ground"]["x"], case["ground"]["y"]
    x, y, z = position
    if not (x_min <= x <= x_max and y_min <= y <= y_max):
        raise RuntimeError(f"the vehicle left the ground at {x:.3g}, {y:.3g} m")
    i = round((x - x_min) / (x_max - x_min) * (heights.shape[0] - 1))
    j = round((y - y_min) / (y_max - y_min) * (heights.shape[1] - 1))
    above = z - heights[i, j]
    gone = np.hypot(x - case["start"][0], y - case["start"][1])
    # The slower side's speed without load, τ = 0; half of it is little for a free drive.
    speed = min(w["radius"] * w["voltage"] * w["torque_per_volt"] / w["torque_per_speed"] for w in case["wheels"])
    wanted = 0.5 * speed * case["dt"] * case["steps"] * case["repeats"]
    if not (0.0 < above < 1.0 and upright > 0.5 and gone > wanted):
        raise RuntimeError(f"{above:.3g} m above the ground, {gone:.3g} m of {wanted:.3g} m gone, up {upright:.3g}")
