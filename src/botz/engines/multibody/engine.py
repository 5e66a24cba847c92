"""Engine `multibody`: articulated robots on MuJoCo, with compiled force elements between its stages."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Collection, Mapping
from functools import cached_property, lru_cache
from math import isfinite
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from botz.channels import ChannelTable, command_numbers
from botz.engines.base import Engine, EngineState, Joints, Numbers, RobotState
from botz.engines.multibody import parts as multibody_parts
from botz.engines.multibody import placing
from botz.engines.multibody import start as multibody_start
from botz.engines.multibody import step as kernel
from botz.engines.multibody.elements.base import Surroundings
from botz.engines.multibody.elements.user import failure
from botz.engines.placing import all_or_nothing, given_joints
from botz.errors import BotzError, InputError, Problem, StoppedError
from botz.models import stiffness
from botz.models.mjcf.parts import native_actuator_of
from botz.physics.aero import wind
from botz.physics.contact.terrain import GRID
from botz.scenario.multibody.schema import MultibodyScenario
from botz.scenario.names import closest
from botz.terrain.height_grid import build_grid

METHODS = {"rk4": kernel.RK4, "euler": kernel.EULER, "implicit": kernel.IMPLICIT, "implicit-fast": kernel.IMPLICIT}
WARNED = np.zeros(1, dtype=np.int64)
"""Set by MuJoCo's warnings: after them it goes on with contacts left out or numbers replaced, and a run does not."""
_last_warning: list[str] = []
_running: list[MultibodyEngine] = []
"""The engine that is in compiled code now."""


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    """MuJoCo's own library, the one that its Python module has loaded."""
    folder = Path(mujoco.__file__).parent
    found = sorted(
        path for pattern in ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll") for path in folder.glob(pattern)
    )
    if not found:
        raise BotzError(f"MuJoCo's library is not in {folder}; install it anew: pip install --force-reinstall mujoco")
    loaded = ctypes.CDLL(str(found[0]))
    # Calls by address bypass the Python module, which turns errors into exceptions. Outside it MuJoCo would write a
    # file where the user stands; a fatal error cannot return, so it ends the process, whose recorder is another one.
    for name, callback in (("mju_user_error", _on_error), ("mju_user_warning", _on_warning)):
        ctypes.c_void_p.in_dll(loaded, name).value = ctypes.cast(callback, ctypes.c_void_p).value
    return loaded


@ctypes.CFUNCTYPE(None, ctypes.c_char_p)
def _on_error(message: bytes) -> None:
    text = " ".join(message.decode(errors="replace").split())
    if _running and _running[0].before_abort is not None:
        _running[0].before_abort()
    hint = "; raise 'world.memory'" if "memory" in text or "stack" in text else ""
    os.write(2, f"botz: MuJoCo stopped: {text}{hint}\n".encode())
    os._exit(70)


@ctypes.CFUNCTYPE(None, ctypes.c_char_p)
def _on_warning(message: bytes) -> None:
    # MuJoCo ends with its own time, which stands still here.
    text = " ".join(message.decode(errors="replace").split())
    _last_warning[:] = [text.split(" Time = ")[0].rstrip(".")]
    WARNED[0] = 1


def call_addresses() -> np.ndarray:
    names = kernel.CALLS
    return np.array([ctypes.cast(getattr(library(), name), ctypes.c_void_p).value for name in names], dtype=np.int64)


class MultibodyEngine(Engine):
    name = "multibody"

    @classmethod
    def build(cls, scenario: MultibodyScenario, user_elements: str) -> MultibodyEngine:
        return cls(scenario, user_elements)

    def __init__(self, scenario: MultibodyScenario, user_elements: str = "run"):
        self.scenario = scenario
        library()  # before the first call into MuJoCo, whose warnings would otherwise go to a file of its own
        WARNED[0] = 0
        self.dt = scenario.time.step_ns * 1e-9
        self.ground = build_grid(scenario.world.terrain, scenario.seed) if scenario.world.terrain else None
        self.robots = multibody_parts.robots_of(scenario, user_elements)
        self.model = multibody_parts.mujoco_model(scenario, self.robots, self.ground)
        self.data = mujoco.MjData(self.model)
        self.tables = multibody_parts.tables_of(scenario, self.robots, self.model)
        self.channels = ChannelTable(self.tables.channels)
        self.inputs_table = ChannelTable(self.tables.inputs)
        self.views = self.tables.views
        self.notes = tuple(str(note) for robot in self.robots.values() for note in robot.model.notes)
        self.inputs = np.zeros(self.inputs_table.width)
        self._commands = {
            name: (
                {channel.local_name: k for k, channel in enumerate(self.inputs_table.of_robot(name))},
                self.robot_inputs(name),
            )
            for name in self.robots
        }
        self._start = multibody_start.start_state(self.model, self.robots)
        self.data.qpos[:], self.data.qvel[:] = self._start
        self._bind_elements()
        multibody_parts.set_gains(self.model, self.data, self.robots, self.tables.actuators)
        self._held_ctrl, self._held_act, self._holding = multibody_start.held_controls(self.model, self.data)
        self.method = self._method()
        self.model.opt.integrator = stiffness.METHODS[self.method]
        self._check_step()
        self.world = self._world()
        self.physics = self._physics()
        self.store = self._store()
        # Fields of a record cost microseconds each time, and these are asked for at every call.
        self._left = self.world["left"]
        self._turbulent = scenario.world.wind.turbulence is not None
        self._arguments = self._loop_arguments()
        self._own_arrays = [
            (f"{name}/{element.name}/{key}", array)
            for name, robot in self.robots.items()
            for element in robot.elements.values()
            for key, array in element.arrays.items()
        ]
        self._placed = {name: placing.Placed(name, robot, self.model, self.data) for name, robot in self.robots.items()}
        self._element_starts = [array.copy() for _, array in self._own_arrays]
        self._random = self._turbulent or self.tables.sensors.size > 0
        self._filled = np.zeros(1, dtype=np.int64)
        self._step = 0
        self.reset(np.random.default_rng(0))
        self._states = self.state_arrays()
        self._kept = self.snapshot()
        if WARNED[0]:
            WARNED[0] = 0
            key = "world.memory" if "memory" in _last_warning[0] else "robots"
            raise InputError(Problem(f"MuJoCo warns of the world as it starts: {_last_warning[0]}", key=key))
        multibody_start.check_apart(self.model, self.data, self.robots)

    # --- building ------------------------------------------------------------------------------------------

    def _bind_elements(self) -> None:
        """Elements that need to know more of the world than a frame tells look at it once."""
        for name, robot in self.robots.items():
            for element in robot.elements.values():
                if element.kind.bind is not None:
                    body = self.model.body(f"{name}/{element.link}").id
                    around = Surroundings(self.model, self.data, body, self.ground, self.scenario.world.ground)
                    element.kind.bind(element, around)

    @cached_property
    def linear(self) -> stiffness.Linearised:
        """Servos, springs and dampers about the start."""
        return stiffness.linearised(self.model, self._start[0], self._held_ctrl)

    def _method(self) -> str:
        """That of the scenario, else one that an MJCF file names, else by stiffness."""
        if self.scenario.time.method != stiffness.AUTO:
            return self.scenario.time.method
        named = {robot.model.method: name for name, robot in reversed(self.robots.items()) if robot.model.method}
        if named:
            # One world has one method: of several that which follows all robots.
            able = (one for one in reversed(named) if len(named) == 1 or self.linear.follows(one, self.dt))
            method = next(able, next(reversed(named)))
            self.notes += (
                f"the method is {method!r}, as the file of {named[method]!r} says; 'time.method' chooses another",
            )
            return method
        method = stiffness.chosen(self.linear, self.dt)
        if method != "rk4":
            rate, part = self._fastest()
            reason = f"{part} is as fast as {rate:.4g} rad/s, too fast for 'rk4' at {self.dt:g} s"
            self.notes += (f"the method is {method!r}: {reason}; 'time.method' chooses another",)
        return method

    def _check_step(self) -> None:
        """A step must follow the fastest servo; MuJoCo's implicit methods follow any damping."""
        if self.scenario.world.contact.time_constant < 2.0 * self.dt:
            least = 2.0 * self.dt
            message = f"must be at least twice the step, {least:g} s, or contacts bounce without end"
            raise InputError(Problem(message, key="world.contact.time_constant"))
        if self.method.startswith("implicit"):
            return
        for name, robot in self.robots.items():
            for joint, spec in robot.actuators.items():
                if spec.kind == "effort" or spec.proportional is not None:
                    continue
                # A critically damped servo of frequency ω has its fastest pole at ω, a speed servo too; Runge-Kutta is
                # stable to 2.8/ω, Euler to 2/ω.
                if self.dt * spec.frequency > 2.0:
                    message = (
                        f"{spec.frequency:g} rad/s is faster than a step of {self.dt:g} s can follow; "
                        f"at most {1.0 / self.dt:.4g}, or the method 'implicit'"
                    )
                    raise InputError(Problem(message, key=f"robots.{name}.actuators.{joint}.frequency"))

    def _world(self) -> np.ndarray:
        world = self.scenario.world
        found = np.zeros(1, kernel.WORLD)
        found["air_density"] = world.air_density
        found["has_ground"] = int(world.ground or self.ground is not None)
        found["method"] = METHODS[self.method]
        found["dt"] = self.dt
        found["turbulent"] = int(world.wind.turbulence is not None)
        if self.ground is not None:
            ground = self.ground
            found["bounded"] = 1
            found["x_min"], found["x_max"], found["y_min"], found["y_max"] = (
                ground.x_min, ground.x_max, ground.y_min, ground.y_max,
            )  # fmt: skip
        return found

    def _physics(self) -> kernel.Physics:
        model, data = self.model, self.data
        free, ball = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
        turning = [
            int(at) + (3 if kind == free else 0)
            for at, kind in zip(model.jnt_dofadr, model.jnt_type, strict=True)
            if kind in (free, ball)
        ]
        return kernel.Physics(
            model=model._address, data=data._address, calls=call_addresses(), qpos=data.qpos, qvel=data.qvel,
            qacc=data.qacc, warm=data.qacc_warmstart, act=data.act, act_dot=data.act_dot, ctrl=data.ctrl,
            joint_force=data.qfrc_applied, body_force=data.xfrc_applied, xpos=data.xpos, xquat=data.xquat,
            xmat=data.xmat, xipos=data.xipos, cvel=data.cvel, subtree_com=data.subtree_com, xaxis=data.xaxis,
            xanchor=data.xanchor, actuated=data.qfrc_actuator, outer_force=data.cfrc_ext,
            sensordata=data.sensordata, turning=np.array(turning, dtype=np.int64),
        )  # fmt: skip

    def _store(self) -> kernel.Store:
        nq, nv, na = self.model.nq, self.model.nv, self.model.na
        return kernel.Store(
            qpos=np.zeros(nq), qvel=np.zeros(nv), act=np.zeros(na), velocity=np.zeros((4, nv)),
            acceleration=np.zeros((4, nv)), activation=np.zeros((4, na)), warm=np.zeros(nv), way=np.zeros(nv),
        )  # fmt: skip

    def _loop_arguments(self) -> tuple[Any, ...]:
        tables, grid = self.tables, np.zeros(1, GRID)
        heights = np.zeros((2, 2))
        if self.ground is not None:
            ground, heights = self.ground, self.ground.heights
            grid["x_min"], grid["y_min"] = ground.x_min, ground.y_min
            grid["cells_x"], grid["cells_y"] = 1.0 / ground.dx, 1.0 / ground.dy
            grid["last_x"], grid["last_y"] = heights.shape[0] - 1, heights.shape[1] - 1
        else:
            grid["last_x"] = grid["last_y"] = 1
        self.air, self._gusts = multibody_parts.wind_of(self.scenario.world.wind)
        # Not the named tuples themselves, which Numba would take longer to recognise at every call.
        own = tables.robots, tables.joints, tables.actuators, tables.elements
        seen = tables.sensors, tables.readings, tables.readings.ctypes.data
        return (
            (*own, tables.frames, tables.frames.ctypes.data, *seen), tuple(self.physics), tuple(self.store),
            (self.world, self.air, self._gusts, heights, grid),
        )  # fmt: skip

    # --- the protocol --------------------------------------------------------------------------------------

    def reset(self, rng: np.random.Generator) -> None:
        self.rng = rng
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = self._start
        self.data.act[:] = self._held_act
        self.inputs[:] = 0.0
        self._not_yet_left()
        tables = self.tables
        tables.frames["states"] = 0.0
        tables.readings["bias"] = 0.0
        for (_, array), start in zip(self._own_arrays, self._element_starts, strict=True):
            array[...] = start
        self.air["turbulence"] = self.air["intensity"] * rng.standard_normal(3) if self._turbulent else 0.0
        actuators = tables.actuators
        actuators["summed"] = 0.0
        for one in actuators:
            # Servos begin where their joints are; speeds begin at those of the start.
            if one.kind == kernel.POSITION:
                one.reference = self.data.qpos[one.position]
            elif one.kind == kernel.VELOCITY:
                one.reference = self.data.qvel[one.dof]
            elif one.kind == kernel.DIRECT:
                one.reference = self._held_ctrl[one.control]
            else:
                one.reference = 0.0
            if one.kind != kernel.EFFORT:
                self.inputs[one.input] = one.reference
            self.data.ctrl[one.control] = one.reference
        self._step = 0
        self._first_readings()

    def _first_readings(self) -> None:
        failed = kernel.read_first(*self._arguments, self.inputs, self._noise(-1, 1))
        if failed >= 0:
            robot, part, name, did = self._failure(failed)
            raise InputError(Problem(f"the {part} {did}, as the world starts", key=f"robots.{robot}.{part}s.{name}"))

    def advance(self, step: int, n: int, record_every: int, rows: np.ndarray) -> bool:
        noise = self._noise(step, n)
        _running[:] = [self]
        taken, sound, failed = kernel.advance_world(
            *self._arguments, self.inputs, noise, step, n, record_every, rows, self._filled, WARNED
        )
        _running.clear()
        self._step = step + taken
        self.data.time = self._step * self.dt
        if failed >= 0:
            robot, part, name, did = self._failure(failed)
            time = self.tables.frames[failed]["time"] if part == "element" else self.data.time + self.dt
            message = f"the {part} {name!r} of robot {robot!r} {did}, at t = {time:.6g} s"
            raise StoppedError(message, step=self._step + 1)
        if WARNED[0]:
            raise self._warned(self._step + 1)
        if left := int(self._left[0]):
            self.ended = f"{list(self.robots)[left - 1]} left the terrain"
            self.steps_taken = taken
        return bool(sound)

    def _failure(self, number: int) -> tuple[str, str, str, str]:
        """The robot, what it is, its name and what it did, of the element or sensor of that number."""
        elements = [(name, element) for name, robot in self.robots.items() for element in robot.elements.values()]
        if number < len(elements):
            name, element = elements[number]
            return name, "element", element.name, failure(element, self.tables.frames[number : number + 1])
        sensors = [(name, sensor) for name, robot in self.robots.items() for sensor in robot.sensors]
        return sensors[number - len(elements)][0], "sensor", sensors[number - len(elements)][1], "raised an exception"

    def rows_filled(self) -> int:
        return int(self._filled[0])

    def _warned(self, step: int) -> StoppedError:
        WARNED[0] = 0
        text = _last_warning[0] if _last_warning else "MuJoCo gave a warning"
        hint = "raise 'world.memory', or use fewer and simpler shapes" if "memory" in text else self.stability_hint()
        return StoppedError(f"MuJoCo warned at t = {step * self.dt:.6g} s: {text}; {hint}", step=step)

    def _noise(self, step: int, n: int) -> np.ndarray:
        """Random numbers for the wind and the readings in these steps. They are used in the order of steps, so that
        cutting a run into other pieces does not change it."""
        sensors = self.tables.sensors
        if not self._random:
            return np.zeros(0)
        readings = (step + n) // sensors["every"] - step // sensors["every"]
        count = int((readings * sensors["random"]).sum())
        return self.rng.standard_normal(count + (3 * n if self._turbulent else 0))

    def _not_yet_left(self) -> None:
        self.ended = ""
        self._left[0] = 0

    def restore(self, state: EngineState) -> None:
        super().restore(state)
        self._not_yet_left()
        # MuJoCo warns of a kind only once; what a state before has seen does not count for this one.
        for warning in range(int(mujoco.mjtWarning.mjNWARNING)):
            self.data.warning[warning].number = 0
        WARNED[0] = 0

    def keep(self) -> None:
        """Into arrays that are there already."""
        kept = self._kept.arrays
        for name, array in self._states.items():
            np.copyto(kept[name], array)
        self._kept.rng = dict(self.rng.bit_generator.state)

    def observe(self, row: np.ndarray) -> None:
        kernel.observe_world(*self._arguments, self.inputs, self._step, row)

    def state_arrays(self) -> dict[str, np.ndarray]:
        data, tables = self.data, self.tables
        found = {
            "qpos": data.qpos, "qvel": data.qvel, "act": data.act, "warm": data.qacc_warmstart, "ctrl": data.ctrl,
            "reference": tables.actuators["reference"], "summed": tables.actuators["summed"],
            "states": tables.frames["states"], "bias": tables.readings["bias"], "last": tables.readings["last"],
            "turbulence": self.air["turbulence"], "inputs": self.inputs,
        }  # fmt: skip
        return {**found, **dict(self._own_arrays)}

    def get_state(self, robot: str) -> RobotState:
        row = np.empty(self.channels.width)
        self.observe(row)
        pose, twist = (self.channels.value(row, f"{robot}/{name}").copy() for name in ("pose", "twist"))
        return RobotState(pose, twist, self._placed[robot].of_joints())

    def set_state(self, robot: str, *, pose: Numbers = None, twist: Numbers = None, joints: Joints = None) -> None:
        """The velocity of a base that is turned turns with it. Servos and elements keep their own states: a servo moves
        its joint back to where it is commanded."""
        placed, present = self._placed[robot], self.get_state(robot)
        settings = given_joints(robot, joints, placed.joints)
        before = self.data.qpos.copy(), self.data.qvel.copy()
        try:
            with all_or_nothing(self):
                placed.set_joints(settings)
                placed.set_base(pose, twist, (present.pose, present.twist), self.ground)
                if np.array_equal(self.data.qpos, before[0]) and np.array_equal(self.data.qvel, before[1]):
                    return
                placing.follow(self.model, self.data)
                if WARNED[0]:
                    WARNED[0] = 0
                    raise InputError(Problem(f"MuJoCo warns of this state: {_last_warning[0]}", key=robot))
                multibody_start.check_apart(self.model, self.data, self.robots, robot)
        except InputError:
            placing.follow(self.model, self.data)
            raise
        self._not_yet_left()

    def rest_inputs(self, robot: str) -> np.ndarray:
        """Speeds, efforts and voltages 0; positions stay where they are commanded."""
        span = self.robot_inputs(robot)
        values = self.inputs[span].copy()
        held = {int(one.input) - span.start for one in self.tables.actuators if self._holding[one.control]}
        for k, channel in enumerate(self.inputs_table.of_robot(robot)):
            if k not in held and not channel.name.endswith("/position"):
                values[k] = 0.0
        return values

    def resolve_command(self, robot: str, command: Mapping[str, Any]) -> np.ndarray:
        places, span = self._commands[robot]
        values = self.inputs[span].copy()
        for name, value in command.items():
            place = places.get(name)
            if place is None:
                raise InputError(Problem(f"unknown command {name!r}{closest(name, places)}", key=robot))
            # Plain numbers, which is what controllers give, need no array made of them.
            plain = isinstance(value, float) and isfinite(value)
            values[place] = value if plain else command_numbers(value, 1, f"{robot}/{name}")[0]
        return values

    def note_commands(self, robot: str, where: str, commands: Mapping[str, Collection[float]]) -> None:
        """Add a note for commands written down in a scenario that are beyond what an actuator takes, where they would
        be held without a word. Controllers that follow what is written call this at a reset."""
        places, span = self._commands[robot]
        limits = {int(one.input): (float(one.lower), float(one.upper)) for one in self.tables.actuators}
        for name, values in commands.items():
            if name not in places or (at := span.start + places[name]) not in limits:
                continue
            unit = self.inputs_table[f"{robot}/{name}"].unit
            low, high = limits[at]
            smallest, largest = min(values, default=0.0), max(values, default=0.0)
            for beyond, value, word, end in (
                (smallest < low, smallest, "least", low),
                (largest > high, largest, "greatest", high),
            ):
                told = f"{value:.4g} {unit}, {where}, is beyond its {word}, {end:.4g} {unit}; it is held there"
                text = f"{robot}/{name}: {told}"
                if beyond and text not in self.notes:
                    self.notes += (text,)

    def wind_at(self, time: float) -> np.ndarray:
        """Velocity of the air in the world [m/s]."""
        return np.array(wind.wind_at(self.air[0], self._gusts, time))

    def _fastest(self) -> tuple[float, str]:
        """The fastest rate of servos, springs and dampers at the start [rad/s], and what to call its cause."""
        rate, dof = self.linear.fastest()
        if dof < 0:
            return 0.0, ""
        joint = str(self.model.joint(int(self.model.dof_jntid[dof])).name)
        robot, _, local = joint.partition("/")
        parts = self.robots.get(robot)
        if parts is not None and (spec := parts.actuators.get(local)) is not None and spec.kind != "effort":
            by_hand = [key for key in ("proportional", "derivative") if getattr(spec, key) is not None]
            gains = f", whose {' and '.join(map(repr, by_hand))} {'are' if by_hand[1:] else 'is'} given by hand,"
            return rate, f"the servo of {joint}{gains if by_hand else ''}"
        native = parts.model.native if parts is not None else None
        if native is not None and (own := native_actuator_of(native, local)) is not None:
            return rate, f"the actuator {robot}/{own} of the file"
        damped = float(np.ravel(self.model.dof_damping)[dof]) > 0.0
        return rate, f"the {'damping' if damped else 'spring'} of {joint}"

    def stability_hint(self) -> str:
        if self.linear.follows(self.method, 5.0 * self.dt):
            return "try a shorter step; `botz model check` looks for parts too light for it"
        rate, part = self._fastest()
        others = [one for one in ("implicit-fast", "implicit", "rk4") if self.linear.follows(one, 5.0 * self.dt)]
        step = f"a step below {self.linear.longest(self.method, self.dt):.2g} s"
        remedy = f"'time.method: {others[0]}', or {step}" if others else step
        return f"{part} is as fast as {rate:.4g} rad/s, too fast for the method {self.method!r}; try {remedy}"
