"""Programs of an arm: steps in time, grips, loops, and mistakes by their keys."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from botz.control.arm.program import ArmProgram, Plan, plan
from botz.control.base import ControllerSetup
from botz.errors import InputError
from botz.robots.serial_arm import SerialArm
from botz.scenario.arm.motion import ProgramController
from botz.scenario.arm.schema import PlacedArm
from botz.scenario.load import load_robot
from botz.sim.snapshots import controller_state, to_plain

START = [0.3, 0.6, -1.0, 0.2, 0.1, 0.4]
PERIOD = 0.01
POSE = [1.4, 0.04, 0.3, 0.0, 1.5, 0.0]
STEPS = [
    {"type": "line", "pose": POSE},
    {"type": "gripper", "opening": 0.02, "duration": 0.5},
    {"type": "arc", "pose": [1.4, -0.5, 0.3, 0.0, 1.4, 0.0], "through": [1.5, -0.2, 0.4]},
    {"type": "wait", "duration": 0.25},
    {"type": "gripper", "opening": 0.09, "force": 200.0, "duration": 0.5},
    {"type": "joints", "to": [0.0, 0.5, -1.0, 0.2, 0.1, 0.3], "through": [[0.1, 0.3, -0.6, 0.0, 0.0, 0.0]]},
    {"type": "joints", "pose": POSE, "profile": "trapezoidal"},
]


@pytest.fixture(scope="module")
def robot() -> PlacedArm:
    return PlacedArm.model_validate({**load_robot("titan4").spec.model_dump(), "start": START})


@pytest.fixture(scope="module")
def arm(robot) -> SerialArm:
    return SerialArm(robot)


def spec_of(*steps, **more) -> ProgramController:
    return ProgramController.model_validate({"type": "program", "robot": "titan", "steps": list(steps), **more})


def planned(arm, *steps, start=START, **more) -> Plan:
    return plan(arm, start, spec_of(*steps).steps, **more)


def problems(arm, *steps, **more) -> dict[str, str]:
    with pytest.raises(InputError) as caught:
        planned(arm, *steps, **more)
    return {problem.key: problem.message for problem in caught.value.problems}


def running(arm, robot, *steps, **more) -> ArmProgram:
    controller = ArmProgram(spec_of(*steps, **more))
    engine = SimpleNamespace(name="arm", arms={"titan": arm}, scenario=SimpleNamespace(robots={"titan": robot}))
    setup = ControllerSetup("titan", PERIOD, np.random.default_rng(0), (), engine)
    controller.reset(setup)
    return controller


# --- plans -----------------------------------------------------------------------------------------------------------


def test_steps_follow_one_another(arm):
    found = planned(arm, *STEPS)
    assert len(found.starts) == len(STEPS)
    lengths = np.diff([*found.starts, found.duration])
    assert lengths[[1, 3, 4]] == pytest.approx([0.5, 0.25, 0.5])
    # Each step alone, from where the one before ends, takes as long.
    for k, step in enumerate(STEPS):
        alone = planned(arm, step, start=found.at(found.starts[k])[0])
        assert alone.duration == pytest.approx(lengths[k], rel=1e-6)
        assert alone.at(0.4 * lengths[k])[0] == pytest.approx(found.at(found.starts[k] + 0.4 * lengths[k])[0], abs=1e-6)


def test_the_whole_program_is_continuous_and_within_limits(arm):
    found = planned(arm, *STEPS)
    t = np.arange(0.0, found.duration, 5e-4)
    q, v, a = found.at(t)
    assert q[0] == pytest.approx(START)
    assert (np.abs(v) <= arm.speed * (1.0 + 1e-9)).all()
    assert (np.abs(a) <= arm.acceleration * (1.0 + 1e-9)).all()
    assert arm.within(q, 1e-9).all()
    assert np.diff(q, axis=0) == pytest.approx(0.5 * (v[1:] + v[:-1]) * 5e-4, abs=1e-6)
    assert np.abs(np.diff(v, axis=0)).max() <= 1.01 * 5e-4 * arm.acceleration.max()
    # At every border the arm stands still.
    assert np.abs(found.at(np.array(found.starts))[1]).max() < 1e-9
    for moment in (found.duration, found.duration + 7.0):
        q, v, a = found.at(moment)
        assert arm.forward(q)[:3, 3] == pytest.approx(POSE[:3], abs=1e-9)
        assert not v.any()
        assert not a.any()


def test_a_pose_of_a_joint_move_takes_the_nearest_solution(arm):
    wanted = arm.forward(np.array(START) + 0.1)
    pose = [*wanted[:3, 3].tolist(), *Rotation.from_matrix(wanted[:3, :3]).as_euler("ZYX")[::-1].tolist()]
    found = planned(arm, {"type": "joints", "pose": pose})
    end = found.at(found.duration)[0]
    assert arm.forward(end) == pytest.approx(wanted, abs=1e-9)
    solutions = arm.inverse(arm.forward(end), present=START).joints
    assert len(solutions) > 1
    assert np.linalg.norm(end - START) == pytest.approx(np.linalg.norm(solutions - START, axis=1).min())


def test_grips_come_when_their_step_begins_with_the_grippers_force_where_none_is_given(arm):
    found = planned(arm, *STEPS)
    assert [(grip.time, grip.opening, grip.force) for grip in found.grips] == [
        (found.starts[1], 0.02, 4092.0),
        (found.starts[4], 0.09, 200.0),
    ]
    assert found.grip_at(found.starts[1] - 1e-6) is None
    assert found.grip_at(found.starts[4] - 1e-6) is found.grips[0]
    assert found.grip_at(1e9) is found.grips[1]


def test_a_gripper_can_be_given_in_place_of_the_robots(arm, robot):
    weak = robot.gripper.model_copy(update={"force": 10.0})
    assert planned(arm, {"type": "gripper", "opening": 0.0}, gripper=weak).grips[0].force == 10.0


# --- mistakes --------------------------------------------------------------------------------------------------------


def test_mistakes_that_need_no_plan_come_all_at_once(arm):
    found = problems(
        arm,
        {"type": "joints", "to": [0.0, 0.0, 0.0]},
        {"type": "joints", "to": [0.0, 2.0, 0.0, 0.0, 0.0, 0.0], "through": [START, [3.0, 0.5, -3.0, 0, 0, 0]]},
        {"type": "gripper", "opening": 0.2, "force": 5000.0},
    )
    assert found == {
        "steps[0].to": "3 numbers for 6 joints",
        "steps[1].to[1]": "2 rad (114.592 deg) is outside the range of shoulder_pitch, "
        "-0.698132 rad (-40 deg) to 1.5708 rad (90 deg)",
        "steps[1].through[1][0]": "3 rad (171.887 deg) is outside the range of shoulder_yaw, "
        "-2.0944 rad (-120 deg) to 2.0944 rad (120 deg)",
        "steps[1].through[1][2]": "-3 rad (-171.887 deg) is outside the range of elbow, "
        "-2.35619 rad (-135 deg) to 1.74533 rad (100 deg)",
        "steps[2].opening": "0.2 m; the gripper opens to 0.099 m",
        "steps[2].force": "5000 N; the gripper has 4092 N",
    }


def test_a_robot_without_gripper_cannot_grip():
    puma = SerialArm.of("puma560")
    found = problems(puma, {"type": "gripper", "opening": 0.0}, start=[0.2, 0.9, -2.2, 0.3, 0.8, -0.4])
    assert found == {"steps[0]": "this robot has no gripper"}


@pytest.mark.parametrize(
    ("step", "key", "words"),
    [
        ({"type": "line", "pose": [2.5, 0, 0, 0, 1.5, 0]}, "pose", "the path leaves the workspace: out of reach"),
        ({"type": "arc", "pose": [1.4, 0, 0.3, 0, 1.5, 0], "through": [3, 0, 0]}, "pose", "out of reach"),
        ({"type": "joints", "pose": [2.5, 0, 0, 0, 0, 0]}, "pose", "no joint positions reach it: out of reach"),
        (
            {"type": "joints", "pose": [-1.4, 0, 0, 0, -1.5, 0]},
            "pose",
            "no joint positions reach it: outside the range",
        ),
        ({"type": "line", "pose": POSE, "duration": 0.1}, "duration", "the least is"),
        ({"type": "joints", "to": [0.0] * 6, "duration": 0.1}, "duration", "joint 'elbow' would need"),
    ],
)
def test_what_cannot_be_planned_is_refused_at_its_step(arm, step, key, words):
    found = problems(arm, {"type": "wait", "duration": 1.0}, step)
    assert list(found) == [f"steps[1].{key}"]
    assert words in found[f"steps[1].{key}"]


def test_an_arc_through_a_straight_line_is_refused_at_its_point(arm):
    begin = arm.forward(START)[:3, 3]
    end = [*(begin - np.array([0.2, 0.0, 0.0])), 0.0, 1.5, 0.0]
    found = problems(arm, {"type": "arc", "pose": end, "through": list(begin - np.array([0.1, 0.0, 0.0]))})
    assert list(found) == ["steps[0].through"]


# --- the controller --------------------------------------------------------------------------------------------------


def test_commands_are_those_of_the_plan(arm, robot):
    controller = running(arm, robot, *STEPS)
    expected = planned(arm, *STEPS)
    for t in np.linspace(0.0, expected.duration, 23):
        command = controller.update(float(t), None)
        for key, value in zip(("position", "speed", "acceleration"), expected.at(float(t)), strict=True):
            assert (command[key] == value).all()
        grip = expected.grip_at(float(t))
        assert command.get("gripper/opening") == (grip.opening if grip else None)
        assert command.get("gripper/force") == (grip.force if grip else None)


def test_after_the_end_it_holds_and_then_is_silent(arm, robot):
    controller = running(arm, robot, {"type": "joints", "to": [0.0, 0.5, -1.0, 0.2, 0.1, 0.3]})
    end = controller.plan.duration
    updates = [controller.update(k * PERIOD, None) for k in range(int(end / PERIOD) + 10)]
    silent = [k for k, command in enumerate(updates) if command is None]
    assert silent == list(range(silent[0], len(updates)))
    last = updates[silent[0] - 1]
    assert (silent[0] - 1) * PERIOD > end
    assert last["position"] == pytest.approx([0.0, 0.5, -1.0, 0.2, 0.1, 0.3])
    assert not last["speed"].any()
    assert not last["acceleration"].any()


def test_a_loop_goes_back_to_its_start_and_on(arm, robot):
    controller = running(arm, robot, *STEPS[:5], loop=True)
    round_time = controller.plan.duration
    assert round_time > planned(arm, *STEPS[:5]).duration
    assert controller.plan.at(round_time)[0] == pytest.approx(START)
    for t in (0.1, 0.4 * round_time, 0.99 * round_time):
        first, later = controller.update(t, None), controller.update(t + 7.0 * round_time, None)
        assert later["position"] == pytest.approx(first["position"], abs=1e-9)
        assert later["speed"] == pytest.approx(first["speed"], abs=1e-9)
    # In the first round the gripper has not been told anything yet; later it stays as the round before left it.
    assert "gripper/opening" not in controller.update(0.1, None)
    assert controller.update(0.1 + round_time, None)["gripper/opening"] == 0.09


def test_its_state_is_the_time_alone(arm, robot):
    controller, other = running(arm, robot, *STEPS, loop=True), running(arm, robot, *STEPS, loop=True)
    for k in range(300):
        controller.update(k * PERIOD, None)
    assert to_plain(controller_state(controller, {})) == {"dict": {}}
    other.restore(controller.snapshot())
    for t in (3.0, 3.01, 40.0):
        one, two = controller.update(t, None), other.update(t, None)
        assert all(np.array_equal(one[key], two[key]) for key in one)


def test_a_reset_plans_the_same_again(arm, robot):
    controller = running(arm, robot, *STEPS)
    before = controller.plan
    controller.reset(
        ControllerSetup(
            "titan", PERIOD, np.random.default_rng(1), (),
            SimpleNamespace(name="arm", arms={"titan": arm}, scenario=SimpleNamespace(robots={"titan": robot})),
        )
    )  # fmt: skip
    assert np.array_equal(controller.plan.path.coefficients, before.path.coefficients)
    assert np.array_equal(controller.plan.path.times, before.path.times)


def test_only_arms_have_programs():
    engine = SimpleNamespace(name="vehicle", scenario=SimpleNamespace(robots={}))
    controller = ArmProgram(spec_of({"type": "wait", "duration": 1.0}))
    with pytest.raises(InputError, match="'program' drives robots of engine 'arm', not of 'vehicle'"):
        controller.reset(ControllerSetup("vivi", PERIOD, np.random.default_rng(0), (), engine))
