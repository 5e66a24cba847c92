"""The wheels of a vehicle under a link of engine `multibody`: what they do to it, and what they keep."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import yaml

from botz.engines.multibody.elements.kinds import built
from botz.engines.multibody.elements.wheels import add_inertia
from botz.errors import InputError
from botz.scenario.load import load_robot
from botz.scenario.multibody.elements import VehicleWheels
from botz.verify.multibody.vehicle import in_world, multibody_rig
from botz.verify.vehicle.rig import GRAVITY, NAMES, plane, rig, vivi

STANDING = 0.1437
TURNING = [6.0, 14.0, 6.0, 14.0]
KEY = "robots.r.elements.wheels"


def element_of(vehicle):
    spec = VehicleWheels(type="vehicle-wheels", link="chassis", vehicle=str(vehicle))
    return built("wheels", spec, "r", ["chassis"], {})


def complaint_of(vehicle):
    with pytest.raises(InputError) as caught:
        element_of(vehicle)
    return caught.value.problems[0]


def standing(**changes):
    return multibody_rig(**{"pose": [0.0, 0.0, STANDING, 0.0, 0.0, 0.0], **changes})


@pytest.fixture
def vehicle_file(tmp_path):
    """Writes VIVI with changes into a robot file."""

    def write(**changes):
        file = tmp_path / "vehicle.yaml"
        file.write_text(yaml.safe_dump(vivi(**changes)))
        return file

    return write


def test_it_drives_as_the_vehicle_does():
    """Both are methods of first order, so that they differ by no more than their runs change with half the step, four
    times over."""

    def driven(made):
        made.engine.inputs[:] = TURNING
        return made.run(0.5).engine.channels.value(made.row(), "r/pose")

    vehicles = [driven(rig(vivi(), terrain=plane(0.0), step=step)) for step in (2e-4, 1e-4)]
    start = rig(vivi()).value("pose")
    bodies = [driven(multibody_rig(step=step, pose=[*start[:3], 0.0, 0.0, 0.0])) for step in (2e-4, 1e-4)]
    changed = sum(np.linalg.norm(first - second) for first, second in (vehicles, bodies))
    assert vehicles[0][0] > 0.2
    assert vehicles[0][6] > 0.02
    assert np.linalg.norm(vehicles[0] - bodies[0]) < 2.0 * changed


SHOWN = ("speed", "load", "angle", "deflection")


def test_commands_and_reports_are_named_after_motors_and_wheels():
    element = element_of("vivi")
    assert [name for name, _ in element.inputs] == [f"{name}/voltage" for name in NAMES]
    assert [one.name for one in element.kind.reports] == [f"{name}/{what}" for what in SHOWN for name in NAMES]


def test_vehicles_share_one_compiled_function(vehicle_file):
    assert element_of("vivi").kind.calls is element_of(vehicle_file()).kind.calls


def with_wheels(file, count, motors):
    """The file's vehicle with `count` wheels alike, and a motor for each or none."""
    data = yaml.safe_load(file.read_text())
    wheel, motor = data["wheels"]["front_left"], data["motors"]["front_left"]
    data["wheels"] = {f"w{k}": wheel for k in range(count)}
    data["motors"] = {f"w{k}": {**motor, "wheels": [f"w{k}"]} for k in range(count if motors else 0)}
    file.write_text(yaml.safe_dump(data))
    return file


@pytest.mark.parametrize(("count", "shown"), [(5, 3), (8, 2), (9, 1), (16, 1), (17, 0)])
def test_of_more_wheels_fewer_quantities_are_reported_or_none(vehicle_file, count, shown):
    reports = element_of(with_wheels(vehicle_file(), count, motors=False)).kind.reports
    assert {one.name for one in reports} == {f"w{k}/{what}" for what in SHOWN[:shown] for k in range(count)}


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_looking_leaves_no_trace(method):
    found = []
    for every in (0, 1):
        made = standing(method=method)
        made.engine.inputs[:] = TURNING
        if every:
            made.record(0.02, every)
        else:
            made.run(0.02)
        found.append(made.engine.snapshot().arrays)
    assert found[0].keys() == found[1].keys()
    for name, array in found[0].items():
        if name != "last":
            assert array.tobytes() == found[1][name].tobytes(), name


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_a_snapshot_goes_on_to_the_same_bits(method):
    made = standing(method=method)
    made.engine.inputs[:] = TURNING
    kept = made.run(0.02).engine.snapshot()
    done, first = made.done, made.run(0.02).row()
    other = standing(method=method)
    other.engine.restore(kept)
    other.done = done
    assert other.run(0.02).row().tobytes() == first.tobytes()


def test_after_a_reset_it_runs_the_same():
    made = standing()
    rows = []
    for _ in range(2):
        made.engine.reset(np.random.default_rng(0))
        made.done = 0
        made.engine.inputs[:] = TURNING
        rows.append(made.run(0.05).row().tobytes())
    assert rows[0] == rows[1]


def test_wheels_start_rolling_along_with_the_link():
    """ω − Ω·t = v/r; velocities of the start are in the world, and the link looks along −y."""
    made = standing(pose=[0, 0, STANDING, 0, 0, -np.pi / 2], velocity=[0, -1.1, 0], angular_velocity=[0, 0.3, 0])
    for name in NAMES:
        assert made.value(f"r/wheels/{name}/speed") == pytest.approx(1.1 / 0.11, rel=1e-12)


def test_without_ground_it_falls():
    made = multibody_rig(world={"ground": False}, pose=[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]).run(1.0)
    # Semi-implicit Euler: z₀ − ½ g t (t + h).
    assert made.value("r/pose")[2] == pytest.approx(1.0 - 0.5 * GRAVITY * 1.0001, abs=1e-9)
    assert made.value("r/wheels/force") == pytest.approx([0.0, 0.0, 0.0])


def test_on_a_terrain_it_stands_on_that():
    made = multibody_rig(world={"terrain": plane(0.2)}, pose=[1.0, 0.0, 0.37, 0.0, -0.2, 0.0]).run(1.0)
    x, _, z = made.value("r/pose")[:3]
    assert z - x * np.tan(0.2) == pytest.approx(STANDING / np.cos(0.2), abs=0.01)


@pytest.mark.parametrize("inertia", [[0.4, 1.3, 1.5], [0.5, 1.3, 1.5, 0.1, -0.05, 0.08]], ids=["aligned", "turned"])
@pytest.mark.parametrize("rotor", [0.0, 4e-5], ids=["massless rotors", "heavy rotors"])
def test_motors_in_free_flight_keep_the_angular_momentum(vehicle_file, inertia, rotor):
    """R (J Ω + Σ [I ω + J_r (G ω + (1 − G) Ω·t)] t) stays, with ω the absolute speed of the axle."""
    robot = load_robot("vivi-multibody").data
    robot["links"]["chassis"]["inertia"] = inertia
    robot["elements"]["wheels"]["vehicle"] = str(vehicle_file(motor={"rotor_inertia": rotor}))
    free = {"ground": False, "gravity": [0.0, 0.0, 0.0]}
    made = multibody_rig(robot=robot, method="rk4", world=free, angular_velocity=[0.6, -0.4, 1.1])
    made.engine.inputs[:] = [24.0, -12.0, 18.0, 6.0]
    rows = np.vstack([made.row(), made.record(0.2, 20)])
    xx, yy, zz, xy, xz, yz = [*inertia, 0.0, 0.0, 0.0][:6]
    spin = made.value("r/twist", rows)[:, 3:]
    momentum = spin @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    pitching, wheel, ratio = spin[:, 1], 0.012, 40.0
    for name in NAMES:
        omega = made.value(f"r/wheels/{name}/speed", rows) + pitching
        momentum[:, 1] += wheel * omega + rotor * (ratio * omega + (1.0 - ratio) * pitching)
    held = in_world(made.value("r/pose", rows)[:, 3:], momentum)
    # What went over is some 0.1 N·m·s; MuJoCo's turning by mean rates leaves out h²/12 Ω ΔΩ L.
    assert np.max(np.abs(made.value(f"r/wheels/{NAMES[0]}/speed", rows))) > 10.0
    assert np.max(np.abs(held - held[0])) < 1e-8


def test_locked_wheels_turn_with_the_link(vehicle_file):
    file = vehicle_file(without_motors=True, wheel={"locked": True})
    robot = load_robot("vivi-multibody").data
    robot["elements"]["wheels"]["vehicle"] = str(file)
    made = multibody_rig(robot=robot, pose=[0, 0, 1, 0, 0, 0], angular_velocity=[0.0, 2.0, 0.0])
    assert made.value("r/wheels/front_left/speed") == 0.0
    assert made.engine.model.body("r/chassis").inertia[1] == pytest.approx(1.308 + 4 * 0.012)


@pytest.mark.parametrize("axis", [[0.0, 1.0, 0.0], [0.3, -0.5, 0.8]], ids=["aligned", "turned"])
def test_added_inertia_is_about_y_of_the_link(axis):
    spec = mujoco.MjSpec()
    turn = np.zeros(4)
    mujoco.mju_axisAngle2Quat(turn, np.asarray(axis) / np.linalg.norm(axis), 0.7 if axis[0] else 0.0)
    body = spec.worldbody.add_body(name="one", mass=2.0, inertia=[0.2, 0.3, 0.4], iquat=turn, explicitinertial=True)
    body.add_freejoint()
    model = spec.compile()

    def tensor():
        axes = np.empty(9)
        mujoco.mju_quat2Mat(axes, model.body_iquat[1])
        return axes.reshape(3, 3) @ np.diag(model.body_inertia[1]) @ axes.reshape(3, 3).T

    before = tensor()
    add_inertia(model, 1, 0.05)
    assert tensor() - before == pytest.approx(np.diag([0.0, 0.05, 0.0]), abs=1e-12)
    assert model.body_inertia[1].sum() == pytest.approx(0.95)


def test_a_robot_of_another_family_is_refused():
    problem = complaint_of("differential")
    assert problem.key == f"{KEY}.vehicle"
    assert "is not a robot of engine 'vehicle'" in problem.message


def test_an_unknown_vehicle_is_refused_with_the_nearest():
    problem = complaint_of("vivy")
    assert problem.key == f"{KEY}.vehicle"
    assert "'vivi'" in problem.message


def test_a_mistake_in_the_vehicles_file_is_reported_there(tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text("engine: vehicle\nchassis: {mass: -1}\n")
    problem = complaint_of(file)
    assert problem.file == file
    assert problem.line is not None


def test_more_motors_than_commands_are_refused(vehicle_file):
    assert "9 motors" in complaint_of(with_wheels(vehicle_file(), 9, motors=True)).message


def test_nine_wheels_carry_a_link(vehicle_file):
    """Two blocks and a part of a third; all of them at one place, so that each carries a ninth."""
    robot = load_robot("vivi-multibody").data
    file = with_wheels(vehicle_file(wheel={"position": [0.0, 0.0, -0.05]}), 9, motors=False)
    robot["elements"]["wheels"]["vehicle"] = str(file)
    made = multibody_rig(robot=robot, pose=[0.0, 0.0, 0.16, 0.0, 0.0, 0.0]).run(1.0)
    assert made.value("r/wheels/force") == pytest.approx([0.0, 0.0, 40.0 * GRAVITY], abs=0.1)
