"""tools/try_models.py: every model of a folder is a row, whatever becomes of it.

tests/models holds what public model files do and what readers trip over, one thing per file.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOOD = ("good", "good", "good")
OUTCOMES = {
    "broken.xml": ("no", "", "", ""),
    "cardan.urdf": (*GOOD, "good (rk4)"),
    "collada.urdf": (*GOOD, "good (rk4)"),
    "converted-flyer.xml": (*GOOD, "good (rk4)"),
    "flyer.urdf": (*GOOD, "good (rk4)"),
    "found_robot/parts/ball.xacro": ("no", "", "", ""),
    "found_robot/robot.xacro": (*GOOD, "good (rk4)"),
    "massless-base.urdf": (*GOOD, "good (rk4)"),
    "own-integrator.xml": (*GOOD, "good (euler)"),
    "range-without-zero.xml": (*GOOD, "good (rk4)"),
    "several-joints.xml": (*GOOD, "good (rk4)"),
    "several-models.world": (*GOOD, "good (rk4)"),
    "simulator-words.urdf": (*GOOD, "good (rk4)"),
    "stiff-servos.xml": (*GOOD, "good (implicit-fast)"),
    "stiff-without-integrator.xml": ("good", "1 warning", "good", "good (implicit-fast)"),
    "touched-mesh-missing.urdf": ("no", "", "", ""),
    "wrong-frame.urdf": ("good", "1 warning", "good", "good (rk4)"),
    "wrong-tensor.urdf": ("filled", "good", "good", "good (rk4)"),
}
REASONS = {
    "broken.xml": "mass and inertia of moving bodies",
    "found_robot/parts/ball.xacro": "give the file that uses them",
    "several-models.world": "'ball' is taken",
    "touched-mesh-missing.urdf": "leave it out by 'missing_meshes: ignore' of the robot",
    "wrong-tensor.urdf": "no body has one above the sum of the other two",
}
PAGE = "# Page\n\n<!-- table: models -->\n\nold\n\n<!-- end of table -->\n\nThe end.\n"


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "tools" / "try_models.py", *words]
    return subprocess.run([str(one) for one in command], capture_output=True, text=True, check=False)


def test_a_row_for_every_model_of_a_folder(tmp_path: Path):
    kept = tmp_path / "tried.json"
    done = run(ROOT / "tests" / "models", "--json", "--seconds", "0.2", "--limit", "600", "--results", kept)
    rows = {row["file"]: row for row in json.loads(done.stdout)}
    assert done.returncode == 1, "some of them are broken"
    found = {name: (row["load"], row["check"], row["convert"].split(" (")[0], row["run"]) for name, row in rows.items()}
    assert found == OUTCOMES
    for name, row in rows.items():
        assert REASONS.get(name, "") in row["reason"]
        assert bool(row["reason"]) == (name in REASONS), name
    assert {name: rows[name]["freedom"] for name in ("cardan.urdf", "flyer.urdf", "several-joints.xml")} == {
        "cardan.urdf": "2",
        "flyer.urdf": "7",
        "several-joints.xml": "3",
    }
    assert json.loads(kept.read_text("utf-8")) == rows


def test_a_page_of_what_was_tried(tmp_path: Path):
    folder, page, kept = tmp_path / "models", tmp_path / "page.md", tmp_path / "tried.json"
    page.write_text(PAGE, encoding="utf-8")
    (folder / "some" / "some_robots-1.2.dist-info").mkdir(parents=True)
    (folder / "some" / "deep").mkdir()
    for name in ("broken.xml", "several-joints.xml"):
        (folder / "some" / "deep" / name).write_bytes((ROOT / "tests" / "models" / name).read_bytes())
    row = dict.fromkeys(("format", "freedom", "load", "check", "convert", "run"), "") | {"package": "some-robots 1.2"}
    name = "some/deep/several-joints.xml"
    kept.write_text(json.dumps({name: row | {"file": name, "run": "good (kept)", "reason": ""}}), encoding="utf-8")
    chosen = tmp_path / "chosen.txt"
    chosen.write_text("some/deep/several-joints.xml\nsome/deep/broken.xml\n", encoding="utf-8")
    done = run(folder, "--list", chosen, "--results", kept, "--page", page)
    assert "2 models, 1 run" in done.stdout, "what was tried is not tried again"
    chosen.write_text("some/elsewhere.xml\n", encoding="utf-8")
    assert "elsewhere.xml, which is not there" in run(folder, "--list", chosen).stderr
    text = page.read_text("utf-8")
    assert text.startswith("# Page\n\n<!-- table: models -->\n\n2 models, of which 1 run.\n\n### some-robots 1.2\n")
    assert text.endswith("\n<!-- end of table -->\n\nThe end.\n")
    assert "| `broken.xml` | | | no | | | | MuJoCo refuses it" in text
    assert "good (kept)" in text
    assert str(tmp_path) not in text


def test_what_other_files_include_is_no_model(tmp_path: Path):
    (tmp_path / "part.xml").write_text("<mujocoinclude><body/></mujocoinclude>", encoding="utf-8")
    (tmp_path / "notes.xml").write_text("<notes/>", encoding="utf-8")
    done = run(tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "0 models, 0 run")


def test_what_is_no_folder_is_said(tmp_path: Path):
    done = run(tmp_path / "nowhere")
    assert done.returncode == 2
    assert "is not a folder" in done.stderr
