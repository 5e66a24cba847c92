"""botz mesh and botz thrust-fit: what they print, write and refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import trimesh
from common import Answer
from PIL import Image

from botz.models.meshes import solids

Botz = Callable[..., Answer]


@pytest.fixture
def box(tmp_path: Path) -> Path:
    path = tmp_path / "box.stl"
    trimesh.creation.box((252, 400, 46)).export(path)
    return path


@pytest.fixture
def leaky(tmp_path: Path) -> Path:
    mesh = trimesh.creation.box((1, 1, 1))
    mesh.update_faces(np.arange(12) > 0)
    path = tmp_path / "leaky.stl"
    mesh.export(path)
    return path


def test_a_box_as_json(botz: Botz, box: Path):
    answer = botz("mesh", box, "--unit", "mm", "--mass", "1500 g", "--json", "--xml")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    expected = solids.box((0.252, 0.4, 0.046), 1.5)
    assert found["watertight"] and found["holes"] == 0 and found["faces"] == 12 and found["bodies"] == 1
    assert found["volume_m3"] == pytest.approx(expected.volume) and found["area_m2"] == pytest.approx(expected.area)
    np.testing.assert_allclose(found["inertia_kg_m2"], expected.inertia, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found["principal_kg_m2"], expected.principal, rtol=1e-6)
    np.testing.assert_allclose(found["box_m"]["size"], (0.252, 0.4, 0.046), rtol=1e-6)
    # What is 0 but for rounding is written as 0.
    assert 'ixx="0.0202645" ixy="0" ixz="0" iyy="0.0082025"' in found["urdf"] and '<origin xyz="0 0 0"' in found["urdf"]
    assert "<mass>1.5</mass>" in found["sdf"] and "<izz>0.027938</izz>" in found["sdf"]


def test_a_box_for_people(botz: Botz, box: Path):
    answer = botz("mesh", box, "--unit", "mm", "--mass", "1.5", "--xml")
    assert answer.code == 0
    for words in ("watertight  yes", "0.252 × 0.4 × 0.046 m", "1.5 kg", '<mass value="1.5"/>', "<ixx>"):
        assert words in answer.out
    assert "give --mass" in botz("mesh", box).out


def test_a_forgotten_unit_is_noticed(botz: Botz, box: Path):
    assert "drawn in millimetres, say --unit mm" in botz("mesh", box).out
    assert "--unit mm" not in botz("mesh", box, "--unit", "mm").out


def test_a_leaky_mesh_is_refused_and_repaired(botz: Botz, leaky: Path, tmp_path: Path):
    answer = botz("mesh", leaky)
    assert answer.code == 0 and "no: 1 holes, 3 open edges" in answer.out and "--repair" in answer.out
    answer = botz("mesh", leaky, "--mass", "1", "--json")
    assert answer.code == 2 and "leaky.stl: is not watertight" in answer.err
    assert "inertia_kg_m2" not in json.loads(answer.out)
    answer = botz("mesh", leaky, "--mass", "1", "--repair", "--out", "whole.stl")
    assert answer.code == 0 and "closed 1 hole with 1 face" in answer.out and "watertight  yes" in answer.out
    assert trimesh.load_mesh(tmp_path / "whole.stl").is_watertight


def test_simplified_in_the_unit_it_was_drawn_in(botz: Botz, tmp_path: Path):
    ball = trimesh.creation.icosphere(4, 25.0)
    ball.export(tmp_path / "ball.stl")
    answer = botz("mesh", "ball.stl", "--unit", "mm", "--simplify", "0.1", "-o", "few.ply", "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert found["simplified"] == {"from_faces": 5120, "to_faces": found["faces"]} and found["faces"] <= 520
    written = trimesh.load_mesh(tmp_path / "few.ply")
    assert written.volume == pytest.approx(ball.volume, rel=0.05) and len(written.faces) == found["faces"]
    assert "give --out" in botz("mesh", "ball.stl", "--simplify", "0.1").out


def test_several_files(botz: Botz, box: Path, leaky: Path):
    answer = botz("mesh", box, leaky, "--json")
    assert [Path(one["file"]).name for one in json.loads(answer.out)] == ["box.stl", "leaky.stl"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.stl"], "none.stl: there is no such file"),
        (["box.stl", "--unit", "furlong"], "furlong"),
        (["box.stl", "--mass", "0"], "--mass: 0 kg; needs a positive mass"),
        (["box.stl", "--mass", "3 m"], "a mass"),
        (["box.stl", "--xml"], "--xml: needs --mass"),
        (["box.stl", "--simplify", "2"], "--simplify: a fraction of 2"),
        (["box.stl", "--out", "box.png"], "--out: 'box.png' ends like no mesh"),
        (["box.stl", "box.stl", "--out", "one.stl"], "--out: one name for 2 files"),
        (["box.stl", "--out", "box.stl/one.stl"], "cannot be written"),
        (["box.stl", "--split", "box.stl"], "cannot be written"),
        (["box.stl", "box.stl", "--split", "parts"], "--split: one folder for 2 files"),
        (["box.stl", "--split", "parts", "--out", "one.stl"], "leave one of them out"),
        (["box.stl", "--density", "1200"], "--density: needs --split"),
        (["box.stl", "--split", "parts", "--density", "1200", "--mass", "1"], "leave one of them out"),
        (["box.stl", "--split", "parts", "--density", "0"], "--density: '0'; needs positive densities"),
        (["box.stl", "--split", "parts", "--density", "1, 2"], "--density: 2 densities for 1 bodies"),
        (["box.stl", "--split", "parts", "--density", "3 m"], "3 m"),
    ],
)
def test_wrong_options(botz: Botz, box: Path, arguments: list[str], words: str):
    answer = botz("mesh", *arguments)
    assert answer.code == 2 and words in answer.err and "Traceback" not in answer.err


def test_faces_without_area_leave_nothing(botz: Botz, tmp_path: Path):
    trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [2, 0, 1]], [[0, 0, 1], [1, 1, 2]], process=False).export(tmp_path / "d.stl")
    answer = botz("mesh", "d.stl", "--repair")
    assert answer.code == 2 and "d.stl: has no faces left after the repair" in answer.err


def test_a_repair_that_closes_nothing_does_not_advise_itself(botz: Botz, tmp_path: Path):
    sheet = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    sheet.export(tmp_path / "flat.stl")
    answer = botz("mesh", "flat.stl", "--repair", "--mass", "1")
    assert answer.code == 2 and "the repair could not close it" in answer.err
    assert "--repair" not in answer.err + answer.out and "Warning" not in answer.err


def test_faces_that_were_left_out_are_told(botz: Botz, box: Path):
    content = bytearray(box.read_bytes())
    content[84 + 12 : 84 + 16] = np.float32(np.nan).tobytes()
    box.write_bytes(content)
    assert "1 face was left out, with corners that are not finite numbers" in botz("mesh", box).out


# --- split -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """A hollow box, a ball inside its cavity, and a box beside them, in millimetres; the smallest first."""
    ball = trimesh.creation.icosphere(3, 10.0)
    cavity = trimesh.creation.box((60, 60, 60))
    cavity.invert()
    beside = trimesh.creation.box((20, 30, 40))
    beside.apply_translation((200, 0, 0))
    path = tmp_path / "several.stl"
    trimesh.util.concatenate([ball, beside, cavity, trimesh.creation.box((100, 100, 100))]).export(path)
    return path


def test_split_writes_a_file_per_body_with_its_cavity(botz: Botz, several: Path, tmp_path: Path):
    answer = botz("mesh", several, "--unit", "mm", "--split", "parts", "--mass", "2 kg", "--json")
    assert answer.code == 0, answer.err
    bodies = json.loads(answer.out)["split"]
    names = [f"several-{k}.stl" for k in (1, 2, 3)]
    assert [Path(body["file"]).name for body in bodies] == names
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == names
    volumes = [1e-3 - 0.06**3, 0.02 * 0.03 * 0.04, trimesh.creation.icosphere(3, 0.01).volume]
    np.testing.assert_allclose([body["volume_m3"] for body in bodies], volumes, rtol=1e-5)
    # The mass goes by volume, and all of it.
    np.testing.assert_allclose([body["mass_kg"] for body in bodies], 2.0 * np.array(volumes) / sum(volumes), rtol=1e-5)
    assert sum(body["mass_kg"] for body in bodies) == pytest.approx(2.0)
    np.testing.assert_allclose(bodies[1]["centre_m"], (0.2, 0, 0), atol=1e-8)
    expected = solids.box((0.02, 0.03, 0.04), bodies[1]["mass_kg"])
    np.testing.assert_allclose(bodies[1]["inertia_kg_m2"], expected.inertia, rtol=1e-5, atol=1e-12)
    # What was written is what was told, in the drawing's unit.
    for body in bodies:
        alone = json.loads(botz("mesh", body["file"], "--unit", "mm", "--mass", str(body["mass_kg"]), "--json").out)
        assert alone["volume_m3"] == pytest.approx(body["volume_m3"], rel=1e-6) and alone["watertight"]
        np.testing.assert_allclose(alone["inertia_kg_m2"], body["inertia_kg_m2"], rtol=1e-5, atol=1e-12)


def test_split_with_densities(botz: Botz, several: Path):
    one = botz("mesh", several, "--unit", "mm", "--split", "parts", "--density", "1200", "--json")
    bodies = json.loads(one.out)["split"]
    assert all(body["mass_kg"] == pytest.approx(1200 * body["volume_m3"]) for body in bodies)
    each = botz("mesh", several, "--unit", "mm", "--split", "parts", "--density", "1200, 2.7 g/cm^3, 7800", "--json")
    found = [body["density_kg_m3"] for body in json.loads(each.out)["split"]]
    assert found == pytest.approx([1200, 2700, 7800])


def test_the_table_of_bodies(botz: Botz, several: Path):
    answer = botz("mesh", several, "--unit", "mm", "--split", "parts", "--mass", "2", "--xml")
    assert answer.code == 0, answer.err
    for words in ("several-1.stl", "several-3.stl", "mass [kg]", "principal moments", "0.2, 0, 0", "3 bodies, in mm"):
        assert words in answer.out
    [total] = [line for line in answer.out.splitlines() if line.startswith("all")]
    assert total.split()[-1] == "2"
    assert answer.out.count("<mass value=") == 3
    assert "mass [kg]" not in botz("mesh", several, "--split", "parts").out


def test_a_body_that_is_not_closed_is_written_and_named(botz: Botz, tmp_path: Path):
    leaky = trimesh.creation.box((1, 1, 1))
    leaky.update_faces(np.arange(12) > 0)
    leaky.apply_translation((3, 0, 0))
    trimesh.util.concatenate([trimesh.creation.box((2, 2, 2)), leaky]).export(tmp_path / "two.stl")
    assert botz("mesh", "two.stl", "--split", "parts").code == 0
    answer = botz("mesh", "two.stl", "--split", "parts", "--mass", "1", "--json")
    assert answer.code == 2 and "two-2.stl: is not watertight" in answer.err
    assert json.loads(answer.out)["split"][0]["mass_kg"] == pytest.approx(1.0)
    assert botz("mesh", "two.stl", "--split", "parts", "--mass", "1", "--repair").code == 0


def test_loose_faces_are_not_a_thousand_files(botz: Botz, tmp_path: Path):
    ball = trimesh.creation.icosphere(2)
    loose = ball.triangles + np.random.default_rng(1).normal(size=(len(ball.faces), 1, 3)) * 1e-3
    trimesh.Trimesh(**trimesh.triangles.to_kwargs(loose), process=False).export(tmp_path / "loose.stl")
    answer = botz("mesh", "loose.stl", "--split", "parts")
    assert answer.code == 2 and "loose.stl: has 320 bodies, more than 200" in answer.err
    assert not (tmp_path / "parts").exists()


# --- thrust-fit ------------------------------------------------------------------------------------------------------


def test_the_sources_fit(botz: Botz, tmp_path: Path):
    answer = botz("thrust-fit", "lophorina", "--out", "fit.png")
    assert answer.code == 0, answer.err
    for words in (
        "maker [N]",
        "coefficient: 2.0032092e-05",
        "coefficient: 2.00320837e-05",
        "1.82011139e-05",
        "curve: [",
    ):
        assert words in answer.out
    with Image.open(tmp_path / "fit.png") as picture:
        assert min(picture.size) > 500 and len(picture.convert("RGB").getcolors(10**6)) > 50


def test_the_fit_as_json(botz: Botz, tmp_path: Path):
    (tmp_path / "mine.csv").write_text("w [rad/s],f [N]\n100,0.2\n200,0.8\n", encoding="utf-8")
    answer = botz("thrust-fit", "mine.csv", "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    fits = found["columns"][0]["fits"]
    assert [fit["method"] for fit in fits] == ["sums", "least-squares"] and found["rows"] == 2
    assert fits[0]["coefficient"] == pytest.approx(2e-5) and fits[0]["yaml"] == "coefficient: 2.0e-05"
    assert "needs three different speeds" in botz("thrust-fit", "mine.csv").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.csv"], "none.csv: there is no such file"),
        (["bad.csv"], "bad.csv:3: column 'f [N]' is 'x'"),
        (["lophorina", "--force-column", "none"], "--force-column: no column 'none'"),
        (["lophorina", "--out", "fit.gif"], "choose from: .png"),
    ],
)
def test_wrong_tables(botz: Botz, tmp_path: Path, arguments: list[str], words: str):
    (tmp_path / "bad.csv").write_text("w [rad/s],f [N]\n1,1\n2,x\n", encoding="utf-8")
    answer = botz("thrust-fit", *arguments)
    assert answer.code == 2 and words in answer.err.replace("\n", " ") and "Traceback" not in answer.err
