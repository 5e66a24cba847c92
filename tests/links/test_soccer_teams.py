"""The example teams: what they see, how they play, and matches over real sockets."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from common import PATIENCE, BotzProcess

from botz import InputError, Simulation, load
from botz.endpoints.camera.client import CameraRobot
from botz.scene.soccer.camera import SoccerCamera

EXAMPLES = Path(__file__).parents[2] / "examples" / "soccer"
FRAME = 30
"""Steps between two images."""


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The modules of the examples, which import each other as scripts do."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import camera_team
    import strategy

    return SimpleNamespace(camera_team=camera_team, strategy=strategy)


# --- the strategy, without sockets -----------------------------------------------------------------------------


@pytest.mark.parametrize("colour", ["blue", "yellow"])
def test_the_strategy_scores_against_standing_opponents_from_any_start(examples: SimpleNamespace, colour: str):
    sim = Simulation(load("soccer", overrides=["match.after_goal=end"]))
    other = "yellow" if colour == "blue" else "blue"
    for seed in range(8):
        sim.reset()
        if seed:
            scatter(sim, np.random.default_rng(seed))
        team, values = examples.strategy.Team(colour), sim.values()
        commands: dict[str, Any] = {}
        while sim.time < 60.0 and not sim.ended:
            ours = {i: tuple(values[f"{colour}{i}/pose"].tolist()) for i in range(3)}
            theirs = [tuple(values[f"{other}{i}/pose"][:2].tolist()) for i in range(3)]
            ball = examples.strategy.Ball(*values["ball/pose"][:2].tolist(), *values["ball/velocity"].tolist())
            wheels = team.play(sim.time, ours, theirs, ball)
            values = sim.step(commands, n=FRAME)  # what was decided reaches the robots one image later
            commands = {
                f"{colour}{i}": {"left/speed": left, "right/speed": right} for i, (left, right) in wheels.items()
            }
        assert values["match/score"].tolist() == ([1, 0] if colour == "blue" else [0, 1]), f"start {seed}"


def scatter(sim: Simulation, rng: np.random.Generator) -> None:
    """Ball and robots anywhere; the goalkeepers stay."""
    for _ in range(1000):
        places: dict[str, Any] = {"ball/place": (rng.uniform(-0.7, 0.7), rng.uniform(-0.6, 0.6), 0, 0)}
        for name in sim.spec.robots:
            if not name.endswith("0"):
                places[f"{name}/place"] = (rng.uniform(-0.7, 0.7), rng.uniform(-0.6, 0.6), rng.uniform(-3, 3), 1)
        try:
            sim.step({"match": places})
        except InputError:
            continue  # two of them overlap
        return
    raise AssertionError("no free places")


# --- what the camera team sees -----------------------------------------------------------------------------------


@pytest.mark.parametrize("noisy", [[], ["noise=8", "blur=0.8", "drift=0.15"]])
def test_the_camera_team_finds_everybody_and_the_ball(examples: SimpleNamespace, noisy: list[str]):
    loaded = load("soccer-match", overrides=[f"links.camera.{setting}" for setting in noisy])
    sim = Simulation(loaded)
    camera = SoccerCamera(loaded.spec.links.camera, sim.engine.about(), seed=1)
    look = camera.look()
    client = SimpleNamespace(
        colours=look["colours"],
        robots=[CameraRobot.of(robot) for robot in look["robots"]],
        ball_radius=look["ball"]["radius"],
        pixel_to_field=camera.lens.field,
    )
    eyes, world = examples.camera_team.Eyes(client), examples.camera_team.World()
    for number in range(100):
        values = sim.step(n=FRAME)
        poses = np.array([values[f"{robot.name}/pose"] for robot in camera.robots])
        image = camera.draw(poses, values["ball/pose"][:2], number=number, time=sim.time)
        patches = eyes.patches(image)
        world.update(sim.time, eyes.robots(patches, world.poses), [p for p in patches if p.colour == "orange"])
        assert len(world.poses) == 6
        for robot, pose in zip(camera.robots, poses, strict=True):
            seen = world.poses[robot.team, robot.id]
            assert seen[:2] == pytest.approx(pose[:2], abs=0.004)
            assert abs(examples.strategy.wrap(seen[2] - pose[2])) < 0.15
        assert (world.ball.x, world.ball.y) == pytest.approx(values["ball/pose"][:2], abs=0.02)


def test_an_image_without_anything_is_no_mistake(examples: SimpleNamespace):
    colours = {"blue": (0, 0, 255), "yellow": (255, 255, 0), "orange": (255, 122, 0)}
    colours |= {"red": (255, 0, 0), "green": (0, 255, 0), "magenta": (255, 0, 255), "cyan": (0, 255, 255)}
    robots = [CameraRobot("one", "blue", 0, 0.075, ("red", "red"))]
    eyes = examples.camera_team.Eyes(SimpleNamespace(colours=colours, robots=robots, ball_radius=0.02))
    assert eyes.patches(np.full((48, 64, 3), 40, dtype=np.uint8)) == []


def test_a_hidden_ball_is_expected_where_it_rolls(examples: SimpleNamespace):
    world = examples.camera_team.World()
    for k in range(20):
        patch = examples.camera_team.Patch("orange", 0.01 * k, 0.0, 100)
        world.update(0.03 * k, {}, [patch])
    assert world.ball.vx == pytest.approx(1.0 / 3.0, rel=0.1)
    for k in range(20, 23):
        world.update(0.03 * k, {}, [])
    assert 0.2 < world.ball.x < 0.23
    for k in range(23, 100):
        world.update(0.03 * k, {}, [])
    assert world.ball.vx == pytest.approx(0.0, abs=1e-3), "it is not believed to roll for ever"


# --- matches over sockets ----------------------------------------------------------------------------------------


class LossyRelay:
    """Passes UDP packets on to an address, except every hundredth."""

    def __init__(self, target: tuple[str, int]):
        self.target = target
        self.passed = self.lost = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(0.1)
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._relay)
        self._thread.start()

    def _relay(self) -> None:
        while not self._done.is_set():
            try:
                data = self._socket.recv(65536)
            except OSError:
                continue  # nothing came, or nobody listens there yet
            if (self.passed + self.lost) % 100 == 10:
                self.lost += 1
            else:
                self._socket.sendto(data, self.target)
                self.passed += 1

    def close(self) -> None:
        self._done.set()
        self._thread.join()
        self._socket.close()


@pytest.fixture
def lossy_relay() -> Iterator[Callable[[str], LossyRelay]]:
    made: list[LossyRelay] = []

    def relay(target: str) -> LossyRelay:
        host, _, port = target.rpartition(":")
        made.append(LossyRelay((host, int(port))))
        return made[-1]

    yield relay
    for one in made:
        one.close()


@pytest.fixture
def start_team(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts an example in a process of its own and ends it if it still runs."""
    started: list[subprocess.Popen[bytes]] = []

    def start(script: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (tmp_path / "team-stderr").open("wb") as errors:
            command = [sys.executable, str(EXAMPLES / script), *arguments]
            started.append(subprocess.Popen(command, cwd=tmp_path, stderr=errors, env={**os.environ}))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def start_match(
    start_botz: Callable[..., BotzProcess], vision: str, *settings: str
) -> tuple[BotzProcess, dict[str, str]]:
    """A match of at most 60 s that ends with its first goal, in real time; and where it is served."""
    chosen = [
        "match.after_goal=end",
        "links.referee=null",
        "links.voltage=null",
        "links.poses=null",
        f"links.league.vision={vision}",
    ]
    chosen += ["links.league.listen=127.0.0.1:0", "links.camera.listen=127.0.0.1:0", *settings]
    options = [part for setting in chosen for part in ("--set", setting)]
    match = start_botz("run", "soccer", "--serve", "--duration", "60", "--out", "run", "--json", *options)

    def found() -> dict[str, str] | None:
        addresses = dict(re.findall(r"^  (league commands|camera) +(127\.0\.0\.1:\d+)$", match.err, re.MULTILINE))
        return addresses if len(addresses) == 2 else None

    return match, match.wait_for(found, "the addresses")


def free_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def the_team_has_scored(match: BotzProcess, folder: Path, colour: str) -> None:
    answer = match.finish()
    team_errors = (folder / "team-stderr").read_text()
    assert answer.code == 0 and team_errors == "", (answer.err, team_errors)
    assert f"the run ends here: goal for {colour}" in answer.err
    assert json.loads(answer.out)["steps"] <= 60_000


@pytest.mark.slow
def test_the_camera_team_scores_within_a_minute(start_botz, start_team, tmp_path: Path):
    match, at = start_match(start_botz, free_address())
    team = start_team("camera_team.py", "--team", "blue", "--camera", at["camera"], "--commands", at["league commands"])
    the_team_has_scored(match, tmp_path, "blue")
    assert team.wait(timeout=PATIENCE) == 0, "the end of the match is the end of the team"


@pytest.mark.slow
def test_the_camera_team_scores_with_lost_packets_and_noisy_images(start_botz, start_team, lossy_relay, tmp_path: Path):
    noisy = [f"links.camera.{one}" for one in ("drop=0.01", "noise=5", "blur=0.5", "drift=0.1")]
    match, at = start_match(start_botz, free_address(), *noisy)
    relay = lossy_relay(at["league commands"])
    start_team("camera_team.py", "--team", "yellow", "--camera", at["camera"], "--commands", relay.address)
    the_team_has_scored(match, tmp_path, "yellow")
    assert relay.lost > 0


@pytest.mark.slow
def test_the_vision_team_scores_within_a_minute(start_botz, start_team, tmp_path: Path):
    vision = free_address()
    match, at = start_match(start_botz, vision)
    start_team("vision_team.py", "--team", "yellow", "--vision", vision, "--commands", at["league commands"])
    the_team_has_scored(match, tmp_path, "yellow")


@pytest.mark.slow
def test_the_vision_team_scores_with_lost_packets(start_botz, start_team, lossy_relay, tmp_path: Path):
    heard = free_address()
    vision = lossy_relay(heard)
    match, at = start_match(start_botz, vision.address)
    commands = lossy_relay(at["league commands"])
    start_team("vision_team.py", "--team", "blue", "--vision", heard, "--commands", commands.address)
    the_team_has_scored(match, tmp_path, "blue")
    assert vision.lost > 0 and commands.lost > 0


@pytest.mark.parametrize("script", ["camera_team.py", "vision_team.py"])
def test_a_team_without_a_match_ends_after_the_time_it_was_given(script: str, tmp_path: Path):
    where = ["--vision", free_address()] if script == "vision_team.py" else ["--camera", free_address()]
    command = [sys.executable, str(EXAMPLES / script), *where, "--seconds", "0.5"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if script == "camera_team.py":
        assert ended.returncode == 1 and "no camera at" in ended.stderr and "Traceback" not in ended.stderr
    else:
        assert ended.returncode == 0 and ended.stderr == ""
