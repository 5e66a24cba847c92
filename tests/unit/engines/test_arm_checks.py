"""What engine `arm` refuses before the first step: servos, stops and contacts too fast for it, masses and places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arm_rig import Rig, arm, slider

from botz.errors import InputError

FREE = {"gravity": [0.0, 0.0, 0.0]}


def refused(*arguments: Any, **more: Any) -> list[tuple[str, str]]:
    with pytest.raises(InputError) as caught:
        Rig(*arguments, **more)
    return [(problem.key, problem.message) for problem in caught.value.problems]


def test_a_step_too_long_for_a_servo_or_a_stop_is_told_with_the_key():
    ((key, message),) = refused({"one": arm(1, servo={"frequency": 600.0})})
    assert key == "robots.one.servo.frequency"
    assert message == (
        "600 rad/s with a damping of 1 is too fast for steps of 0.001 s; at most 500 rad/s, or a shorter time.step, "
        "or computed-torque"
    )
    Rig({"one": arm(1, servo={"frequency": 500.0})})
    Rig({"one": arm(1, servo={"frequency": 600.0, "type": "torque"})})
    ((key, message),) = refused({"one": arm(1, {"range": [-1, 1], "stop_frequency": 900.0})})
    assert key == "robots.one.joints.j1.stop_frequency" and "at most 500" in message
    found = refused({"one": arm(2, {"range": [-1, 1]}), "two": arm(1)}, step=0.03)
    assert [key for key, _ in found] == [
        "robots.one.joints.j1.stop_frequency",
        "robots.one.joints.j2.stop_frequency",
        "robots.one.servo.frequency",
        "robots.two.servo.frequency",
    ]


def most_of(message: str) -> float:
    return float(message.split("at most ")[1].split()[0])


@pytest.mark.parametrize(("n", "step", "share"), [(2, 1e-3, 0.99), (3, 1e-3, 0.99), (4, 2e-4, 0.99), (5, 1e-4, 0.7)])
@pytest.mark.parametrize("world", [FREE, {}], ids=["free", "heavy"])
def test_pid_of_longer_chains_is_steady_up_to_the_frequency_that_is_told(
    n: int, step: float, share: float, world: dict[str, Any]
):
    start = [0.4] * n
    ((key, message),) = refused({"one": arm(n, start=start, servo={"frequency": 1000.0})}, step=step)
    assert key == "robots.one.servo.frequency" and message.endswith("or computed-torque")
    most = share * most_of(message)
    rig = Rig({"one": arm(n, start=start, servo={"frequency": most})}, world, step=step)
    rig.command(position=[0.45] * n).seconds(1.0)
    rig.seconds(50.0 / most)
    assert rig["one/position"] == pytest.approx([0.45] * n, abs=1e-4) and np.abs(rig["one/speed"]).max() < 1e-3


@pytest.mark.parametrize("n", [2, 3, 5])
def test_joints_together_are_livelier_than_each_alone(n: int):
    """PID's springs D are made for one joint each, with the others held: ω h λ ≤ 1/2, λ the greatest eigenvalue of
    H⁻¹ D. Stops and computed torque set the acceleration itself."""
    inertia = Rig({"one": arm(n)}).arm().inertia(np.zeros(n))
    coupling = np.linalg.eigvals(np.linalg.solve(inertia, np.diag(np.diag(inertia)))).real.max()
    ((_, message),) = refused({"one": arm(n, servo={"frequency": 1000.0})})
    assert most_of(message) == pytest.approx(500.0 / coupling, rel=5e-3)
    ((_, message),) = refused({"one": arm(n, {"range": [-1, 1], "stop_frequency": 900.0})})[:1]
    assert most_of(message) == pytest.approx(500.0), "a stop has no coupling"
    ((_, message),) = refused({"one": arm(n, servo={"type": "computed-torque", "frequency": 1000.0})})
    assert most_of(message) == pytest.approx(500.0), "computed torque has no coupling"


@pytest.mark.parametrize(
    ("servo", "own", "key", "words"),
    [
        ({"type": "computed-torque", "damping": 100.0}, {}, "frequency", "with a damping of 100 is too fast"),
        ({"type": "computed-torque", "integral_time": 1e-3}, {}, "integral_time", "it needs more than 0.025 s"),
        ({"integral_time": 0.025}, {}, "integral_time", "0.025 s lets the error grow"),
        ({"damping": 0.0, "integral_time": 1.0}, {}, "integral_time", "it needs more than inf s"),
        ({}, {"actuator": {"lag": 0.1}}, "frequency", "too fast for the lag of 0.1 s of j1; below 20 rad/s"),
        ({"damping": 0.5}, {"actuator": {"lag": 0.1}}, "frequency", "below 10 rad/s"),
    ],
)
def test_servos_that_cannot_be_stable_are_refused(servo: dict[str, Any], own: dict[str, Any], key: str, words: str):
    ((place, message),) = refused({"one": arm(1, own, servo=servo)})
    assert place == f"robots.one.servo.{key}" and words in message


@pytest.mark.parametrize(
    ("servo", "own"),
    [
        ({"type": "computed-torque", "integral_time": 0.03}, {}),
        ({"type": "pid", "integral_time": 0.03}, {}),
        ({"frequency": 19.0}, {"actuator": {"lag": 0.1}}),
        ({"gains": {"proportional": [100.0], "derivative": [20.0]}}, {"actuator": {"lag": 0.01}}),
    ],
)
def test_what_is_just_not_refused_dies_away(servo: dict[str, Any], own: dict[str, Any]):
    rig = Rig({"one": arm(1, own, servo=servo)}, FREE).command(position=[0.1])
    error = np.abs(rig.history("one/position", 30_000)[:, 0] - 0.1)
    assert error[:2000].max() < 0.25 and error[-2000:].max() < 1e-2


def test_contacts_too_stiff_for_the_step_are_told_with_a_remedy_that_works():
    box = {"size": [0.1, 0.1, 0.1], "mass": 0.5, "pose": [9, 0, 0, 0, 0, 0]}
    ((key, message),) = refused(None, {"objects": {"box": box}, "contact": {"stiffness": 2e5}})
    assert key == "world.contact.stiffness"
    assert message.startswith("200000 N/m is too stiff for box of 0.5 kg in steps of 0.001 s; at most ")
    most = float(message.split("at most ")[1].split(" N/m")[0])
    Rig(None, {"objects": {"box": box}, "contact": {"stiffness": 0.97 * most}})
    Rig(None, {"objects": {"box": box}, "contact": {"stiffness": 2e5}}, step=2e-4)


def stiffness_of(*arguments: Any, **more: Any) -> float:
    return float(Rig(*arguments, **more).engine.model.world[0].stiffness)


def test_where_nothing_is_written_contacts_are_as_stiff_as_the_step_can_follow():
    """n (ζ x + x²/2) = 3/2 with x = h √(k/m), and no more than 2e5 N/m; n = 8 points, 16 of an object among others."""
    box = {"size": [0.1, 0.1, 0.1], "mass": 0.5, "pose": [9, 0, 0, 0, 0, 0]}
    other = {**box, "pose": [12, 0, 0, 0, 0, 0]}
    far = {"one": slider()}
    assert stiffness_of(far, {"planes": {"floor": {}}}) == 2e5
    assert stiffness_of(far, {"objects": {"box": {**box, "mass": 500.0}}}) == 2e5
    for n, objects in ((8, {"box": box}), (16, {"box": box, "other": other})):
        k = stiffness_of(far, {"objects": objects})
        x = 1e-3 * np.sqrt(k / 0.5)
        assert n * (0.5 * x + 0.5 * x * x) == pytest.approx(1.5)
    assert stiffness_of(far, {"objects": {"box": box}}, step=5e-4) == pytest.approx(
        4.0 * stiffness_of(far, {"objects": {"box": box}})
    )
    light = slider(joint={"mass": 0.01}, tool={"points": [[0, 0, 0]], "radius": 0.05})
    assert stiffness_of({"one": light}, {"planes": {"floor": {}}}) < 2e4, "also of a light tool on a plane"
    assert stiffness_of({"one": light}) == 2e5, "but not where nothing is to be met"


def test_contacts_too_stiff_for_a_tool_and_for_a_pair_are_told():
    light = slider(joint={"mass": 0.01}, tool={"points": [[0, 0, 0]], "radius": 0.05})
    stiff = {"contact": {"stiffness": 2e5}}
    ((key, message),) = refused({"one": light}, {"planes": {"floor": {}}, **stiff})
    assert key == "world.contact.stiffness" and "too stiff for the tool of one, where it weighs 0.01 kg" in message
    small = {"size": [0.1, 0.1, 0.1], "mass": 0.9, "pose": [9, 0, 0, 0, 0, 0]}
    heavy = {**small, "mass": 5.0, "pose": [12, 0, 0, 0, 0, 0]}
    ((_, message),) = refused(None, {"objects": {"nut": small, "bolt": heavy}, **stiff})
    most = float(message.split("at most ")[1].split(" N/m")[0])
    Rig(None, {"objects": {"nut": small, "bolt": heavy}, "contact": {"stiffness": 0.97 * most}})


def test_contacts_too_soft_for_a_weight_are_told_with_a_remedy_that_works():
    box = {"size": [0.2, 0.1, 0.1], "mass": 50.0, "pose": [9, 0, 0, 0, 0, 0]}
    ((key, message),) = refused(None, {"objects": {"box": box}, "contact": {"stiffness": 1e4}})
    assert key == "world.contact.stiffness"
    assert message == "1e+04 N/m is too soft for box: its 50 kg would sink in by 0.012 m; at least 1.2e+04 N/m"
    Rig(None, {"objects": {"box": box}, "contact": {"stiffness": 1.25e4}})
    Rig(None, {**FREE, "objects": {"box": box}, "contact": {"stiffness": 1.0}})


def world_with_bolt(pose: list[float]) -> dict[str, Any]:
    """A bolt among a floor, a table and a nut."""
    return {
        "planes": {"floor": {}},
        "boxes": {"table": {"size": [0.4, 0.4, 1.0], "pose": [5, 0, 0, 0, 0, 0]}},
        "objects": {
            "nut": {"size": [0.1, 0.1, 0.1], "mass": 5.0, "pose": [7, 0, 0.05, 0, 0, 0]},
            "bolt": {"size": [0.1, 0.1, 0.1], "mass": 5.0, "pose": pose},
        },
    }


@pytest.mark.parametrize(
    ("pose", "inside"),
    [
        ([0, 0, -3, 0, 0, 0], "begins 3.05 m inside floor"),
        ([0, 0, 0, 0, 0, 0], "begins 0.05 m inside floor"),
        ([0, 0, 0.05, 0.5, 0, 0], "inside floor"),
        ([5, 0, 0.45, 0, 0, 0], "begins 0.1 m inside table"),
        ([7, 0, 0.1, 0, 0, 0], "begins 0.05 m inside nut"),
    ],
)
def test_objects_that_begin_inside_something_are_refused(pose: list[float], inside: str):
    ((key, message),) = refused(None, world_with_bolt(pose))
    assert key == "world.objects.bolt.pose" and inside in message and message.endswith("move it out")


@pytest.mark.parametrize("pose", [[5, 0, 0.55, 0, 0, 0], [7, 0, 0.15, 0, 0, 0.3], [7.1, 0, 0.05, 0, 0, 0]])
def test_objects_may_touch_when_they_begin(pose: list[float]):
    """Nothing throws them apart: they sink in by what they weigh, (m g + 2 m g)/(4 k) = 0.3 mm of two on each other, at
    most twice that on the way, and come to rest."""
    rig = Rig(None, world_with_bolt(pose))
    rows = rig.rows(1000)
    for name in ("nut", "bolt"):
        places = rig.engine.channels.value(rows, f"{name}/pose")[:, :3]
        assert np.abs(places - places[0]).max() < 6e-4
        assert np.abs(rig[f"{name}/twist"]).max() < 1e-9


def test_a_joint_that_moves_nothing_is_told():
    robot = arm(2)
    robot["joints"]["j2"] = {"a": 0.5}
    ((key, message),) = refused({"one": robot})
    assert key == "robots.one.joints.j2"
    assert message == "j2 can move without moving any inertia; give the links masses, or the joint a rotor_inertia"
    robot["joints"]["j2"]["rotor_inertia"] = 0.01
    Rig({"one": robot}).steps(10)


def test_a_message_that_names_the_joint_which_moves_nothing():
    """Both turn about one axis: the first carries all that the second carries, and nothing of its own."""
    ((key, message),) = refused({"one": {"joints": {"a": {}, "b": {"mass": 1.0, "inertia": [0.1] * 3}}}})
    assert key == "robots.one.joints.a" and message.startswith("a, b can move without moving any inertia")


def test_masses_too_large_to_compute_with_are_told():
    ((key, message),) = refused({"one": arm(1, {"a": 1e200})})
    assert key == "robots.one.joints" and "too large" in message
