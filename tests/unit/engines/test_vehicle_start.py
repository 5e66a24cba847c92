"""How a vehicle stands at the start, where it may not, and how steep the ground around it is."""

from __future__ import annotations

from math import cos, radians, sqrt

import numpy as np
import pytest

from botz.engines.vehicle.model import steepness_of_tiles
from botz.engines.vehicle.start import standing_height
from botz.errors import InputError
from botz.terrain.height_grid import HeightGrid
from botz.transforms import quaternion_from_attitude, rotation_of_unit
from botz.verify.vehicle.rig import GRAVITY, four_wheeler, plane, rig


def test_it_stands_level_on_its_springs():
    """h = m g / 4k; touching is where a spring has no travel left or a corner is on the ground."""
    one = rig(position=[3.0, -2.0], terrain={"type": "flat", "height": 0.7})
    spec, ground = one.engine.scenario.robots["r"], one.engine.ground
    sag = 40.0 * GRAVITY / (4 * 6000.0)
    standing, touching = standing_height(spec, ground, GRAVITY)
    assert standing == pytest.approx(0.7 + 0.15 - sag, abs=1e-12)
    assert touching == pytest.approx(0.7 + 0.15 - 0.05, abs=2e-6)
    assert one.value("pose")[:3] == pytest.approx([3.0, -2.0, standing], abs=1e-15)
    assert one.each("deflection") == pytest.approx([sag] * 4, abs=1e-7)
    assert one.value("acceleration") == pytest.approx([0.0] * 3, abs=1e-3)
    assert standing_height(spec, ground, 0.0)[0] == pytest.approx(0.85, abs=1e-12), "no weight, no deflection"


def test_it_stands_beyond_the_travel_of_progressive_springs():
    """k h + k₂ (h − travel)² = m g / 4."""
    spring = {"stiffness": 6000.0, "damping": 200.0, "travel": 0.01, "progression": 1e6}
    spec = rig(four_wheeler(wheel={"suspension": spring}))
    ground = spec.engine.ground
    beyond = (-6000.0 + sqrt(6000.0**2 + 4e6 * (10.0 * GRAVITY - 60.0))) / 2e6
    assert standing_height(spec.engine.scenario.robots["r"], ground, GRAVITY)[0] == pytest.approx(
        0.15 - 0.01 - beyond, abs=1e-12
    )


@pytest.mark.parametrize("slope", [-20.0, 5.0, 30.0])
def test_it_stands_on_a_slope_that_it_lies_along(slope: float):
    """4 k h = m g cos(slope): friction carries the rest."""
    angle = radians(slope)
    one = rig(terrain=plane(angle), attitude=[0.0, -angle, 0.0], position=[1.0, 2.0])
    sag = 40.0 * GRAVITY * cos(angle) / (4 * 6000.0)
    assert one.each("deflection") == pytest.approx([sag] * 4, abs=1e-6)


@pytest.mark.parametrize("attitude", [[0.05, -0.03, 0.7], [-0.1, 0.0, 0.0], [0.0, 0.06, 2.0], [0.2, 0.2, 0.2]])
def test_it_stands_tilted_with_all_of_its_weight_on_the_wheels_that_touch(attitude: list[float]):
    """Σ k h b_z = m g over the wheels with h > 0; a rim reaches r √(n_z² + b_z²) below its centre. The rims are looked
    at in 36 steps, which misses up to r (5° / 2)² / 2."""
    one = rig(attitude=attitude)
    spec = one.engine.scenario.robots["r"]
    rotation = rotation_of_unit(*quaternion_from_attitude(*attitude))
    up = rotation[2, 2]
    lifts = [
        0.1 * sqrt(rotation[2, 0] ** 2 + up**2) - float(rotation[2] @ wheel.position) for wheel in spec.wheels.values()
    ]
    low, high = -1.0, max(lifts)
    for _ in range(100):
        middle = 0.5 * (low + high)
        carried = sum(6000.0 * max(lift - middle, 0.0) for lift in lifts)
        low, high = (middle, high) if carried > 40.0 * GRAVITY else (low, middle)
    corners = one.engine.model.robots[0].corners @ rotation[2]
    expected = max(high, -corners.min())
    assert standing_height(spec, one.engine.ground, GRAVITY)[0] == pytest.approx(expected, abs=1e-4)


def test_a_start_inside_the_ground_is_told():
    with pytest.raises(InputError, match=r"robots\.r\.position\.2.*0\.05 m puts it inside the ground.*0\.1337 m"):
        rig(position=[0.0, 0.0, 0.05])


ENDS = {"type": "flat", "x": [-1.0, 1.0], "y": [-1.0, 1.0], "outside": "end"}


@pytest.mark.parametrize(
    ("place", "yaw"), [([0.781, 0.0], 0.0), ([0.0, -0.781], 0.0), ([-0.7, 0.0], 0.785), ([0.0, 5.0], 0.0)]
)
def test_a_start_with_a_wheel_off_a_ground_that_ends_is_told(place: list[float], yaw: float):
    """Wheels stand 0.22 m to each side, and 0.31 m away when the vehicle is turned by an eighth."""
    with pytest.raises(InputError, match=r"robots\.r\.position: .*wheel outside the terrain"):
        rig(terrain=ENDS, position=place, attitude=[0.0, 0.0, yaw])
    rig(terrain={**ENDS, "outside": "edge"}, position=place, attitude=[0.0, 0.0, yaw])


@pytest.mark.parametrize(("place", "yaw"), [([0.779, 0.779], 0.0), ([-0.68, 0.0], 0.785), ([-0.779, 0.0], 1.5708)])
def test_a_start_with_all_wheels_on_a_ground_that_ends_goes_on(place: list[float], yaw: float):
    assert rig(terrain=ENDS, position=place, attitude=[0.0, 0.0, yaw]).steps(5).engine.ended == ""


# --- steep ground --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [(0.01, 0.013), (0.1, 0.07), (0.3, 0.9), (0.5, 0.5), (1.0, 1.0), (1.7, 0.6),
                                   (2.0, 3.3), (10.0, 10.0), (10.0, 0.11)])  # fmt: skip
def test_steepness_of_tiles_knows_every_cell_that_reaches_into_them(ratio: tuple[float, float]):
    """`ratio` is the size of a cell in tiles. Slopes differ by powers of ten, so that a cell forgotten shows."""
    tile, rng = 0.6, np.random.default_rng(3)
    shape = [max(4, round(5.3 / size)) for size in ratio]
    dx, dy = ratio[0] * tile, ratio[1] * tile
    heights = rng.standard_normal(shape) * 10.0 ** rng.uniform(-3, 1, shape)
    length = dx * (shape[0] - 1), dy * (shape[1] - 1)
    ground = HeightGrid(heights, x_min=-1.3, x_max=-1.3 + length[0], y_min=7.0, y_max=7.0 + length[1])
    found = steepness_of_tiles(ground, tile)
    along_x, along_y = np.abs(np.diff(heights, axis=0)) / dx, np.abs(np.diff(heights, axis=1)) / dy
    cells = np.hypot(np.maximum(along_x[:, 1:], along_x[:, :-1]), np.maximum(along_y[1:], along_y[:-1]))
    left, low = np.arange(shape[0] - 1) * dx, np.arange(shape[1] - 1) * dy
    assert found.shape[0] * tile >= length[0] - 1e-9 and found.shape[1] * tile >= length[1] - 1e-9

    def steepest(i: int, j: int, margin: float) -> float:
        """Of all cells that overlap the tile and its neighbours by more than −margin."""
        in_x = (left < (i + 2) * tile + margin) & (left + dx > (i - 1) * tile - margin)
        in_y = (low < (j + 2) * tile + margin) & (low + dy > (j - 1) * tile - margin)
        return float(cells[np.ix_(in_x, in_y)].max())

    for i in range(found.shape[0]):
        for j in range(found.shape[1]):
            least, most = steepest(i, j, -1e-6 * tile), steepest(i, j, 1e-6 * tile)
            assert least * (1 - 1e-12) <= found[i, j] <= most * (1 + 1e-12), (i, j)
