"""Links without mass between joints, links that are one body, and meshes of MuJoCo's own."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from botz.engines.multibody.engine import MultibodyEngine
from botz.errors import InputError
from botz.models.check import check_model
from botz.models.files import load_model, save_model
from botz.models.meshes.mesh import load_mesh
from botz.models.mj_world import compile_model
from botz.models.mjcf import writer as mjcf_writer
from botz.models.robot_model import Inertial, RobotModel
from botz.models.tree import bodiless
from botz.scenario.multibody.schema import MultibodyScenario

MODELS = Path(__file__).resolve().parents[2] / "models"
CORNERS = [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def moved(model: RobotModel, positions: list[float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Place and attitude of the weight, and the mass matrix."""
    compiled = compile_model(model)
    data = mujoco.MjData(compiled)
    data.qpos[:] = positions
    mujoco.mj_forward(compiled, data)
    matrix = np.zeros((compiled.nv, compiled.nv))
    mujoco.mj_fullM(compiled, data, matrix)
    body = compiled.body("robot/weight").id
    return data.xpos[body].copy(), data.xmat[body].copy(), matrix


def with_dust(model: RobotModel) -> RobotModel:
    """The same with hardly any mass in the links that have none, each of which is a body then."""
    dust = Inertial(1e-9, np.zeros(3), 1e-12 * np.eye(3))
    links = {name: link if link.inertial else replace(link, inertial=dust) for name, link in model.links.items()}
    return replace(model, links=links)


@pytest.mark.parametrize("way", ["urdf", "xml", "sdf"])
def test_joints_with_a_massless_link_between_move_as_with_hardly_any_mass(tmp_path: Path, way: str):
    model = load_model(MODELS / "cardan.urdf")
    assert bodiless(model) == {"cross", "mark"}
    expected = moved(with_dust(model), [0.7, -1.2])
    if way != "urdf":
        assert save_model(model, tmp_path / f"cardan.{way}") == []
        model = load_model(tmp_path / f"cardan.{way}")
    for value, true in zip(moved(model, [0.7, -1.2]), expected, strict=True):
        np.testing.assert_allclose(value, true, atol=1e-8)
    assert check_model(model, 0.00025) == []


def test_a_massless_end_and_a_massless_fork_stay_refused(tmp_path: Path):
    text = (MODELS / "cardan.urdf").read_text("utf-8")
    end = text.replace('<inertial><origin xyz="0 0 -0.3"/>', "<!--").replace("</inertial>", "-->")
    more = '<joint name="other" type="continuous"><parent link="mark"/><child link="twin"/></joint>'
    twin = text[text.index('<link name="weight">') : text.index("</robot>")].replace("weight", "twin")
    fork = text.replace("</robot>", f"{more}{twin}</robot>")
    for name, content in (("end", end), ("fork", fork)):
        (tmp_path / f"{name}.urdf").write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match="moves, but has no mass"):
            load_model(tmp_path / f"{name}.urdf")


@pytest.mark.parametrize(("file", "link"), [("cardan.urdf", "mark"), ("several-joints.xml", "cart_x")])
def test_a_sensor_on_a_link_without_body_is_refused(file: str, link: str):
    robot = {"file": str(MODELS / file), "sensors": {"gyro": {"type": "imu", "link": link}}}
    scenario = MultibodyScenario.model_validate({"engine": "multibody", "robots": {"it": robot}})
    with pytest.raises(InputError, match=rf"sensors.gyro.link: link '{link}' has no mass and lies between two joints"):
        MultibodyEngine(scenario)


@pytest.mark.parametrize("way", ["urdf", "xml"])
def test_of_links_that_are_one_body_the_sum_counts(tmp_path: Path, way: str):
    model = load_model(MODELS / "wrong-frame.urdf")
    (finding,) = check_model(model, 0.00025)
    assert (finding.severity, finding.place) == ("warning", "link camera")
    assert "only the sum of links that are one body counts" in finding.message
    if way == "xml":
        save_model(model, tmp_path / "wrong-frame.xml")
        model = load_model(tmp_path / "wrong-frame.xml")
    compiled = compile_model(model)
    body = compiled.body("robot/camera")
    # 1 g at the origin and 5 kg at 0.1 m below it.
    low = -0.1 * 5 / 5.001
    steiner = (0.001 * low**2 + 5 * (0.1 + low) ** 2) * np.diag([1.0, 1.0, 0.0])
    tensor = np.diag([0.1, 0.2, 0.2]) + 1e-6 * np.ones((3, 3)) + steiner
    assert compiled.body_subtreemass[body.id] == pytest.approx(5.001, rel=1e-12)
    np.testing.assert_allclose(body.ipos, [0, 0, low], rtol=1e-9)
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, body.iquat)
    turn = turn.reshape(3, 3)
    np.testing.assert_allclose(turn @ np.diag(body.inertia) @ turn.T, tensor, atol=1e-9)


@pytest.mark.parametrize(("factor", "severity"), [(300.0, "warning"), (1e6, "error")])
def test_a_tensor_that_is_too_large_is_an_error_where_units_are_mixed_up(factor: float, severity: str):
    model = load_model(MODELS / "several-models.world", model="crate")
    link = model.links["crate"]
    assert link.inertial is not None
    heavy = replace(link.inertial, inertia=0.03 * factor * np.eye(3))
    (finding,) = check_model(replace(model, links={"crate": replace(link, inertial=heavy)}))
    assert finding.severity == severity
    assert "times that of a solid of 2 kg" in finding.message


def msh(path: Path, cut: int = 0, faces: list[tuple[int, int, int]] = FACES) -> Path:
    data = struct.pack("<4i", 4, 0, 4, len(faces))
    data += struct.pack("<12f", *np.ravel(CORNERS)) + struct.pack("<8f", *[0.0] * 8)
    data += struct.pack(f"<{3 * len(faces)}i", *np.ravel(faces))
    path.write_bytes(data[: len(data) - cut])
    return path


def test_meshes_of_mujoco(tmp_path: Path):
    mesh = load_mesh(msh(tmp_path / "part.msh"), 2.0)
    assert mesh.volume == pytest.approx(0.2**3 / 6, rel=1e-6)
    (tmp_path / "part.xml").write_text(
        '<mujoco><asset><mesh name="part" file="part.msh"/></asset><worldbody><body name="part"><freejoint/>'
        '<geom type="mesh" mesh="part" mass="1"/></body></worldbody></mujoco>',
        encoding="utf-8",
    )
    model = load_model(tmp_path / "part.xml")
    assert check_model(model, 0.00025) == []
    save_model(model, tmp_path / "out" / "part.sdf")
    assert [one.name for one in (tmp_path / "out" / "meshes").iterdir()] == ["part.stl"], "as others can read it"
    (shape,) = load_model(tmp_path / "out" / "part.sdf").links["part"].shapes
    assert shape.file is not None
    assert load_mesh(shape.file).volume == pytest.approx(0.1**3 / 6, rel=1e-6)


@pytest.mark.parametrize(("cut", "faces"), [(4, FACES), (1, FACES), (170, FACES), (0, [(0, 1, 9)]), (0, [(0, 1, -1)])])
def test_damaged_meshes_of_mujoco(tmp_path: Path, cut: int, faces: list[tuple[int, int, int]]):
    with pytest.raises(InputError, match="cannot be read as a mesh"):
        load_mesh(msh(tmp_path / "part.msh", cut, faces))


def test_what_worlds_include_of_gazebo_is_left_out():
    model = load_model(MODELS / "several-models.world", model="ball")
    assert [one.message.split(" is")[0] for one in model.notes[:2]] == ["'model://sun'", "'model://ground_plane'"]


def test_models_of_the_same_name_are_told(tmp_path: Path):
    text = (MODELS / "several-models.world").read_text("utf-8").replace('name="crate"', 'name="ball"')
    (tmp_path / "twice.world").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="several are called 'ball'; give each a name of its own"):
        load_model(tmp_path / "twice.world")


def test_expressions_of_xacro_in_a_urdf_get_a_hint(tmp_path: Path):
    text = (MODELS / "massless-base.urdf").read_text("utf-8").replace('"0 0 0.5"', '"$(optenv HEIGHT 0 0 1)"')
    (tmp_path / "arm.urdf").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"which only xacro understands; let the file's name end in \.xacro"):
        load_model(tmp_path / "arm.urdf")


def test_meshes_that_mujoco_cannot_read_are_written_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An STL file with too many faces, and one that is only seen and has none."""
    monkeypatch.setattr(mjcf_writer, "MOST_STL_FACES", 3)
    wedge = (MODELS / "wedge.dae").read_text("utf-8")
    (tmp_path / "wedge.dae").write_text(wedge, encoding="utf-8")
    load_mesh(tmp_path / "wedge.dae").export(tmp_path / "wedge.stl")
    empty = wedge.replace('<triangles count="4">', '<triangles count="0">').replace("0 2 1 0 1 3 0 3 2 1 2 3", "")
    (tmp_path / "empty.dae").write_text(empty, encoding="utf-8")
    text = (MODELS / "collada.urdf").read_text("utf-8")
    text = text.replace('wedge.dae"/></geometry></visual>', 'empty.dae"/></geometry></visual>')
    more = '<collision><geometry><mesh filename="wedge.stl"/></geometry></collision></link>'
    (tmp_path / "part.urdf").write_text(text.replace("</link>", more), encoding="utf-8")
    model = load_model(tmp_path / "part.urdf")
    (finding,) = check_model(model, 0.00025)
    assert (finding.severity, finding.where.file) == ("warning", tmp_path / "empty.dae")
    assert "only seen, so the model runs without it" in finding.message
    (lost,) = save_model(model, tmp_path / "out" / "part.xml")
    assert "only seen, and left out" in lost.message
    shapes = load_model(tmp_path / "out" / "part.xml").links["wedge"].shapes
    assert [one.file.name for one in shapes if one.file is not None] == ["wedge-dae.obj", "wedge-stl.obj"]
    for one in shapes:
        assert one.file is not None
        assert load_mesh(one.file).volume == pytest.approx(0.1**3 / 6, rel=1e-6)
