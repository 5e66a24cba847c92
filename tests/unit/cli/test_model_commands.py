"""botz model check and botz model convert."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from botz.models.urdf.reader import read_urdf

Botz = Callable[..., Any]
INERTIA = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
BOX = '<collision><geometry><box size="0.3 0.3 0.3"/></geometry></collision>'


def robot(folder: Path, *, base: str = INERTIA, rotor: str = INERTIA, more: str = "") -> Path:
    file = folder / "bot.urdf"
    file.write_text(
        f"""<robot name="bot">
<link name="base"><inertial><mass value="1"/>{base}</inertial>{BOX}</link>
<link name="rotor"><inertial><mass value="0.5"/>{rotor}</inertial></link>
<joint name="spin" type="continuous"><parent link="base"/><child link="rotor"/><axis xyz="0 0 1"/>
<limit velocity="1000" effort="1"/></joint>
<gazebo><plugin name="lift" filename="libhelice_push.so">
<link_name>rotor</link_name><force>100</force></plugin></gazebo>
{more}
</robot>"""
    )
    return file


def test_a_sound_model_passes(botz: Botz, tmp_path: Path):
    answer = botz("model", "check", robot(tmp_path))
    assert answer.code == 0
    assert "bot: links 2, joints that move 1, 1.5 kg, step 0.00025 s" in answer.out
    assert "nothing found that breaks a simulation" in answer.out


def test_findings_are_a_table_and_errors_end_with_2(botz: Botz, tmp_path: Path):
    file = robot(
        tmp_path, rotor=INERTIA.replace('izz="0.01"', 'izz="0.05"'), more="<gazebo><plugin name='odd'/></gazebo>"
    )
    answer = botz("model", "check", file, "--step", "1 ms")
    assert answer.code == 2
    assert "no body has one above the sum" in " ".join(answer.out.split())
    assert "turns 1 rad in a step" in " ".join(answer.out.split())
    assert "'odd'" in answer.out
    assert "1 error, 1 warning" in answer.out


def test_warnings_alone_end_with_0(botz: Botz, tmp_path: Path):
    answer = botz("model", "check", robot(tmp_path), "--step", "1 ms")
    assert (answer.code, "1 warning" in answer.out) == (0, True)


def test_json_says_the_same(botz: Botz, tmp_path: Path):
    answer = botz("model", "check", robot(tmp_path, base=""), "--json", "--step", "0.001")
    report = json.loads(answer.out)
    assert answer.code == 2
    assert (report["model"], report["links"], report["joints"]) == ("bot", 2, {"spin": "continuous"})
    assert (report["elements"], report["mass_kg"], report["step_s"]) == ({"lift": "propeller"}, 1.5, 0.001)
    assert [(one["severity"], one["place"], one["line"]) for one in report["findings"]] == [
        ("error", "link base", 2),
        ("warning", "element lift", 4),
    ]


@pytest.mark.parametrize("ending", ["urdf", "sdf", "xml"])
def test_convert_and_check_what_was_written(botz: Botz, tmp_path: Path, ending: str):
    answer = botz("model", "convert", robot(tmp_path), tmp_path / "out" / f"new.{ending}")
    assert answer.code == 0, answer.err
    assert f"new.{ending}" in answer.out
    report = json.loads(botz("model", "check", tmp_path / "out" / f"new.{ending}", "--json").out)
    assert (report["links"], report["mass_kg"], report["elements"]) == (2, 1.5, {"lift": "propeller"})
    assert report["findings"] == []


def test_convert_fills_in_inertia_where_it_is_asked_to(botz: Botz, tmp_path: Path):
    file = robot(tmp_path, base="")
    refused = botz("model", "convert", file, tmp_path / "new.urdf")
    assert refused.code == 2
    assert "bot.urdf:2: link base: has mass, but a zero inertia tensor" in refused.err
    assert not (tmp_path / "new.urdf").exists()
    answer = botz("model", "convert", file, tmp_path / "new.urdf", "--fill-inertia", "--json")
    assert json.loads(answer.out)["filled"] == ["base"]
    body = read_urdf(tmp_path / "new.urdf").links["base"].inertial
    assert body is not None
    assert body.inertia[0, 0] == pytest.approx(1.0 * (0.3**2 + 0.3**2) / 12)


def test_packages_are_given_by_option(botz: Botz, tmp_path: Path):
    (tmp_path / "stuff" / "x").mkdir(parents=True)
    mesh = tmp_path / "stuff" / "x" / "a.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    shape = '<visual><geometry><mesh filename="package://part/x/a.obj" scale="0.4 0.4 0.4"/></geometry></visual>'
    file = robot(tmp_path)
    file.write_text(file.read_text().replace(BOX, shape))
    assert "'part', which is not found" in " ".join(botz("model", "check", file).out.split())
    assert "'part', which is not found" in botz("model", "check", file, "--missing-meshes", "refuse").err
    assert botz("model", "check", file, "--package", "part=stuff").code == 0
    assert botz("model", "convert", file, tmp_path / "out" / "b.urdf", "--package", "part=stuff").code == 0
    assert (tmp_path / "out" / "meshes" / "a.obj").read_bytes() == mesh.read_bytes()
    assert "--package" in botz("model", "check", file, "--package", "part").err


def test_robot_files_and_their_actuators(botz: Botz, tmp_path: Path):
    robot(tmp_path)
    (tmp_path / "mine.yaml").write_text(
        "engine: multibody\nfile: bot.urdf\nactuators: {spin: {kind: velocity, lag: 0.1, speed: 600}}\n"
    )
    report = json.loads(botz("model", "check", "mine.yaml", "--json", "--step", "0.45 ms").out)
    assert (report["actuators"], report["findings"]) == ({"spin": "velocity"}, [])
    assert botz("model", "convert", "mine.yaml", "new.urdf").code == 0
    actuator = read_urdf(tmp_path / "new.urdf").actuators["spin"]
    assert (actuator.kind, actuator.lag, actuator.speed) == ("velocity", 0.1, 600.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "none.urdf"], "no such file"),
        (["check", "bot.txt"], "ending"),
        (["check", "differential"], "engine 'kinematics'"),
        (["check", "bot.urdf", "--step", "1 kg"], "--step"),
        (["check", "bot.urdf", "--step", "0"], "--step: must be greater than 0"),
        (["convert", "bot.urdf", "new.stl"], "ending"),
        (["convert", "bot.urdf", "bot.urdf"], "is the file that is read"),
    ],
)
def test_mistakes_have_messages(botz: Botz, tmp_path: Path, arguments: list[str], words: str):
    robot(tmp_path)
    before = (tmp_path / "bot.urdf").read_text()
    answer = botz("model", *arguments)
    assert answer.code == 2
    assert words in answer.err
    assert "Traceback" not in answer.err
    assert (tmp_path / "bot.urdf").read_text() == before


ON_NOTHING = """<robot name="arm"><link name="foot">
<collision><geometry><mesh filename="gone.stl"/></geometry></collision></link>
<link name="rod"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
<joint name="turn" type="continuous"><parent link="foot"/><child link="rod"/></joint></robot>"""


def test_a_root_without_mass_and_meshes_that_are_missing(botz: Botz, tmp_path: Path):
    file, out = tmp_path / "arm.urdf", tmp_path / "arm.xml"
    file.write_text(ON_NOTHING)
    refused = botz("model", "check", file)
    assert refused.code == 2
    assert "gone.stl" in refused.err
    checked = botz("model", "check", file, "--missing-meshes", "ignore")
    assert checked.code == 0, checked.err
    assert "it is left out" in checked.out
    assert "base: fixed" in " ".join(checked.out.split())
    written = botz("model", "convert", file, out, "--missing-meshes", "ignore")
    assert written.code == 0, written.err
    assert "free" not in out.read_text()
    wrong = botz("model", "check", file, "--missing-meshes", "all")
    assert wrong.code == 2
    assert "choose from: refuse, ignore-visual, ignore" in wrong.err


def test_one_model_of_a_world(botz: Botz, tmp_path: Path):
    body = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
    models = "".join(f"<model name='{name}'><link name='l'>{body}</link></model>" for name in ("a", "b"))
    file = tmp_path / "two.sdf"
    file.write_text(f"<sdf version='1.9'><world name='w'>{models}</world></sdf>")
    refused = botz("model", "check", file)
    assert refused.code == 2
    assert "holds several models (a, b)" in refused.err
    assert botz("model", "check", file, "--model", "b").out.startswith("b: links 1")
