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

from botz.scene import solids

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
        (["box.stl", "--simplify", "2"], "--simplify: a share of 2"),
        (["box.stl", "--out", "box.png"], "--out: 'box.png' ends like no mesh"),
        (["box.stl", "box.stl", "--out", "one.stl"], "--out: one name for 2 files"),
        (["box.stl", "--out", "box.stl/one.stl"], "cannot be written"),
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


# --- thrust-fit ------------------------------------------------------------------------------------------------------


def test_the_sources_fit(botz: Botz, tmp_path: Path):
    answer = botz("thrust-fit", "lophorina", "--plot", "fit.png")
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
        (["lophorina", "--plot", "fit.gif"], "choose from: .png"),
    ],
)
def test_wrong_tables(botz: Botz, tmp_path: Path, arguments: list[str], words: str):
    (tmp_path / "bad.csv").write_text("w [rad/s],f [N]\n1,1\n2,x\n", encoding="utf-8")
    answer = botz("thrust-fit", *arguments)
    assert answer.code == 2 and words in answer.err.replace("\n", " ") and "Traceback" not in answer.err
