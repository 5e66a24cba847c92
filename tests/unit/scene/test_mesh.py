"""Meshes: mass properties against closed forms, repairs of what was broken on purpose, and bad files."""

from __future__ import annotations

import subprocess
import sys
from math import cos, pi, sin
from pathlib import Path

import numpy as np
import pytest
import trimesh

from botz.errors import InputError
from botz.models.meshes import solids
from botz.models.meshes.mesh import (
    LEFT_OUT,
    hole_count,
    is_closed,
    load_mesh,
    mass_properties,
    shape_properties,
    shapes_properties,
    simplified,
    why_flat,
    why_open,
)
from botz.models.meshes.repair import body_count, repair
from botz.models.robot_model import ModelShape, Place
from botz.scenario.library import library_folder
from botz.transforms import transform

MESHES = library_folder() / "robots" / "lophorina" / "meshes"


def l_beam() -> trimesh.Trimesh:
    """An L of three unit squares' width, 1 m thick: a lid that is not convex, 5 m³."""
    corners = np.array([[0, 0], [3, 0], [3, 1], [1, 1], [1, 3], [0, 3]], dtype=float)
    faces = np.array([[0, 1, 3], [1, 2, 3], [0, 3, 5], [3, 4, 5]])
    return trimesh.creation.extrude_triangulation(corners, faces, 1.0)


# --- mass properties -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [(0, 0, 0), (1000.0, -500.0, 20.0)])
def test_a_box_exactly_wherever_it_stands(offset):
    mesh = trimesh.creation.box((0.252, 0.4, 0.046))
    mesh.apply_translation(offset)
    found, expected = mass_properties(mesh, 1.5), solids.box((0.252, 0.4, 0.046), 1.5)
    assert found.volume == pytest.approx(expected.volume, rel=1e-9)
    assert found.area == pytest.approx(expected.area, rel=1e-9)
    np.testing.assert_allclose(found.centre, offset, atol=1e-9)
    np.testing.assert_allclose(found.inertia, expected.inertia, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [3, 6, 32])
def test_a_prism_exactly(n: int):
    """A drawn cylinder is a prism: A = n/2 R² sin 2π/n, I_zz = m R²/6 (2 + cos 2π/n)."""
    mesh = trimesh.creation.cylinder(radius=0.2, height=0.5, sections=n)
    found = mass_properties(mesh, 2.0)
    along = 2.0 * 0.2**2 / 6 * (2 + cos(2 * pi / n))
    across = along / 2 + 2.0 * 0.5**2 / 12
    assert found.volume == pytest.approx(n / 2 * 0.2**2 * sin(2 * pi / n) * 0.5, rel=1e-12)
    np.testing.assert_allclose(found.inertia, np.diag([across, across, along]), rtol=1e-12, atol=1e-15)


def test_a_sphere_in_the_limit():
    """An icosphere's error falls with the square of the edges' length, by 4 at each subdivision."""
    errors = []
    for level in (2, 3, 4):
        found = mass_properties(trimesh.creation.icosphere(level, 0.5), 2.0)
        np.testing.assert_allclose(found.inertia, found.inertia[0, 0] * np.eye(3), atol=1e-12)
        errors.append(1 - found.inertia[0, 0] / solids.sphere(0.5, 2.0).inertia[0, 0])
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05) and errors[1] / errors[2] == pytest.approx(4, rel=0.05)
    assert errors[2] < 0.002


def test_a_turned_mesh_has_a_turned_tensor():
    mesh = l_beam()
    before = mass_properties(mesh, 3.0)
    pose = transform(0.2, -0.1, 0.4, 0.3, -0.5, 1.1)
    mesh.apply_transform(pose)
    after = mass_properties(mesh, 3.0)
    np.testing.assert_allclose(after.inertia, before.placed(pose).inertia, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(after.centre, before.placed(pose).centre, atol=1e-12)
    # Two boxes make the same L.
    parts = [
        solids.box((3, 1, 1), 3.0 * 3 / 5).placed(transform(1.5, 0.5, 0.5, 0, 0, 0)),
        solids.box((1, 2, 1), 3.0 * 2 / 5).placed(transform(0.5, 2.0, 0.5, 0, 0, 0)),
    ]
    np.testing.assert_allclose(before.inertia, solids.together(parts).inertia, rtol=1e-12)


def test_inside_out_weighs_the_same():
    mesh = trimesh.creation.box((1, 2, 3))
    mesh.invert()
    np.testing.assert_allclose(mass_properties(mesh, 2.0).inertia, solids.box((1, 2, 3), 2.0).inertia)


def test_a_hollow_is_left_out():
    outer, inner = trimesh.creation.box((4, 4, 4)), trimesh.creation.box((2, 2, 2))
    inner.invert()
    found = mass_properties(trimesh.util.concatenate([outer, inner]), 56.0)
    expected = solids.box((4, 4, 4), 64.0).inertia - solids.box((2, 2, 2), 8.0).inertia
    assert found.volume == pytest.approx(56)
    np.testing.assert_allclose(found.inertia, expected, rtol=1e-12)


def test_millimetres(tmp_path: Path):
    trimesh.creation.box((252, 400, 46)).export(tmp_path / "box.stl")
    found = mass_properties(load_mesh(tmp_path / "box.stl", 0.001), 1.5)
    np.testing.assert_allclose(found.inertia, solids.box((0.252, 0.4, 0.046), 1.5).inertia, rtol=1e-6, atol=1e-12)
    mirrored = load_mesh(tmp_path / "box.stl", (-0.001, 0.001, 0.001))
    assert mirrored.volume > 0 and mirrored.volume == pytest.approx(found.volume)


@pytest.mark.parametrize("mass", [0.0, -1.0, float("nan"), float("inf")])
def test_a_mass_that_is_none_is_refused(mass: float):
    with pytest.raises(InputError, match="needs a positive number"):
        mass_properties(trimesh.creation.box((1, 1, 1)), mass)


def test_a_leaky_or_flat_mesh_has_no_volume():
    leaky = trimesh.creation.box((1, 1, 1))
    leaky.update_faces(np.arange(12) > 0)
    with pytest.raises(InputError, match=r"not watertight: 1 hole \(3 open edges\).*--repair"):
        mass_properties(leaky, 1.0)
    flat = trimesh.creation.box((1, 1, 1))
    flat.vertices = flat.vertices * [1, 1, 0]
    with pytest.raises(InputError, match="encloses no volume"):
        mass_properties(flat, 1.0)


# --- shapes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (ModelShape("box", (0.1, 0.2, 0.3)), solids.box((0.1, 0.2, 0.3), 2.0)),
        (ModelShape("sphere", (0.1,)), solids.sphere(0.1, 2.0)),
        (ModelShape("cylinder", (0.1, 0.3)), solids.cylinder(0.1, 0.3, 2.0)),
        (ModelShape("capsule", (0.1, 0.3)), solids.capsule(0.1, 0.3, 2.0)),
        (ModelShape("ellipsoid", (0.1, 0.2, 0.3)), solids.ellipsoid((0.1, 0.2, 0.3), 2.0)),
    ],
)
def test_shapes_as_their_solids(shape: ModelShape, expected: solids.MassProperties):
    np.testing.assert_allclose(shape_properties(shape, 2.0).inertia, expected.inertia)


def test_a_mesh_shape_in_its_pose(tmp_path: Path):
    trimesh.creation.box((100, 200, 300)).export(tmp_path / "part.stl")
    pose = transform(1, 0, 0, 0, 0, pi / 2)
    found = shape_properties(ModelShape("mesh", pose=pose, file=tmp_path / "part.stl", scale=(0.001,) * 3), 2.0)
    np.testing.assert_allclose(found.centre, [1, 0, 0], atol=1e-9)
    np.testing.assert_allclose(found.inertia, solids.box((0.2, 0.1, 0.3), 2.0).inertia, rtol=1e-6, atol=1e-9)


def test_a_leaky_mesh_shape_is_named_with_its_place(tmp_path: Path):
    leaky = trimesh.creation.box((1, 1, 1))
    leaky.update_faces(np.arange(12) > 0)
    leaky.export(tmp_path / "part.stl")
    shape = ModelShape("mesh", file=tmp_path / "part.stl", place=Place(Path("robot.urdf"), 7))
    with pytest.raises(InputError, match=r"robot\.urdf:7: mesh part\.stl is not watertight"):
        shape_properties(shape)
    with pytest.raises(InputError, match="a plane has no volume"):
        shape_properties(ModelShape("plane"))


def test_several_shapes_share_a_mass_by_volume():
    small = ModelShape("box", (1, 1, 1), pose=transform(2, 0, 0, 0, 0, 0))
    large = ModelShape("box", (1, 1, 3), pose=transform(-2, 0, 0, 0, 0, 0))
    found = shapes_properties([small, large], 8.0)
    parts = [solids.box((1, 1, 1), 2.0).placed(small.pose), solids.box((1, 1, 3), 6.0).placed(large.pose)]
    np.testing.assert_allclose(found.centre, [-1, 0, 0])
    np.testing.assert_allclose(found.inertia, solids.together(parts).inertia)
    # What is only looked at does not weigh where something is there to be touched.
    looks = ModelShape("sphere", (5.0,), collision=False)
    np.testing.assert_allclose(shapes_properties([small, large, looks], 8.0).inertia, found.inertia)
    np.testing.assert_allclose(shapes_properties([looks], 1.0).inertia, solids.sphere(5.0).inertia)


# --- repair ----------------------------------------------------------------------------------------------------------


def broken(mesh: trimesh.Trimesh, seed: int, *, lost: int) -> trimesh.Trimesh:
    """The mesh with faces lost and turned over, and no vertex shared but nearly."""
    rng = np.random.default_rng(seed)
    faces = np.array(mesh.faces)
    turned = rng.random(len(faces)) < 0.2
    faces[turned] = faces[turned][:, ::-1]
    faces = np.delete(faces, rng.choice(len(faces), lost, replace=False), axis=0)
    corners = np.asarray(mesh.vertices)[faces].reshape(-1, 3)
    corners = corners + 1e-8 * rng.normal(size=corners.shape)
    return trimesh.Trimesh(corners, np.arange(len(corners)).reshape(-1, 3), process=True)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "whole",
    [
        trimesh.creation.icosphere(3),
        trimesh.creation.torus(1.0, 0.3),
        trimesh.creation.capsule(1.0, 0.3),
        trimesh.creation.annulus(0.5, 1.0, 1.0),
    ],
    ids=["sphere", "torus", "capsule", "annulus"],
)
def test_what_was_broken_is_mended(whole: trimesh.Trimesh, seed: int):
    mesh = broken(whole, seed, lost=max(3, len(whole.faces) // 60))
    assert not is_closed(mesh)
    done = repair(mesh)
    assert why_open(mesh) is None, done
    assert [words.split()[0] for words in done] == ["merged", "turned", "closed"]
    assert mesh.volume == pytest.approx(whole.volume, rel=0.01)
    assert repair(mesh) == []


def test_a_lid_that_is_not_convex():
    mesh = l_beam()
    mesh.update_faces(mesh.face_normals[:, 2] < 0.9)
    assert hole_count(mesh) == 1
    (words,) = repair(mesh)
    assert words.startswith("closed 1 hole with 4 faces") and is_closed(mesh)
    assert mesh.volume == pytest.approx(5.0) and mesh.area == pytest.approx(2 * 5 + 12)


def test_double_and_flat_faces_go():
    mesh = trimesh.creation.box((1, 1, 1))
    mesh.faces = np.vstack([mesh.faces, mesh.faces[:2], [[0, 1, 1]]])
    assert not is_closed(mesh)
    assert repair(mesh) == ["removed 3 faces without area or there twice"]
    assert is_closed(mesh) and len(mesh.faces) == 12


def test_bodies_are_turned_out_but_hollows_stay():
    outer, hollow, beside = (trimesh.creation.box((size,) * 3) for size in (4, 1, 1))
    hollow.invert()
    beside.invert()
    beside.apply_translation((9, 0, 0))
    mesh = trimesh.util.concatenate([outer, hollow, beside])
    assert repair(mesh) == ["turned 1 body inside out"]
    assert mesh.volume == pytest.approx(64 - 1 + 1) and body_count(mesh) == 3


def test_a_hollow_body_that_is_inside_out_whole():
    outer, hollow = trimesh.creation.box((4, 4, 4)), trimesh.creation.box((1, 1, 1))
    outer.invert()
    mesh = trimesh.util.concatenate([outer, hollow])
    assert repair(mesh) == ["turned the whole mesh inside out"] and mesh.volume == pytest.approx(63)


def test_overlapping_bodies_are_left_alone():
    one, other = trimesh.creation.box((1, 1, 1)), trimesh.creation.box((1, 1, 1))
    other.apply_translation((0.5, 0.5, 0.5))
    mesh = trimesh.util.concatenate([one, other])
    assert repair(mesh) == [] and mesh.volume == pytest.approx(2)


# --- fewer faces -----------------------------------------------------------------------------------------------------


def test_a_tenth_of_the_faces_is_nearly_the_same_body():
    whole = trimesh.creation.icosphere(5, 0.1)
    whole.apply_translation((50.0, 0, 0))
    few = simplified(whole, 0.1)
    assert len(few.faces) == pytest.approx(0.1 * len(whole.faces), rel=0.02)
    assert is_closed(few) and few.volume == pytest.approx(whole.volume, rel=0.02)
    np.testing.assert_allclose(few.bounds.mean(axis=0), [50.0, 0, 0], atol=1e-3)
    assert len(whole.faces) == 20480


@pytest.mark.parametrize("share", [0.0, -0.1, 1.5, float("nan"), 0.1])
def test_a_share_that_leaves_no_body_is_refused(share: float):
    with pytest.raises(InputError, match="simplify"):
        simplified(trimesh.creation.box((1, 1, 1)), share)


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["stl", "obj", "ply", "glb", "off"])
def test_every_format_gives_the_same_body(tmp_path: Path, ending: str):
    path = tmp_path / f"part.{ending}"
    l_beam().export(path)
    assert mass_properties(load_mesh(path)).volume == pytest.approx(5.0, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("part.stl", b"", "is empty"),
        ("part.stl", b"nothing that anybody would call a mesh", "cannot be read as a mesh|has no faces"),
        ("part.stl", b"solid part\nendsolid part\n", "cannot be read as a mesh|has no faces"),
        (
            "part.stl",
            b"x" * 80 + (10**9).to_bytes(4, "little") + b"x" * 50,
            "is cut off: .* holds 1;",
        ),
        ("part.obj", b"v 0 0 0\nv 1 0 0\n", "cannot be read as a mesh|has no faces"),
        ("part.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "finite|no faces|cannot be read"),
        ("part.png", b"\x89PNG", "which is not one of a mesh; choose from: .stl"),
        ("part", b"x", "not one of a mesh"),
        ("part.glb", b"glTF\x02\x00\x00\x00", "cannot be read as a mesh"),
        ("part.dae", b"<COLLADA>", "not well-formed"),
        (
            "part.dae",
            b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hosts">]><x>&e;</x>',
            "document type, which is refused",
        ),
    ],
)
def test_files_that_are_no_mesh(tmp_path: Path, name: str, content: bytes, words: str):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as found:
        load_mesh(path)
    assert name in str(found.value)


def test_without_its_reader_collada_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "collada", None)
    (tmp_path / "part.dae").write_text("<COLLADA/>")
    with pytest.raises(InputError) as found:
        load_mesh(tmp_path / "part.dae")
    words = "is COLLADA, for which the package pycollada is missing: pip install pycollada"
    assert found.value.problems[0].message == words


def test_a_missing_file_and_a_wrong_scale(tmp_path: Path):
    with pytest.raises(InputError, match="there is no such file"):
        load_mesh(tmp_path / "part.stl")
    with pytest.raises(InputError, match="is not a file"):
        (tmp_path / "folder.stl").mkdir()
        load_mesh(tmp_path / "folder.stl")
    l_beam().export(tmp_path / "part.stl")
    with pytest.raises(InputError, match="cannot be scaled"):
        load_mesh(tmp_path / "part.stl", 0.0)


# --- the shipped meshes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("body", (-126, -200, 2), (126, 200, 48)),
        ("arm", (-5, -20, -17), (158, 20, 51)),
        ("propeller_cw", (-123, -20, 0), (123, 20, 15)),
        ("propeller_ccw", (-123, -20, 0), (123, 20, 15)),
    ],
)
def test_the_shipped_meshes_are_closed_and_of_the_right_size(name: str, low, high):
    mesh = load_mesh(MESHES / f"{name}.stl")
    assert why_open(mesh) is None and len(mesh.faces) < 6000
    np.testing.assert_allclose(mesh.bounds, [low, high], atol=2.0)
    assert repair(mesh) == []


def test_the_two_propellers_mirror_each_other_and_lift_in_their_own_sense():
    meshes = {sense: load_mesh(MESHES / f"propeller_{sense}.stl") for sense in ("cw", "ccw")}
    tensors = {sense: mass_properties(mesh).inertia for sense, mesh in meshes.items()}
    mirror = np.diag([1, -1, 1])
    np.testing.assert_allclose(tensors["cw"], mirror @ tensors["ccw"] @ mirror, rtol=1e-5, atol=1e-3)
    for sense, sign in (("ccw", 1), ("cw", -1)):
        # Of the blade along +x, the edge that leads (towards +y where it turns about +z) is the higher one.
        blade = meshes[sense].vertices
        blade = blade[(blade[:, 0] > 40) & (blade[:, 0] < 60)]
        assert np.polyfit(blade[:, 1], blade[:, 2], 1)[0] * sign > 0.1


def binary_stl(path: Path, corners: np.ndarray) -> Path:
    rows = np.zeros(len(corners), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    rows["corners"] = corners
    path.write_bytes(bytes(80) + len(rows).to_bytes(4, "little") + rows.tobytes())
    return path


def test_an_stl_that_is_cut_off(tmp_path: Path):
    path = binary_stl(tmp_path / "part.stl", trimesh.creation.box((1, 1, 1)).triangles)
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(InputError, match="is cut off: it says that it has 12 faces and holds 4;"):
        load_mesh(path)


def test_faces_that_are_left_out_are_counted(tmp_path: Path):
    corners = np.array(trimesh.creation.box((1, 1, 1)).triangles)
    assert load_mesh(binary_stl(tmp_path / "whole.stl", corners)).metadata[LEFT_OUT] == 0
    corners[3, 1, 2] = np.nan
    assert load_mesh(binary_stl(tmp_path / "part.stl", corners)).metadata[LEFT_OUT] == 1
    words = trimesh.exchange.stl.export_stl_ascii(trimesh.creation.box((1, 1, 1)))
    (tmp_path / "words.stl").write_text(words.replace("vertex -0.5", "vertex nan", 1))
    found = load_mesh(tmp_path / "words.stl")
    assert (len(found.faces), found.metadata[LEFT_OUT]) == (11, 1)


def test_what_is_flat_and_what_is_thin():
    thin = trimesh.creation.box((1, 1, 1e-4))
    assert why_flat(thin) is None
    sheet = trimesh.Trimesh([[0, 0, 0], [1, 0, 1], [1, 1, 1], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    assert "is flat" in (why_flat(sheet) or "")


def test_nothing_is_left_of_faces_without_area():
    mesh = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [2, 0, 1]], [[0, 0, 1], [1, 1, 2]], process=False)
    with pytest.raises(InputError, match="has no faces left after the repair"):
        repair(mesh)


def test_broken_normals_of_a_text_leave_no_traceback_on_the_terminal(tmp_path: Path):
    text = l_beam().export(file_type="stl_ascii")
    (tmp_path / "part.stl").write_text(text.replace("facet normal ", "facet normal x", 1))
    code = f"from botz.models.meshes.mesh import load_mesh; print(len(load_mesh({str(tmp_path / 'part.stl')!r}).faces))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, str(len(l_beam().faces)), "")
