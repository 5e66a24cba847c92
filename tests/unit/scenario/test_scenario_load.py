"""From a name or file to a frozen scenario: layers, overrides, paths, and that nothing is executed."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from botz.errors import InputError
from botz.scenario import library
from botz.scenario.families import FAMILIES
from botz.scenario.kinematics.schema import KinematicsScenario, SteeredWheel, WheeledRobot
from botz.scenario.load import load, load_data, load_robot
from botz.scenario.schema import ConstantController, UserController

Write = Callable[..., Path]
DUO = "engine: kinematics\nrobots:\n  vivi: {extends: duo}\n"


def spec_of(source: str | Path, *overrides: str) -> KinematicsScenario:
    spec = load(source, overrides=overrides).spec
    assert isinstance(spec, KinematicsScenario)
    return spec


def test_a_library_scenario_by_name(folder: Path) -> None:
    loaded = load("circle")
    assert loaded.name == "round"
    assert loaded.engine == "kinematics"
    assert loaded.file == library.find("scenario", "circle")
    assert loaded.folder == loaded.file.parent
    assert loaded.user_code == ()
    assert loaded.spec.time.step_ns == 10_000_000
    assert loaded.spec.time.steps == 2000


def test_a_file_by_path_or_bare_name(folder: Path, write: Write) -> None:
    path = write(DUO, "my scene.yaml")
    assert load("my scene.yaml").name == "my-scene"
    assert load(path).file == path
    write(DUO, "bare")
    assert load("bare").file == folder / "bare"


def test_a_scenario_is_frozen(folder: Path) -> None:
    spec = load("circle").spec
    with pytest.raises(ValidationError):
        spec.seed = 5  # type: ignore[misc]


def test_extends_merges_by_name_but_keeps_its_own_name(folder: Path, write: Write) -> None:
    loaded = load(write("extends: circle\ntime: {duration: 5}\nrobots:\n  vivi: {pose: [1, 2, 90 deg]}\n", "mine.yaml"))
    spec = loaded.spec
    assert isinstance(spec, KinematicsScenario)
    assert loaded.name == "mine"
    assert (spec.time.step, spec.time.duration) == (0.01, 5.0)
    assert spec.robots["vivi"].pose == (1.0, 2.0, math.pi / 2)
    assert set(spec.robots["vivi"].wheels) == {"left", "right"}
    assert spec.controllers["drive"].rate == 50.0


def test_robot_files_build_on_each_other(folder: Path, write: Write) -> None:
    write("extends: trike\nwheels:\n  castor: null\n  left: {radius: 6 cm}\n", "robots/mine.yaml")
    spec = spec_of(write("engine: kinematics\nrobots:\n  vivi: {extends: robots/mine.yaml}\n"))
    robot = spec.robots["vivi"]
    assert set(robot.wheels) == {"left", "right"}
    assert robot.wheels["left"].radius == 0.06
    assert robot.wheels["right"].radius == 0.05
    assert robot.drives["axle"].wheels == ["left", "right"]


def test_a_path_starts_at_the_file_that_says_it(folder: Path, write: Write) -> None:
    write("extends: duo\n", "base/parts/robot.yaml")
    write("time,left/speed\n0,1\n", "base/table.csv")
    write("", "base/drive.py")
    controllers = "  a: {type: table, robot: vivi, file: table.csv}\n  b: {type: 'drive.py:Drive', robot: mate}\n"
    robots = "  vivi: {extends: parts/robot.yaml}\n  mate: {extends: parts/robot.yaml}\n"
    write(
        f"engine: kinematics\nrobots:\n{robots}controllers:\n{controllers}",
        "base/s.yaml",
    )
    loaded = load(write("extends: ../base/s.yaml\n", "other/t.yaml"))
    assert isinstance(loaded.spec, KinematicsScenario)
    assert loaded.spec.controllers["a"].file == str(folder / "base" / "table.csv")  # type: ignore[union-attr]
    assert loaded.spec.controllers["b"].type == f"{folder / 'base' / 'drive.py'}:Drive"
    assert loaded.user_code == (f"{folder / 'base' / 'drive.py'}:Drive",)


def test_overrides_from_the_command_line(folder: Path, write: Write) -> None:
    spec = spec_of(
        write(DUO.replace("duo}", "duo, pose: [0, 0, 0]}")),
        "robots.vivi.wheels.left.radius=0.12",
        "robots.vivi.wheels.right.radius=3 cm",
        "robots.vivi.pose.0=1.5",
        "time.step=1e-2",
        "controllers.go={type: go-to-pose, robot: vivi, goal: {x: 2}}",
        "seed=7",
        "seed=8",
        "time.realtime=true",
    )
    wheels = spec.robots["vivi"].wheels
    assert (wheels["left"].radius, wheels["right"].radius) == (0.12, 0.03)
    assert spec.robots["vivi"].pose == (1.5, 0.0, 0.0)
    assert spec.time.step == 0.01
    assert spec.time.factor == 1.0
    assert spec.controllers["go"].goal == (2.0, 0.0, 0.0)  # type: ignore[union-attr]
    assert spec.seed == 8


def test_an_override_reaches_into_lists_of_the_robot_file(folder: Path, write: Write) -> None:
    spec = spec_of(write(DUO), "robots.vivi.wheels.left.position.1=0.3", "robots.vivi.wheels.right=null")
    assert spec.robots["vivi"].wheels["left"].position == [0.0, 0.3]
    assert set(spec.robots["vivi"].wheels) == {"left"}


def test_an_override_may_exchange_the_robot_or_a_type(folder: Path, write: Write) -> None:
    path = write(DUO)
    assert "castor" in spec_of(path, "robots.vivi.extends=trike").robots["vivi"].wheels
    wheel = "robots.vivi.wheels.left"
    spec = spec_of(path, f"{wheel}.position=[1, 0]", f"{wheel}.type=steered", f"{wheel}.rate=60 rpm")
    assert isinstance(spec.robots["vivi"].wheels["left"], SteeredWheel)
    assert not spec.robots["vivi"].wheels["left"].driven


def test_null_takes_a_robot_or_its_file_away(folder: Path, write: Write) -> None:
    write(DUO + "  rob: {extends: trike}\nname: both\n", "base.yaml")
    wheels = "{w: {type: spherical, position: [0, 0]}}"
    spec = spec_of(write(f"extends: base.yaml\nrobots:\n  vivi: null\n  rob: {{extends: null, wheels: {wheels}}}\n"))
    assert set(spec.robots) == {"rob"}
    assert set(spec.robots["rob"].wheels) == {"w"}
    assert spec.name == "s"


def test_overrides_from_python(folder: Path) -> None:
    overrides = {
        "robots.vivi.pose": (1, 2, 3),
        "time": {"duration": "1 min"},
        "controllers.drive.command.twist.2": 0.5,
    }
    spec = load("circle", overrides=overrides).spec
    assert isinstance(spec, KinematicsScenario)
    assert spec.robots["vivi"].pose == (1.0, 2.0, 3.0)
    assert spec.time.duration == 60.0
    controller = spec.controllers["drive"]
    assert isinstance(controller, ConstantController)
    assert controller.command == {"twist": [0.2, 0.0, 0.5]}


def test_a_command_may_carry_units(folder: Path, write: Write) -> None:
    drive = "controllers:\n  c: {type: constant, robot: vivi, command: {left/speed: 60 rpm, right/speed: 1}}\n"
    command = spec_of(write(DUO + drive)).controllers["c"].command  # type: ignore[union-attr]
    assert command == {"left/speed": pytest.approx(2 * math.pi), "right/speed": 1.0}


def test_what_is_loaded_is_never_executed(folder: Path, write: Write) -> None:
    write("from pathlib import Path\nPath('was-here').touch()\nraise SystemExit(3)\n", "drive.py")
    drive = "controllers:\n  a: {type: 'drive.py:Drive', robot: vivi}\n  b: {type: 'evil_module:Drive', robot: mate}\n"
    write("raise SystemExit(4)\n", "evil_module.py")
    loaded = load(write(DUO + "  mate: {extends: duo}\n" + drive))
    assert loaded.user_code == (f"{folder / 'drive.py'}:Drive", "evil_module:Drive")
    assert isinstance(loaded.spec.controllers["b"], UserController)  # type: ignore[attr-defined]
    load_data(loaded.data)
    assert not (folder / "was-here").exists()
    assert "evil_module" not in sys.modules


def test_resolved_data_is_complete_and_json(folder: Path, write: Write) -> None:
    loaded = load("slow-circle", overrides=["robots.vivi.wheels.left.slip.mean=5 %"])
    text = json.dumps(loaded.data, allow_nan=False)
    assert "extends" not in text
    again = load_data(json.loads(text), "run.mcap")
    assert again.spec == loaded.spec
    assert again.data == loaded.data
    assert again.file is None


def test_resolved_data_needs_no_files(folder: Path, write: Write) -> None:
    table = write("time,left/speed\n0,1\n", "t.csv")
    loaded = load(write(DUO + "controllers:\n  a: {type: table, robot: vivi, file: t.csv}\n"))
    table.unlink()
    assert load_data(loaded.data).spec == loaded.spec
    with pytest.raises(InputError, match=r"t\.csv"):
        load("s.yaml")


def test_mistakes_in_resolved_data_name_the_recording(folder: Path) -> None:
    data = load("circle").data
    data["time"]["step"] = -1
    data["robots"]["vivi"]["extends"] = "duo"
    with pytest.raises(InputError) as caught:
        load_data(data, "run.mcap")
    assert [str(problem)[:46] for problem in caught.value.problems] == [
        "run.mcap: time.step: must be greater than 0, n",
        "run.mcap: robots.vivi.extends: unknown key; di",
    ]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (
            "circel",
            "no scenario 'circel' in the library and no such file; did you mean 'circle'? (circle, slow-circle)",
        ),
        ("zzz", "no scenario 'zzz' in the library and no such file; choose from: circle, slow-circle"),
        ("", "no scenario '' in the library and no such file; choose from: circle, slow-circle"),
        ("a\0b", "no scenario 'a\\x00b' in the library and no such file; choose from: circle, slow-circle"),
        ("zzz.yaml", "zzz.yaml: no such file"),
        ("sub/", "sub: is a folder; name a YAML file"),
        ("sub", "sub: is a folder; name a YAML file"),
        (Path("../elsewhere.yaml"), "{outside}elsewhere.yaml: no such file"),
        ("../library/robots/../robots", "{outside}library/robots: is a folder; name a YAML file"),
    ],
)
def test_a_source_that_is_none(folder: Path, source: str | Path, says: str) -> None:
    (folder / "sub").mkdir()
    with pytest.raises(InputError) as caught:
        load(source)
    outside = str(folder.parent) + os.sep
    assert str(caught.value) == says.replace("{outside}", outside).replace("/", os.sep)


def test_a_file_that_may_not_be_read(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write(DUO)
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"^s.yaml: cannot be read: Permission denied$"):
        load(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.yaml")
    with pytest.raises(InputError, match=r"^pipe.yaml: is not a regular file$"):
        load("pipe.yaml")


def test_a_robot_by_itself(folder: Path, write: Write) -> None:
    robot = load_robot("trike", overrides=["wheels.left.radius=6 cm"])
    assert isinstance(robot.spec, WheeledRobot)
    assert robot.spec.wheels["left"].radius == 0.06
    assert robot.name == "trike"
    again = load_robot(write(json.dumps(robot.data), "copy.yaml"))
    assert again.spec == robot.spec


def test_mistakes_in_a_robot_by_itself(folder: Path, write: Write) -> None:
    with pytest.raises(InputError, match=r"^no robot 'trik' in the library and no such file; did you mean 'trike'\?"):
        load_robot("trik")
    with pytest.raises(InputError) as caught:
        load_robot(write("extends: duo\nwheels:\n  left: {radius: .nan}\nbdy: {}\n", "r.yaml"))
    assert [str(problem).split("; ")[0] for problem in caught.value.problems] == [
        "r.yaml:3: wheels.left.radius: needs a finite number, not nan",
        "r.yaml:4: bdy: unknown key",
    ]
    families = "arm, kinematics, multibody, soccer, vehicle"
    with pytest.raises(InputError, match=rf"^r.yaml:1: engine: missing; choose from: {families}$"):
        load_robot(write("wheels:\n  left: {type: fixed, position: [0, 0]}\n", "r.yaml"))


def test_the_library_lists_what_it_holds(folder: Path) -> None:
    assert [(entry.name, entry.engine, entry.description) for entry in library.list_scenarios()] == [
        ("circle", "kinematics", "drives in circles"),
        ("slow-circle", "kinematics", "drives slowly"),
    ]
    assert [(entry.name, entry.engine) for entry in library.list_robots()] == [
        ("duo", "kinematics"),
        ("swimmer", "fluid"),
        ("trike", "kinematics"),
    ]
    with pytest.raises(InputError, match=r"no robot 'trik' in the library; did you mean 'trike'\?"):
        library.find("robot", "trik")


def test_titles_and_descriptions_are_of_one_language_or_several(write: Write) -> None:
    text = "extends: circle\ntitle: {en: Circle, pt: Círculo}\ndescription: Round.\n"
    both = load(write(text, "s.yaml"))
    assert (both.spec.title.en, both.spec.title.pt, str(both.spec.description)) == ("Circle", "Círculo", "Round.")
    # What a file says takes the place of all languages below it.
    write("extends: ./s.yaml\ntitle: Mine\n", "t.yaml")
    assert dict(load("t.yaml").spec.title) == {"en": "Mine", "pt": ""}
    with pytest.raises(InputError, match=r"title.fr: unknown key; choose from: en, pt"):
        load(write("extends: circle\ntitle: {fr: Cercle}\n", "u.yaml"))


def test_everything_shipped_has_a_title_in_both_languages() -> None:
    for entry in library.list_scenarios():
        assert all(entry.titles.get(language) for language in ("en", "pt")), entry.name
        assert all(entry.descriptions.get(language) for language in ("en", "pt")), entry.name
    titles = [entry.titles["en"] for entry in library.list_scenarios()]
    assert len(set(titles)) == len(titles)


def test_a_library_name_is_never_a_path(folder: Path, write: Write) -> None:
    write(DUO, "../library/secret.yaml")
    assert library.path_of("scenario", "../secret") is None


def test_everything_shipped_loads() -> None:
    for name in library.names("scenario"):
        assert load(name).engine in FAMILIES
    for entry in library.list_robots():
        robot = load_robot(entry.name)
        placed = {"team": "blue", "pose": [0.0, 0.0, 0.0]} if entry.engine == "soccer" else {}
        load_data({"engine": entry.engine, "robots": {"one": {**robot.data, **placed}}})


_values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("3 kg")
_keys = st.sampled_from(
    ["engine", "robots", "vivi", "wheels", "left", "type", "pose", "time", "step", "extends", "rate"]
)
_anything = st.recursive(
    _values,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys | st.text(max_size=3), inner, max_size=4),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(_keys, _anything, max_size=5), st.data())
def test_any_data_loads_or_is_refused(folder: Path, data: dict[str, Any], draw: st.DataObject) -> None:
    base = load("circle").data
    # Something random in place of something that was right.
    target: Any = base
    while isinstance(target, dict) and target:
        key = draw.draw(st.sampled_from(sorted(target)))
        if not isinstance(target[key], dict) or draw.draw(st.booleans()):
            target[key] = draw.draw(_anything)
            break
        target = target[key]
    for candidate in (base, {**base, **data}, data):
        try:
            loaded = load_data(candidate)
        except InputError as error:
            assert error.problems
            assert len({str(problem) for problem in error.problems}) == len(error.problems)
        else:
            assert load_data(loaded.data).data == loaded.data


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=30) | st.tuples(_keys, _keys, st.text(max_size=12)).map(lambda t: f"{t[0]}.{t[1]}={t[2]}"))
def test_any_override_is_taken_or_refused(folder: Path, text: str) -> None:
    try:
        load("circle", overrides=[text])
    except InputError as error:
        assert error.problems


def test_default_rates_fit_themselves_to_the_step(folder: Path, write: Write) -> None:
    text = "time: {step: 3 ms}\ncontrollers:\n  go: {robot: vivi, type: constant, command: {twist: [0.1, 0, 0]}}\n"
    loaded = load(write(DUO + text))
    near = 1e9 / 9e6
    assert (loaded.data["controllers"]["go"]["rate"], loaded.data["record"]["rate"]) == (near, near)
    assert (loaded.data["robots"]["vivi"]["odometry_rate"], loaded.data["record"]["snapshots"]) == (near, 0.999)
    assert load_data(loaded.data).data == loaded.data
    # A step that is longer than a default's period: once per step.
    assert load(write(DUO + "time: {step: 20 ms}\n")).data["record"]["rate"] == 50.0
    # What is written stays as it is, or is refused.
    with pytest.raises(InputError, match=r"controllers\.go\.rate: 100 Hz has a period"):
        load(write(DUO + text.replace("type:", "rate: 100, type:")))
