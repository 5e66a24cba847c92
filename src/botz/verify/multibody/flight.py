"""The source's experiments with Lophorina as they are shipped, by number against closed forms and the physics page."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, exp, pi, sin, tan

import numpy as np

from botz.verify.checks import Check, close, same, worst
from botz.verify.multibody.air import K
from botz.verify.multibody.blades import HOVER, Arm
from botz.verify.multibody.motion import propeller_inertia, runge_kutta, total_inertia
from botz.verify.multibody.rig import CORNERS, GRAVITY, Flight, attitude, flight, lophorina, run_of

MASS, TILT = 2.132, pi / 36.0
FORE, ASIDE, ABOVE = 0.1825, 0.264, 0.025
"""Of a rotor from the body's origin: along x, along y, and its tilt axis along z [m]."""
LAGGING = 4.43e-5 + 0.008 * 0.05 * ASIDE
"""P: torque about a tilt axis by the body's yaw acceleration, of the arm's I_yz and the propeller above it [kg·m²]."""
SERVO = 50.0
"""Of the propellers' speeds [rad/s]."""
TURNING = (("spin", "speed"), ("tilt", "position"))


class Figures:
    """What closed forms need of Lophorina, by sums over its parts."""

    def __init__(self) -> None:
        run = run_of(lophorina())
        across = run_of(lophorina(), start={f"spin_{corner}": pi / 2.0 for corner in CORNERS})
        self.inertia = 0.5 * (total_inertia(run) + total_inertia(across))
        """Of the whole, with propellers at all angles alike (3, 3) [kg·m²]."""
        tilted = {f"tilt_{corner}": TILT for corner in CORNERS}
        turned = tilted | {f"spin_{corner}": pi / 2.0 for corner in CORNERS}
        self.tilted = 0.5 * (
            total_inertia(run_of(lophorina(), start=tilted)) + total_inertia(run_of(lophorina(), start=turned))
        )
        """The same with all rotors tilted by π/36."""
        self.propeller = sum(propeller_inertia(run, corner) for corner in CORNERS) / 4.0
        self.centre = float(run.centre()[2] - run.of("pose")[2])
        actuators = run.engine.tables.actuators
        self.stiffness = float(actuators["proportional"][actuators["kind"] == 0].mean())
        """Of the tilts' servos [N·m/rad]."""
        self.arm = Arm()
        self.shaken_yaw = self.arm.shaken(LAGGING, self.inertia[2, 2])
        self.shaken_pitch = self.arm.shaken(self.arm.mean, self.inertia[1, 1])
        """Rates by which bent blades shake it [rad/s]; angles are less by ω."""


def hover(samples: int) -> Iterator[Check]:
    """Figure 29: up to 1 m, and there with 510.9 rad/s."""
    del samples
    seen = flight("lophorina-hover")
    height, k = seen.of("pose")[:, 2], seen.at(10.0)
    # Gains for three poles at −2 rad/s, and propellers that follow with 1/50 s: s³ (1 + s/50) + 6 s² + 12 s + 8 = 0.
    slow = -max(np.roots([1.0 / SERVO, 1.0, 6.0, 12.0, 8.0]).real)
    left, since = abs(height[seen.at(4.5)] - 1.0), 5.5
    why = "What is missing at 4.5 s decays as (1 + st) e^(−st) by the slowest of the height's poles, for 5.5 s."
    bound = left * (1.0 + slow * since) * exp(-slow * since)
    yield close("hover: height after 10 s [m]", 1.0, height[k], bound, why)
    thrusts = np.array([seen.of(f"rotor_{corner}/thrust")[k] for corner in CORNERS])
    speeds = np.array([abs(seen.of(f"spin_{corner}/speed")[k]) for corner in CORNERS])
    # The same error's acceleration, s² of it: a share of g, and half of that of the speed.
    share = slow**2 * bound / GRAVITY
    shaken = Figures().shaken_yaw
    why += " Shaken arms turn the body to and fro, against which speeds are measured."
    lift = MASS * GRAVITY / 4.0
    yield worst("hover: thrust in flight, less 5.229 N [N]", thrusts - lift, lift * (share + 2.0 * shaken / HOVER), why)
    yield worst("hover: speed in flight, less 510.899 rad/s", speeds - HOVER, 0.5 * HOVER * share + shaken, why)


def yaw_by_exchange(samples: int) -> Iterator[Check]:
    """Figures 30 and 31: ±100 rad/s on crossed propellers turn the body at Ω = 400 J_p/J_zz = 0.17 rad/s to the right,
    0.34 rad in 2 s, and back; speeds follow with 1/50 s, so that 0.02 s of Ω are missing each time."""
    del samples
    figures = Figures()
    seen = flight("lophorina-manoeuvres")
    yaw, rate = seen.of("attitude")[:, 2], 400.0 * figures.propeller / figures.inertia[2, 2]
    begun, turned = (yaw[seen.at(time)] for time in (5.0, 7.0))
    yield close("yaw by exchange: rate, by the page [rad/s]", 0.17, rate, 5e-3, "Of the page's digits.")
    # While the body picks up Ω, arms and propellers lag behind about their tilt axes by P dΩ/dt/k, and tilted thrusts
    # turn it: 4 f y ∫τ dt = m g y P Ω/k of momentum, against the turn.
    bent = MASS * GRAVITY * ASIDE * LAGGING / (figures.stiffness * figures.inertia[2, 2])
    # While the speeds change, so does their thrust: by up to 4 K 100² of m g, and the turn that it takes.
    share = 4.0 * K * 100.0**2 / (MASS * GRAVITY)
    swing = figures.shaken_yaw / HOVER
    wanted = -rate * (2.0 - 1.0 / SERVO)
    why = "The tilts' servos give way while the body is turned: m g y P/(k J_zz) of the turn, known to 4 K 100²/(m g)."
    yield close(
        "yaw by exchange: to the right in 2 s, servos rigid but for that [rad]",
        wanted * (1.0 - bent),
        turned - begun,
        share * bent * rate * 2.0 + 2.0 * swing,
        why,
    )
    yield close("yaw by exchange: in 2 s, by the page [rad]", -0.34, turned - begun, 5e-3, "Of the page's digits.")
    over = Turned(flight("lophorina-manoeuvres", "time.duration=9.9 s", every_step=True), figures)
    # The rate at the begin is known to two swings in 1 s; where speeds begin to change, the trapezium rule misses
    # h²/12 of a slope that jumps by Ω ω_c, 4 Ω in all.
    bound = 2.0 * swing * (1.0 + 4.0) + 4.0 * rate * SERVO * over.step**2 / 12.0
    why = "Momentum of propellers and that of their tilted thrusts, summed step by step; shaken arms, seen for 1 s."
    yield worst("yaw by exchange: over 4 s, by speeds, thrusts and tilts [rad]", over.yaw - over.by_balance, bound, why)
    why = (
        "e^-20 of the change, what the three changes' bent tilts took, as above, and shaken arms at both ends of 0.4 s."
    )
    yield close(
        "yaw by exchange: stops when the speeds return [rad/s]",
        0.0,
        (yaw[seen.at(9.8)] - yaw[seen.at(9.4)]) / 0.4,
        share * bent * rate * (1.0 + 2.0 + 1.0) + 2.0 * swing / 0.4,
        why,
    )


class Turned:
    """Lophorina's yaw from 5 to 9 s, and by the balance of angular momentum from speeds and tilts as they were."""

    def __init__(self, seen: Flight, figures: Figures) -> None:
        first = seen.at(5.0)
        rows, self.step = slice(first, seen.at(9.0) + 1), float(seen.times[1])
        yaw = seen.of("attitude")[:, 2]
        self.yaw = yaw[rows] - yaw[first]
        handed = np.zeros(len(self.yaw))
        for corner in CORNERS:
            speed, tilt = (seen.of(f"{name}_{corner}/{what}")[rows] for name, what in TURNING)
            aside = ASIDE if "left" in corner else -ASIDE
            handed -= figures.propeller * (speed - speed[0])
            handed -= summed(aside * K * speed**2 * np.sin(tilt), self.step)
        begun = (yaw[first] - yaw[seen.at(4.0)]) * self.step
        self.by_balance = begun * np.arange(len(self.yaw)) + summed(handed, self.step) / figures.inertia[2, 2]


def summed(values: np.ndarray, step: float) -> np.ndarray:
    """The integral up to each row, by the trapezium rule."""
    return np.concatenate([[0.0], np.cumsum(0.5 * step * (values[1:] + values[:-1]))])


class Pushed:
    """Lophorina as it is pushed from 9 s on: pitch and way of its centre of mass, and both by sums of its thrusts."""

    def __init__(self, seen: Flight, figures: Figures) -> None:
        rows = slice(seen.at(9.0), seen.at(11.5) + 1)
        step = float(seen.times[1])
        rear, front = (
            sum(K * seen.of(f"spin_{end}_{side}/speed")[rows] ** 2 for side in ("left", "right"))
            for end in ("rear", "front")
        )
        axes = np.array([attitude(*angles)[:, 2] for angles in seen.of("attitude")[rows]])

        def twice(values: np.ndarray) -> np.ndarray:
            return summed(summed(values, step), step)

        self.pitch = seen.of("attitude")[rows, 1]
        self.pitch_by_thrust = twice((rear - front) * FORE / figures.inertia[1, 1])
        self.x = seen.of("pose")[rows, 0] + figures.centre * axes[:, 0]
        self.x_by_thrust = twice((rear + front) / MASS * axes[:, 0])
        self.fastest = float(np.sqrt(max(rear[:101].max(), front[:101].max()) / (2.0 * K)))
        """Speed of its propellers in the first second [rad/s]."""


def forward_by_speeds(samples: int) -> Iterator[Check]:
    """1 rad/s more behind and less in front: pitch'' = 8 K ω · 0.1825/J_yy, so that pitch grows as ½ α t², nose down,
    and Lophorina goes towards +x at (Σf/m) sin pitch. A flight that is pushed until 12 s is compared with that which is
    pushed for 0.1 s: what came before is in both."""
    del samples
    figures = Figures()
    held_flight = flight("lophorina-manoeuvres", "controllers.pilot.manoeuvres.2.until=12 s", "time.duration=12 s")
    held, short = Pushed(held_flight, figures), Pushed(flight("lophorina-manoeuvres"), figures)
    alpha = 8.0 * K * HOVER * FORE / figures.inertia[1, 1]
    # The trapezium's error where the servos let go at 9.1 s: h²/12 of α · 50/s, held on for 2.4 s; products of inertia
    # of shaken arms as the blades' angles differ more and more.
    why = "Speeds as they were, summed by the trapezium rule at 10 ms: α ω_c h²/12 of rate for 2.4 s; and shaken arms."
    missing = held.pitch - short.pitch - (held.pitch_by_thrust - short.pitch_by_thrust)
    bound = 2.4 * (alpha * SERVO * 0.01**2 / 12.0 + 2.0 * figures.shaken_pitch / HOVER)
    yield worst("forward by speeds: pitch over 2.5 s [rad]", missing, bound + 2.0 * figures.shaken_pitch / HOVER, why)
    lag = 1.0 / SERVO
    gone = held.pitch[100] - short.pitch[100]
    # The short push is over after 0.1 s: what the two differ by is a push from then on, and ∫∫(1 − e^(−ω_c t)) of it.
    wanted = alpha * (0.5 * 0.9**2 - 0.9 * lag + lag**2)
    why = "½ α t² from 0.1 s on, with α at 510.9 rad/s and the servos' 0.02 s; the height's control turns them faster."
    yield close(
        "forward by speeds: pitch after 1 s by ½αt² [rad]", wanted, gone, (held.fastest / HOVER - 1.0) * wanted, why
    )
    # The trapezium's error of the acceleration's sums, h²/12 of how fast it grows: (Σf/m) pitch' at most, for 2.5 s.
    growing = np.abs(np.diff(held.x_by_thrust, n=3)).max() / 0.01**3
    why = "The same sums of Σf/m along x, by the trapezium rule: h²/12 of the acceleration's rate, for 2.5 s."
    missing = held.x - short.x - (held.x_by_thrust - short.x_by_thrust)
    yield worst("forward by speeds: way towards +x over 2.5 s [m]", missing, 2.5 * growing * 0.01**2 / 12.0, why)
    why = "½ α 3² is more than 45°: less than half of its thrust would carry it."
    over = float(held_flight.of("attitude")[-1, 1]) > pi / 4.0
    yield same("forward by speeds: level enough to land, pushed until 12 s", "no", "no" if over else "yes", why)


def overturned_at(figures: Figures, seen: Flight) -> float:
    """Time from the tilts' command to 45° of pitch in the plane, under thrusts and tilts as they were: their lever is
    that of the tilt axes about the centre of mass; propellers that tilt, 32 g at 0.05 m above, take the latter along;
    and arms that are tilted push the body back."""
    lever, shift = ABOVE - figures.centre, 0.032 * 0.05 / MASS
    inertia, begin = figures.inertia[1, 1], seen.at(5.0)
    thrust = sum(seen.of(f"rotor_{corner}/thrust") for corner in CORNERS)
    tilts = sum(seen.of(f"tilt_{corner}/position") for corner in CORNERS) / 4.0
    recoil = 4.0 * figures.arm.mean / inertia
    speed = (seen.of("attitude")[begin, 1] - seen.of("attitude")[seen.at(4.0), 1]) / 1.0

    def rates(state: np.ndarray) -> np.ndarray:
        time, _, rate = state
        force, tilt = (float(np.interp(5.0 + time, seen.times, one)) for one in (thrust, tilts))
        return np.array([1.0, rate, force * sin(tilt) * (lever + shift * cos(tilt)) / inertia])

    state, step = np.array([0.0, seen.of("attitude")[begin, 1] - recoil * TILT, speed]), 1e-3
    while state[1] < pi / 4.0:
        state = runge_kutta(rates, state, step, 1)
    return float(state[0] - (state[1] - pi / 4.0) / state[2])


def crossing(seen: Flight, values: np.ndarray, level: float, after: float) -> float:
    """When values first pass a level after a time, between rows by a straight line; NaN where they never do."""
    for k in range(seen.at(after) + 1, len(values)):
        if values[k] >= level:
            share = (level - values[k - 1]) / (values[k] - values[k - 1])
            return float(seen.times[k - 1] + share * (seen.times[k] - seen.times[k - 1]))
    return float("nan")


def small_tilt(samples: int) -> Iterator[Check]:
    """All tilts by π/36 push forward above the centre of mass: pitch'' = m g sin τ (0.025 − z_c)/(J_yy cos(pitch + τ)).
    It counts as overturned where pitch passes 45°: no vertical lift is left to hold the height with from there on."""
    del samples
    figures = Figures()
    seen = flight("lophorina-tilt", "time.duration=7.5 s")
    after = crossing(seen, seen.of("attitude")[:, 1], pi / 4.0, 5.0) - 5.0
    yield close(
        "small tilt: overturns after, by the page [s]", 1.8, after, 0.05, "Pitch passes 45°; the page's digits."
    )
    # Shaken arms leave it with up to their own rate of pitch when tilts begin, and the inertia changes by τ² of arms.
    rate = float(seen.of("twist")[seen.at(5.0 + after), 4])
    late = (figures.shaken_pitch * after + 4.0 * figures.arm.mean / figures.inertia[1, 1] * TILT) / rate
    why = "In the plane, under thrusts as they were; shaken arms turn it on, and their recoil is that of rigid ones."
    yield close(
        "small tilt: overturns after, by the plane equation [s]", overturned_at(figures, seen), after, late, why
    )
    k, first = seen.at(5.5), seen.at(5.0)
    velocity = (seen.of("pose")[first, 0] - seen.of("pose")[seen.at(4.9), 0]) / 0.1
    moved = seen.of("pose")[k, 0] - seen.of("pose")[first, 0] - 0.5 * velocity
    ramp = TILT / 0.5
    # Speed after the ramp ½ g τ t_r, then g τ; and the pitch adds g ½ α t⁴/12.
    plain = GRAVITY * tan(TILT) * (0.5 * (0.5 - ramp) ** 2 + 0.5 * ramp * (0.5 - ramp) + ramp**2 / 6.0)
    lean = GRAVITY * MASS * GRAVITY * sin(TILT) * (ABOVE - figures.centre) / figures.inertia[1, 1] / 24.0
    # Of the ramp, half of it on average, as far as the pitch goes; the body's origin swings below the centre of mass.
    plain += lean * (0.5 - 0.5 * ramp) ** 4 - figures.centre * sin(float(seen.of("attitude")[k, 1]))
    thrust = sum(seen.of(f"rotor_{corner}/thrust")[first : k + 1] for corner in CORNERS)
    level = np.cos(seen.of("attitude")[first : k + 1, 1] + TILT)
    # What the height's control gives too much or too little, and the propellers that take the centre of mass along.
    share = float(np.abs(thrust * level / (MASS * GRAVITY) - 1.0).max())
    tolerance = share * plain + 0.032 * 0.05 / MASS * TILT
    why = "g tan τ after the tilts' ramp, and g ½ α t² of the pitch; by the thrust's share that is not m g, measured."
    yield close("small tilt: forward in 0.5 s [m]", plain, moved, tolerance, why)
    seen = flight("lophorina-tilt", "time.duration=7 s", every_step=True)
    rolled = Rolled(seen, figures)
    # Two blades shake it by I/J_xx about their bent axis; flat ones by their own D instead of a mean inertia, twice a
    # turn; and a rate seen for 1 s is known to two such swings. As it pitches, roll grows by 1/cos pitch.
    flat = 4.0 * figures.arm.swing * float(seen.of("twist")[-1, 4]) / (2.0 * HOVER)
    shaken = (2.0 * (1.0 + 2.0) * figures.arm.bent + flat) / figures.inertia[0, 0]
    bound = shaken / cos(float(seen.of("attitude")[-1, 1]))
    why = "What it rolls is by its arms' products of inertia as it pitches; no torque about x but that; shaken arms."
    yield worst(
        "small tilt: rolls by its products of inertia alone [rad]", rolled.roll - rolled.by_momentum, bound, why
    )


class Rolled:
    """Lophorina's roll in the 2 s of a small tilt, and by its angular momentum: thrusts turn it about y alone, so that
    of x and z changes by −ω × H in the body; pitch as it was."""

    def __init__(self, seen: Flight, figures: Figures) -> None:
        first, step = seen.at(5.0), float(seen.times[1])
        angles = seen.of("attitude")
        self.roll = angles[first:, 0]
        tilts = sum(seen.of(f"tilt_{corner}/position") for corner in CORNERS) / 4.0
        pitch, rate, tilting = angles[first:, 1], seen.of("twist")[first:, 4], np.gradient(tilts, step)[first:]
        J = figures.tilted
        solve = np.linalg.inv(J[np.ix_((0, 2), (0, 2))])
        begun = angles[first] - angles[seen.at(4.0)]
        momentum = J[(0, 2), :] @ np.array([begun[0], rate[0], begun[2]])

        def rates(state: np.ndarray, k: int) -> np.ndarray:
            # Arms that are turned at τ' have Σ I_xy τ' about x, and their mirrored I_yz leave nothing about z.
            free = state[:2] - J[(0, 2), 1] * rate[k] - np.array([figures.arm.crossed * tilting[k], 0.0])
            spin = np.array([0.0, rate[k], 0.0])
            spin[[0, 2]] = solve @ free
            turning = np.cross(J @ spin, spin)
            aslant = spin[1] * sin(state[2]) + spin[2] * cos(state[2])
            return np.array([turning[0], turning[2], spin[0] + aslant * tan(pitch[k])])

        state = np.array([*momentum, self.roll[0]])
        self.by_momentum = np.zeros(len(self.roll))
        for k in range(len(self.roll)):  # Heun's rule, row by row
            self.by_momentum[k] = state[2]
            if k + 1 < len(self.roll):
                now = rates(state, k)
                state = state + 0.5 * step * (now + rates(state + step * now, k + 1))


def opposed_tilts(samples: int) -> Iterator[Check]:
    """Figure 32: tilts of +π/36 on the left and −π/36 on the right turn it at −m g tan τ y/J_zz = −5.9 rad/s², so that
    yaw grows with the square of time."""
    del samples
    figures = Figures()
    seen = flight("lophorina-yaw")
    rate = seen.of("twist")[:, 5]
    first, last = seen.at(5.5), seen.at(7.5)
    slope = float(np.polyfit(seen.times[first : last + 1], rate[first : last + 1], 1)[0])
    closed = -MASS * GRAVITY * tan(TILT) * ASIDE / figures.inertia[2, 2]
    yield close("opposed tilts: yaw acceleration, by the page [rad/s²]", -5.9, slope, 0.05, "Of the page's digits.")
    # Arms that are turned with the body bend their tilts by P |α|/k, 2e-4 rad of 0.087.
    bent = LAGGING * abs(closed) / figures.stiffness / TILT
    why = "The tilts' servos give way by P α/k, 0.2 % of the tilt; shaken arms swing the rate, over 2 s."
    tolerance = bent * -closed + figures.shaken_yaw
    yield close("opposed tilts: yaw acceleration, closed form [rad/s²]", closed, slope, tolerance, why)
    yaw = np.unwrap(seen.of("attitude")[:, 2])
    ramp = TILT / 0.5
    # ½ α t² after the ramp, in which the rate grows with the square: α (t − t_r)²/2 + ½ α t_r (t − t_r) + α t_r²/6.
    for time in (1.0, 2.0, 3.0):
        left = time - ramp
        plain = closed * (0.5 * left**2 + 0.5 * ramp * left + ramp**2 / 6.0)
        turned = yaw[seen.at(5.0 + time)] - yaw[seen.at(5.0)]
        # Damped against the reference's rate, the servos let the ramp's mean be on time; a step is a step early.
        why = "½ α t² with the tilts' ramp of 0.17 s, less what the servos give way; a step of 400 µs, and shaken arms."
        tolerance = abs(plain) * bent + abs(closed) * 4e-4 * time + figures.shaken_yaw * time
        yield close(f"opposed tilts: yaw after {time:g} s [rad]", plain, turned, tolerance, why)


FUNCTIONS = (hover, yaw_by_exchange, forward_by_speeds, small_tilt, opposed_tilts)
