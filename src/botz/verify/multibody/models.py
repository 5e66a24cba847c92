"""From parts to model: meshes against closed forms, the source's conversion and fit, models through three formats."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from math import cos, pi, sin
from pathlib import Path

import mujoco
import numpy as np

from botz.models.files import load_model, save_model
from botz.models.mj_world import compile_model
from botz.models.robot_model import RobotModel
from botz.verify.checks import EPS, Check, close, same, worst
from botz.verify.multibody.rig import shipped

SUMS = 1e-12
"""Sums over some thousand faces, relative to the largest of their results."""


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def mesh_solids(samples: int) -> Iterator[Check]:
    """A meshed box has the box's m (b² + c²)/12; a meshed cylinder is a prism, I_zz = m R² (2 + cos 2π/n)/6; a sphere
    of triangles goes to ⅖ m r² with the square of their edges; anywhere, in any attitude."""
    del samples
    import trimesh

    from botz.models.meshes import solids
    from botz.models.meshes.mesh import mass_properties
    from botz.transforms import transform

    turn = transform(0.4, -0.3, 2.0, 0.3, -0.8, 1.1)
    box = trimesh.creation.box((0.252, 0.4, 0.046))
    box.apply_transform(turn)
    found, closed = mass_properties(box, 1.5), solids.box((0.252, 0.4, 0.046), 1.5).placed(turn)
    a, b, c = 0.252, 0.4, 0.046
    by_hand = 1.5 / 12.0 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    turned = turn[:3, :3] @ by_hand @ turn[:3, :3].T
    why = "Twelve triangles, products of five numbers each."
    yield close("mesh of a box: volume by a b c, less 1", 0.0, found.volume / (a * b * c) - 1.0, SUMS, why)
    yield close("mesh of a box: tensor by m (b² + c²)/12", 0.0, relative(found.inertia, turned), SUMS, why)
    yield close("closed form of a box: the same", 0.0, relative(closed.inertia, turned), SUMS, why)
    yield worst("mesh of a box: centre of mass [m]", found.centre - turn[:3, 3], SUMS, why)
    n, radius, length = 24, 0.2, 0.5
    found = mass_properties(trimesh.creation.cylinder(radius=radius, height=length, sections=n), 2.0)
    along = 2.0 * radius**2 / 6.0 * (2.0 + cos(2.0 * pi / n))
    prism = np.diag([along / 2.0 + 2.0 * length**2 / 12.0] * 2 + [along])
    why = "A drawn cylinder is a prism, exactly."
    volume = n / 2.0 * radius**2 * sin(2.0 * pi / n) * length
    yield close("mesh of a cylinder: volume, less 1", 0.0, found.volume / volume - 1.0, SUMS, why)
    yield close("mesh of a cylinder: tensor of the prism", 0.0, relative(found.inertia, prism), SUMS, why)
    # cos 2π/n = 1 − 2π²/n² + …: a fine prism comes near to ½ m r².
    fine = mass_properties(trimesh.creation.cylinder(radius=radius, height=length, sections=2000), 2.0)
    why = "The prism's own distance from the cylinder: 2π²/(3n²) of I_zz."
    ideal = solids.cylinder(radius, length, 2.0).inertia
    yield close(
        "mesh of a cylinder: near to ½ m r²", 0.0, relative(fine.inertia, ideal), 2.0 * pi**2 / 3.0 / 2000**2, why
    )
    yield close("closed form of a cylinder: ½ m r² [kg·m²]", 0.5 * 2.0 * radius**2, ideal[2, 2], 4 * EPS, "As it is.")
    errors = []
    for depth in (3, 4):
        ball = mass_properties(trimesh.creation.icosphere(subdivisions=depth, radius=0.3), 1.0)
        errors.append(relative(ball.inertia, 0.4 * 0.09 * np.eye(3)))
    why = "Flat faces miss the sphere by the square of their edges: a quarter at half the edge; the fourth power, 2 %."
    yield close("mesh of a sphere: error at half the edge by the one before", 0.25, errors[1] / errors[0], 0.005, why)
    yield close(
        "closed form of a sphere: ⅖ m r² [kg·m²]", 0.4 * 0.09, solids.sphere(0.3).inertia[0, 0], 4 * EPS, "As it is."
    )


def source_conversion(samples: int) -> Iterator[Check]:
    """[costa2022] section 3.5: I = I_mesh/s⁵/(V/s³) m for density 1 and millimetres; its own printed results. Its
    meshes stand turned by 90° about z in Lophorina's file: R I Rᵀ."""
    del samples
    from botz.models.meshes.solids import tensor_for_mass

    body = np.array([
        [34480574464.0, 13872.077148, 1849.271606], [13872.077148, 5602350080.0, -1860285.625],
        [1849.271606, -1860285.625, 39523184640.0],
    ])  # fmt: skip
    printed = np.array([
        [4.1954e-2, 1.6879e-8, 2.2501e-9], [1.6879e-8, 6.8166e-3, -2.2635e-6], [2.2501e-9, -2.2635e-6, 4.8090e-2],
    ])  # fmt: skip
    found = tensor_for_mass(body, 1232795.125, 1.5, 1000.0)
    why = "Octave printed five digits."
    yield worst("source's conversion, body: by its printed tensor, less 1", (found / printed - 1.0).ravel(), 5e-5, why)
    propeller = np.array([
        [806945.625, -3977168.5, -12147.658203], [-3977168.5, 27074700.0, -1484.647095],
        [-12147.658203, -1484.647095, 27827462.0],
    ])  # fmt: skip
    printed = np.array([
        [1.0083e-6, -4.9698e-6, -1.5179e-8], [-4.9698e-6, 3.3832e-5, -1.8552e-9], [-1.5179e-8, -1.8552e-9, 3.4773e-5],
    ])  # fmt: skip
    small = tensor_for_mass(propeller, 6402.151855, 0.008, 1000.0)
    yield worst("source's conversion, propeller: less 1", (small / printed - 1.0).ravel(), 6e-5, why)
    model = load_model(Path(shipped("lophorina")["file"]))
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    why = "The file has 12 digits of it."
    stated = model.links["body"].inertial
    assert stated is not None
    error = relative(stated.inertia, quarter @ found @ quarter.T)
    yield close("Lophorina's body: the source's tensor, turned", 0.0, error, 1e-11, why)
    stated = model.links["propeller_front_left"].inertial
    assert stated is not None
    yield close("Lophorina's propeller: the source's tensor", 0.0, relative(stated.inertia, small), 1e-11, why)


def thrust_fit(samples: int) -> Iterator[Check]:
    """K = Σf/Σω² is 2.0032092e-5 of the measured column and 1.8201e-5 of the maker's, by least squares 2.0032084e-5."""
    del samples
    from botz.models.thrust_fit import fit_by_least_squares, fit_by_sums, read_thrust_table

    table = read_thrust_table(Path(shipped("lophorina")["file"]).parent / "thrust.csv")
    columns = {one.name.split()[0]: one.force for one in table.columns}
    speed = np.arange(1, 9) * 1000.0 * 2.0 * pi / 60.0
    yield worst("thrust table: speeds in rad/s", table.speed - speed, 8 * EPS * 840.0, "rpm · 2π/60.")
    measured, maker = columns["measured"], columns["maker"]
    why = "Of the page's digits."
    yield close("thrust fit by sums, measured", 2.0032092e-5, fit_by_sums(table.speed, measured).curve[2], 5e-13, why)
    squares = fit_by_least_squares(table.speed, measured)
    yield close("thrust fit by least squares, measured", 2.0032084e-5, squares.curve[2], 5e-13, why)
    yield close("thrust fit by sums, maker", 1.8201e-5, fit_by_sums(table.speed, maker).curve[2], 5e-10, why)


# --- formats ---------------------------------------------------------------------------------------------------------


def mass_matrices(model: RobotModel, positions: dict[str, np.ndarray]) -> np.ndarray:
    """Mass matrices of a model without ground at positions by joint: rows are the root's six, then joints by name."""
    built = compile_model(model)
    data = mujoco.MjData(built)
    free = [j for j in range(built.njnt) if built.jnt_type[j] == int(mujoco.mjtJoint.mjJNT_FREE)]
    names = sorted(positions)
    numbers = {name: built.joint(f"robot/{name}").id for name in names}
    order = [built.jnt_dofadr[j] + k for j in free for k in range(6)] + [
        built.jnt_dofadr[numbers[name]] for name in names
    ]
    found = []
    whole = np.zeros((built.nv, built.nv))
    for sample in range(len(next(iter(positions.values())))):
        for name in names:
            data.qpos[built.jnt_qposadr[numbers[name]]] = positions[name][sample]
        mujoco.mj_forward(built, data)
        mujoco.mj_fullM(built, data, whole)
        found.append(whole[np.ix_(order, order)].copy())
    return np.array(found)


def through_formats(samples: int) -> Iterator[Check]:
    """A model that is written as URDF, SDF or MJCF and read back has the same mass matrix at any position."""
    rng = np.random.default_rng(65)
    model = load_model(Path(shipped("lophorina")["file"]))
    moving = [name for name, joint in model.joints.items() if joint.kind != "fixed"]
    count = max(min(samples, 3000) // 30, 5)
    positions = {name: rng.uniform(-0.7, 0.7, count) for name in moving}
    before = mass_matrices(model, positions)
    # By hand: the whole's mass on the diagonal of the root's translation.
    why = "The sum of nine masses."
    yield worst(
        "Lophorina's mass matrix: mass of the whole [kg]",
        (before[:, :3, :3] - 2.132 * np.eye(3)).ravel(),
        100 * EPS,
        why,
    )
    why = "Tensors are written with 17 digits, and turned to principal axes and back: 1e-10 of the largest entry."
    with tempfile.TemporaryDirectory() as folder:
        last = model
        for ending in (".sdf", ".xml", ".urdf"):
            path = Path(folder) / f"lophorina{ending}"
            save_model(model, path)
            again = load_model(path)
            name = {".sdf": "SDF", ".xml": "MJCF", ".urdf": "URDF"}[ending]
            yield close(
                f"Lophorina as {name} and back: mass matrix",
                0.0,
                relative(mass_matrices(again, positions), before),
                1e-10,
                why,
            )
            joints = sorted(one for one, joint in again.joints.items() if joint.kind != "fixed")
            yield same(
                f"Lophorina as {name} and back: joints", " ".join(sorted(moving)), " ".join(joints), "All of them."
            )
            # On from format to format, as far as MJCF's own reader lets a model be written again.
            chained = Path(folder) / f"chain{ending}"
            save_model(last, chained)
            last = load_model(chained)
        yield close(
            "Lophorina through SDF, MJCF and URDF in turn: mass matrix",
            0.0,
            relative(mass_matrices(last, positions), before),
            1e-10,
            why,
        )


FUNCTIONS = (mesh_solids, source_conversion, thrust_fit, through_formats)
