"""Arms that touch and carry: pressed on planes, objects that fall, rest, slide, float, and are gripped."""

from __future__ import annotations

from collections.abc import Iterator
from math import atan, cos, sin

import numpy as np

from botz.transforms import rotation_of_unit
from botz.verify.arm.loads import SEA
from botz.verify.arm.motion import LIMP, STARTS
from botz.verify.arm.rig import GRAVITY, SHIPPED, Data, floats, shipped
from botz.verify.arm.runs import Run, ideal, run_of, slider
from botz.verify.checks import EPS, Check, close, worst

K = 2e5
"""Stiffness of a point of contact [N/m]."""
HOLD = {"type": "pid", "frequency": 40.0}
FALL = 400
"""Steps of a fall, of 1 ms."""
FLOOR = {"floor": {"friction": 1.0}}


# --- pressing --------------------------------------------------------------------------------------------------------


def weight_on_a_point(samples: int) -> Iterator[Check]:
    """A body that stands on one ball of its tool: k d = m g, and its wrench is its weight."""
    del samples
    mass, radius = 8.0, 0.05
    data = slider(mass, LIMP, tool={"points": [[0.0, 0.0, 0.0]], "radius": radius})
    made = run_of(data, world={"planes": FLOOR, "contact": {"stiffness": K}}, start=[0.06]).run(4.0)
    why = "At rest to rounding: ζ = 0.5 · ½ of √(k/m) = 158/s for 4 s leaves e⁻¹⁰⁰."
    depth = radius - made.value("r/position")[0]
    yield close("standing on a ball: depth m g/k [m]", mass * GRAVITY / K, depth, 10 * EPS, why)
    force = made.value("r/tool/wrench")
    yield worst("standing on a ball: wrench [N]", force - [0, 0, mass * GRAVITY, 0, 0, 0], 1e-9, "k times 1e-16 m.")


def standing_still(samples: int) -> Iterator[Check]:
    """What starts in balance stays in it: a body on a ball at k d = m g, a box on its four corners at 4 k d = m g."""
    del samples
    mass, radius = 8.0, 0.05
    data = slider(mass, LIMP, tool={"points": [[0.0, 0.0, 0.0]], "radius": radius})
    start = radius - mass * GRAVITY / K
    made = run_of(data, world={"planes": FLOOR}, start=[start]).steps(20)
    yield close("on a ball from the start: height [m]", start, made.value("r/position")[0], 10 * EPS, "Rounding.")
    yield close(
        "on a ball from the start: force [N]", mass * GRAVITY, made.value("r/tool/wrench")[2], 1e-9, "k · 1e-16."
    )
    height = 0.08 - MASS * GRAVITY / (4.0 * K)
    box = thing(size=[0.08, 0.06, 0.16], mass=MASS, pose=[0, 0, height, 0, 0, 0])
    made = run_of(far_arm(), world={"planes": FLOOR, "objects": {"box": box}}).steps(20)
    yield close("box from the start: height [m]", height, made.value("box/pose")[2], 10 * EPS, "Rounding.")


def pads_at_rest(samples: int) -> Iterator[Check]:
    """Pads that press on a box with the force of their cylinder, 4 k d each, stay where they are."""
    del samples
    height, force = 0.08 - MASS * GRAVITY / (4.0 * K), 200.0
    # A servo that knew of the box would lift it at once.
    made = gripper_over_a_box(0.06 - 2.0 * force / (4.0 * K), height, knows_payload=False)
    # One step where they are, in which they feel the box; then they close with the force that they press with already.
    made.steps(1).command(gripper_opening=0.0, gripper_force=force).steps(20)
    why = "A force of 200 N from differences of 0.03 m: k · 1e-16."
    yield close("pads from the start: force [N]", force, made.value("r/gripper/force"), 1e-9, why)
    yield close("pads from the start: what is held", 1.0, made.value("r/gripper/held"), 0.0, "The first object.")
    yield worst("pads from the start: wrench [N]", made.value("r/tool/wrench"), 1e-9, "Both jaws press alike.")


def pressed_on_a_wall(samples: int) -> Iterator[Check]:
    """An arm whose reference is behind a wall comes to rest where τ + Jᵀ F = G(q), with F = k d along the wall's normal
    and the rest of it friction inside its cone."""
    del samples
    for name in SHIPPED:
        q, _ = STARTS[name]
        data = ideal(shipped(name), HOLD)
        data["tool"] = {**data["tool"], "points": [[0.0, 0.0, 0.0]], "radius": 0.03, "friction": 0.6}
        free = run_of(data, start=q)
        tip, normal = free.value("r/tool/pose")[:3], np.array([-1.0, 0.3, 0.2])
        normal = normal / np.linalg.norm(normal)
        # A wall that touches the ball, and a reference 20 mm behind it.
        wall = {"wall": {"point": floats(tip - 0.03 * normal), "normal": floats(normal), "friction": 0.6}}
        jacobian = free.arm.jacobian(np.array(q))
        behind = np.array(q) + np.linalg.lstsq(jacobian, np.array([*(-0.02 * normal), 0.0, 0.0, 0.0]), rcond=None)[0]
        made = run_of(data, world={"planes": wall}, start=q).command(position=behind).run(4.0)
        now = made.value("r/position")
        force = made.value("r/tool/wrench")
        balance = made.value("r/torque") + made.arm.jacobian(now).T @ force - made.arm.gravity(now)
        size = np.abs(made.value("r/torque")).max()
        why = "At rest: rates above 10/s for 4 s leave e⁻⁴⁰ of what was in motion, and rounding."
        yield worst(f"{name} pressed on a wall: τ + JᵀF − G by τ", balance / size, 1e-9, why)
        place = made.value("r/tool/pose")[:3]
        depth = float((tip - place) @ normal)
        along = float(force[:3] @ normal)
        yield close(f"{name} pressed on a wall: F·n by k d", 1.0, along / (K * depth), 1e-9, why)
        across = float(np.linalg.norm(force[:3] - along * normal)) / along
        bound = 0.6 * (1.0 + 1e-12)
        yield close(f"{name} pressed on a wall: friction by force", 0.0, across, bound, "μ = √(0.6 · 0.6), no more.")
        yield worst(f"{name} pressed on a wall: speed left [rad/s]", made.value("r/speed"), 1e-9, why)


# --- objects ---------------------------------------------------------------------------------------------------------


def far_arm() -> Data:
    """An arm that takes no part."""
    return slider(1.0, HOLD, pose=[50.0, 50.0, 50.0, 0.0, 0.0, 0.0])


def thing(**changes: object) -> Data:
    return {"size": [0.2, 0.3, 0.1], "mass": 6.0, "pose": [0.0, 0.0, 1.0, 0.0, 0.0, 0.0], "friction": 1.0, **changes}


def falling_objects(samples: int) -> Iterator[Check]:
    """A box falls by g t²/2; in water by its weight without that of the water."""
    del samples
    seconds = FALL * 1e-3
    made = run_of(far_arm(), world={"objects": {"box": thing()}}).steps(FALL)
    found = made.value("box/pose")
    why = "A parabola: integrated exactly."
    yield close("falling box [m]", 1.0 - 0.5 * GRAVITY * seconds**2, found[2], 1e-13, why)
    yield worst("falling box: attitude", found[3:] - [1, 0, 0, 0], 0.0, "It does not turn.")
    made = run_of(far_arm(), world={"objects": {"box": thing(mass=9.0)}, "water": {"density": SEA}}).steps(FALL)
    pull = GRAVITY * (1.0 - SEA * 0.006 / 9.0)
    yield close("sinking box [m]", 1.0 - 0.5 * pull * seconds**2, made.value("box/pose")[2], 1e-13, why)


def dropped_object(samples: int) -> Iterator[Check]:
    """A box that is dropped comes to rest at 4 k d = m g."""
    del samples
    world = {"planes": FLOOR, "objects": {"box": thing(pose=[0.0, 0.0, 0.06, 0.0, 0.0, 0.3])}}
    made = run_of(far_arm(), world=world, step=5e-4).run(3.0)
    height = 0.05 - 6.0 * GRAVITY / (4.0 * K)
    why = "At rest: damped with ζ = 0.5 of √(4k/m) = 365/s for 3 s, and rounding."
    yield close("box on the floor: its height [m]", height, made.value("box/pose")[2], 1e-12, why)
    yield worst("box on the floor: twist left", made.value("box/twist"), 1e-9, why)


def sliding_objects(samples: int) -> Iterator[Check]:
    """On a slope below the friction angle a box stays; above it it slides with g (sin β − μ cos β)."""
    del samples
    friction = 0.5
    for label, slope in (("below", atan(friction) - 0.08), ("above", atan(friction) + 0.08)):
        normal = [sin(slope), 0.0, cos(slope)]
        plane = {"slope": {"normal": normal, "friction": friction}}
        depth = 6.0 * GRAVITY * cos(slope) / (4.0 * K)
        start = floats([*((0.05 - depth) * np.array(normal)), 0.0, slope, 0.0])
        box = {"box": thing(pose=start, friction=friction, size=[0.4, 0.4, 0.1])}
        made = run_of(far_arm(), world={"planes": plane, "objects": box}, step=5e-4)
        down = np.array([cos(slope), 0.0, -sin(slope)])
        made.run(1.0)
        before = made.value("box/pose")[:3] @ down
        speed = made.value("box/twist")[0]
        made.run(0.5)
        if label == "below":
            moved = made.value("box/pose")[:3] @ down - before
            why = "A spring that sticks: nothing moves once it has swung out."
            yield close("box below the friction angle: way in 0.5 s [m]", 0.0, moved, 1e-12, why)
        else:
            expected = GRAVITY * (sin(slope) - friction * cos(slope)) * 0.5
            gained = made.value("box/twist")[0] - speed
            why = "Coulomb's friction of a normal force that has settled: what is left of its swing, 1e-6."
            yield close("box above the friction angle: speed gained in 0.5 s [m/s]", expected, gained, 1e-6, why)


def spinning_box(samples: int) -> Iterator[Check]:
    """A box in free flight keeps its angular momentum and energy, also when it tumbles about its middle axis."""
    del samples
    world = {"gravity": [0.0, 0.0, 0.0], "objects": {"box": thing(size=[0.1, 0.2, 0.4])}}
    moments = 6.0 / 12.0 * np.array([0.04 + 0.16, 0.01 + 0.16, 0.01 + 0.04])

    def kept(step: float) -> tuple[float, float]:
        made = run_of(far_arm(), world=world, step=step)
        made.engine.state.poses[0, 10:13] = [0.01, 9.0, 0.02]

        def now() -> tuple[np.ndarray, float]:
            turn = rotation_of_unit(*made.value("box/pose")[3:])
            spin = made.value("box/twist")[3:]
            return turn @ (moments * spin), float(0.5 * spin @ (moments * spin))

        before, energy = now()
        made.run(2.0)
        after, left = now()
        return float(np.linalg.norm(after - before) / np.linalg.norm(before)), abs(left / energy - 1.0)

    coarse, fine = kept(1e-3), kept(5e-4)
    for what, one, two in zip(("angular momentum", "energy"), coarse, fine, strict=True):
        why = "Runge-Kutta's fourth order at half of the step: a sixteenth, or less."
        yield close(f"tumbling box: change of its {what}, relative", 0.0, two, 1.1 * one / 16.0, why)
        yield close(
            f"tumbling box: change of its {what} at 1 ms", 0.0, one, 2.0 * 9.0 * (9.0 * 1e-3) ** 4, "ω t (h ω)⁴."
        )


# --- grips -----------------------------------------------------------------------------------------------------------

MASS = 4.0
FRICTION = 0.5


def gripper_over_a_box(opening: float, height: float, **servo: object) -> Run:
    """A gripper on a slide, its pads beside a box that stands on a bench."""
    data = slider(
        10.0, HOLD | servo,
        tool={"friction": FRICTION},
        gripper={"opening": 0.1, "force": 1000.0, "speed": 0.1, "pads": [0.04, 0.06], "start": opening},
    )  # fmt: skip
    box = thing(size=[0.08, 0.06, 0.16], mass=MASS, friction=FRICTION, pose=[0, 0, height, 0, 0, 0])
    world = {"planes": {"bench": {"friction": 0.8}}, "objects": {"box": box}}
    return run_of(data, world=world, step=5e-4, start=[0.1])


def gripping(force: float, lift: float = 0.1, **servo: object) -> Run:
    """A gripper on a slide closes on a box that stands on a bench, and lifts it. `force`: of a jaw [N]."""
    made = gripper_over_a_box(0.1, 0.08, **servo)
    made.command(gripper_opening=0.0, gripper_force=force).run(1.5)
    if lift:
        made.command(position=[0.1], speed=[lift]).run(1.0)
        made.command(position=[0.1 + lift], speed=[0.0]).run(1.5)
    return made


def gripped_object(samples: int) -> Iterator[Check]:
    """Two pads hold m g by friction up to 2 μ F. Held, the box hangs on the arm with its whole weight; beyond, it stays
    behind, and the pads that slide along it pull with 2 μ F."""
    del samples
    least = MASS * GRAVITY / (2.0 * FRICTION)
    # Twice the weight for the jerk at the start of the lift.
    enough, little = 2.5 * least, 0.7 * least
    # A servo that knew of the box would carry it at once.
    closed = gripping(enough, 0.0, knows_payload=False)
    why = "The cylinder balances at rest: rates of F/v and k behind it for 1.5 s."
    yield close("closed jaws: force [N]", enough, closed.value("r/gripper/force"), 1e-3 * enough, why)
    yield close("closed jaws: what is held", 1.0, closed.value("r/gripper/held"), 0.0, "The first object.")
    yield close("closed jaws: weight on the arm [N]", 0.0, closed.value("r/tool/wrench")[2], 1e-6, "It still stands.")
    held = gripping(enough)
    rows = held.record(0.5)
    why = "At rest: everything has swung out for 1.5 s."
    yield close("held box: weight on the arm [N]", -MASS * GRAVITY, held.value("r/tool/wrench")[2], 1e-6, why)
    height = held.value("box/pose", rows)[:, 2]
    # It hangs on the pads' friction, 2 · 9 points of 4/9 k: m g/8k below, on a bench into which it stood m g/4k deep.
    yield close("held box: lifted by [m]", 0.1, height[-1] - 0.08, MASS * GRAVITY / K, "Its springs, m g/k at most.")
    yield worst("held box: creep in 0.5 s [m]", [height[-1] - height[0]], 1e-12, "Friction that sticks: none.")
    torque = held.value("r/torque")[0]
    yield close("held box: force of the slide [N]", (10.0 + MASS) * GRAVITY, torque, 1e-6, "Both weights.")
    lost = gripping(little)
    yield close("box too heavy: stays on the bench [m]", 0.08 - MASS * GRAVITY / (4 * K), lost.value("box/pose")[2],
                MASS * GRAVITY / K, "Where it was, to its springs.")  # fmt: skip
    sliding = run_of_slip(little)
    why = "Coulomb's law of both pads; their force to 1e-3."
    yield close("box too heavy: pull of the sliding pads [N]", -2.0 * FRICTION * little, sliding, 2e-3 * little, why)


def run_of_slip(force: float) -> float:
    """Upward force on the tool while its pads slide up along the box."""
    made = gripping(force, 0.0)
    made.command(position=[0.1], speed=[0.05]).run(0.4)
    return float(made.value("r/tool/wrench")[2])


def set_down(samples: int) -> Iterator[Check]:
    """Lifted, moved down and let go, the box stands at rest where it stood, and the arm is rid of its weight."""
    del samples
    made = gripping(300.0)
    made.command(position=[0.2], speed=[-0.1]).run(1.0)
    made.command(position=[0.1], speed=[0.0]).run(0.5)
    made.command(gripper_opening=0.1).run(2.0)
    pose, twist = made.value("box/pose"), made.value("box/twist")
    why = "At rest: damped for 2 s."
    yield close("set down: height [m]", 0.08 - MASS * GRAVITY / (4.0 * K), pose[2], 1e-9, why)
    yield worst("set down: aside [m]", pose[:2], 1e-4, "What friction of pads and bench took, m g/k.")
    yield worst("set down: twist", twist, 1e-9, why)
    yield worst("set down: wrench on the tool [N]", made.value("r/tool/wrench"), 0.0, "Nothing touches it.")
    yield close("set down: what is held", 0.0, made.value("r/gripper/held"), 0.0, "Nothing.")
    yield close("set down: force of the slide [N]", 10.0 * GRAVITY, made.value("r/torque")[0], 1e-6, "Its own weight.")


FUNCTIONS = (
    weight_on_a_point,
    standing_still,
    pads_at_rest,
    pressed_on_a_wall,
    falling_objects,
    dropped_object,
    sliding_objects,
    spinning_box,
    gripped_object,
    set_down,
)
