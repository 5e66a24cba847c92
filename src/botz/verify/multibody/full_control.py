"""Lophorina under full control: what overturns it under plain PID, it flies level; and through waypoints."""

from __future__ import annotations

from collections.abc import Iterator
from math import e, exp, hypot, pi, sin

import numpy as np

from botz.verify.checks import FAST, Check, close, same, worst
from botz.verify.multibody.blades import HOVER
from botz.verify.multibody.flight import SERVO, Figures
from botz.verify.multibody.rig import CORNERS, GRAVITY, Flight, flight

POSITION, ALTITUDE, ATTITUDE = 1.5, 2.5, 8.0
"""Frequencies of the controller where nothing else is said [rad/s]."""
PERIOD, TILT_RATE = 1.0 / 125.0, 0.5
"""Of the controller in these flights [s], and of the tilts [rad/s]."""
POLES = np.roots([1.0, 2.0, 1.0, 0.2])
"""Of a position's error, by its frequency: s³ + 2ω s² + ω² s + 0.2 ω³ = 0."""


def unknown_pitch(figures: Figures, tilt: float) -> float:
    """What allocation leaves out by J ω²: propellers that tilt, 32 g on arms of 0.05 m, shift the centre of mass."""
    return GRAVITY * 0.032 * 0.05 * sin(tilt) / (float(figures.inertia[1, 1]) * ATTITUDE**2)


def remainder(times: np.ndarray, errors: np.ndarray, until: float, late: float, gain: float) -> float:
    """The error at a later time, by its three poles with amplitudes as the given ones have them. Accelerations are
    `gain` of what is asked for and follow by `late`, which adds a fast pole and moves these."""
    w = POSITION
    law = [1.0, gain * 2.0 * w, gain * w * w, gain * 0.2 * w**3]
    poles = np.roots([late, *law] if late > 0.0 else law)
    slow = poles[np.argsort(np.abs(poles))[:3]]
    parts = np.exp(np.outer(times - until, slow))
    # Two of the three are conjugate, and so are their amplitudes, since the errors are real.
    amplitudes = np.linalg.lstsq(parts, errors.astype(complex), rcond=None)[0]
    return float(amplitudes.sum().real)


def envelope(error: float, rate: float, frequency: float, time: float) -> float:
    """Within what an error stays after a time, by the slow pair of a position's poles."""
    slow = POLES[np.argmax(POLES.imag)] * frequency
    return hypot(error, (rate - slow.real * error) / slow.imag) * exp(slow.real * time)


def under_full_control(samples: int) -> Iterator[Check]:
    """What overturns it under plain PID, it flies level under full control: 4 m forward and half a turn on the spot."""
    figures = Figures()
    seen = flight("lophorina-tilt-control")
    lean = np.abs(seen.of("attitude")[:, :2])
    tilt = max(float(np.abs(seen.of(f"tilt_{corner}/position")).max()) for corner in CORNERS)
    # Arms that begin or stop to tilt at 0.5 rad/s turn the body by their recoil, 4 M/J of that, which attitude control
    # takes back: at most 1/(e ω) of a rate; one beginning and one stopping.
    kick = 4.0 * figures.arm.mean / float(figures.inertia[1, 1]) * TILT_RATE / (e * ATTITUDE)
    why = "The tilted propellers' shift of the centre of mass by J ω², and the arms' recoil, 4 M τ'/(J e ω), twice."
    yield close(
        "full control: greatest roll and pitch on the way [rad]",
        0.0,
        lean.max(),
        unknown_pitch(figures, tilt) + 2.0 * kick,
        why,
    )
    yield from four_metres(seen, figures)
    yield same("full control: tips over", "no", "yes" if lean.max() > pi / 4.0 else "no", "Pitch below 45°.")
    yield from half_a_turn(figures)
    if samples > FAST:
        yield from waypoints(figures)


def four_metres(seen: Flight, figures: Figures) -> Iterator[Check]:
    # The reference's lead is there at 9 s, and it at 11 s but for 14 e^-13 of its lag, a/w² with w = 6.7 rad/s.
    x, rows = seen.of("pose")[:, 0], slice(seen.at(11.0), seen.at(13.0) + 1)
    # Tilts lean the body by what allocation leaves out, and that pushes it too.
    gain = 1.0 + unknown_pitch(figures, 1e-3) / 1e-3
    left, early, late = (
        remainder(seen.times[rows], 4.0 - x[rows], float(seen.times[-1]), lag, gain)
        for lag in (0.5 * PERIOD, 0.0, PERIOD)
    )
    # The body's origin swings below the centre of mass as it leans.
    swing = figures.centre * float(np.abs(seen.of("attitude")[rows, 1]).max())
    why = (
        "4 m less what its poles leave of the error of 10.5 to 12.5 s; commands follow by half a period, 0 to a whole."
    )
    yield close("full control: ends 4 m ahead but for its poles [m]", 4.0 - left, x[-1], abs(late - early) + swing, why)
    z, first = seen.of("pose")[:, 2] - 1.0, seen.at(5.0)
    rate = float(z[first] - z[seen.at(4.9)]) / 0.1
    # Thrust follows 1/cos of the tilts with the propellers' 1/50 s, while they go there: g τ τ'/50 for τ/τ'.
    tilt = max(float(np.abs(seen.of(f"tilt_{corner}/position")).max()) for corner in CORNERS)
    sinking = 0.5 * GRAVITY * tilt * TILT_RATE / SERVO * (tilt / TILT_RATE) ** 2
    why = "What is left of the climb at 5 s, and tilts that take lift before the propellers are faster: g τ³/(2 τ' 50)."
    bound = envelope(float(z[first]), rate, ALTITUDE, 0.0) + 2.0 * sinking
    yield worst("full control: height on the way, less 1 m", z[first:], bound, why)
    # Sideways and upwards it was calm all the time; tilts are back at 0 but for what is missing.
    why = "Shaken arms; and upwards what is left of the climb's error after 9 s."
    calm = figures.shaken_pitch / HOVER + envelope(float(z[first]), rate, ALTITUDE, 9.0)
    end = [*seen.of("attitude")[-1, :2], *seen.of("twist")[-1, 1:3]]
    yield worst("full control: level and calm at the end [rad, m/s]", end, figures.shaken_pitch + calm, why)


def half_a_turn(figures: Figures) -> Iterator[Check]:
    turned = flight("lophorina-yaw-control")
    yaw = np.unwrap(turned.of("attitude")[:, 2])
    error = abs(yaw[turned.at(9.0)] + pi)
    why = "What is missing at 9 s decays as (1 + 3t) e^(−3t) for 5 s, and shaken arms swing it by their rate/ω."
    yield close(
        "full control: turned by half a turn to the right [rad]",
        -pi,
        yaw[-1],
        error * 16.0 * exp(-15.0) + figures.shaken_yaw / HOVER,
        why,
    )
    rows = slice(turned.at(5.0), None)
    lean = float(np.abs(turned.of("attitude")[rows, :2]).max())
    wandered = np.linalg.norm(turned.of("pose")[rows, :2] - turned.of("pose")[turned.at(5.0), :2], axis=1)
    why = "Opposed tilts have no sum; leaning as it does would hold it g lean/ω² away at most."
    yield close(
        "full control: stays on the spot while it turns [m]",
        0.0,
        wandered.max(),
        GRAVITY * lean / POSITION**2 + figures.centre * lean,
        why,
    )


def waypoints(figures: Figures) -> Iterator[Check]:
    seen = flight("lophorina-waypoints")
    pose, angles = seen.of("pose"), seen.of("attitude")
    # Arms are tilted back by as much, so that rotors stay upright.
    lean = 15.0 * pi / 180.0
    unknown = unknown_pitch(figures, lean)
    why = "Less what the tilted arms' shift of the centre of mass takes by J ω², whose J changes by 4 M/J as they tilt."
    share = 4.0 * figures.arm.mean / float(figures.inertia[1, 1]) + 1.0 - np.cos(lean)
    yield close(
        "waypoints: a pitch of 15° held while hovering [rad]",
        lean - unknown,
        angles[seen.at(14.0) - 1, 1],
        share * unknown + figures.shaken_pitch / HOVER,
        why,
    )
    before = 2.0
    why = "What its slow poles, (−0.31 ± 0.22 i) ω, leave of the error and its rate 2 s before."
    for time, place in (
        (10.0, [3.0, 0.0, 1.5]),
        (18.0, [3.0, 0.0, 1.5]),
        (24.0, [3.0, 3.0, 2.0]),
        (31.0, [0.0, 3.0, 2.0]),
        (40.0, [0.0, 0.0, 1.0]),
    ):
        then, now = seen.at(time - before), seen.at(time) - 1
        wrong, was = pose[now, :3] - place, pose[then, :3] - place
        rate = (pose[then, :3] - pose[then - 12, :3]) / float(seen.times[then] - seen.times[then - 12])
        within = [
            envelope(float(was[k]), float(rate[k]), w, before) for k, w in enumerate((POSITION, POSITION, ALTITUDE))
        ]
        # The third pole's share, faster than these by its ratio, is not in the rate.
        fast = exp(POLES.real.min() * POSITION * before) * float(np.abs(was).max())
        yield worst(f"waypoints: place at {time:g} s [m]", wrong, float(hypot(*within)) + fast, why)
    why = "As long settled: (1 + 3t) e^(−3t) of the turn, and shaken arms."
    left = pi * (1.0 + 3.0 * 5.0) * exp(-3.0 * 5.0)
    yield close("waypoints: ends turned by half a turn [rad]", pi, abs(angles[-1, 2]), left, why)


FUNCTIONS = (under_full_control,)
