"""Users' force elements: the example, and what a mistake in a file or a scenario says."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from element_rig import JOINTS, LINKS, Called, element
from multibody_rig import FREE, Rig

import botz
from botz.engines.multibody.elements.base import NOT_FINITE, force_element
from botz.engines.multibody.elements.kinds import built
from botz.errors import InputError, StoppedError
from botz.scenario.multibody.elements import UserElement

EXAMPLES = Path(__file__).parents[3] / "examples" / "elements"
FILE = """
from dataclasses import dataclass
from math import sin

from numba import njit

from botz import force_element
from neighbour_of_elements import GAIN

@dataclass
class Spring:
    stiffness: float
    rest: float = 0.0

    def __post_init__(self):
        if self.stiffness < 0:
            raise ValueError("stiffness must not be negative")

@force_element(Spring, inputs=["shift"], reports=[("stretch", "rad")], joint_only=True)
def spring(p, frame):
    stretch = frame.joint_position - p.rest - frame.inputs[0]
    frame.joint_effort -= GAIN * p.stiffness * stretch
    frame.reports[0] = stretch

@force_element(Spring)
def misspelt(p, frame):
    frame.force[0] = p.stifness

@force_element(Spring)
def of_the_frame(p, frame):
    frame.forces[0] = 1.0

@force_element(Spring)
def undefined(p, frame):
    frame.force[0] = nowhere * 2

@force_element(Spring)
def pythonic(p, frame):
    frame.force[0] = sum({"a": open}.values())

@force_element(Spring)
def vector(p, frame):
    frame.force[0] = frame.velocity

@force_element(Spring)
def unsupported(p, frame):
    with open("x") as file:
        frame.force[0] = 1.0

@force_element(Spring)
def meddler(p, frame):
    frame.position[2], frame.time = 100.0, 5.0
    frame.force[0] += p.stiffness

@force_element(Spring)
def plain_push(p, frame):
    frame.force[0] += p.stiffness

@force_element(Spring)
def overrun(p, frame):
    frame.force[int(p.stiffness)] += 1.0

@force_element(Spring)
def divides(p, frame):
    frame.torque[1] += 1.0 / p.rest

@force_element(Spring, states=1)
def tired(p, frame):
    frame.force[0] = 100.0
    frame.states[0] += 1.0
    if frame.states[0] == p.stiffness:
        raise RuntimeError

@njit(error_model="python")
def own_options(p, frame):
    frame.force[0] += 1.0 / p.rest
own_options = force_element(Spring)(own_options)

def bare(p, frame):
    pass
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "neighbour_of_elements.py").write_text("GAIN = 2.0\n", encoding="utf-8")
    sys.modules.pop("neighbour_of_elements", None)
    path = tmp_path / "springs.py"
    path.write_text(FILE, encoding="utf-8")
    return path


def line_of(text):
    return FILE[: FILE.index(text)].count("\n") + 1


def make(kind, *, joint="tilt", link=None, allowed=True, **parameters):
    spec = UserElement(type=kind, joint=joint, link=link, parameters=parameters)
    return built("mine", spec, "bot", LINKS, JOINTS, allow_user_code=allowed)


def test_a_file_with_a_neighbour_parameters_and_an_input(file):
    one = make(f"{file}:spring", stiffness=3, rest=0.5)
    assert (one.link, one.joint) == ("arm", "tilt")
    assert [name for name, _ in one.inputs] == ["mine/shift"]
    assert one.kind.joint_only
    spring = Called(one)
    inputs = np.zeros(8)
    inputs[0] = 0.1
    frame = spring(joint_position=1.5, inputs=inputs)
    assert frame["joint_effort"] == pytest.approx(-2.0 * 3.0 * 0.9)
    assert spring.report("stretch") == pytest.approx(0.9)


def test_a_module_and_a_link_of_its_own(file, monkeypatch):
    monkeypatch.syspath_prepend(str(file.parent))
    monkeypatch.delitem(sys.modules, "springs", raising=False)
    assert make("springs:spring", link="body", stiffness=1.0).link == "body"
    monkeypatch.delitem(sys.modules, "springs")


def test_elements_alike_are_imported_once_and_a_changed_file_anew(file):
    one, other = make(f"{file}:spring", stiffness=1.0), make(f"{file}:spring", stiffness=2.0)
    assert one.kind is other.kind
    file.write_text(FILE.replace("GAIN *", "-GAIN *") + "# changed\n", encoding="utf-8")
    changed = make(f"{file}:spring", stiffness=1.0)
    assert changed.kind is not one.kind
    assert Called(changed)(joint_position=1.0)["joint_effort"] == pytest.approx(2.0)


def test_nothing_is_imported_where_that_is_not_allowed(tmp_path):
    path = tmp_path / "tell.py"
    path.write_text(f"open({str(tmp_path / 'executed')!r}, 'w').close()\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"robots\.bot\.elements\.mine\.type: .*named on the command line"):
        make(f"{path}:any", allowed=False)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        ("{folder}/none.py:spring", {}, r"^robots\.bot\.elements\.mine\.type: no such file: .*none\.py$"),
        ("no_such_module_of_mine:spring", {}, "no module 'no_such_module_of_mine'; a file is written with its ending"),
        ("{file}:sprung", {}, r"\.type: no force element 'sprung' in .*springs\.py; did you mean 'spring'\?"),
        ("{file}:GAIN", {}, "no force element 'GAIN' in"),
        ("{file}:bare", {}, "'bare' in .* is no force element; put @force_element"),
        ("{file}:Spring", {}, "'Spring' in .* is no force element"),
        ("{file}:spring", {"stifness": 1}, r"\.parameters\.stifness: unknown parameter; did you mean 'stiffness'"),
        ("{file}:spring", {}, r"\.parameters: Spring refuses them: .*'stiffness'; it takes: stiffness, rest"),
        ("{file}:spring", {"stiffness": -1}, r"\.parameters: Spring refuses them: stiffness must not be negative"),
        ("{file}:spring", {"stiffness": 1, "rest": "far"}, r"\.parameters\.rest: needs a number or a list of numbers"),
        ("{file}:misspelt", {"stiffness": 1}, r"have 'stifness'; did you mean 'stiffness'\?.*springs\.py:{misspelt}\)"),
        ("{file}:of_the_frame", {"stiffness": 1}, r"have 'forces'; did you mean 'force'\?"),
        ("{file}:undefined", {"stiffness": 1}, r"name 'nowhere' is not defined \(springs\.py:{undefined}\)"),
        ("{file}:pythonic", {"stiffness": 1}, r"Untyped global name 'open'.*\(springs\.py:{pythonic}\)"),
        ("{file}:vector", {"stiffness": 1}, r"No implementation of function .*setitem.*\(springs\.py:{vector}\)"),
        ("{file}:unsupported", {"stiffness": 1}, r"element 'mine' cannot be compiled: .*'with .*not supported"),
    ],
)
def test_mistakes_name_their_place_and_stay_short(file, kind, parameters, message):
    for name in ("misspelt", "undefined"):  # Numba does not say which line of the function
        message = message.replace(f"{{{name}}}", str(line_of(f"def {name}") - 1))
    for name in ("pythonic", "vector"):
        message = message.replace(f"{{{name}}}", str(line_of(f"def {name}") + 1))
    with pytest.raises(InputError, match=message) as caught:
        make(kind.format(file=file, folder=file.parent), **parameters)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 300 + 2 * len(str(file))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n1/0\n", r"importing .*bad\.py failed: ZeroDivisionError: division by zero \(.*bad\.py:2\)"),
        ("def f(:\n", r"failed: SyntaxError: .*\(.*bad\.py:1\)"),
        ("import no_such_thing_either\n", r"failed: ModuleNotFoundError: .*no_such_thing_either.*bad\.py:1"),
        (
            "from botz import force_element\n\n@force_element(dict)\ndef f(p, frame):\n    pass\n",
            r"failed: TypeError: .*is no dataclass.*bad\.py:3",
        ),
        (
            "from botz import force_element\nfrom dataclasses import make_dataclass\n\n"
            "@force_element(make_dataclass('P', []))\ndef f(p):\n    pass\n",
            r"failed: TypeError: f takes \(p\); a force element takes \(p, frame\) \(.*bad\.py:4\)",
        ),
    ],
)
def test_a_file_that_fails_to_import_says_where(tmp_path, text, message):
    path = tmp_path / "bad.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        make(f"{path}:f")


@pytest.mark.parametrize("how", ["sys.exit()", "raise SystemExit(0)"])
def test_a_file_that_ends_the_program_is_refused(tmp_path, how):
    path = tmp_path / "ends.py"
    path.write_text(f"import sys\n{how}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"elements\.mine\.type: importing .*ends\.py ends the program.*__main__"):
        make(f"{path}:f")


# --- elements that fail while they run -----------------------------------------------------------------------------


def rig(file, name, **parameters):
    link = {"mass": 2.0, "inertia": [0.1, 0.1, 0.1], "centre": [0, 0, -0.5]}
    element = {"type": f"{file}:{name}", "link": "body", "parameters": {"stiffness": 1.0, **parameters}}
    return Rig({"bot": {"links": {"body": link}, "elements": {"mine": element}}}, FREE)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("overrun", {"stiffness": 7}, r"raised IndexError: index is out of bounds \(.*springs\.py:\d+\), as the world"),
        ("divides", {}, "gave a force that is not finite, as the world starts"),
        ("own_options", {}, r"raised ZeroDivisionError: division by zero \(.*springs\.py:\d+\), as the world starts"),
    ],
)
def test_an_element_that_fails_at_the_start_is_refused(file, capfd, name, parameters, message):
    with pytest.raises(InputError, match=rf"^robots\.bot\.elements\.mine: the element {message}"):
        rig(file, name, **parameters)
    assert capfd.readouterr().err == ""


def test_an_exception_that_does_not_come_again_has_no_name(file):
    """It counts its calls, one as the world starts and four a step: the third step fails in its second stage."""
    running = rig(file, "tired", stiffness=11)
    running.steps(2)
    before = running.engine.data.qpos.copy()
    assert before[0] > 0.0
    with pytest.raises(StoppedError, match=r"^the element 'mine' of .* raised an exception \(.*\), at t = 0\.0025 s$"):
        running.steps(1)
    assert (running.engine.data.qpos == before).all(), "it stands where the step began"


def test_no_element_is_blamed_for_a_world_that_diverged(file):
    one = Called(make(f"{file}:spring", stiffness=3.0))
    assert one(joint_position=1.0)["failed"] == 0
    assert one(joint_position=np.inf)["failed"] == 0
    assert one(joint_position=1.0, inputs=np.full(8, np.nan))["failed"] == NOT_FINITE


def test_what_an_element_writes_over_its_frame_moves_nothing_else(file):
    """Its force acts at the link's origin, half a metre above the centre of mass, wherever it says that is."""
    poses = [rig(file, name, stiffness=3.0).seconds(0.1)["bot/pose"] for name in ("plain_push", "meddler")]
    assert (poses[0] == poses[1]).all()
    assert poses[0][0] > 0.005 and poses[0][5] > 0.01


def test_too_many_of_anything_is_refused():
    class NoDataclass:
        pass

    with pytest.raises(TypeError, match="no dataclass"):
        force_element(NoDataclass)
    with pytest.raises(ValueError, match="at most 8 inputs, 16 states and 16 reports"):
        force_element(type("Empty", (), {"__dataclass_fields__": {}}), states=17)


def test_the_examples_scenario_is_valid():
    loaded = botz.load(str(EXAMPLES / "parachute.yaml"))
    assert loaded.user_code == (f"{EXAMPLES / 'parachute.py'}:parachute",)


def test_the_example_opens_at_its_height_and_sinks_at_its_closed_form():
    """A load of 2 kg on the example's canopy: at the end v = √(2 m g / ρ c A), and the wind carries it along."""
    one = element(
        type=f"{EXAMPLES / 'parachute.py'}:parachute",
        link="body",
        parameters={"drag_area": 1.5, "opening_height": 60, "line": [0, 0, 0.1]},
    )
    canopy = Called(one)
    mass, gravity, dt = 2.0, 9.81, 0.005
    position, velocity = np.array([0.0, 0.0, 100.0]), np.zeros(3)
    opened_at = None
    while position[2] > 0.0:
        frame = canopy(position=position, velocity=velocity, wind=(2.0, 0, 0), ground=0.0, step=dt)
        if opened_at is None and canopy.report("open") > 0.0:
            opened_at = position[2]
            assert velocity[2] == pytest.approx(-np.sqrt(2 * gravity * 40.0), rel=0.01)  # it fell freely until then
        velocity = velocity + dt * (frame["force"] / mass + (0, 0, -gravity))
        position = position + dt * velocity
    assert opened_at == pytest.approx(60.0, abs=0.2)
    assert canopy.report("open") == pytest.approx(1.0, abs=1e-4)
    assert velocity[2] == pytest.approx(-np.sqrt(2 * mass * gravity / (1.225 * 1.5)), rel=1e-3)
    assert velocity[0] == pytest.approx(2.0, rel=0.01)
    assert canopy.report("pull") == pytest.approx(mass * gravity, rel=1e-2)
    # Its force acts where the lines hold.
    frame = canopy(velocity=(0.0, 3.0, 0.0), wind=(0, 0, 0), step=0.0)
    assert frame["torque"] == pytest.approx(np.cross([0, 0, 0.1], frame["force"]))


def test_the_examples_scenario_comes_down_as_its_closed_form_says():
    """In the engine, with Runge-Kutta: free fall to 60 m, then √(2 m g / ρ c A) = 4.621 m/s, carried by the wind."""
    simulation = botz.Simulation(str(EXAMPLES / "parachute.yaml"))
    step = simulation.spec.time.step
    simulation.step(n=round(2.0 / step))
    assert simulation.values()["box/pose"][2] == pytest.approx(100 - 0.5 * 9.81 * 2.0**2, rel=1e-9)
    assert simulation.values()["box/canopy/open"] == 0.0
    simulation.step(n=round(10.0 / step))
    values = simulation.values()
    assert values["box/twist"][:3] == pytest.approx([2.0, 0.0, -np.sqrt(2 * 2 * 9.81 / (1.225 * 1.5))], abs=1e-4)
    assert values["box/canopy/force"] == pytest.approx([0.0, 0.0, 2 * 9.81], abs=1e-3)
    assert values["box/canopy/pull"] == pytest.approx(2 * 9.81, abs=1e-3)
