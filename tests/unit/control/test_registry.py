"""Users' controllers: what is imported, when, and what a mistake says."""

from __future__ import annotations

import pytest
from driving import Drive, world

from botz.control.registry import build
from botz.errors import ControllerError, InputError
from botz.scenario.schema import UserController

GOOD = """
from dataclasses import dataclass
from neighbour_of_mine import SPEED

@dataclass
class Spin:
    gain: float = 1.0

    def reset(self, setup):
        self.name = setup.robot

    def update(self, t, measured):
        return {"twist": (0.0, 0.0, self.gain * SPEED)}

class Mute:
    def reset(self, setup):
        pass

class Broken(Spin):
    def __init__(self):
        raise RuntimeError("no luck")
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "neighbour_of_mine.py").write_text("SPEED = 0.5\n", encoding="utf-8")
    path = tmp_path / "mine.py"
    path.write_text(GOOD, encoding="utf-8")
    return path


def make(kind, *, allowed=True, **parameters):
    spec = UserController(robot="bot", type=kind, parameters=parameters)
    return build(spec, allow_user_code=allowed, name="mine")


def test_a_file_with_a_neighbour_and_parameters(file):
    drive = Drive(world("differential"), make(f"{file}:Spin", gain=2.0)).run(0.1)
    assert drive.twist == pytest.approx([0, 0, 1.0])


def test_a_module(file, monkeypatch):
    monkeypatch.syspath_prepend(str(file.parent))
    assert make("mine:Spin").gain == 1.0


def test_nothing_is_imported_where_that_is_not_allowed(tmp_path):
    path = tmp_path / "tell.py"
    path.write_text(f"open({str(tmp_path / 'executed')!r}, 'w').close()\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"controllers\.mine\.type: .*named on the command line"):
        make(f"{path}:Any", allowed=False)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        ("{folder}/none.py:Spin", {}, r"controllers\.mine\.type: no such file: .*none\.py"),
        ("{file}:Spinn", {}, "no class 'Spinn' in .*did you mean 'Spin'"),
        ("{file}:SPEED", {}, "no class 'SPEED'"),
        ("{file}:Mute", {}, "class 'Mute' has no method 'update'"),
        ("{file}:Spin", {"gian": 1}, r"controllers\.mine\.parameters: class 'Spin' refuses them: .*'gian'.*gain"),
        ("no_such_module_of_mine:Spin", {}, "no module 'no_such_module_of_mine'"),
    ],
)
def test_mistakes_of_the_scenario(file, kind, parameters, message):
    with pytest.raises(InputError, match=message):
        make(kind.format(file=file, folder=file.parent), **parameters)


@pytest.mark.parametrize("text", ["1/0\n", "import no_such_thing_either\n", "def f(:\n", "open('/no/such/file')\n"])
def test_a_file_that_fails_to_import_keeps_its_traceback(tmp_path, text):
    path = tmp_path / "bad.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ControllerError, match=r"importing .* failed") as caught:
        make(f"{path}:Any")
    assert "bad.py" in caught.value.details


def test_a_constructor_that_fails_keeps_its_traceback(file):
    with pytest.raises(ControllerError, match="constructing Broken failed: RuntimeError: no luck") as caught:
        make(f"{file}:Broken")
    assert "__init__" in caught.value.details
