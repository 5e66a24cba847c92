"""What robots can do, found from their wheels."""

from __future__ import annotations

from math import inf, pi, radians, tan

import numpy as np
import pytest
from driving import WHEELED, robot_data

from botz.control.wheeled.capability import Motion, capability_of, required_capability
from botz.errors import InputError
from botz.robots.wheel_inverse import inverse_kinematics
from botz.robots.wheeled_robot import WheeledRobotModel
from botz.scenario.kinematics.schema import WheeledRobot

DEGREES = {
    "ackermann-front-drive": "1/1/2",
    "ackermann-rear-drive": "1/1/2",
    "bicycle": "1/1/2",
    "driven-ball": "3/0/3",
    "four-castors": "3/0/3",
    "four-mecanum": "3/0/3",
    "four-steer": "1/2/3",
    "skid-steer": "1/0/1",
    "synchro-drive": "1/1/2",
    "three-omni": "3/0/3",
    "tricycle-front-drive": "1/1/2",
    "tricycle-rear-drive": "1/1/2",
    "two-steer": "1/2/3",
}
"""Mobility, steerability, manoeuvrability; all others are differential drives, 2/0/2."""

MOTIONS = {
    "ackermann-front-drive": Motion.CAR,
    "ackermann-rear-drive": Motion.CAR,
    "bicycle": Motion.CAR,
    "driven-ball": Motion.TRANSLATE,
    "four-castors": Motion.HOLONOMIC,
    "four-mecanum": Motion.HOLONOMIC,
    "four-steer": Motion.HOLONOMIC,
    "skid-steer": None,
    "synchro-drive": Motion.TRANSLATE,
    "three-omni": Motion.HOLONOMIC,
    "tricycle-front-drive": Motion.UNICYCLE,
    "tricycle-rear-drive": Motion.CAR,
    "two-steer": Motion.HOLONOMIC,
}


def model_of(data) -> WheeledRobotModel:
    return WheeledRobotModel(WheeledRobot.model_validate(data))


def fixed(x, y, heading=0.0, driven=True):
    return {"type": "fixed", "position": [x, y], "heading": heading, "driven": driven}


@pytest.mark.parametrize("name", WHEELED)
def test_every_shipped_robot_has_the_degrees_and_the_motion_of_its_kind(name):
    model = model_of(robot_data(name))
    assert str(model.structure()) == DEGREES.get(name, "2/0/2")
    assert name in DEGREES or name.startswith("differential")
    found = capability_of(model)
    assert (found.motion if found else None) is MOTIONS.get(name, Motion.UNICYCLE)


def test_the_library_holds_every_configuration_of_the_source():
    third_wheels = {f"differential-{kind}-{end}" for kind in ("castor", "omni", "ball") for end in ("front", "rear")}
    more = {"differential", "differential-support", "differential-two-omni-front", "differential-two-supports"}
    assert set(WHEELED) == set(DEGREES) | third_wheels | more
    for name in WHEELED:
        data = robot_data(name)
        assert data["description"] and data["source"]


def test_curvature_of_a_bicycle_follows_from_its_steering_limit():
    found = capability_of(model_of(robot_data("bicycle")))
    assert found.curvature == pytest.approx(tan(radians(45)) / 1.02, rel=1e-8)
    assert found.curvature <= tan(radians(45)) / 1.02 * (1 + 1e-12)


def test_a_rear_driven_tricycle_does_not_pivot_however_far_it_steers():
    data = robot_data("tricycle-rear-drive")
    data["wheels"]["front"]["limit"] = "90 deg"
    found = capability_of(model_of(data))
    assert found.motion is Motion.CAR
    assert found.curvature < inf


@pytest.mark.parametrize("heading", [0.0, 0.7, pi / 2, pi, -2.5])
def test_the_steered_frame_lies_on_the_axle_wherever_that_is(heading):
    """A differential drive whose axle is off the origin and turned: D is the axle's point nearest to it."""
    middle, across = np.array([0.3, -0.2]), np.array([-np.sin(heading), np.cos(heading)])
    data = {
        "wheels": {
            "left": fixed(*(middle + 0.2 * across).tolist(), heading),
            "right": fixed(*(middle - 0.2 * across).tolist(), heading),
        }
    }
    model = model_of(data)
    found = capability_of(model)
    assert found.motion is Motion.UNICYCLE
    point = np.array(found.frame[:2])
    rolling = np.array([np.cos(heading), np.sin(heading)])
    assert (point - middle) @ rolling == pytest.approx(0, abs=1e-12)
    assert point @ across == pytest.approx(0, abs=1e-12)
    assert abs(found.frame[2]) <= pi / 2 + 1e-9
    assert abs(np.sin(found.frame[2] - heading)) < 1e-12
    for speed, turn in ((0.5, 0.0), (0.0, 1.0), (-0.4, 0.6)):
        assert not inverse_kinematics(model, np.array(found.twist(speed, turn)), np.zeros(2)).reason


def test_mecanum_rollers_the_wrong_way_round_leave_only_translation():
    data = robot_data("four-mecanum")
    for wheel in data["wheels"].values():
        wheel["position"] = [0.2 if wheel["position"][0] > 0 else -0.2, 0.2 if wheel["position"][1] > 0 else -0.2]
        wheel["roller_angle"] = "45 deg" if wheel["roller_angle"].startswith("-") else "-45 deg"
    assert capability_of(model_of(data)).motion is Motion.TRANSLATE


def test_four_steer_with_little_steering_is_a_car():
    data = robot_data("four-steer")
    for wheel in data["wheels"].values():
        wheel["limit"] = "30 deg"
    found = capability_of(model_of(data))
    assert found.motion is Motion.CAR
    # The axles meet beside the middle at distance y: the inner wheels turn most, atan(0.3 / (y − 0.22)).
    assert 1 / found.curvature == pytest.approx(0.22 + 0.3 / tan(radians(30)), rel=1e-6)


def test_a_robot_that_cannot_turn_is_refused_with_the_reason():
    with pytest.raises(InputError, match=r"'waypoints' cannot drive robot 'rover'.*would slip sideways.*'constant'"):
        required_capability(model_of(robot_data("skid-steer")), "waypoints", "rover")


def test_wheels_on_crossed_axles_are_refused():
    data = {"wheels": {"a": fixed(0.2, 0.0), "b": fixed(0.0, 0.2, 1.0)}}
    assert capability_of(model_of(data)) is None
    with pytest.raises(InputError, match="turn about one point"):
        required_capability(model_of(data), "go-to-pose", "odd")
