"""What breaks simulations is found, and what does not is left alone."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter

from botz.errors import InputError
from botz.models.bounds import around, shape_bounds
from botz.models.check import Finding, check_model, felt_inertias
from botz.models.files import load_model
from botz.models.fill import filled
from botz.models.meshes import solids
from botz.models.mj_world import compile_model
from botz.models.robot_model import (
    Inertial,
    ModelActuator,
    ModelJoint,
    ModelLink,
    ModelShape,
    Place,
    RobotModel,
)
from botz.scenario.multibody.schema import AnyElement
from botz.transforms import transform


def box_stl(file: Path, *edges: float) -> Path:
    """A closed box as ASCII STL, one corner at the origin."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * edges
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    lines = ["solid box"]
    for a, b, c, d in quads:
        for face in ((a, b, c), (a, c, d)):
            vertices = [f"vertex {x:g} {y:g} {z:g}" for x, y, z in corners[list(face)]]
            lines += ["facet normal 0 0 0", "outer loop", *vertices, "endloop", "endfacet"]
    file.write_text("\n".join([*lines, "endsolid"]))
    return file


def body(mass: float = 1.0, tensor: float | list[float] = 0.01, centre: tuple[float, ...] = (0, 0, 0)) -> Inertial:
    diagonal = np.diag(tensor) if isinstance(tensor, list) else tensor * np.eye(3)
    return Inertial(mass, np.asarray(centre, dtype=float), diagonal)


def model_with(*children: tuple[str, ModelLink], base: ModelLink | None = None, **joint) -> RobotModel:
    links = {"base": base or ModelLink("base", body())} | dict(children)
    joints = {
        f"to_{name}": ModelJoint(f"to_{name}", joint.get("kind", "continuous"), "base", name,
                                 **{key: value for key, value in joint.items() if key != "kind"})
        for name, _ in children
    }  # fmt: skip
    return RobotModel("bot", links, joints)


def found(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(one.severity, one.place) for one in findings]


def test_a_sound_model_has_no_findings():
    box = ModelShape("box", (0.3, 0.3, 0.3))
    link = ModelLink("base", body(1.0, 0.015), (box,))
    assert check_model(model_with(("arm", ModelLink("arm", body())), base=link), 0.001) == []


@pytest.mark.parametrize(
    ("inertial", "words"),
    [
        (body(1, [-1.0, 1.0, 1.0]), "none can be negative"),
        (body(1, [1.0, 1.0, 2.5]), "above the sum of the other two"),
        (body(1, 0.0), "zero inertia tensor"),
        (body(-1), "must be positive"),
        (body(1, [1.0, 1.0, 0.0]), "moment of inertia of 0"),
        (None, "moves, but has no mass"),
    ],
)
def test_impossible_and_missing_inertia(inertial: Inertial | None, words: str):
    (finding,) = check_model(model_with(("arm", ModelLink("arm", inertial))), 0.001)
    assert (finding.severity, finding.place) == ("error", "link arm")
    assert words in finding.message


def test_a_massless_frame_on_a_fixed_joint_or_on_the_ground_is_no_finding():
    assert check_model(model_with(("frame", ModelLink("frame")), kind="fixed")) == []
    tied = replace(model_with(("arm", ModelLink("arm", body())), base=ModelLink("base")), fixed_base=True)
    assert check_model(tied) == []
    # Free it could not move, so it is looked at as fixed, and the scenario has to say so.
    (finding,) = check_model(replace(tied, fixed_base=False), 0.001)
    assert (finding.severity, finding.place) == ("warning", "link base")
    assert "a scenario needs 'base: fixed'" in finding.message


def test_a_millimetre_mesh_with_a_metres_tensor(tmp_path: Path):
    file = box_stl(tmp_path / "part.stl", 300, 200, 100)
    true = solids.box((0.3, 0.2, 0.1), 2.0).inertia

    def findings(scale: float, tensor: np.ndarray) -> list[Finding]:
        shape = ModelShape("mesh", file=file, scale=(scale, scale, scale))
        inertial = Inertial(2.0, np.array([150, 100, 50]) * scale, tensor)
        return check_model(model_with(base=ModelLink("base", inertial, (shape,))))

    assert findings(0.001, true) == []
    small, large = findings(1.0, true)
    assert (small.severity, large.severity) == ("error", "warning")
    assert "scale it by 0.001" in small.message
    assert "300 m large" in large.message
    (finding,) = findings(0.001, true * 1e6)
    assert finding.severity == "error"
    assert "tensor may be for millimetres" in finding.message
    assert found(findings(0.001, true * 1e-3)) == [("warning", "link base")]
    assert findings(0.001, true * 3) == []
    assert findings(0.001, true / 50) == []


def test_a_mesh_that_cannot_be_read_is_an_error(tmp_path: Path):
    (tmp_path / "bad.stl").write_text("nothing")
    shape = ModelShape("mesh", file=tmp_path / "bad.stl")
    assert ("error", "link base") in found(check_model(model_with(base=ModelLink("base", body(), (shape,)))))


def test_a_centre_of_mass_outside_of_the_shapes():
    ball = ModelShape("sphere", (0.1,), transform(0.5, 0, 0, 0, 0, 0))
    inside = ModelLink("base", body(1, 0.004, (0.55, 0, 0)), (ball,))
    outside = replace(inside, inertial=body(1, 0.004))
    assert check_model(model_with(base=inside)) == []
    (finding,) = check_model(model_with(base=outside))
    assert finding.severity == "warning"
    assert "(0 0 0) lies outside of the shapes, which reach from (0.4 -0.1 -0.1) to (0.6 0.1 0.1)" in finding.message


@pytest.mark.parametrize(("mass", "count"), [(0.0011, 0), (0.0009, 1), (990.0, 0), (1100.0, 1)])
def test_mass_ratios_between_neighbours(mass: float, count: int):
    model = model_with(("arm", ModelLink("arm", body(mass))))
    assert found(check_model(model)) == [("warning", "joint to_arm")] * count


def test_masses_behind_fixed_joints_count_together():
    model = model_with(("arm", ModelLink("arm", body(0.0001))))
    more = ModelJoint("more", "fixed", "arm", "tip")
    together = replace(
        model, links={**model.links, "tip": ModelLink("tip", body(1.0))}, joints={**model.joints, "more": more}
    )
    assert found(check_model(model)) == [("warning", "joint to_arm")]
    assert check_model(together) == []


def propeller(**values) -> AnyElement:
    return TypeAdapter(AnyElement).validate_python(
        {"type": "propeller", "joint": "to_rotor", "coefficient": 2e-5, **values}
    )


def test_a_rotor_that_turns_too_far_in_a_step():
    model = model_with(("rotor", ModelLink("rotor", body(0.01, 1e-5))), speed=1000.0)
    model = replace(model, elements={"lift": propeller()})
    assert check_model(model) == []  # no step, no complaint
    assert check_model(model, 0.34e-3) == []
    (finding,) = check_model(model, 0.36e-3)
    assert (finding.severity, finding.place) == ("warning", "element lift")
    assert "take steps up to 0.00035 s" in finding.message
    # It has no use for more speed than its greatest force asks for, nor for more than its actuator gives.
    assert check_model(replace(model, elements={"lift": propeller(max_force=2e-5 * 500**2)}), 0.5e-3) == []
    slow = replace(model, actuators={"to_rotor": ModelActuator("to_rotor", "velocity", speed=500.0)})
    assert check_model(slow, 0.5e-3) == []


@pytest.mark.parametrize(
    ("step", "method", "severity"),
    [(1e-3, "auto", None), (1.5e-3, "auto", "warning"), (3e-3, "auto", "warning"), (2.7e-3, "rk4", None),
     (3e-3, "rk4", "error"), (3e-3, "euler", None), (3e-3, "implicit-fast", None)],
)  # fmt: skip
def test_damping_on_a_light_part(step: float, method: str, severity: str | None):
    # I/d is 1 ms; Runge-Kutta is unstable from 2.785 I/d on. Beside the heavy base the joint feels the arm alone.
    base = ModelLink("base", body(900.0, 1e6))
    model = model_with(("arm", ModelLink("arm", body(1.0, 1e-3))), base=base, damping=1.0)
    findings = check_model(model, step, method)
    assert found(findings) == ([] if severity is None else [(severity, "joint to_arm")])
    assert all("implicit-fast" in one.message for one in findings)


STIFF = """<mujoco><option {option}/><worldbody><body name="base"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
<body name="hand"><joint name="x" type="slide" axis="1 0 0"/><joint name="wrist" {range}/>
<inertial pos="0 0 0" mass="0.3" diaginertia="2e-4 2e-4 2e-4"/></body></body></worldbody>
<actuator><position name="servo" joint="wrist" kp="2000" kv="200"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("option", "severities"),
    [("", ["warning"]), ('integrator="implicitfast"', []), ('integrator="RK4"', ["error"]),
     ('integrator="Euler"', ["error"])],
)  # fmt: skip
@pytest.mark.parametrize("limits", ["", 'range="20 90"'])
def test_stiff_servos_of_a_file_and_bodies_with_several_joints(
    tmp_path: Path, option: str, severities: list[str], limits: str
):
    file = tmp_path / "hand.xml"
    file.write_text(STIFF.format(option=option, range=limits), encoding="utf-8")
    findings = check_model(load_model(file), 0.25e-3)
    assert [one.severity for one in findings] == severities, "and no link between joints without mass"
    for one in findings:
        assert one.place == "joint wrist" and "its actuator 'servo' is as fast as" in one.message
        assert "implicit-fast" in one.message


def test_what_a_joint_feels_is_less_than_its_part_where_the_base_is_light():
    free = model_with(("arm", ModelLink("arm", body(1.0, 2.0))), base=ModelLink("base", body(1.0, 3.0)))
    for model, inertia in ((free, 1 / (1 / 2.0 + 1 / 3.0)), (replace(free, fixed_base=True), 2.0)):
        compiled = compile_model(model)
        assert felt_inertias(model, compiled, compiled.qpos0)["to_arm"] == pytest.approx(inertia)


def test_springs_motors_and_friction_on_light_parts():
    base = ModelLink("base", body(900.0, 1e6))
    light = model_with(("arm", ModelLink("arm", body(1.0, 1e-6))), base=base)
    spring = replace(light, joints={"to_arm": replace(light.joints["to_arm"], stiffness=1e-6 * 2.0**2 / 1e-3**2)})
    assert check_model(spring, 0.5e-3) == []  # h √(k/I) = 1
    assert found(check_model(spring, 1e-3)) == [("warning", "joint to_arm")]
    motor = {"type": "dc-motor", "joint": "to_arm", "resistance": 1.0, "torque_constant": sqrt(1e-6 / 1e-3)}
    friction = {"type": "lugre", "joint": "to_arm", "stiffness": 0.0, "damping": 1e-3, "coulomb": 1, "static": 1}
    for values in (motor, friction):  # both d = 1e-3, so I/d = 1 ms
        with_it = replace(light, elements={"it": TypeAdapter(AnyElement).validate_python(values)})
        assert check_model(with_it, 1e-3) == []
        assert found(check_model(with_it, 3e-3)) == [("error", "joint to_arm")]


def test_names_that_clash():
    model = model_with(("rotor", ModelLink("rotor", body())), ("Rotor", ModelLink("Rotor", body())))
    assert found(check_model(replace(model, elements={"to_rotor": propeller()}))) == [
        ("error", "name to_rotor"),
        ("warning", "name rotor"),
        ("warning", "name to_rotor"),
    ]


# --- boxes and filling -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "size"),
    [("box", (1, 2, 3)), ("sphere", (2,)), ("cylinder", (1, 3)), ("capsule", (1, 3)), ("ellipsoid", (1, 2, 3))],
)
def test_boxes_around_turned_shapes_touch_their_points(kind: str, size: tuple[float, ...]):
    pose = transform(1, -2, 0.5, 0.4, 0.9, -1.3)
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(200_000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    match kind:
        case "box":
            points = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.asarray(size) / 2
        case "sphere":
            points = directions * size[0]
        case "ellipsoid":
            points = directions * size
        case "capsule":
            points = directions * size[0] + np.sign(directions[:, 2:]) * [0, 0, size[1] / 2]
        case _:
            rim = directions[:, :2] / np.linalg.norm(directions[:, :2], axis=1)[:, None] * size[0]
            points = np.column_stack([rim, np.sign(directions[:, 2]) * size[1] / 2])
    points = points @ pose[:3, :3].T + pose[:3, 3]
    bounds = shape_bounds(ModelShape(kind, size, pose))
    assert bounds is not None
    np.testing.assert_allclose(bounds.low, points.min(axis=0), atol=2e-3)
    np.testing.assert_allclose(bounds.high, points.max(axis=0), atol=2e-3)
    assert around([shape_bounds(ModelShape("plane"))]) is None


def test_missing_inertia_is_filled_from_meshes_or_shapes(tmp_path: Path):
    mesh = ModelShape("mesh", file=box_stl(tmp_path / "part.stl", 300, 200, 100), scale=(0.001,) * 3, collision=False)
    coarse = ModelShape("box", (1.0, 1.0, 1.0), visual=False)
    given = ModelLink("given", body(1.0, 0.02), (coarse,))
    links = {
        "meshed": ModelLink("meshed", body(2.0, 0.0), (mesh, coarse)),
        "boxed": ModelLink("boxed", body(3.0, [-1.0, 1.0, 1.0], (0.5, 0, 0)), (coarse,)),
        "given": given,
        "frame": ModelLink("frame"),
    }
    model, names = filled(RobotModel("bot", links, {}))
    assert names == ["meshed", "boxed"]
    meshed, boxed = model.links["meshed"].inertial, model.links["boxed"].inertial
    assert meshed is not None
    assert boxed is not None
    np.testing.assert_allclose(meshed.centre, [0.15, 0.1, 0.05], atol=1e-9)
    np.testing.assert_allclose(meshed.inertia, solids.box((0.3, 0.2, 0.1), 2.0).inertia, atol=1e-9)
    # A centre that is given stays, and the tensor is about it: m d² = 3 · 0.25 on top for y and z.
    assert boxed.centre.tolist() == [0.5, 0, 0]
    np.testing.assert_allclose(np.diag(boxed.inertia), [0.5, 1.25, 1.25])
    assert model.links["given"] is given


def test_nothing_to_fill_it_from():
    with pytest.raises(InputError, match="link a: has 1 kg and no shape"):
        filled(RobotModel("bot", {"a": ModelLink("a", body(1.0, 0.0))}, {}))


def test_a_flat_mesh_that_is_to_be_touched(tmp_path: Path):
    flat = box_stl(tmp_path / "flat.stl", 1.0, 1.0, 0.0)
    turned = transform(0.0, 0.0, 0.0, 0.3, 0.4, 0.5)
    touched = ModelShape("mesh", pose=turned, file=flat, visual=False, place=Place(flat, 7))
    (one,) = check_model(model_with(base=ModelLink("base", body(1.0, 0.1), (touched,))))
    assert one.severity == "error" and "mesh flat.stl is flat" in one.message and one.where.line == 7
    seen = replace(touched, visual=True, collision=False)
    assert not check_model(model_with(base=ModelLink("base", body(1.0, 0.1), (seen,))))
    with pytest.raises(InputError, match=r"flat\.stl: is flat"):
        compile_model(model_with(base=ModelLink("base", body(), (touched,))))
