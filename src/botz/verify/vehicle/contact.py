"""Where vehicles touch the ground: the contact search, walls, a vehicle on its roof; and the tyres' polynomials."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from botz.physics import polynomials
from botz.terrain.height_grid import HeightGrid
from botz.transforms import quaternion_from_attitude
from botz.verify.checks import EPS, FAST, Check, close, worst
from botz.verify.vehicle.rig import GRAVITY, NAMES, Data, Rig, change_world, rig, vivi

SIZE: Data = {"x": [-4.0, 4.0], "y": [-4.0, 4.0], "resolution": 0.05}
GROUNDS: dict[str, Data] = {
    "class D": {"type": "rough", "iso_class": "D", **SIZE},
    "class E": {"type": "rough", "iso_class": "E", **SIZE},
    "bumps": {
        "type": "bumps", "count": 200, "height": [0.03, 0.15], "radius": [0.1, 0.4], "clear": 0.0, **SIZE,
    },
    "step": {"type": "step", "at": 0.0, "height": 0.08, "edge": 0.1, **SIZE},
}  # fmt: skip
TILT = np.radians(40.0)
SLICES = 18


def placed(made: Rig, x: float, y: float, z: float, attitude: Any, plain: bool) -> Rig:
    """Puts the vehicle there and looks for its contacts, by the plain search or by the fast one from afar."""
    own = made.engine.state.robots[0]
    own.x, own.quat = [x, y, z], quaternion_from_attitude(*attitude)
    own.travelled += 10.0  # what the search remembers of other places is void
    change_world(made.engine, plain=plain)
    made.engine.look()
    return made


def random_pose(rng: np.random.Generator, ground: HeightGrid, reach: float) -> tuple[float, float, float, list[float]]:
    """Tilted by up to 40°, low enough that wheels touch."""
    x, y = rng.uniform(-reach, reach, 2)
    attitude = [*rng.uniform(-TILT, TILT, 2), rng.uniform(-np.pi, np.pi)]
    return float(x), float(y), float(ground.height(x, y)) + rng.uniform(0.1, 0.25), attitude


def fast_search_of_poses(samples: int) -> Iterator[Check]:
    """The fast search finds the deflection that the plain one finds, from wherever it comes."""
    rng = np.random.default_rng(3)
    for name, terrain in GROUNDS.items():
        for rims in (1, 2):
            made = rig(vivi(without_motors=True, wheel={"rims": rims}), terrain=terrain, position=[0.0, 0.0, 3.0])
            reach = 0.4 if name == "step" else 2.5
            gaps, touching = [], 0
            for _ in range(min(samples, 20_000) // 2):
                pose = random_pose(rng, made.engine.ground, reach)
                near = placed(made, *pose, plain=False).each("deflection")
                plain = placed(made, *pose, plain=True).each("deflection")
                touching += int(np.sum(plain > 0.0))
                gaps.append(float(np.max(np.abs(near - plain))))
            wheel = made.engine.scenario.robots["r"].wheels["front_left"]
            tolerance = 2 * 1e-6 * wheel.suspension.travel + 1e2 * EPS
            why = f"Each is right to the tolerance, 1e-6 of the travel; {touching} wheels touched."
            case = f"{name}, {rims} rim{'s' * (rims - 1)}"
            yield worst(
                f"fast search of random poses, {case}: deflection [m]", gaps if touching else [], tolerance, why
            )


def fast_search_in_a_run(samples: int) -> Iterator[Check]:
    """The same run with both searches."""
    seconds = 3.0 if samples > FAST else 1.0
    for name, terrain in GROUNDS.items():
        ends = []
        for search in ("fast", "plain"):
            made = rig(vivi(), terrain=terrain, contact={"search": search}, position=[-0.6, 0.1], seed=2)
            ends.append(made.command(tank=[0.7, 0.5]).run(seconds).value("pose"))
        spec = made.engine.scenario.robots["r"]
        spring, (_, yy, _, _, _, _) = spec.wheels["front_left"].suspension, spec.chassis.inertia_tensor
        # Four forces wrong by k δ, all to one side, push for the whole time, through mass and through the shortest arm.
        wrong = 4 * spring.stiffness * 1e-6 * spring.travel
        tolerance = 0.5 * seconds**2 * wrong * max(1 / spec.chassis.mass, 0.22 / yy)
        why = "Four springs wrong by k δ with δ = 1e-6 of the travel, all of the time, to one side: ½ (4 k δ/m) T²."
        yield worst(f"fast search in a run of {seconds:g} s, {name}: pose", ends[0] - ends[1], tolerance, why)


def deflections_by_bisection(made: Rig, wheel: str, pose: Any, slices: int) -> np.ndarray:
    """h of each slice of a wheel's rim by 45 halvings of the range, NumPy's heights; NaN where it hangs in the air."""
    x, y, z, attitude = pose
    spec = made.engine.scenario.robots["r"].wheels[wheel]
    w, *v = quaternion_from_attitude(*attitude)
    axes = np.array([axis + 2.0 * np.cross(v, w * axis + np.cross(v, axis)) for axis in np.eye(3)])
    gamma = np.linspace(-np.pi / 2, np.pi / 2, slices + 1)
    centre = np.array([x, y, z]) + np.array(spec.position) @ axes
    rim = centre + spec.radius * (np.sin(gamma)[:, None] * axes[0] - np.cos(gamma)[:, None] * axes[2])
    ground, up = made.engine.ground, axes[2]

    def gap(h: np.ndarray) -> np.ndarray:
        points = rim + h[:, None] * up
        return np.asarray(points[:, 2] - ground.height(points[:, 0], points[:, 1]))

    low, high = np.zeros(gamma.size), np.full(gamma.size, spec.suspension.travel + spec.radius)
    hanging = gap(low) >= 0.0
    for _ in range(45):
        middle = 0.5 * (low + high)
        below = gap(middle) < 0.0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(hanging, np.nan, 0.5 * (low + high))


def steepness_and_kinks(ground: HeightGrid, x: float, y: float, reach: float) -> tuple[float, float]:
    """Near a place: the steepest slope s, and the most that a slope changes from one cell to the next."""
    i, j = round((x - ground.x_min) / ground.dx), round((y - ground.y_min) / ground.dy)
    n, m = int(reach / ground.dx) + 2, int(reach / ground.dy) + 2
    heights = ground.heights[max(i - n, 0) : i + n + 1, max(j - m, 0) : j + m + 1]
    along_x, along_y = np.diff(heights, axis=0) / ground.dx, np.diff(heights, axis=1) / ground.dy
    steepest = float(np.hypot(np.abs(along_x).max(), np.abs(along_y).max()))
    kinks = np.abs(np.diff(along_x, axis=0)).max() + np.abs(np.diff(along_y, axis=1)).max()
    return steepest, float(kinks + 2.0 * np.abs(np.diff(along_x, axis=1)).max())


def plain_search_against_bisection(samples: int) -> Iterator[Check]:
    """h of 18 slices lies below that of 1998 at most by [r (1 − cos δ) + ½ K r sin δ] √(1 + s²)/(b_z − s |b_xy|),
    δ half a slice. The circle falls away from its tangent by the first term, from a ridge of slopes K apart by both."""
    rng = np.random.default_rng(4)
    for name in ("class D", "class E"):
        made = rig(vivi(without_motors=True, wheel={"rims": 1}), terrain=GROUNDS[name], position=[0.0, 0.0, 3.0])
        spec = made.engine.scenario.robots["r"].wheels["front_left"]
        delta = 0.5 * np.pi / SLICES
        below, same_slices = [], []
        for _ in range(min(samples, 3000) // 10):
            pose = random_pose(rng, made.engine.ground, 2.5)
            placed(made, *pose, plain=True)
            up = np.cos(pose[3][0]) * np.cos(pose[3][1])
            for wheel, h in zip(NAMES, made.each("deflection"), strict=True):
                fine = deflections_by_bisection(made, wheel, pose, SLICES * 111)
                if np.isnan(fine[::111]).all():
                    continue
                contact = made.value(f"{wheel}/contact")
                steepest, kink = steepness_and_kinks(made.engine.ground, contact[0], contact[1], spec.radius)
                # A gap of 1 takes 1/(b_z − s |b_xy|) of deflection.
                stretch = np.hypot(1.0, steepest) / max(up - steepest * np.sqrt(1.0 - up * up), 0.1)
                bound = stretch * spec.radius * ((1.0 - np.cos(delta)) + 0.5 * kink * np.sin(delta))
                below.append((np.nanmax(fine) - h) / bound)
                same_slices.append(np.nanmax(fine[::111]) - h)
        tolerance = 1e-6 * spec.suspension.travel + 1e-12
        why = f"The search's tolerance, 1e-6 of the travel; {len(below)} wheels touched."
        yield worst(f"plain search, {name}: against bisection of the same slices [m]", same_slices, tolerance, why)
        deepest = max(below, default=np.nan)
        why = "The bound with the steepest slope s and the largest change K of slopes that the wheel can reach."
        yield close(f"plain search, {name}: below the whole rim by, in parts of the bound", 0.5, deepest, 0.5, why)
        higher = max(0.0, -min(below, default=np.nan))
        yield close(f"plain search, {name}: above the whole rim by, in parts of the bound", 0.0, higher, 1e-3, why)


def normals_by_differences(samples: int) -> Iterator[Check]:
    """n̂ = (−f_x, −f_y, 1)/|·| with slopes by differences of the bilinear surface, and the contact lies on it."""
    rng = np.random.default_rng(6)
    for name in ("class E", "bumps"):
        made = rig(vivi(without_motors=True, wheel={"rims": 1}), terrain=GROUNDS[name], position=[0.0, 0.0, 3.0])
        spec = made.engine.scenario.robots["r"].wheels["front_left"]
        ground, step, most = made.engine.ground, 1e-6, spec.suspension.travel + spec.radius
        gaps, heights = [], []
        for _ in range(min(samples, 3000) // 3):
            placed(made, *random_pose(rng, ground, 2.5), plain=True)
            row = made.row()
            for wheel in NAMES:
                x, y, z = made.value(f"{wheel}/contact", row)
                inside = [(x - ground.x_min) / ground.dx % 1.0, (y - ground.y_min) / ground.dy % 1.0]
                if min(*inside, *(1.0 - f for f in inside)) < 1e-4:
                    continue  # within a cell the surface has slopes; across an edge it has two of each
                if not 0.0 < made.value(f"{wheel}/deflection", row) < most:
                    continue  # in the air, or deeper than the search looks
                f_x = (ground.height(x + step, y) - ground.height(x - step, y)) / (2 * step)
                f_y = (ground.height(x, y + step) - ground.height(x, y - step)) / (2 * step)
                normal = np.array([-f_x, -f_y, 1.0]) / np.sqrt(1.0 + f_x**2 + f_y**2)
                gaps.append(float(np.max(np.abs(normal - made.value(f"{wheel}/normal", row)))))
                heights.append(float(z - ground.height(x, y)))
        why = "Linear along x and y in a cell, so that only roundings of 0.3 m over 2e-6 m remain."
        yield worst(f"normals, {name}: against differences", gaps, 4 * EPS * 0.5 / step, why)
        why = "The deflection is right to 1e-6 of the travel; steep ground along b doubles it twice at most."
        yield worst(f"contact points, {name}: height above the ground [m]", heights, 4e-6 * spec.suspension.travel, why)


def lies_on_its_roof(samples: int) -> Iterator[Check]:
    """Dropped on its roof, a vehicle comes to rest, its corners carry m g, and it stays where it is."""
    del samples
    for roll in (180.0, 163.0):
        made = rig(vivi(), position=[0.0, 0.0, 0.3], attitude=[np.radians(roll), 0.0, 0.0]).run(3.0)
        weight = made.engine.scenario.robots["r"].chassis.mass * GRAVITY
        before = made.value("pose")
        made.run(2.0)
        pose, force = made.value("pose"), made.value("chassis_force")
        case = f"dropped at a roll of {roll:g}°"
        why = "Damped by 0.3 at 100 rad/s for 3 s: e^-90 of the fall; roundings of the force remain."
        yield close(f"{case}: corners carry [N]", weight, force[2], 1e-9 * weight, why)
        yield close(f"{case}: force to the side [N]", 0.0, np.hypot(force[0], force[1]), 1e-9 * weight, why)
        yield close(f"{case}: its up axis", -1.0, 1.0 - 2.0 * (pose[4] ** 2 + pose[5] ** 2), 1e-9, "On four corners.")
        why = "Springs across the ground hold it: no creep but roundings of the force, m g eps over k in each step."
        yield worst(f"{case}: creeps in 2 s by [m]", (pose - before)[:3], 2e4 * EPS * weight / 1e5 + 1e-12, why)


def blocked_by_a_wall(samples: int) -> Iterator[Check]:
    """Driven at a wall, a vehicle stops at it: ½ m v² = 2 · ½ k d² bounds the depth, and friction stays below μN."""
    seconds = 6.0 if samples > FAST else 2.5
    height, edge, at = 1.0, 0.02, 0.5
    terrain = {
        "type": "step", "at": at, "height": height, "edge": edge, "resolution": edge,
        "x": [-2.0, 2.0], "y": [-2.0, 2.0],
    }  # fmt: skip
    for method in ("semi-implicit", "rk4"):
        made = rig(vivi(), terrain=terrain, method=method, position=[-0.3, 0.0]).command(voltages=18.0)
        rows = made.record(seconds, 5)
        spec = made.engine.scenario.robots["r"]
        wheel, mass = spec.wheels["front_left"], spec.chassis.mass
        pose, speed = made.value("pose", rows), made.value("twist", rows)[:, 0]
        stiffness = wheel.suspension.stiffness / np.cos(made.engine.scenario.world.contact.blocked_angle) ** 2
        fastest = float(np.max(speed))
        depth = fastest * np.sqrt(mass / (2 * stiffness))
        # The wall leans by edge/height, and the nose may rise by the wheel's own radius: the front of the rim is there.
        leaning = (wheel.radius + wheel.suspension.travel) * 2 * edge / height
        front = float(np.max(pose[:, 0])) + wheel.position[0] + wheel.radius
        why = f"At {fastest:.2f} m/s two wheels on {stiffness:.2g} N/m give way by v √(m/2k); the wall leans."
        yield close(f"wall, {method}: farthest of the rims [m]", at, front, depth + leaning, why)
        normal = np.array([-height / edge, 0.0, 1.0]) / np.hypot(1.0, height / edge)
        friction = float(made.engine.model.wheels["wall_friction"][0, 0])
        pressing, across = [], []
        for name in NAMES:
            force = made.value(f"{name}/wall_force", rows)
            along = force @ normal
            pressing.append(along)
            across.append(np.linalg.norm(force - along[:, None] * normal, axis=1) - friction * along)
        # Spring and damper at once: k d + c v.
        damping = wheel.suspension.damping / np.cos(made.engine.scenario.world.contact.blocked_angle)
        most = stiffness * depth + damping * fastest
        largest = float(np.max(pressing))
        why = "Not more than k d + c v at the depth d and speed v of the impact; some of it, since it was stopped."
        yield close(f"wall, {method}: largest force [N]", 0.5 * most, largest, 0.5 * most, why)
        why = f"Bounded by {friction:.3g} N, the tyre's largest friction; roundings."
        yield close(f"wall, {method}: friction beyond μN [N]", 0.0, max(float(np.max(across)), 0.0), 1e-9 * most, why)
        why = "Blocked: wheels spin and it stands; the wheels' pull changes by less than 1 % of g while it settles."
        yield close(f"wall, {method}: speed at the end [m/s]", 0.0, speed[-1], 0.01 * GRAVITY * 0.1, why)


def polynomials_of_stated_error(samples: int) -> Iterator[Check]:
    """sin, cos, arctan and exp against NumPy's, on their whole ranges."""
    rng = np.random.default_rng(8)
    many = 1_000_000 if samples > FAST else 20_000
    steep = np.concatenate(
        [rng.uniform(-5, 5, many // 2), np.tan(rng.uniform(-np.pi / 2, np.pi / 2, many - many // 2))]
    )
    for name, function, reference, points, relative, tolerance in (
        ("sine", polynomials.sin_of, np.sin, rng.uniform(-1.5 * np.pi, 1.5 * np.pi, many), False, 2e-15),
        ("cosine", polynomials.cos_of, np.cos, rng.uniform(0.0, 2 * np.pi, many), False, 2e-15),
        ("arctangent", polynomials.atan_of, np.arctan, steep, False, 4e-16),
        ("exponential", polynomials.exp_of, np.exp, rng.uniform(-40.0, 0.0, many), True, 1e-13),
    ):
        wanted = reference(points)
        errors = np.fromiter((function(x) for x in points.tolist()), float, many) - wanted
        largest = float(np.max(np.abs(errors / wanted if relative else errors)))
        why = f"{many} random points; the error that physics/polynomials.py states."
        yield close(f"{name}: largest error{' of its value' if relative else ''}", 0.0, largest, tolerance, why)


FUNCTIONS = (
    fast_search_of_poses,
    fast_search_in_a_run,
    plain_search_against_bisection,
    normals_by_differences,
    lies_on_its_roof,
    blocked_by_a_wall,
    polynomials_of_stated_error,
)
