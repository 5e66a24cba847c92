"""Serial chains against plain NumPy: frames, Jacobian, Newton-Euler, inertia matrix, water, friction, balls in boxes.
Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from botz.physics.arm import composite_body as composite
from botz.physics.arm import dh
from botz.physics.arm.newton_euler import newton_euler
from botz.physics.contact.box import ball_in_box

KINDS = ["R", "P", "RR", "RP", "PR", "RRR", "PRP", "RRPRRP", "RRRRRRR"]
"""One chain each: revolute and prismatic joints from the base on."""


def turn(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) if axis == "x" else np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def random_rotation(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.linalg.det(q)


class Chain:
    """The same chain in matrices: every equation by its definition."""

    def __init__(self, kinds, rng):
        n = self.n = len(kinds)
        self.turning = np.array([kind == "R" for kind in kinds])
        self.alpha, self.a, self.d, self.theta = rng.uniform(-1.5, 1.5, (4, n))
        self.mass, self.rotor = rng.uniform(0.5, 3.0, n), rng.uniform(0.0, 0.2, n)
        self.centre = rng.normal(scale=0.3, size=(n, 3))
        self.inertia = np.array([(r := random_rotation(rng)) @ np.diag([0.1, 0.15, 0.2]) @ r.T * m for m in self.mass])
        self.volume, self.middle = rng.uniform(1e-4, 2e-3, n), rng.normal(scale=0.2, size=(n, 3))
        self.drag = rng.uniform(0.0, 0.1, (n, 3))
        self.tool = np.eye(4)
        self.tool[:3, :3], self.tool[:3, 3] = random_rotation(rng), rng.normal(size=3)
        self.base = np.eye(4)
        self.base[:3, :3], self.base[:3, 3] = random_rotation(rng), rng.normal(size=3)
        self.g, self.current, self.density = rng.normal(scale=5.0, size=3), rng.normal(size=3), 1025.0

    def records(self):
        links = np.zeros(self.n, dh.LINK)
        for k, own in enumerate(links):
            own.kind = dh.REVOLUTE if self.turning[k] else dh.PRISMATIC
            own.ca, own.sa = np.cos(self.alpha[k]), np.sin(self.alpha[k])
            own.a, own.d, own.theta, own.mass, own.rotor = (
                self.a[k], self.d[k], self.theta[k], self.mass[k], self.rotor[k]
            )  # fmt: skip
            own.cx, own.cy, own.cz = self.centre[k]
            own.ixx, own.iyy, own.izz = np.diag(self.inertia[k])
            own.ixy, own.ixz, own.iyz = self.inertia[k][0, 1], self.inertia[k][0, 2], self.inertia[k][1, 2]
            own.volume = self.volume[k]
            own.bx, own.by, own.bz = self.middle[k]
            own.drag_x, own.drag_y, own.drag_z = self.drag[k]
        arm = np.zeros(1, dh.ARM)
        own = arm[0]
        own.gx, own.gy, own.gz = self.g
        own.ux, own.uy, own.uz = self.current
        own.density = self.density
        for name, pose in (("base", self.base), ("tool", self.tool)):
            for column, axis in enumerate("xyz"):
                for row, part in enumerate("xyz"):
                    own[f"{name}_{part}{axis}"] = pose[row, column]
                own[f"{name}_{axis}"] = pose[column, 3]
        return arm, links

    def frames(self, q):
        """[titan4] eq. 3-1 and 3-2: R_z(θ) and d along z, then a along x and R_x(α)."""
        pose, found = np.eye(4), []
        for k in range(self.n):
            angle = self.theta[k] + (q[k] if self.turning[k] else 0.0)
            offset = self.d[k] + (0.0 if self.turning[k] else q[k])
            step = np.eye(4)
            step[:3, :3] = turn("z", angle) @ turn("x", self.alpha[k])
            step[:3, 3] = [self.a[k] * np.cos(angle), self.a[k] * np.sin(angle), offset]
            pose = pose @ step
            found.append(pose)
        return found

    def jacobian(self, q, last, point):
        """Velocity of a point that moves with link `last`, and its angular velocity."""
        before = [np.eye(4), *self.frames(q)]
        found = np.zeros((6, self.n))
        for k in range(last + 1):
            axis, origin = before[k][:3, 2], before[k][:3, 3]
            found[:, k] = np.r_[np.cross(axis, point - origin), axis] if self.turning[k] else np.r_[axis, np.zeros(3)]
        return found

    def at(self, q, k, local):
        frame = self.frames(q)[k]
        return frame[:3, :3] @ local + frame[:3, 3]

    def inertia_matrix(self, q):
        found = np.diag(self.rotor)
        for k in range(self.n):
            j = self.jacobian(q, k, self.at(q, k, self.centre[k]))
            r = self.frames(q)[k][:3, :3]
            found = found + self.mass[k] * j[:3].T @ j[:3] + j[3:].T @ r @ self.inertia[k] @ r.T @ j[3:]
        return found

    def gravity(self, q):
        return -sum(
            self.mass[k] * self.jacobian(q, k, self.at(q, k, self.centre[k]))[:3].T @ self.g for k in range(self.n)
        )

    def potential(self, q):
        total = 0.0
        for k in range(self.n):
            total -= self.mass[k] * self.g @ self.at(q, k, self.centre[k])
            total += self.density * self.volume[k] * self.g @ self.at(q, k, self.middle[k])
        return total

    def christoffel(self, q, qd, h=1e-5):
        """C_ij = ½ Σ_k (∂H_ij/∂q_k + ∂H_ik/∂q_j − ∂H_jk/∂q_i) q̇_k; derivatives by central differences."""
        change = np.array(
            [(self.inertia_matrix(q + h * e) - self.inertia_matrix(q - h * e)) / (2 * h) for e in np.eye(self.n)]
        )
        by_k = np.einsum("kij,k->ij", change, qd)
        by_j = np.einsum("jik,k->ij", change, qd)
        by_i = np.einsum("ijk,k->ij", change, qd)
        return 0.5 * (by_k + by_j - by_i)

    def water(self, q, qd):
        total = np.zeros(self.n)
        for k in range(self.n):
            j = self.jacobian(q, k, self.at(q, k, self.middle[k]))
            r = self.frames(q)[k][:3, :3]
            v = r.T @ (j[:3] @ qd - self.current)
            force = r @ (-0.5 * self.density * self.drag[k] * np.abs(v) * v) - self.density * self.volume[k] * self.g
            total += j[:3].T @ force
        return total


@pytest.fixture(params=KINDS)
def case(request):
    rng = np.random.default_rng(KINDS.index(request.param))
    chain = Chain(request.param, rng)
    arm, links = chain.records()
    n = chain.n
    q, qd, qdd = rng.normal(size=(3, n))
    scratch = np.zeros(n, dh.SCRATCH)
    dh.set_joints(links, q, scratch)
    frames = np.zeros((n + 1, 12))
    dh.chain_frames(links, scratch, frames)
    dh.tool_frame(arm[0], frames[n - 1], frames[n])
    return SimpleNamespace(
        chain=chain, arm=arm[0], links=links, q=q, qd=qd, qdd=qdd, scratch=scratch, frames=frames, rng=rng, n=n
    )


def pose_of(frame):
    found = np.eye(4)
    found[:3] = np.reshape(frame, (4, 3)).T
    return found


def assert_close(found, expected, rel=1e-12):
    assert np.asarray(found) == pytest.approx(np.asarray(expected), rel=rel, abs=rel * (1.0 + np.abs(expected).max()))


def torques(case, qd, qdd, g):
    out = np.zeros(case.n)
    newton_euler(case.links, *g, qd, qdd, case.scratch, out)
    return out


# --- frames and Jacobian -------------------------------------------------------------------------------------------


def test_frames_are_products_of_denavit_and_hartenbergs_matrices(case):
    expected = case.chain.frames(case.q)
    for k in range(case.n):
        assert_close(pose_of(case.frames[k]), expected[k])
    assert_close(pose_of(case.frames[case.n]), expected[-1] @ case.chain.tool)


def test_a_frame_in_the_world_and_back_to_the_flange(case):
    tool, flange = np.eye(4), np.zeros(12)
    dh.to_world(case.arm, case.frames[case.n], tool)
    expected = case.chain.frames(case.q)[-1]
    assert_close(tool, case.chain.base @ expected @ case.chain.tool)
    dh.flange_target(case.arm, tool, flange)
    assert_close(pose_of(flange), expected)


def test_the_jacobian_is_the_rate_of_the_frames(case):
    point, n, h = case.chain.at(case.q, case.n - 1, np.array([0.1, -0.2, 0.3])), case.n, 1e-6
    found = np.zeros((6, n))
    dh.chain_jacobian(case.links, case.frames, *point, found)
    assert_close(found, case.chain.jacobian(case.q, n - 1, point))
    for k, e in enumerate(np.eye(n)):
        ahead, behind = (case.chain.frames(case.q + s * h * e)[-1] for s in (1, -1))
        moved = (ahead - behind)[:3] @ [0.1, -0.2, 0.3, 1.0] / (2 * h)
        turned = (ahead - behind)[:3, :3] @ case.chain.frames(case.q)[-1][:3, :3].T / (2 * h)
        assert_close(found[:, k], [*moved, turned[2, 1], turned[0, 2], turned[1, 0]], rel=1e-8)


def test_forces_on_a_link_load_the_joints_before_it(case):
    for last in range(case.n):
        point, force, moment = case.rng.normal(size=(3, 3))
        found = np.ones(case.n)
        dh.add_force(case.links, case.frames, last, tuple(point), tuple(force), tuple(moment), found)
        assert_close(found - 1.0, case.chain.jacobian(case.q, last, point).T @ np.r_[force, moment])


# --- dynamics ------------------------------------------------------------------------------------------------------


def test_inertia_matrix_by_both_methods(case):
    n, expected = case.n, case.chain.inertia_matrix(case.q)
    found = np.full((n, n), np.nan)
    composite.inertia_matrix(case.links, case.scratch, found)
    assert_close(found, expected)
    columns = np.full((n, n), np.nan)
    composite.inertia_by_columns(case.links, np.empty(n), np.zeros(n), case.scratch, columns)
    assert_close(columns, expected)


def test_gravity_alone(case):
    assert_close(torques(case, np.zeros(case.n), np.zeros(case.n), case.chain.g), case.chain.gravity(case.q))


def test_newton_euler_is_inertia_coriolis_and_gravity(case):
    chain, q, qd, qdd = case.chain, case.q, case.qd, case.qdd
    expected = chain.inertia_matrix(q) @ qdd + chain.christoffel(q, qd) @ qd + chain.gravity(q)
    assert_close(torques(case, qd, qdd, chain.g), expected, rel=1e-8)


def test_coriolis_matrix_is_christoffels(case):
    n, found = case.n, np.full((case.n, case.n), np.nan)
    room = np.empty((2, n))
    composite.coriolis_matrix(case.links, case.qd, np.zeros(n), room[0], case.scratch, room[1], found)
    assert_close(found, case.chain.christoffel(case.q, case.qd), rel=1e-8)


def test_potential_energy_and_its_slope(case):
    total = sum(dh.potential_energy(case.arm, case.links[k], case.frames[k]) for k in range(case.n))
    assert_close([total], [case.chain.potential(case.q)])
    still = np.zeros(case.n)
    lift = np.zeros(case.n)
    case.arm.ux = case.arm.uy = case.arm.uz = 0.0
    dh.add_water(case.arm, case.links, case.frames, still, case.scratch, lift)
    gravity, h = torques(case, still, still, case.chain.g), 1e-6
    slope = [
        (case.chain.potential(case.q + h * e) - case.chain.potential(case.q - h * e)) / (2 * h) for e in np.eye(case.n)
    ]
    assert_close(gravity - lift, slope, rel=1e-7)


def test_buoyancy_drag_and_current(case):
    found = np.ones(case.n)
    dh.add_water(case.arm, case.links, case.frames, case.qd, case.scratch, found)
    assert_close(found - 1.0, case.chain.water(case.q, case.qd), rel=1e-11)


def test_friction_is_viscous_and_a_smoothed_sign():
    link = np.zeros(1, dh.LINK)[0]
    link.viscous, link.coulomb, link.smoothing = 3.0, 5.0, 0.1
    assert dh.friction_torque(link, 0.0) == 0.0
    assert dh.friction_torque(link, 0.1) == pytest.approx(0.3 + 5.0 / np.sqrt(2.0))
    assert dh.friction_torque(link, -100.0) == pytest.approx(-300.0 - 5.0, rel=1e-6)


def test_water_leaves_what_is_there_and_needs_no_clean_room(case):
    """Torques are added to, and what the room held before does not count."""
    found = []
    for filled in (0.0, np.nan):
        room, torque = np.zeros(case.n, dh.SCRATCH), np.full(case.n, 2.0)
        for name in ("fx", "fy", "fz", "nx", "ny", "nz"):
            room[name] = filled
        dh.add_water(case.arm, case.links, case.frames, case.qd, room, torque)
        found.append(torque.tobytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("n", [1, 2, 3, 6, 12])
def test_solving_symmetric_equations(n):
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n))
    h, b = root @ root.T + np.eye(n), rng.normal(size=n)
    found = b.copy()
    assert composite.solve_symmetric(h.copy(), found)
    assert_close(found, np.linalg.solve(h, b))


@pytest.mark.parametrize("h", [[[0.0]], [[-1.0]], [[np.nan]], [[1.0, 2.0], [2.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]])
def test_a_matrix_that_is_not_positive_is_told(h):
    assert not composite.solve_symmetric(np.array(h), np.ones(len(h)))


# --- balls in boxes ------------------------------------------------------------------------------------------------

HALF = np.array([0.3, 0.2, 0.1])


def outside(point, radius):
    """Depth and normal by the nearest point of the box."""
    way = point - np.clip(point, -HALF, HALF)
    return radius - np.linalg.norm(way), way / np.linalg.norm(way)


def test_a_ball_outside_meets_the_nearest_point_of_the_box():
    rng = np.random.default_rng(4)
    touching = 0
    for _ in range(500):
        point = rng.uniform(-0.5, 0.5, 3)
        if np.all(np.abs(point) <= HALF):
            continue
        depth, *normal = ball_in_box(*HALF, *point, 0.15)
        expected, direction = outside(point, 0.15)
        assert (depth > 0.0) == (expected > 0.0)
        if depth > 0.0:
            touching += 1
            assert depth == pytest.approx(expected) and normal == pytest.approx(direction)
    assert touching > 50


def test_a_ball_whose_middle_is_inside_leaves_by_the_nearest_face():
    rng = np.random.default_rng(5)
    for radius in (0.0, 0.05):
        for _ in range(100):
            point = rng.uniform(-HALF, HALF)
            depth, *normal = ball_in_box(*HALF, *point, radius)
            ways = HALF - np.abs(point)
            axis = int(np.argmin(ways))
            assert depth == pytest.approx(ways[axis] + radius)
            assert normal == pytest.approx(np.sign(point[axis]) * np.eye(3)[axis])
            assert np.max(np.abs(point + (depth - radius) * np.array(normal)) - HALF) == pytest.approx(0.0, abs=1e-15)


def test_depth_goes_on_evenly_through_the_face():
    """A ball that is pushed in: nothing jumps where its middle passes the surface."""
    for z in (0.1 + 1e-9, 0.1, 0.1 - 1e-9):
        depth, *normal = ball_in_box(*HALF, 0.05, 0.02, z, 0.03)
        assert depth == pytest.approx(0.03, abs=2e-9) and normal == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("point", [(0.3, 0.0, 0.0), (-0.3, 0.2, 0.1), (0.0, 0.0, 0.1)])
def test_a_point_on_the_surface_is_not_pressed(point):
    depth, *normal = ball_in_box(*HALF, *point, 0.0)
    assert depth == 0.0 and np.isfinite(normal).all()
    assert ball_in_box(*HALF, *(1.0001 * np.array(point)), 0.0)[0] <= 0.0
