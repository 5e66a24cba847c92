"""Closed-form mass properties against integrals of their own: sums over slices, and what bodies are made of."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pytest

from botz.models.meshes import solids
from botz.scenario.rigid_body import impossible_inertia
from botz.transforms import transform

MESHLAB = {
    "body": (
        1232795.125,
        1.5,
        [
            [34480574464.0, 13872.077148, 1849.271606],
            [13872.077148, 5602350080.0, -1860285.625],
            [1849.271606, -1860285.625, 39523184640.0],
        ],
        [["4.1954e-02", "1.6879e-08", "2.2501e-09"], ["6.8166e-03", "-2.2635e-06"], ["4.8090e-02"]],
    ),
    "arm": (
        43863.851562,
        0.15,
        [
            [19066046.0, -538219.4375, -12948187.0],
            [-538219.4375, 79352400.0, -162024.359375],
            [-12948187.0, -162024.359375, 67166472.0],
        ],
        [["6.5200e-05", "-1.8405e-06", "-4.4279e-05"], ["2.7136e-04", "-5.5407e-07"], ["2.2969e-04"]],
    ),
    "propeller_cw": (
        6402.151855,
        0.008,
        [
            [806945.625, -3977168.5, -12147.658203],
            [-3977168.5, 27074700.0, -1484.647095],
            [-12147.658203, -1484.647095, 27827462.0],
        ],
        [["1.0083e-06", "-4.9698e-06", "-1.5179e-08"], ["3.3832e-05", "-1.8552e-09"], ["3.4773e-05"]],
    ),
    "propeller_ccw": (
        6402.094238,
        0.008,
        [
            [806944.3125, 3977169.0, -12148.998047],
            [3977169.0, 27074702.0, 1484.506226],
            [-12148.998047, 1484.506226, 27827464.0],
        ],
        [["1.0084e-06", "4.9698e-06", "-1.5181e-08"], ["3.3832e-05", "1.8550e-09"], ["3.4773e-05"]],
    ),
}
"""[costa2022] section 3.5: volume [mm³], mass [kg], tensor for density 1 [mm⁵], and the rows that the source prints."""


@pytest.mark.parametrize("part", MESHLAB)
def test_the_sources_conversion_comes_out_to_all_its_digits(part: str):
    volume, mass, tensor, printed = MESHLAB[part]
    found = solids.tensor_for_mass(np.array(tensor), volume, mass, per_metre=1000.0)
    assert [[f"{found[i, j]:.4e}" for j in range(i, 3)] for i in range(3)] == printed


@pytest.mark.parametrize("part", MESHLAB)
def test_the_shipped_model_has_the_sources_tensors_turned_with_the_parts(part: str):
    from botz.models.xml_tree import read_xml
    from botz.scenario.library import library_folder

    volume, mass, tensor, _ = MESHLAB[part]
    yaws = {"body": {"body": 90}, "arm": {}, "propeller_cw": {}, "propeller_ccw": {}}[part]
    corners = {"front_left": 90, "rear_left": 90, "front_right": -90, "rear_right": -90}
    cw = ("front_left", "rear_right")
    if part == "arm":
        yaws = {f"arm_{corner}": yaw for corner, yaw in corners.items()}
    elif part != "body":
        yaws = {f"propeller_{corner}": 0 for corner in corners if (corner in cw) == (part == "propeller_cw")}
    robot = read_xml(library_folder() / "robots" / "lophorina" / "lophorina.urdf")
    links = {link.get("name"): link for link in robot.all("link")}
    for name, yaw in yaws.items():
        rotation = np.round(transform(0, 0, 0, 0, 0, np.radians(yaw))[:3, :3])
        expected = rotation @ solids.tensor_for_mass(np.array(tensor), volume, mass, per_metre=1000.0) @ rotation.T
        inertial = links[name].first("inertial")
        found = {key: float(value) for key, value in inertial.first("inertia").attributes.items()}
        for i, a in enumerate("xyz"):
            for j, b in enumerate("xyz"[i:], start=i):
                assert found[f"i{a}{b}"] == pytest.approx(expected[i, j], rel=1e-11, abs=1e-20)
        assert float(inertial.first("mass").get("value")) == mass
        assert inertial.first("origin") is None  # centres of mass at the links' origins


def sliced(radius_at, low: float, high: float, n: int = 200_000) -> tuple[float, np.ndarray]:
    """Volume and tensor of 1 kg of a body of revolution about z, by thin discs."""
    z = np.linspace(low, high, n + 1)
    z = (z[1:] + z[:-1]) / 2
    r2 = radius_at(z) ** 2
    volume = pi * r2 * (high - low) / n
    share = volume / volume.sum()
    along = (share * r2 / 2).sum()
    across = (share * (r2 / 4 + z**2)).sum()
    return float(volume.sum()), np.diag([across, across, along])


@pytest.mark.parametrize(
    ("found", "radius_at", "half"),
    [
        (solids.sphere(0.3), lambda z: np.sqrt(0.09 - z**2), 0.3),
        (solids.cylinder(0.2, 0.7), lambda z: np.full_like(z, 0.2), 0.35),
        (solids.ellipsoid((0.2, 0.2, 0.5)), lambda z: 0.2 * np.sqrt(1 - (z / 0.5) ** 2), 0.5),
        (
            solids.capsule(0.15, 0.6),
            lambda z: np.sqrt(0.15**2 - np.clip(np.abs(z) - 0.3, 0, None) ** 2),
            0.45,
        ),
    ],
)
def test_bodies_of_revolution_against_thin_discs(found: solids.MassProperties, radius_at, half: float):
    volume, tensor = sliced(radius_at, -half, half)
    assert found.volume == pytest.approx(volume, rel=1e-7)
    np.testing.assert_allclose(found.inertia, tensor, rtol=1e-7, atol=1e-12)


def test_areas():
    assert solids.capsule(0.15, 1e-12).area == pytest.approx(solids.sphere(0.15).area)
    assert solids.ellipsoid((0.3, 0.3, 0.3)).area == pytest.approx(solids.sphere(0.3).area)
    # A spheroid twice as long as wide: 2πa² (1 + c/(a e) arcsin e), e² = 1 − a²/c².
    e = np.sqrt(1 - 0.25)
    assert solids.ellipsoid((1, 1, 2)).area == pytest.approx(2 * pi * (1 + 2 / e * np.arcsin(e)))
    assert solids.box((1, 2, 3)).area == 22
    assert solids.cylinder(1, 2).area == pytest.approx(6 * pi)


def test_a_box_is_two_halves():
    whole = solids.box((0.4, 0.6, 1.0), 3.0)
    half = solids.box((0.4, 0.6, 0.5), 1.5)
    both = solids.together([half.placed(transform(0, 0, z, 0, 0, 0)) for z in (-0.25, 0.25)])
    np.testing.assert_allclose(both.inertia, whole.inertia, rtol=1e-12)
    np.testing.assert_allclose(both.centre, 0, atol=1e-15)
    assert both.volume == pytest.approx(whole.volume) and both.mass == 3.0


def test_a_turned_body_keeps_its_principal_moments():
    body = solids.box((1, 2, 3), 2.0)
    turned = body.placed(transform(1, 2, 3, 0.3, -0.4, 0.5))
    np.testing.assert_allclose(turned.principal, body.principal)
    np.testing.assert_allclose(turned.centre, [1, 2, 3])
    quarter = body.placed(transform(0, 0, 0, 0, 0, pi / 2))
    np.testing.assert_allclose(np.diag(quarter.inertia), np.diag(body.inertia)[[1, 0, 2]])


def test_a_tensor_that_no_body_has_is_named():
    assert impossible_inertia([1.0, 1.0, 2.1]) and impossible_inertia([-1.0, 1.0, 1.0])
    assert impossible_inertia([1.0, 1.0, 2.0]) is None


def prism(n: int, radius: float, height: float) -> tuple[float, np.ndarray]:
    """Volume and tensor of 1 kg of a regular n-gon prism: I_zz = R²/6 (2 + cos 2π/n)."""
    area = n / 2 * radius**2 * sin(2 * pi / n)
    along = radius**2 / 6 * (2 + cos(2 * pi / n))
    across = along / 2 + height**2 / 12
    return area * height, np.diag([across, across, along])


def test_a_prism_with_many_corners_is_a_cylinder():
    volume, tensor = prism(20_000, 0.2, 0.5)
    expected = solids.cylinder(0.2, 0.5)
    assert volume == pytest.approx(expected.volume, rel=1e-7)
    np.testing.assert_allclose(tensor, expected.inertia, rtol=1e-7, atol=1e-15)
