"""Landings of the source's hover and manoeuvres: how deep soft contacts let a robot rest, and how far it slides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from botz.verify.checks import Check, close, same, worst
from botz.verify.multibody.flight import MASS, Figures
from botz.verify.multibody.rig import CORNERS, GRAVITY, Flight, attitude, flight

HALF_HEIGHT = 0.05
"""Of the box that Lophorina stands on [m]."""
FRICTION, TIME_CONSTANT, DAMPING_RATIO = 0.8, 0.02, 1.0
"""Of the ground and of contacts where nothing else is said."""
SOFTEST, HARDEST, WIDTH = 0.9, 0.95, 1e-3
"""Of MuJoCo's contacts: impedance d at no depth and from WIDTH [m] on."""
BRAKING = 2.0 / (HARDEST * TIME_CONSTANT)
"""b of MuJoCo's reference acceleration −b v − k d r [1/s]."""


def resting_depth(weight: float, inverse_mass: float, corners: int) -> float:
    """How deep a box stands in the ground, by MuJoCo's rule for a contact whose friction is a pyramid of four edges.

    An edge pushes with (k d r)/R at rest, R = 2 µ² (1 + µ²) (1 − d)/d/m̂, where m̂ is the body's inertia as contacts see
    it, and all edges carry the weight; d grows with the square of the depth at first."""
    stiffness = 1.0 / (HARDEST * TIME_CONSTANT * DAMPING_RATIO) ** 2
    depth = 0.0
    for _ in range(50):
        impedance = SOFTEST + (HARDEST - SOFTEST) * 2.0 * (depth / WIDTH) ** 2
        compliance = 2.0 * FRICTION**2 * (1.0 + FRICTION**2) * (1.0 - impedance) / impedance * inverse_mass
        depth = weight / (4.0 * corners) * compliance / (stiffness * impedance)
    return depth


def rests(seen: Flight, name: str) -> Iterator[Check]:
    """At the end of a flight: how high, how still, how level."""
    model = seen.engine.model
    inverse_mass = float(model.body_invweight0[model.body(f"{seen.robot}/body").id, 0])
    height = HALF_HEIGHT - resting_depth(MASS * GRAVITY, inverse_mass, 4)
    # Each edge's force is right within the solver's tolerance, of the scale of the robot's inertia.
    why = "Half the box's height, less the depth at which four soft contacts carry m g; the solver's tolerance is 1e-8."
    yield close(f"{name}: height at the end [m]", height, seen.of("pose")[-1, 2], 1e-8, why)
    moving = [*seen.of("twist")[-1], *(seen.of(f"spin_{corner}/speed")[-1] / 100.0 for corner in CORNERS)]
    why = (
        "A second and more after it stopped: e^-50 of speeds' servos, e^-100 of contacts; the solver's tolerance, 1e-8."
    )
    yield worst(f"{name}: still moves at the end [m/s, rad/s]", moving, 1e-6, why)
    yield worst(f"{name}: stands level [rad]", seen.of("attitude")[-1, :2], 1e-8, why)


def landing(samples: int) -> Iterator[Check]:
    """Figure 29, its end: down onto its box, whose half height is 0.05 m."""
    del samples
    yield from rests(flight("lophorina-hover"), "landing")


def sliding_on(samples: int) -> Iterator[Check]:
    """Figure 30, its end: it lands and slides on. Coulomb's friction takes µ of whatever the ground gives upwards,
    hops included. MuJoCo's cone of friction has four sides, along x and y, that share it, so that without thrust
    Δ(v_x + v_y) = −µ (g t + Δv_z), and it slides x + y = (v_x + v_y)²/(2 µ g)."""
    del samples
    figures = Figures()
    seen = flight("lophorina-manoeuvres")
    yield from rests(seen, "sliding on")
    turns = np.array([attitude(*angles) for angles in seen.of("attitude")])
    twist = seen.of("twist")
    # Of the centre of mass, which is above the body's origin.
    swing = np.cross(twist[:, 3:], [0.0, 0.0, figures.centre])
    velocity = np.einsum("kij,kj->ki", turns, twist[:, :3] + swing)
    place = seen.of("pose")[:, :3] + figures.centre * turns[:, :, 2]
    force = sum(seen.of(f"rotor_{corner}/force") for corner in CORNERS)
    weight = MASS * GRAVITY
    # It touches the ground with the lower of its edges, where its contacts begin to turn it.
    touched = seen.at(12.0) + int(np.argmax(np.abs(twist[seen.at(12.0) :, 4]) > 0.1))
    free = touched + int(np.argmax(np.linalg.norm(force[touched:], axis=1) < 1e-3 * weight))
    creep = FRICTION * GRAVITY / BRAKING
    # Slower than this a soft contact's friction is viscous.
    slow = free + int(np.argmax(velocity[free:, :2].sum(axis=1) < 2.0 * creep))
    lost = FRICTION * (GRAVITY * (seen.times - seen.times[free]) + velocity[:, 2] - velocity[free, 2])
    left = velocity[:, :2].sum(axis=1) + lost - velocity[free, :2].sum()
    arms = 0.032 * 0.05 / MASS
    why = "Over the slide without thrust, as long as it is fast; propellers on arms of 0.05 m swing at 1 rad/s."
    yield worst("sliding on: speed by Coulomb's friction [m/s]", left[free : slow + 1], arms, why)
    # What it hops with at the begin brakes it later: as if it were faster by µ v_z. As it falls, µ of that is less.
    begun = float(velocity[free, :2].sum() + FRICTION * velocity[free, 2])
    gone = place[-1] - place[free]
    wanted = begun**2 / (2.0 * FRICTION * GRAVITY) - FRICTION * float(gone[2])
    # A soft contact brings about d of its reference acceleration −b v: from µ g/(d b) on it creeps with e^(−d b t),
    # which goes µ g/(d b)² and not half of that. Where exactly one becomes the other, Coulomb's law does not say.
    creeping = 0.5 * FRICTION * GRAVITY / (SOFTEST * BRAKING) ** 2
    why = (
        "From where the rotors stand still, and µ g/(2 d² b²) that soft contacts creep on at the end, to a half of it."
    )
    yield close(
        "sliding on: way until it stops [m]", wanted + creeping, gone[0] + gone[1], 0.5 * creeping + arms / BRAKING, why
    )
    turned = -float(gone[1] - gone[0]) / wanted
    why = "It was faster ahead than aside, and stays so; all ahead would be 1."
    yield same("sliding on: goes ahead more than aside", "yes", "yes" if 0.0 < turned < 1.0 else "no", why)
    # From the first touch on, with what thrust there is left: impulses.
    rows, between = slice(touched - 5, free + 1), float(seen.times[1])
    pushed = np.trapezoid(force[rows] / MASS, dx=between, axis=0)
    gained = velocity[free] - velocity[touched - 5] - pushed
    carried = gained[2] + GRAVITY * between * (free - touched + 5)
    # Thrust is known at rows, between which servos of 50 rad/s and hops change it: half of a row's change each.
    changes = float(np.abs(np.diff(force[rows], axis=0)).sum() / MASS * between / 12.0 * 2.0)
    why = "µ, as the impulse along over that upwards, from touching the ground until the rotors stand still."
    tolerance = (changes + 2.0 * arms) / float(carried)
    yield close("sliding on: friction from the touch on", FRICTION, -(gained[0] + gained[1]) / carried, tolerance, why)


FUNCTIONS = (landing, sliding_on)
