"""URDF that is written and read back gives the same robot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh
from pydantic import TypeAdapter

from botz.models.files import load_model, save_model
from botz.models.mj_world import compile_model
from botz.models.robot_model import Inertial, ModelActuator, ModelJoint, ModelLink, ModelShape, RobotModel
from botz.models.urdf.reader import read_urdf
from botz.models.urdf.writer import write_urdf
from botz.scenario.multibody.schema import AnyElement, AnySensor
from botz.transforms import transform


def inertial(rng: np.random.Generator) -> Inertial:
    """Of five random point masses: off-diagonal, and one that a body can have."""
    points = rng.normal(size=(5, 3))
    points -= points.mean(axis=0)
    tensor = sum(0.2 * (p @ p * np.eye(3) - np.outer(p, p)) for p in points)
    return Inertial(1.0 + rng.random(), rng.normal(size=3), np.asarray(tensor))


def some_model(folder: Path) -> RobotModel:
    rng = np.random.default_rng(4)
    for name in ("one", "two"):
        (folder / name).mkdir()
        (folder / name / "part.stl").write_bytes(name.encode())
    meshes = tuple(
        ModelShape("mesh", file=folder / name / "part.stl", scale=(0.001, 0.001, 0.001), collision=False)
        for name in ("one", "two")
    )
    solids = (
        ModelShape("box", (1.0, 0.2, 0.3), transform(*rng.normal(size=6)), colour=(0.1, 0.2, 0.3, 1.0), friction=0.35),
        ModelShape("cylinder", (0.1, 0.7), collision=False),
        ModelShape("capsule", (0.1, 0.7), visual=False),
        ModelShape("sphere", (0.4,)),
    )
    names = ("base", "arm", "hand", "rotor", "frame")
    links = {name: ModelLink(name, inertial(rng)) for name in names[:4]} | {"frame": ModelLink("frame")}
    links["base"] = replace(links["base"], shapes=solids)
    links["arm"] = replace(links["arm"], shapes=meshes)
    z = (0.0, 0.0, 1.0)
    joints = {
        "shoulder": ModelJoint(
            "shoulder", "revolute", "base", "arm", transform(*rng.normal(size=6)), (0.0, 0.6, 0.8), -1.0, 2.0, 3.0, 4.0,
            damping=0.1, friction=0.2, armature=0.05, stiffness=2.0, rest=0.3,
        ),
        "slide": ModelJoint("slide", "prismatic", "arm", "hand", transform(*rng.normal(size=6)), (1.0, 0.0, 0.0)),
        "spin": ModelJoint("spin", "continuous", "base", "rotor", transform(*rng.normal(size=6)), z, speed=900.0),
        "glue": ModelJoint("glue", "fixed", "hand", "frame", transform(*rng.normal(size=6))),
    }  # fmt: skip
    elements = {
        "lift": {"type": "propeller", "joint": "spin", "coefficient": 2e-5, "sense": "cw", "max_force": 9, "radius": 1},
        "wing": {"type": "lift-drag", "link": "arm", "area": 0.3, "cd0": 0.01},
        "motor": {"type": "dc-motor", "joint": "shoulder", "resistance": 1, "torque_constant": 0.1},
    }  # fmt: skip
    return RobotModel(
        "bot & co",
        links,
        joints,
        actuators={
            "spin": ModelActuator("spin", "velocity", speed=800.0, lag=0.02, lag_down=0.03),
            "shoulder": ModelActuator("shoulder", "position"),
            "slide": ModelActuator("slide", "effort", lag=0.5),
        },
        elements={name: TypeAdapter(AnyElement).validate_python(one) for name, one in elements.items()},
        sensors={"gyro": TypeAdapter(AnySensor).validate_python({"type": "imu", "link": "hand", "rate": 200})},
    )


def mass_matrix(model: RobotModel, rng: np.random.Generator) -> np.ndarray:
    bare = {name: replace(link, shapes=()) for name, link in model.links.items()}
    compiled = compile_model(replace(model, links=bare))
    data = mujoco.MjData(compiled)
    for joint, turn in zip(("shoulder", "slide", "spin"), rng.uniform(-0.5, 0.5, 3), strict=True):
        data.joint(f"robot/{joint}").qpos[:] = turn
    mujoco.mj_forward(compiled, data)
    order = [data.joint(f"robot/{joint}").id for joint in ("shoulder", "slide", "spin")]
    first = [0, 1, 2, 3, 4, 5] if compiled.nv == 9 else []
    chosen = [*first, *(int(compiled.jnt_dofadr[one]) for one in order)]
    full = np.linalg.inv(_inverse(compiled, data))
    return full[np.ix_(chosen, chosen)]


def _inverse(compiled: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    found = np.eye(compiled.nv)
    mujoco.mj_solveM(compiled, data, found, np.eye(compiled.nv))
    return found


def test_a_model_comes_back_as_it_was(tmp_path: Path):
    model = some_model(tmp_path)
    target = tmp_path / "new" / "bot.urdf"
    assert write_urdf(model, target) == []
    again = read_urdf(target)
    assert again.notes == ()
    assert (again.name, list(again.links), list(again.joints)) == (model.name, list(model.links), list(model.joints))
    assert (again.elements, again.sensors) == (model.elements, model.sensors)
    for name, link in model.links.items():
        body, other = link.inertial, again.links[name].inertial
        assert (body is None) == (other is None)
        if body is not None and other is not None:
            assert (body.mass, body.centre.tolist()) == (other.mass, other.centre.tolist())
            np.testing.assert_array_equal(body.inertia, other.inertia)
    for name, joint in model.joints.items():
        other_joint = again.joints[name]
        np.testing.assert_allclose(other_joint.pose, joint.pose, rtol=0, atol=1e-15)
        plain = [vars(one) | {"pose": None, "place": None} for one in (joint, other_joint)]
        assert plain[0] == plain[1]
    for name, actuator in model.actuators.items():
        assert vars(again.actuators[name]) | {"place": None} == vars(actuator) | {"place": None}


@pytest.mark.parametrize("fixed", [False, True])
def test_the_mass_matrix_is_the_same(tmp_path: Path, fixed: bool):
    model = replace(some_model(tmp_path), fixed_base=fixed)
    write_urdf(model, tmp_path / "new" / "bot.urdf")
    again = read_urdf(tmp_path / "new" / "bot.urdf")
    assert again.fixed_base is fixed
    one, other = (mass_matrix(either, np.random.default_rng(1)) for either in (model, again))
    np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)


def test_shapes_come_back_and_meshes_go_along(tmp_path: Path):
    model = some_model(tmp_path)
    target = tmp_path / "new" / "bot.urdf"
    write_urdf(model, target)
    again = read_urdf(target)
    files = [shape.file for shape in again.links["arm"].shapes]
    assert [file.name for file in files] == ["part.stl", "part-2.stl"]  # two files of one name stay two
    assert [file.read_bytes() for file in files] == [b"one", b"two"]
    assert all(file.parent == tmp_path / "new" / "meshes" for file in files)
    assert "meshes/part-2.stl" in target.read_text()
    assert again.links["arm"].shapes[0].scale == (0.001, 0.001, 0.001)
    shapes = [(one.kind, one.size, one.visual, one.collision, one.friction) for one in again.links["base"].shapes]
    assert shapes == [
        ("box", (1.0, 0.2, 0.3), True, False, 0.8),
        ("box", (1.0, 0.2, 0.3), False, True, 0.35),
        ("cylinder", (0.1, 0.7), True, False, 0.8),
        ("capsule", (0.1, 0.7), False, True, 0.8),
        ("sphere", (0.4,), True, False, 0.8),
        ("sphere", (0.4,), False, True, 0.8),
    ]
    box = again.links["base"].shapes[0]
    np.testing.assert_allclose(box.pose, model.links["base"].shapes[0].pose, atol=1e-15)
    assert box.colour == (0.1, 0.2, 0.3, 1.0)


def test_writing_again_gives_the_same_file(tmp_path: Path):
    write_urdf(some_model(tmp_path), tmp_path / "new" / "bot.urdf")
    write_urdf(read_urdf(tmp_path / "new" / "bot.urdf"), tmp_path / "new" / "again.urdf")
    write_urdf(read_urdf(tmp_path / "new" / "again.urdf"), tmp_path / "new" / "third.urdf")
    assert (tmp_path / "new" / "third.urdf").read_text() == (tmp_path / "new" / "again.urdf").read_text()
    assert sorted(file.name for file in (tmp_path / "new" / "meshes").iterdir()) == ["part-2.stl", "part.stl"]


def test_what_urdf_has_no_word_for_is_told(tmp_path: Path):
    model = some_model(tmp_path)
    egg = ModelShape("ellipsoid", (0.1, 0.2, 0.3), collision=False)
    model.links["hand"] = replace(model.links["hand"], shapes=(egg,))
    own = {"type": "mine.py:magnet", "link": "hand"}
    model.elements["own"] = TypeAdapter(AnyElement).validate_python(own)
    shape, element = write_urdf(model, tmp_path / "new.urdf")
    assert "URDF has no ellipsoid" in shape.message
    assert "'own' is a function of yours" in element.message
    assert read_urdf(tmp_path / "new.urdf").links["hand"].shapes == ()


@pytest.mark.parametrize("ending", ["urdf", "xml", "sdf"])
def test_meshes_that_lie_beside_the_new_file_are_never_overwritten(tmp_path: Path, ending: str):
    """`meshes/visual/part.stl` is called `part.stl` beside the new file, as is another part of the same robot."""
    (tmp_path / "meshes" / "visual").mkdir(parents=True)
    for file, size in (("visual/part.stl", 1.0), ("part.stl", 2.0), ("part-2.stl", 3.0)):
        trimesh.creation.box((size, size, size)).export(tmp_path / "meshes" / file)
    before = {path: path.read_bytes() for path in (tmp_path / "meshes").rglob("*.stl")}
    shapes = [
        f'<{kind}><geometry><mesh filename="meshes/{file}"/></geometry></{kind}>'
        for kind, file in (("visual", "visual/part.stl"), ("collision", "part.stl"))
    ]
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    (tmp_path / "robot.urdf").write_text(
        f'<robot name="r"><link name="base">{inertial}{"".join(shapes)}</link></robot>'
    )
    for _ in range(2):  # the second time all is there already
        save_model(load_model(tmp_path / "robot.urdf"), tmp_path / f"new.{ending}")
        assert {path: path.read_bytes() for path in before} == before
        assert sorted(path.name for path in (tmp_path / "meshes").glob("*.stl")) == [
            "part-2.stl",
            "part-3.stl",
            "part.stl",
        ]
    again = load_model(tmp_path / f"new.{ending}")
    found = {shape.collision: shape.file.name for shape in again.links["base"].shapes if shape.file}
    assert found == {False: "part-3.stl", True: "part.stl"}
