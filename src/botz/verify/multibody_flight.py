"""The source's experiments with Lophorina as they are shipped, by number against closed forms and the physics page."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, exp, pi, sin, tan

import numpy as np

from botz.verify.checks import FAST, Check, close, same, worst
from botz.verify.multibody_air import K
from botz.verify.multibody_motion import propeller_inertia, runge_kutta, total_inertia
from botz.verify.multibody_rig import CORNERS, GRAVITY, Flight, flight, lophorina, run_of

MASS, TILT = 2.132, pi / 36.0
FORE, ASIDE, ABOVE = 0.1825, 0.264, 0.025
"""Of a rotor from the body's origin: along x, along y, and its tilt axis along z [m]."""
LAGGING = 4.43e-5 + 0.008 * 0.05 * ASIDE
"""P: torque about a tilt axis by the body's yaw acceleration, of the arm's I_yz and the propeller above it [kg·m²]."""
SERVO = 50.0
"""Of the propellers' speeds [rad/s]."""


class Figures:
    """What closed forms need of Lophorina, by sums over its parts."""

    def __init__(self) -> None:
        run = run_of(lophorina())
        across = run_of(lophorina(), start={f"spin_{corner}": pi / 2.0 for corner in CORNERS})
        self.inertia = 0.5 * (total_inertia(run) + total_inertia(across))
        """Of the whole, with propellers at all angles alike (3, 3) [kg·m²]."""
        self.propeller = sum(propeller_inertia(run, corner) for corner in CORNERS) / 4.0
        self.centre = float(run.centre()[2] - run.of("pose")[2])
        actuators = run.engine.tables.actuators
        self.stiffness = float(actuators["proportional"][actuators["kind"] == 0].mean())
        """Of the tilts' servos [N·m/rad]."""


def hover_and_landing(samples: int) -> Iterator[Check]:
    """Figure 29: up to 1 m, there with 510.9 rad/s, and down onto its box, whose half height is 0.05 m."""
    del samples
    seen = flight("lophorina-hover")
    height, k = seen.of("pose")[:, 2], seen.at(10.0)
    # The height's three poles lie at −2 rad/s and are spread by the propellers' servo to −1.5 and faster.
    left = abs(height[seen.at(4.5)] - 1.0)
    why = "What is missing at 4.5 s decays as (1 + 1.5 t) e^(−1.5 t), the slowest of the height's poles, for 5.5 s."
    bound = left * (1.0 + 1.5 * 5.5) * exp(-1.5 * 5.5)
    yield close("hover: height after 10 s [m]", 1.0, height[k], bound, why)
    thrusts = np.array([seen.of(f"rotor_{corner}/thrust")[k] for corner in CORNERS])
    speeds = np.array([abs(seen.of(f"spin_{corner}/speed")[k]) for corner in CORNERS])
    # The same error's acceleration: 2.25 of it at most, by g of the thrust and half of that of the speed.
    share = 2.25 * bound / GRAVITY
    yield worst("hover: thrust in flight, less 5.229 N [N]", thrusts - MASS * GRAVITY / 4.0, 5.229 * share + 2e-6, why)
    # Shaken arms (see exchanged momentum) make the speeds swing by 2e-4 rad/s.
    yield worst("hover: speed in flight, less 510.899 rad/s", speeds - 510.89889, 255.0 * share + 4e-4, why)
    # Soft contacts give way within the width of their impedance, 1 mm.
    why = "It rests on its box; soft contacts give way by less than the width of their impedance, 1 mm."
    yield close("landing: height at the end [m]", 0.05, height[-1], 1e-3, why)
    moving = [*seen.of("twist")[-1], *(seen.of(f"spin_{corner}/speed")[-1] / 100.0 for corner in CORNERS)]
    why = (
        "A second and more after the rotors stopped: e^-100 of contacts and servos; the solver's own tolerance is 1e-8."
    )
    yield worst("landing: still moves at the end [m/s, rad/s]", moving, 1e-6, why)
    yield worst("landing: stands level [rad]", seen.of("attitude")[-1, :2], 1e-5, why)


def yaw_by_exchange(samples: int) -> Iterator[Check]:
    """Figures 30 and 31: ±100 rad/s on crossed propellers turn the body at Ω = 400 J_p/J_zz = 0.17 rad/s to the right,
    0.34 rad in 2 s, and back; speeds follow with 1/50 s, so that 0.02 s of Ω are missing each time."""
    del samples
    figures = Figures()
    seen = flight("lophorina-manoeuvres", "time.duration=12 s")
    yaw, rate = seen.of("attitude")[:, 2], 400.0 * figures.propeller / figures.inertia[2, 2]
    begun, turned, back = (yaw[seen.at(time)] for time in (5.0, 7.0, 9.0))
    yield close("yaw by exchange: rate, by the page [rad/s]", 0.17, rate, 5e-3, "Of the page's digits.")
    # While the body picks up Ω, arms and propellers lag behind about their tilt axes by P dΩ/dt/k, and tilted thrusts
    # turn it: 4 f y ∫τ dt = m g y P Ω/k of momentum, against the turn.
    bent = MASS * GRAVITY * ASIDE * LAGGING / (figures.stiffness * figures.inertia[2, 2])
    why = "The tilts' servos give way while the body is turned: m g y P/(k J_zz) of the turn; to a tenth of it."
    wanted = -rate * (2.0 - 1.0 / SERVO)
    tolerance = 0.1 * bent * abs(wanted) + 2e-5
    why += " Shaken arms swing the angle by 1e-5 rad."
    yield close(
        "yaw by exchange: to the right in 2 s, servos rigid but for that [rad]",
        wanted * (1.0 - bent),
        turned - begun,
        tolerance,
        why,
    )
    yield close("yaw by exchange: in 2 s, by the page [rad]", -0.34, turned - begun, 5e-3, "Of the page's digits.")
    why += " Back at 9 s, less another 0.02 s of Ω, with twice the change of speed."
    # To the right by (1 − b) Ω for 1.98 s, and to the left as fast, for 1.96 s.
    yield close(
        "yaw by exchange: after 2 s back [rad]", -rate / SERVO, back - begun, 2.0 * bent * rate / SERVO + tolerance, why
    )
    k = seen.at(9.5)
    why = "e^-25 of the change and what bent tilts gave and took; shaken arms swing the rate by 2e-4 rad/s."
    yield close("yaw by exchange: stops when the speeds return [rad/s]", 0.0, seen.of("twist")[k, 5], 3e-4, why)


def forward_by_speeds(samples: int) -> Iterator[Check]:
    """1 rad/s more behind and less in front: pitch'' = 8 K ω · 0.1825/J_yy, so that pitch grows as ½ α t², nose down,
    and Lophorina goes towards +x at (Σf/m) sin pitch."""
    del samples
    figures = Figures()
    seen = flight("lophorina-manoeuvres", "time.duration=12 s")
    first, last = seen.at(9.0), seen.at(11.5)
    times = seen.times[first : last + 1]
    pitch = seen.of("attitude")[first : last + 1, 1]
    rear, front = (
        sum(K * seen.of(f"spin_{end}_{side}/speed")[first : last + 1] ** 2 for side in ("left", "right"))
        for end in ("rear", "front")
    )
    step = seen.times[1]
    alpha = (rear - front) * FORE / figures.inertia[1, 1]

    def integral(values: np.ndarray) -> np.ndarray:
        return np.concatenate([[0.0], np.cumsum(0.5 * step * (values[1:] + values[:-1]))])

    slope = float(
        np.polyfit(seen.times[seen.at(8.0) : first + 1], seen.of("attitude")[seen.at(8.0) : first + 1, 1], 1)[0]
    )
    wanted = pitch[0] + slope * (times - times[0]) + integral(integral(alpha))
    # The trapezium's error in the servos' first 0.1 s: 0.01²/12 of α·50, held on for 2.5 s.
    why = (
        "Speeds as they were, summed by the trapezium rule at 10 ms: α 50 h²/12 of rate for 2.5 s; and the rate before."
    )
    yield worst(
        "forward by speeds: pitch over 2.5 s [rad]", pitch - wanted, 2.5 * 0.24 * 50.0 * 1e-4 / 12.0 + 5e-4, why
    )
    k = seen.at(10.0)
    plain = 8.0 * K * 510.9 * FORE / figures.inertia[1, 1]
    # The propellers turn up to 1 % faster than at hover while it is turned.
    why = (
        "½ α t² with α at 510.9 rad/s and t less the servo's 0.02 s; the height's control turns them up to 1 % faster."
    )
    gone = seen.of("attitude")[k, 1] - pitch[0]
    yield close("forward by speeds: pitch after 1 s by ½αt² [rad]", 0.5 * plain * 0.98**2, gone, 0.01 * gone, why)
    lift = (rear + front) / MASS
    along = integral(integral(lift * np.sin(pitch))) + seen.of("pose")[first, 0]
    velocity = float(
        np.polyfit(seen.times[seen.at(8.9) : first + 1], seen.of("pose")[seen.at(8.9) : first + 1, 0], 1)[0]
    )
    along = along + velocity * (times - times[0])
    arm = figures.centre * np.sin(pitch)  # the page's point is the body's origin, below the centre of mass
    why = "The same sums of (Σf/m) sin pitch; the path's 3.7 m, of which the sums miss 1e-4, and the rate before."
    wrong = seen.of("pose")[first : last + 1, 0] + arm - along - arm[0]
    yield worst("forward by speeds: way towards +x over 2.5 s [m]", wrong, 4e-3, why)


def overturned_at(figures: Figures) -> float:
    """Time from the tilts' command to 45° of pitch in the plane: tilts turn at 0.5 rad/s to 5°, the height is held, so
    f = m g/cos(pitch + τ), and its lever about the centre of mass is that of the tilt axes; propellers that tilt, 32 g
    at 0.05 m above, take the centre of mass along."""
    lever, shift = ABOVE - figures.centre, 0.032 * 0.05 / MASS
    inertia = figures.inertia[1, 1]

    def rates(state: np.ndarray) -> np.ndarray:
        time, pitch, rate = state
        tilt = min(0.5 * time, TILT)
        moment = MASS * GRAVITY / cos(pitch + tilt) * sin(tilt) * (lever + shift * cos(tilt))
        return np.array([1.0, rate, moment / inertia])

    state, step = np.array([0.0, 0.0, 0.0]), 1e-3
    while state[1] < pi / 4.0:
        state = runge_kutta(rates, state, step, 1)
    return float(state[0])


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
    # It sinks with up to 0.4 m/s² before that: 4 % of the thrust at the end, a hundredth on the way there.
    why = "In the plane with the height held; the height's control lags, which takes 1 % off the thrust on the way."
    yield close(
        "small tilt: overturns after, by the plane equation [s]", overturned_at(figures), after, 0.01 * 1.8, why
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
    why = "g tan τ after the tilts' ramp, and g ½ α t² of the pitch; tilts move arms of a third of the mass: 3 %."
    yield close("small tilt: forward in 0.5 s [m]", plain, moved, 0.03 * plain, why)
    lowest = float(seen.of("attitude")[: seen.at(7.0), 0].max())
    yield close(
        "small tilt: does not roll before it tips over [rad]", 0.0, lowest, 2e-3, "Symmetric but for roundings."
    )


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
    why = "The tilts' servos give way by P α/k, 0.2 % of the tilt; shaken arms swing the rate by 2e-4 rad/s."
    yield close("opposed tilts: yaw acceleration, closed form [rad/s²]", closed, slope, (bent + 2e-4) * -closed, why)
    yaw = np.unwrap(seen.of("attitude")[:, 2])
    ramp = TILT / 0.5
    # ½ α t² after the ramp, in which the rate grows with the square: α (t − t_r)²/2 + ½ α t_r (t − t_r) + α t_r²/6.
    for time in (1.0, 2.0, 3.0):
        left = time - ramp
        plain = closed * (0.5 * left**2 + 0.5 * ramp * left + ramp**2 / 6.0)
        turned = yaw[seen.at(5.0 + time)] - yaw[seen.at(5.0)]
        # The height's control lets it sink or rise by up to 5 mm/s²; the ramp's ends are rounded by servos of 5 ms.
        why = "½ α t² with the tilts' ramp of 0.17 s; servos of 1/200 s delay it by up to 0.01 s."
        tolerance = abs(plain) * (bent + 2e-4) + abs(closed) * 0.01 * time
        yield close(f"opposed tilts: yaw after {time:g} s [rad]", plain, turned, tolerance, why)


def under_full_control(samples: int) -> Iterator[Check]:
    """What overturns it under plain PID, it flies level under full control: 4 m forward and half a turn on the spot."""
    seen = flight("lophorina-tilt-control")
    lean = np.abs(seen.of("attitude")[:, :2])
    # J ω² e balances what the allocation does not know: tilted arms shift the centre of mass by at most
    # Σm l sin τ/m, whose weight turns it; and the arms' reaction J_arm τ''.
    shift = 0.032 * 0.05 * sin(0.2) / MASS
    unknown = MASS * GRAVITY * shift / (0.0638 * 64.0)
    why = "Moments that allocation leaves out by J ω²: the shift of 32 g on arms of 0.05 m, thrice for their reactions."
    yield close("full control: greatest roll and pitch on the way [rad]", 0.0, lean.max(), 4.0 * unknown, why)
    # s³ + 2ωs² + ω²s + 0.2ω³ = 0 has its slow pair at −0.31 ω ± 0.22 ω i: from an extreme on, what is missing is within
    # √(0.31² + 0.22²)/0.22 of it, decaying. The reference stands before 10 s.
    x, settled = seen.of("pose")[:, 0], seen.at(10.0)
    away = np.abs(x[settled:] - 4.0)
    since = 14.0 - float(seen.times[settled + int(np.argmax(away))])
    left = min(1.73 * float(away.max()) * exp(-0.31 * 1.5 * since), 0.02)
    why = "The largest distance after 10 s decays with the position's slow poles, (−0.31 ± 0.22 i) · 1.5 rad/s."
    yield close("full control: ends 4 m ahead [m]", 4.0, x[-1], left, why)
    yield worst(
        "full control: height on the way, less 1 m",
        seen.of("pose")[seen.at(5.0) :, 2] - 1.0,
        1e-3,
        "What is left of the climb at 5 s, 0.8 mm; tilts that lag behind add less than that.",
    )
    end = [*seen.of("attitude")[-1, :2], *seen.of("twist")[-1, 1:3]]
    yield worst(
        "full control: level and calm at the end [rad, m/s]", end, 1e-3, "Shaken arms, 4e-4 rad/s, and settled."
    )
    turned = flight("lophorina-yaw-control")
    yaw = np.unwrap(turned.of("attitude")[:, 2])
    error = abs(yaw[turned.at(9.0)] + pi)
    why = "What is missing at 9 s decays as (1 + 3t) e^(−3t) for 5 s, and shaken arms swing it by 1e-6 rad."
    yield close(
        "full control: turned by half a turn to the right [rad]", -pi, yaw[-1], error * 16.0 * exp(-15.0) + 1e-5, why
    )
    wandered = np.abs(turned.of("pose")[turned.at(5.0) :, :2])
    yield close(
        "full control: stays on the spot while it turns [m]",
        0.0,
        wandered.max(),
        1e-3,
        "Opposed tilts have no sum; what is left is what the arms' shaking does.",
    )
    yield same("full control: tips over", "no", "yes" if max(lean.max(), 0.0) > pi / 4.0 else "no", "Pitch below 45°.")
    if samples > FAST:
        yield from waypoints()


def waypoints() -> Iterator[Check]:
    seen = flight("lophorina-waypoints")
    pose, attitude = seen.of("pose"), seen.of("attitude")
    held = attitude[seen.at(14.0) - 1, 1]
    unknown = MASS * GRAVITY * (0.032 * 0.05 * sin(15.0 * pi / 180.0) / MASS) / (0.0638 * 64.0)
    why = "The tilted arms' shift of the centre of mass by J ω², as above."
    yield close("waypoints: a pitch of 15° held while hovering [rad]", 15.0 * pi / 180.0, held, 1.5 * unknown, why)
    slow = 0.31 * 1.5
    why = "Three metres' overshoot of 0.2 m, decaying with the position's slow poles for 4 s and more."
    for time, place in (
        (10.0, [3.0, 0.0, 1.5]),
        (18.0, [3.0, 0.0, 1.5]),
        (24.0, [3.0, 3.0, 2.0]),
        (31.0, [0.0, 3.0, 2.0]),
        (40.0, [0.0, 0.0, 1.0]),
    ):
        wrong = pose[seen.at(time) - 1, :3] - place
        yield worst(f"waypoints: place at {time:g} s [m]", wrong, 0.2 * exp(-slow * 4.0), why)
    yield close("waypoints: ends turned by half a turn [rad]", pi, abs(attitude[-1, 2]), 1e-3, "As long settled.")


FUNCTIONS = (
    hover_and_landing,
    yaw_by_exchange,
    forward_by_speeds,
    small_tilt,
    opposed_tilts,
    under_full_control,
)
