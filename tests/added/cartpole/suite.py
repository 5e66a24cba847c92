"""`botz verify cartpole`: closed forms and a conservation law."""

from __future__ import annotations

import math

from botz.verify.checks import Check, close, make
from botz.verify.rig import SoloRig
from cartpole.engine import CartPoleEngine
from cartpole.schema import CartPoleScenario


def rig(angle: float, step: float = 0.001, **robot: float) -> SoloRig[CartPoleEngine]:
    data = {"engine": "cartpole", "time": {"step": step}, "robots": {"r": {"angle": angle, **robot}}}
    return SoloRig(CartPoleEngine(CartPoleScenario.model_validate(data)))


def small_swing(samples: int) -> Check:
    """A small swing has the frequency ω² = (g/l) (M + m)/M: after whole periods it is where it began."""
    del samples
    angle, cart, bob, length = 1e-3, 2.0, 0.5, 0.8
    run = rig(angle, cart=cart, bob=bob, length=length)
    omega = math.sqrt(9.81 / length * (cart + bob) / cart)
    run.run(10.0 * 2.0 * math.pi / omega)
    why = "Sine and cosine are taken as of small angles: the phase of ten periods, 20 π, times angle² at most."
    expected = angle * math.cos(omega * run.time)
    return close("small swing", expected, run.value("r/pole/angle"), 20.0 * math.pi * angle**3, why)


def energy(samples: int) -> Check:
    """Nothing takes energy: E = (M + m) v²/2 + m l θ' v cos θ + m l² θ'²/2 - m g l cos θ."""
    del samples
    run = rig(2.5)
    (own,) = run.engine.model

    def now() -> float:
        v, angle, rate = (run.value(f"r/{name}") for name in ("cart/velocity", "pole/angle", "pole/rate"))
        tip = own.bob * own.length
        moving = 0.5 * (own.cart + own.bob) * v**2 + 0.5 * tip * own.length * rate**2
        return float(moving + tip * math.cos(angle) * (rate * v - own.gravity))

    before = now()
    run.run(10.0)
    why = "Runge-Kutta of fourth order loses n (ω h)⁵ of it, with ω of 8 rad/s at the lowest point."
    return close("energy", before, now(), 10_000 * (8.0 * 0.001) ** 5 * abs(before), why)


def checks(samples: int) -> list[Check]:
    return [check for function in (small_swing, energy) for check in make(function, samples)]
