"""Engine `soccer`: differential-drive robots, a ball and a field with walls, in the plane. Equations in
physics/soccer/planar_drive.py and physics/soccer/impact.py."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan2, hypot, isinf
from typing import Any

import numpy as np

from botz.channels import Channel, ChannelTable, command_numbers
from botz.engines.base import Engine, EngineState, Joints, Numbers, RobotState
from botz.engines.soccer import step as kernel
from botz.engines.soccer.model import BLUE, EULER, SPHERES, YELLOW, build_model
from botz.engines.soccer.rows import channels_of, views_of
from botz.engines.soccer.state import State, empty_state, put, start
from botz.engines.soccer.work import build_work
from botz.errors import InputError, Problem
from botz.scenario.names import closest
from botz.scenario.soccer.schema import FASTEST, SoccerScenario

MATCH = "match"
SIDES = ("left", "right")
PLACE = ("x", "y", "heading", "playing")
BALL_PLACE = ("x", "y", "vx", "vy")
CALL = ("foul", "team", "quadrant", "timestamp", "half")
"""What a referee's call consists of; numbers as the league has them."""
FOULS = ("free kick", "penalty kick", "goal kick", "free ball", "kick-off", "stop", "game on", "halt")
REFEREE, HALT = slice(-7, -2), -2
"""Where the inputs of the match have the referee's last call and whether the robots are halted."""
SPEEDS = {"left/speed": 2, "right/speed": 3}
VOLTAGES = {"left/voltage": 0, "right/voltage": 1}
BY_SPEED = 4
WILDEST = 1e12
"""Commands are cut off here, far beyond every motor's limit, so that nothing computed from them overflows."""
FARTHEST = 1e6
"""Coordinates beyond this [m] are not even compared with the field."""


class SoccerEngine(Engine):
    name = "soccer"

    def __init__(self, scenario: SoccerScenario):
        self.scenario = scenario
        self.dt = scenario.time.step_ns * 1e-9
        self.names = list(scenario.robots)
        self.model = build_model(scenario, self.dt)
        self.state = empty_state(self.model)
        self.work = build_work(self.model)
        self._first = BLUE if scenario.match.first_kick_off == "blue" else YELLOW
        self.channels = ChannelTable(channels_of(scenario))
        self.inputs_table = ChannelTable(self._input_channels())
        self.inputs = np.zeros(self.inputs_table.width)
        self._match_inputs = self.robot_inputs(MATCH)
        self._places = 4 + 4 * len(self.names)
        self._halted = np.zeros_like(self.inputs)
        """What halted robots get: their speed control holds all wheels at rest."""
        self._halted[BY_SPEED : 5 * len(self.names) : 5] = 1.0
        self.views = views_of(scenario)
        self._bytes = tuple(part.view(np.uint8) for part in self.state)
        self._kept_bytes = tuple(part.copy() for part in self._bytes)
        self._check_step()
        self.reset(np.random.default_rng(0))
        self._check_places()

    # --- building ------------------------------------------------------------------------------------------

    def _input_channels(self) -> list[Channel]:
        found = []
        for name in self.names:
            found += [
                Channel(f"{name}/left/voltage", "V", "voltage commanded"),
                Channel(f"{name}/right/voltage", "V", "voltage commanded"),
                Channel(f"{name}/left/speed", "rad/s", "wheel speed commanded"),
                Channel(f"{name}/right/speed", "rad/s", "wheel speed commanded"),
                Channel(f"{name}/by_speed", "1", "1: the wheels follow the speeds, 0: the motors get the voltages"),
            ]
        unit = "m, m, m/s, m/s"
        found.append(Channel(f"{MATCH}/ball/place", unit, "where the ball was put; NaN: left alone", BALL_PLACE))
        for name in self.names:
            about = "where the robot was put, 1 into play or 0 out of it; NaN: left alone"
            found.append(Channel(f"{MATCH}/{name}/place", "m, m, rad, 1", about, PLACE))
        return [
            *found,
            Channel(f"{MATCH}/referee", "1, 1, 1, s, 1", "the referee's last call; NaN: none yet", CALL),
            Channel(f"{MATCH}/halt", "1", "1: robots brake, whatever they are commanded"),
            Channel(f"{MATCH}/placement", "1", "number of the last replacement"),
        ]

    def _check_step(self) -> None:
        """Euler's method needs h λ < 2 of the fastest motion, Runge-Kutta about 2.78."""
        limit, part = self.fastest_motion()
        longest = (2.0 if self.model.field[0].method == EULER else 2.78) / limit
        if self.dt > longest:
            message = f"{self.dt:g} s is too long for the {part}; at most {longest:.2g} s, better a tenth of it"
            raise InputError(Problem(message, key="time.step"))
        jump, largest = float(self.model.inertia["resting"].max()), self.fastest_followed
        if jump > 0.5 * largest:
            message = (
                f"{self.dt:g} s is too long for motors that add {jump:.3g} m/s within it; a step can follow bodies "
                f"up to {largest:.3g} m/s"
            )
            raise InputError(Problem(message, key="time.step"))

    @property
    def fastest_followed(self) -> float:
        """The speed above which a body would need more parts of a step than there are [m/s]."""
        return kernel.MOST_PARTS * float(self.model.field[0].feature) / self.dt

    def fastest_motion(self) -> tuple[float, str]:
        """The largest rate at which a speed settles [1/s], and whose it is."""
        ball = self.scenario.world.ball
        found = [(ball.friction / ball.inertial_mass, "ball's friction")]
        for own, name in zip(self.model.robots, self.names, strict=True):
            mass = np.array([[own.mass_11, own.mass_12], [own.mass_12, own.mass_22]])
            drag = np.array([[own.drag_11, own.drag_12], [own.drag_12, own.drag_22]])
            half = 0.5 * own.track
            for side, sign in (("left", -1.0), ("right", 1.0)):
                # Speed control brakes a wheel like a motor with a larger constant: push · follow / r on v ± ω b/2.
                stiff = own[f"push_{side}"] * own[f"follow_{side}"] / own[f"radius_{side}"]
                drag = drag + stiff * np.outer([1.0, sign * half], [1.0, sign * half])
            found.append((float(np.linalg.eigvals(np.linalg.solve(mass, drag)).real.max()), f"motors of {name}"))
        return max(found, key=lambda motion: motion[0])

    def _check_places(self) -> None:
        """Both kick-off arrangements must be free of overlaps, and so must be the start."""
        problems: list[Problem] = []
        field = self.model.field[0]
        if abs(field.ball_x) > field.end + field.radius:
            message = f"{field.ball_x:g} m is in a goal; a match begins on the field"
            raise InputError(Problem(message, key="world.ball.position"))
        for kicking, key in ((BLUE, "blue"), (YELLOW, "yellow")):
            state = empty_state(self.model)
            start(self.model, state, kicking, [0.0, 0.0])
            for complaint, place_key in self._overlaps(state, kicking):
                if all(place_key != known.key for known in problems):
                    problems.append(Problem(f"{complaint} (kick-off of {key})", key=place_key))
        if problems:
            raise InputError(problems)

    def _overlaps(self, state: State, kicking: int = -1) -> list[tuple[str, str]]:
        """What overlaps, in words, and the key of the body to move; `kicking` is the team whose kick-off it is."""
        pairs = np.empty((64, 2), dtype=np.int64)
        count = kernel.overlaps(self.model, state, pairs)
        result = []
        for i, j in pairs[: min(count, len(pairs))].tolist():
            is_ball = i == len(self.names)
            name = "the ball" if is_ball else self.names[i]
            key = "world.ball.position" if is_ball else f"robots.{self.names[i]}.{self._pose_key(i, kicking)}"
            match, robots = state.match[0], state.robots
            x, y = (match.ball_x, match.ball_y) if is_ball else (robots[i].x, robots[i].y)
            where = f"{name} at ({x:g}, {y:g})"
            if j < 0:
                result.append((f"{where} is not inside the field", key))
            else:
                result.append((f"{where} overlaps {self.names[j]} at ({robots[j].x:g}, {robots[j].y:g})", key))
        return result

    def _pose_key(self, index: int, kicking: int) -> str:
        robot = self.scenario.robots[self.names[index]]
        kicks = (robot.team == "blue") == (kicking == BLUE) and robot.kick_off_pose is not None
        return "kick_off_pose" if kicking >= 0 and kicks else "pose"

    # --- the protocol --------------------------------------------------------------------------------------

    def about(self) -> dict[str, Any]:
        robots = {}
        for own, (name, (team, number)) in zip(self.model.robots, self.scenario.players.items(), strict=True):
            robots[name] = {
                "team": team,
                "id": number,
                "side": 2.0 * float(own.half),
                "max_voltage": float(min(own.limit_left, own.limit_right)),
                "max_speed": float(min(own.limit_left / own.constant_left, own.limit_right / own.constant_right)),
            }
        world = self.scenario.world
        return {"field": world.field.model_dump(), "ball": {"radius": world.ball.radius}, "robots": robots}

    def reset(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.inputs[:] = 0.0
        self.inputs[self._match_inputs] = np.nan
        self.inputs[HALT] = self.inputs[-1] = 0.0
        self._told_call = self.inputs[REFEREE].copy()
        self.ended = ""
        start(self.model, self.state, self._first, self.scenario.world.ball.velocity)

    def advance(self, step: int, n: int, record_every: int, rows: np.ndarray) -> bool:
        match = self.state.match[0]
        if self.inputs[-1] != match.placement:
            self._replace()
        before = match.score_blue, match.score_yellow
        taken, finite, scorer = kernel.advance(
            self.model, self.state, self.work, self._driven(), self.dt, step, n, record_every, rows
        )
        blue, yellow = int(match.score_blue), int(match.score_yellow)
        scored = [team for team, now, was in zip(("blue", "yellow"), (blue, yellow), before, strict=True) if now > was]
        self.news = (*self._new_call(), *(f"goal for {team}: {blue}:{yellow}" for team in scored))
        if finite and scorer:
            self.ended = f"goal for {'blue' if scorer == 1 else 'yellow'}"
            self.steps_taken = taken
        return bool(finite)

    def _driven(self) -> np.ndarray:
        """What the robots follow at the moment."""
        return self._halted if self.inputs[HALT] else self.inputs

    def _new_call(self) -> tuple[str, ...]:
        """The referee's call, where it is another than the last."""
        call = self.inputs[REFEREE]
        if np.array_equal(call, self._told_call, equal_nan=True):
            return ()
        self._told_call = call.copy()
        if np.isnan(call[0]):
            return ()
        team = {0: " for blue", 1: " for yellow"}.get(int(call[1]), "") if call[0] < FOULS.index("stop") else ""
        name = FOULS[int(call[0])] if call[0] < len(FOULS) else f"call {int(call[0])}"
        return (f"referee: {name}{team}",)

    def results(self) -> dict[str, str]:
        match = self.state.match[0]
        return {"score_blue": str(int(match.score_blue)), "score_yellow": str(int(match.score_yellow))}

    def observe(self, row: np.ndarray) -> None:
        kernel.observe(self.model, self.state, self._driven(), row)

    def state_arrays(self) -> dict[str, np.ndarray]:
        """The fields of the state's records, and the inputs."""
        arrays = {"inputs": self.inputs, "neighbours": self.state.neighbours}
        for group, part in (("robot", self.state.robots), ("body", self.state.speeds), ("match", self.state.match)):
            arrays |= {f"{group}/{name}": part[name] for name in part.dtype.names or ()}
        return arrays

    def restore(self, state: EngineState) -> None:
        super().restore(state)
        self.ended = ""

    def keep(self) -> None:
        for kept, part in zip(self._kept_bytes, self._bytes, strict=True):
            kept[...] = part

    def go_back(self) -> None:
        for kept, part in zip(self._kept_bytes, self._bytes, strict=True):
            part[...] = kept
        self.ended = ""

    # --- the state of one robot ----------------------------------------------------------------------------

    def get_state(self, robot: str) -> RobotState:
        self._index(robot)
        values = self._values(self.state, robot)
        joints = {side: (float(values[f"{side}/angle"]), float(values[f"{side}/speed"])) for side in SIDES}
        return RobotState(values["pose"], values["twist"], joints)

    def _values(self, state: State, actor: str) -> dict[str, Any]:
        """Channels of one actor in this state, by local name."""
        row = np.empty(self.channels.width)
        kernel.observe(self.model, state, self._driven(), row)
        return {channel.local_name: self.channels.value(row, channel.name) for channel in self.channels.of_robot(actor)}

    def set_state(self, robot: str, *, pose: Numbers = None, twist: Numbers = None, joints: Joints = None) -> None:
        """The wheels do not slip: their speeds and the robot's velocity are one thing said twice. A robot may slide
        aside as fast as it does where it leans on something. The energy account counts the change as a placement."""
        index = self._index(robot)
        state = State(*(part.copy() for part in self.state))
        own, speeds = state.robots[index], state.speeds[index]
        if pose is not None:
            x, y, heading = command_numbers(pose, 3, f"{robot}/pose (x, y, heading)")
            if max(abs(x), abs(y), abs(heading)) > FARTHEST:
                raise InputError(Problem("a pose beyond the field", key=f"{robot}/pose"))
            own.x, own.y = x, y
            if heading != atan2(own.sine, own.cosine):  # else the bits that belong to it stay
                own.heading, own.cosine, own.sine = heading, np.cos(heading), np.sin(heading)
            complaints = self._overlaps(state)
            if complaints:
                raise InputError([Problem(complaint, key=f"{robot}/pose") for complaint, _ in complaints[:3]])
        if twist is not None:
            speeds.u0, own.slide, speeds.u1 = command_numbers(twist, 3, f"{robot}/twist (vx, vy, yaw_rate)")
        self._set_wheels(robot, joints or {}, state, twist is not None)
        self._check_speeds(robot, own, speeds)
        state.match[0].placed += self._kinetic(state) - self._kinetic(self.state)
        state.match[0].drift = np.inf
        for part, new in zip(self.state, state, strict=True):
            part[...] = new

    def _set_wheels(self, robot: str, joints: Mapping[str, Any], state: State, moving: bool) -> None:
        """Angles of wheels, and their speeds: the robot's velocity follows, or has to agree where it is given too."""
        index, values = self._index(robot), self._values(state, robot)
        model, own, speeds = self.model.robots[index], state.robots[index], state.speeds[index]
        present = [float(values[f"{side}/speed"]) for side in SIDES]
        wanted = list(present)
        for name, value in joints.items():
            if name not in SIDES:
                raise InputError(Problem(f"no joint {name!r}{closest(name, SIDES)}", key=robot))
            size = 1 if np.ndim(value) == 0 else 2
            angle, *rate = command_numbers(value, size, f"{robot}/{name} (angle, or angle and speed)")
            own[f"angle_{name}"] = angle
            if rate:
                wanted[SIDES.index(name)] = rate[0]
        off = max(abs(new - old) for new, old in zip(wanted, present, strict=True))
        if moving and off > 1e-9 * (1.0 + max(map(abs, present))):
            message = f"wheels at {wanted[0]:g} and {wanted[1]:g} rad/s would slip; the twist turns them at "
            raise InputError(Problem(f"{message}{present[0]:g} and {present[1]:g} rad/s", key=robot))
        if not moving and off > 0.0:
            left, right = model.radius_left * wanted[0], model.radius_right * wanted[1]
            speeds.u0, speeds.u1 = 0.5 * (left + right), (right - left) * model.per_track

    def _check_speeds(self, robot: str, own: np.record, speeds: np.record) -> None:
        index, key = self._index(robot), f"{robot}/twist"
        model, speed = self.model.robots[index], hypot(speeds.u0, own.slide)
        slowest = 0.0 if isinf(model.grip) else kernel.FASTEST_SLIDE
        if own.playing == 0.0 and (speed or speeds.u1):
            raise InputError(Problem("a robot that is out of play does not move", key=key))
        if abs(own.slide) > slowest:
            message = f"vy is {own.slide:g} m/s; its wheels let it slide aside at {slowest:g} m/s at most"
            raise InputError(Problem(message, key=key))
        if speed + abs(speeds.u1) * model.reach > FASTEST:
            message = f"points of the robot at {speed + abs(speeds.u1) * model.reach:g} m/s are beyond {FASTEST:g} m/s"
            raise InputError(Problem(message, key=key))

    def _index(self, robot: str) -> int:
        if robot not in self.names:
            raise InputError(Problem(f"no robot {robot!r}{closest(robot, self.names)}"))
        return self.names.index(robot)

    # --- commands ------------------------------------------------------------------------------------------

    def rest_inputs(self, robot: str) -> np.ndarray:
        """Motors without voltage brake by themselves. A replacement is no command that could run out."""
        present = self.inputs[self.robot_inputs(robot)]
        return present.copy() if robot == MATCH else np.zeros_like(present)

    def command_layout(self, robot: str) -> list[tuple[str, int]]:
        if robot == MATCH:
            return [("ball/place", 4), *((f"{name}/place", 4) for name in self.names), ("kick_off", 1), ("halt", 1),
                    ("referee", 5)]  # fmt: skip
        return [*((name, 1) for name in (*VOLTAGES, *SPEEDS)), ("twist", 2)]

    def resolve_command(self, robot: str, command: Mapping[str, Any]) -> np.ndarray:
        known = [name for name, _ in self.command_layout(robot)]
        for name in command:
            if name not in known:
                raise InputError(Problem(f"unknown command {name!r}{closest(name, known)}", key=robot))
        return self._resolve_match(command) if robot == MATCH else self._resolve_robot(robot, command)

    def _resolve_robot(self, robot: str, command: Mapping[str, Any]) -> np.ndarray:
        values = self.inputs[self.robot_inputs(robot)].copy()
        by_speed = [name for name in command if name in SPEEDS or name == "twist"]
        by_voltage = [name for name in command if name in VOLTAGES]
        if by_speed and by_voltage:
            message = f"{by_speed[0]!r} and {by_voltage[0]!r} together: a robot follows speeds or voltages"
            raise InputError(Problem(message, key=robot))
        if "twist" in command:
            v, w = np.clip(command_numbers(command["twist"], 2, f"{robot}/twist (v, yaw_rate)"), -WILDEST, WILDEST)
            own = self.model.robots[self.names.index(robot)]
            side = 0.5 * own.track * w
            values[2], values[3] = (v - side) / own.radius_left, (v + side) / own.radius_right
        for name, index in (SPEEDS | VOLTAGES).items():
            if name in command:
                values[index] = command_numbers(command[name], 1, f"{robot}/{name}")[0]
        if command:
            values[BY_SPEED] = 1.0 if by_speed else 0.0
        return np.clip(values, -WILDEST, WILDEST)

    def _resolve_match(self, command: Mapping[str, Any]) -> np.ndarray:
        """All bodies that are put somewhere at one step boundary; a place that is not free is refused. The referee's
        part beside it: whether the robots are halted, and the call as it was."""
        match, field = self.state.match[0], self.model.field[0]
        values = self.inputs[self._match_inputs].copy()
        if "halt" in command:
            values[HALT] = float(command_numbers(command["halt"], 1, f"{MATCH}/halt (1 or 0)")[0] > 0.5)
        if "referee" in command:
            call = command_numbers(command["referee"], 5, f"{MATCH}/referee ({', '.join(CALL)})")
            values[REFEREE] = np.clip(call, 0.0, WILDEST)
        if not command.keys() - {"halt", "referee"}:
            return values
        if values[-1] == match.placement:
            values[: self._places] = np.nan  # the last one has taken place
        if "kick_off" in command:
            team = command_numbers(command["kick_off"], 1, f"{MATCH}/kick_off (1 blue, 2 yellow)")[0]
            if team not in (1.0, 2.0):
                raise InputError(Problem(f"1 for blue or 2 for yellow, not {team:g}", key=f"{MATCH}/kick_off"))
            values[:4] = [field.ball_x, field.ball_y, 0.0, 0.0]
            for index, place in enumerate(self.model.places[int(team) - 1]):
                values[4 + 4 * index : 8 + 4 * index] = [*place, self.state.robots[index].playing]
        if "ball/place" in command:
            ball = command_numbers(command["ball/place"], 4, f"{MATCH}/ball/place (x, y, vx, vy)")
            if hypot(ball[2], ball[3]) > FASTEST:
                message = f"{hypot(ball[2], ball[3]):g} m/s is beyond {FASTEST:g} m/s"
                raise InputError(Problem(message, key=f"{MATCH}/ball/place"))
            values[:4] = ball
        for index, name in enumerate(self.names):
            key = f"{name}/place"
            if key in command:
                place = command_numbers(command[key], 4, f"{MATCH}/{key} (x, y, heading, playing)")
                if abs(place[2]) > FARTHEST:
                    raise InputError(Problem(f"a heading of {place[2]:g} rad", key=f"{MATCH}/{key}"))
                values[4 + 4 * index : 8 + 4 * index] = [*place[:3], 1.0 if place[3] > 0.5 else 0.0]
        self._check_free(values)
        values[-1] += 1.0
        return values

    def _check_free(self, values: np.ndarray) -> None:
        if np.nanmax(np.abs(values[: self._places]), initial=0.0) > FARTHEST:
            raise InputError(Problem("a place beyond the field", key=MATCH))
        state = State(*(part.copy() for part in self.state))
        apply_places(state, values)
        complaints = self._overlaps(state)
        if complaints:
            raise InputError([Problem(complaint, key=MATCH) for complaint, _ in complaints[:3]])

    def _replace(self) -> None:
        """Carry the commanded replacement out, at the present step boundary."""
        state, match, field = self.state, self.state.match[0], self.model.field[0]
        values = self.inputs[self._match_inputs]
        before = self._kinetic(state)
        apply_places(state, values)
        for index in range(len(self.names)):
            if np.isfinite(values[4 + 4 * index]):
                state.speeds[index].u0 = state.speeds[index].u1 = 0.0
        if np.isfinite(values[0]):
            state.speeds[-1].u0, state.speeds[-1].u1 = values[2], values[3]
            if values[2] or values[3]:
                match.ball_heading = np.arctan2(values[3], values[2])
            match.in_goal = float(abs(match.ball_x) > field.end + field.radius)
        match.placed += self._kinetic(state) - before
        match.placement = values[-1]
        match.drift = np.inf

    def _kinetic(self, state: State) -> float:
        return float(self._values(state, MATCH)["energy"][0])

    def stability_hint(self) -> str:
        if self.model.field[0].impact_model == SPHERES:
            return "equivalent spheres gain energy in impacts; world.impacts.model: rigid does not"
        bodies, reach = self.state.speeds, self.model.robots["reach"]
        speeds = np.abs(bodies["u0"][:-1]) + np.abs(bodies["u1"][:-1]) * reach
        fastest = max(hypot(bodies[-1].u0, bodies[-1].u1), float(speeds.max()))
        if np.isfinite(fastest) and fastest > 0.1 * self.fastest_followed:
            return (
                f"a body came to {fastest:.3g} m/s; a step of {self.dt:g} s can follow {self.fastest_followed:.3g} m/s"
            )
        limit, part = self.fastest_motion()
        return f"the fastest motion is that of the {part}, with a time constant of {1.0 / limit:.2g} s"


def apply_places(state: State, values: np.ndarray) -> None:
    """Robots and ball where a replacement puts them; NaN leaves one alone."""
    if np.isfinite(values[0]):
        state.match[0].ball_x, state.match[0].ball_y = values[0], values[1]
    for index, own in enumerate(state.robots):
        place = values[4 + 4 * index : 8 + 4 * index]
        if np.isfinite(place[0]):
            put(own, *place[:3])
            own.playing = place[3]
