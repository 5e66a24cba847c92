"""Speed of robot soccer: matches of all sizes on one core, with the camera, recorded, served, and next to a peer."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil, degrees, sqrt
from typing import Any

import numpy as np

from botz.bench import peers
from botz.bench.results import Result, duration, rate
from botz.bench.soccer.camera import camera_results
from botz.bench.soccer.flood import flood_results
from botz.bench.timing import recorded_factor
from botz.endpoints.camera.stream import Moment, Pictures
from botz.engines.registry import build_engine
from botz.engines.soccer.engine import SoccerEngine
from botz.errors import BotzError
from botz.scenario.load import LoadedScenario, load, load_data, load_robot
from botz.sim.simulation import Simulation

ROBOT = "soccer-robot"
STEP = 0.001
PERIOD = 30
"""Steps from one command to the next, as of a team that sees an image every 30 ms."""
SPEED, TURN = 0.5, 5.0
"""How fast robots are told to drive [m/s] and to turn [rad/s]: standard deviations."""
MEMORY = 0.5
"""Time after which a command has little to do with an earlier one [s]: a robot goes somewhere."""
SECONDS = 20.0
"""Simulated in one timed pass."""
PIECE = 33
"""Commands whose steps are timed together, about a second of the match."""
REPEATS = 8
AREA = 1.5 * 1.3 / 6
"""Of the field for each robot, as in the league with three a side [m²]."""
CROWDS = (25, 50, 100, 200)
CROWD_SECONDS = 4.0
RECORDED_SECONDS = 60.0
PEER_SECONDS = {1: 2.0, 25: 20.0}
"""Simulated by the peer, by its time from command to command [ms]; the longer one is its own."""
PEER_COMMANDS = 4.0
"""Seconds of commands that it gets."""
FASTEST_WANTED = 1000.0
"""Target: times real time of three a side without camera."""


# --- matches -----------------------------------------------------------------------------------------


def three_a_side(*overrides: str) -> LoadedScenario:
    return load("soccer", overrides=[f"time.step={STEP}", *overrides])


def crowd(robots: int, *, width: float | None = None, length: float | None = None) -> LoadedScenario:
    """Any number of robots in rows, half of them of each team, on a field that has the league's room for each."""
    length = length or sqrt(robots * AREA * 1.5 / 1.3)
    width = width or length * 1.3 / 1.5
    columns = max(1, round(sqrt(robots * length / width)))
    rows = ceil(robots / columns)
    robot, placed = load_robot(ROBOT).data, dict[str, Any]()
    for number in range(robots):
        x = ((number // rows + 0.5) / columns - 0.5) * (length - 0.2)
        y = ((number % rows + 0.5) / rows - 0.5) * (width - 0.2)
        team, heading = ("blue", 0.0) if x < 0 else ("yellow", np.pi)
        placed[f"{team}{number}"] = {**robot, "team": team, "pose": [x, y, heading]}
    return load_data(
        {
            "engine": "soccer",
            "name": "bench",
            "time": {"step": STEP, "duration": SECONDS},
            "world": {
                "field": {"length": length, "width": width},
                # Where no robot stands: between the first two columns or rows about the middle.
                "ball": {"position": free_place(placed)},
            },
            "robots": placed,
        }
    )


def free_place(placed: dict[str, Any]) -> list[float]:
    """The place nearest to the middle that is a robot's diagonal away from every robot."""
    taken = np.array([robot["pose"][:2] for robot in placed.values()])
    grid = np.linspace(-0.3, 0.3, 25)
    candidates = sorted(((x, y) for x in grid for y in grid), key=lambda place: abs(place[0]) + abs(place[1]))
    return next([float(x), float(y)] for x, y in candidates if np.hypot(*(taken - (x, y)).T).min() > 0.09)


def played_match(*overrides: str) -> tuple[LoadedScenario, np.ndarray]:
    """Three a side, and what the players of `soccer-match` tell the robots: wheel speeds (commands, robots, 2) [rad/s].

    They have played it once, so that the loop is measured with a match's commands and without the players' time.
    """
    spec: Any = load("soccer-match").spec
    rates = [f"controllers.{name}.rate={1.0 / (PERIOD * STEP)}" for name in spec.controllers]
    loaded = load("soccer-match", overrides=[f"time.step={STEP}", *rates, *overrides])
    game = Simulation(loaded)
    count = len(spec.robots)
    speeds = np.empty((ceil(SECONDS / STEP / PERIOD), count, 2))
    for row in speeds:
        game.step(n=PERIOD)
        row[:] = game.engine.inputs[: 5 * count].reshape(count, 5)[:, 2:4]
    return loaded, speeds


def random_speeds(loaded: LoadedScenario, seconds: float = SECONDS) -> np.ndarray:
    """Wheel speeds as above of robots that see nothing, the same each time: a random walk that forgets.

    They run into walls and each other and push: far more contacts than in a match.
    """
    spec: Any = loaded.spec
    robots = list(spec.robots.values())
    count = ceil(seconds / STEP / PERIOD)
    draws = np.random.default_rng(4).standard_normal((count, len(robots), 2)) * [SPEED, TURN]
    keep = np.exp(-PERIOD * STEP / MEMORY)
    for k in range(1, count):
        draws[k] = keep * draws[k - 1] + sqrt(1.0 - keep**2) * draws[k]
    half = 0.5 * np.array([robot.track for robot in robots])
    radii = np.array([[robot.wheels.left.radius, robot.wheels.right.radius] for robot in robots])
    rims = np.stack([draws[..., 0] - half * draws[..., 1], draws[..., 0] + half * draws[..., 1]], axis=-1)
    return rims / radii


# --- Botz --------------------------------------------------------------------------------------------


class Played:
    """A match driven by a table of commands, over and over the same."""

    def __init__(self, loaded: LoadedScenario, speeds: np.ndarray):
        engine = build_engine(loaded.spec)
        assert isinstance(engine, SoccerEngine)
        self.engine = engine
        self.loaded = loaded
        count, robots, _ = speeds.shape
        self.steps = count * PERIOD
        # The engine's inputs of a robot: two voltages, two speeds, and that the speeds count.
        table = np.zeros((count, robots, 5))
        table[:, :, 2:4], table[:, :, 4] = speeds, 1.0
        self._table = table.reshape(count, -1)
        self._rows = np.empty((1, engine.channels.width))
        self._start = engine.snapshot()

    def play(self, watch: Callable[[int], None] | None = None) -> np.ndarray:
        """From the start to the end; returns the seconds that each piece of it took. `watch` is called after each
        command's steps."""
        engine, inputs = self.engine, self.engine.inputs[: self._table.shape[1]]
        engine.restore(self._start)
        engine.state.match[0].tests = 0.0
        piece = PIECE if watch is None else 1  # an image takes longer than a second of the match
        stamps = [time.perf_counter()]
        for number, row in enumerate(self._table):
            inputs[:] = row
            if not engine.advance(number * PERIOD, PERIOD, 0, self._rows):
                raise BotzError(f"the benchmark's match diverged {engine.stability_hint()}")
            if watch is not None:
                watch(number + 1)
            if (number + 1) % piece == 0 or number + 1 == len(self._table):
                stamps.append(time.perf_counter())
        return np.diff(stamps)

    def seconds_per_step(self, watch: Callable[[int], None] | None = None) -> float:
        """Each piece of the match at its best: what the machine can do when nothing else gets in between."""
        self.play(watch)  # once to compile
        return float(np.min([self.play(watch) for _ in range(REPEATS)], axis=0).sum()) / self.steps

    @property
    def tests_per_step(self) -> float:
        """Pairs of bodies whose distance was looked at, in the last play."""
        return float(self.engine.state.match[0].tests) / self.steps

    @property
    def impacts_per_second(self) -> float:
        return float(self.engine.state.match[0].impacts) / (self.steps * STEP)

    # What a camera asks of a run.
    scenario = "soccer"
    finished = False

    @property
    def about(self) -> dict[str, Any]:
        return self.engine.about()

    @property
    def channels(self) -> Any:
        return self.engine.channels

    @property
    def step_ns(self) -> int:
        return round(STEP * 1e9)

    def latest(self) -> tuple[int, np.ndarray]:
        self.engine.observe(self._rows[0])
        return 0, self._rows[0]


def watched_seconds_per_step(match: Played) -> float:
    """With an image drawn and encoded every 30 ms of the match, in the same thread."""
    spec: Any = match.loaded.spec
    pictures = Pictures(match, spec.links.camera, spec.seed)

    def take(number: int) -> None:
        pictures.message(Moment(number, number * PERIOD, match.latest()[1]))

    return match.seconds_per_step(take)


def recorded_match_factor() -> float:
    """Times real time of a whole run that is recorded at 100 Hz: loop, commands, rows, messages, disk."""
    loaded = three_a_side(f"time.duration={RECORDED_SECONDS}", "record.rate=100")
    spec: Any = loaded.spec
    # Each on its circle, where it meets no other.
    drive = {"type": "constant", "rate": 10.0, "command": {"left/speed": 6.0, "right/speed": 14.0}}
    controllers = {name: {**drive, "robot": name} for name in spec.robots}
    return recorded_factor(load_data({**loaded.data, "controllers": controllers}))


# --- the peer ----------------------------------------------------------------------------------------


def peer_case(loaded: LoadedScenario, control_ms: int) -> dict[str, Any]:
    """The match of three a side as the peer's script gets it; its headings are in degrees."""
    spec: Any = loaded.spec
    seconds = PEER_SECONDS[control_ms]
    places: dict[str, list[list[float]]] = {"blue": [], "yellow": []}
    for name, (team, _) in spec.players.items():
        x, y, heading = spec.robots[name].pose
        places[team].append([x, y, degrees(heading)])
    return {
        **places,
        "ball": list(spec.world.ball.position),
        # Over and over: the case travels in a command line, whose length is limited.
        "speeds": random_speeds(loaded, PEER_COMMANDS).round(2).tolist(),
        "period_ms": round(PERIOD * STEP * 1e3),
        "control_ms": control_ms,
        "seconds": seconds,
        "repeats": 3,
    }


def peer_rows(factor: float) -> list[Result]:
    """`factor`: times real time of Botz with the commands that the peer gets, those of blind robots."""
    found = []
    for control_ms in PEER_SECONDS:
        seconds, missing = peers.measure("rc_robosim_match.py", peer_case(three_a_side(), control_ms))
        peer = f"rc-robosim (skipped: {missing})" if missing else f"rc-robosim with control every {control_ms} ms"
        value = None if seconds is None else 1.0 / seconds
        metric = f"three a side, blind robots that push, against rc-robosim every {control_ms} ms"
        found.append(rate(metric, factor, "times real time", peer=peer, peer_value=value))
    return found


# --- the report --------------------------------------------------------------------------------------


def match_rows(name: str, seconds: float, *, target: float | None = None) -> list[Result]:
    return [
        duration(f"{name}: step", 1e9 * seconds, "ns/step"),
        rate(f"{name}: speed", STEP / seconds, "times real time", target=target),
    ]


def crowd_rows() -> list[Result]:
    rows = []
    for robots in CROWDS:
        loaded = crowd(robots)
        match = Played(loaded, random_speeds(loaded, CROWD_SECONDS))
        seconds = match.seconds_per_step()
        rows.append(duration(f"{robots} robots: step", 1e6 * seconds, "µs/step"))
        rows.append(duration(f"{robots} robots: pair tests of a robot", match.tests_per_step / robots, "1/step"))
    return rows


def run() -> list[Result]:
    match = Played(*played_match())
    alone = match.seconds_per_step()
    impacts = Result("three a side: impacts", match.impacts_per_second, "1/s")
    runge_kutta = Played(*played_match("time.method=rk4")).seconds_per_step()
    blind = Played(three_a_side(), random_speeds(three_a_side()))
    pushing = blind.seconds_per_step()
    five = crowd(10, length=2.2, width=1.8)
    rows = [
        *match_rows("three a side", alone, target=FASTEST_WANTED),
        impacts,
        *match_rows("three a side, Runge-Kutta", runge_kutta),
        *match_rows("three a side with an image every 30 ms", watched_seconds_per_step(match)),
        *match_rows("three a side, blind robots that push", pushing),
    ]
    rows += [
        Result("three a side, blind robots that push: impacts", blind.impacts_per_second, "1/s"),
        rate("three a side, whole run recorded at 100 Hz", recorded_match_factor(), "times real time"),
        *match_rows("five a side, blind robots that push", Played(five, random_speeds(five)).seconds_per_step()),
        *crowd_rows(),
    ]
    return [*rows, *camera_results(), *flood_results(), *peer_rows(STEP / pushing)]
