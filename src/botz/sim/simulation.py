"""A simulation in the calling process: an engine, its controllers, and time as a count of steps."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Mapping
from itertools import dropwhile
from typing import Any, NamedTuple, cast

import numpy as np

from botz.channels import Measured, Values
from botz.control.base import Controller, ControllerSetup, Steerable
from botz.control.given import as_controller, rate_of
from botz.control.registry import at_controller
from botz.control.registry import build as build_controller
from botz.engines.base import Joints, Numbers, RobotState
from botz.engines.registry import UserElements, build_engine
from botz.errors import ControllerError, DivergedError, InputError, Problem, StoppedError
from botz.scenario import schema
from botz.scenario.checks import misfit
from botz.scenario.load import LoadedScenario, ScenarioSource, load
from botz.scenario.names import closest
from botz.sim import snapshots
from botz.sim.snapshots import Snapshot, controller_state, decode, fixed_parts, parts_of_world, restore_controller

LAST_STATES = 10
"""How many states up to a divergence are kept for the user to look at."""
OWN_FILES = {__file__, snapshots.__file__}
"""Frames of these stand above those of a controller in its traceback."""
LONGEST_CALL = 1 << 20
"""Steps in one compiled call: engines draw the random numbers of a call before it."""
GIVEN = "python:"
"""Before the robot's name: what a controller that was given in the call is called in recordings."""
DEFAULT_RATE = schema.Controller.model_fields["rate"].default
"""Calls of a controller per second, where nothing else is asked for [Hz]."""
CommandListener = Callable[[int, str, np.ndarray, str], None]
"""Called with step, robot, raw inputs and source whenever the inputs of a robot change."""


class Driver(NamedTuple):
    """A controller at work."""

    controller: Controller
    every: int
    """Steps between two calls."""
    robot: str
    spec: Any
    """Its description in the scenario; None for one that was given in the call."""


class Simulation:
    """Steps through a scenario under the caller's control.

    - `scenario`: a name of the library, a file, a mapping with the same keys, or what `load` returned
    - `seed`: of the random numbers; that of the scenario by default
    - `controllers`: robots and their controllers in Python, which take the place of the scenario's: a function
      `(t, measured) -> command`, or an object with `reset(setup)` and `update(t, measured)`. Both are called at 100 Hz,
      or as often as their attribute `rate` says [Hz]
    - `with_controllers=False` leaves out those of the scenario
    - `user_elements`: whether force elements that are a user's programs are run, left out ("skip") or an error
      ("refuse")

    Raises InputError for mistakes in any of them.

    >>> sim = botz.Simulation("differential-circle", seed=1)
    >>> sim.step(n=100)["rover/pose"].round(3)
    array([ 0.05 , -0.999,  0.05 ])
    """

    def __init__(
        self,
        scenario: ScenarioSource,
        *,
        seed: int | None = None,
        controllers: Mapping[str, Any] | None = None,
        with_controllers: bool = True,
        user_elements: UserElements = "run",
    ):
        self.scenario = scenario if isinstance(scenario, LoadedScenario) else load(scenario)
        """The checked scenario."""
        self.spec = cast(Any, self.scenario.spec)
        """Its description in SI, frozen."""
        self.engine = build_engine(self.spec, user_elements)
        """The world in motion."""
        self.step_ns: int = self.spec.time.step_ns
        """Length of a step [ns]."""
        self.channels = self.engine.channels
        """What can be observed, in one row of numbers."""
        self.inputs = self.engine.inputs_table
        """The raw commands that the physics reads, in one row of numbers."""
        self.on_command: CommandListener | None = None
        """Called with step, robot, raw inputs and source whenever the inputs of a robot change; None for nobody."""
        self.controllers_look_on = False
        """Controllers are called, and what they command is left aside: recorded inputs act instead."""
        self._controllers: dict[str, Driver] = {}
        given = dict(controllers or {})
        for robot in given:
            self._check_robot(robot)
        for name, spec in self.spec.controllers.items() if with_controllers else ():
            if spec.robot not in given:
                controller = build_controller(spec, allow_user_code=True, name=name)
                self._controllers[name] = Driver(controller, self.spec.time.steps_between(spec.rate), spec.robot, spec)
        for robot, control in given.items():
            self._controllers[GIVEN + robot] = Driver(
                as_controller(robot, control), self._every(robot, control), robot, None
            )
        self._driven = {driver.robot: name for name, driver in self._controllers.items()}
        # One generator and one setup for the life of the simulation: what a controller keeps of them stays valid.
        self._rng = np.random.Generator(np.random.PCG64())
        self._controller_rngs = {name: np.random.Generator(np.random.PCG64()) for name in self._controllers}
        self._setups = {
            name: ControllerSetup(
                robot=robot,
                period=every * self.step_ns * 1e-9,
                rng=self._controller_rngs[name],
                inputs=tuple(self.inputs.of_robot(robot)),
                engine=self.engine,
            )
            for name, (_, every, robot, _) in self._controllers.items()
        }
        self._no_rows = np.empty((0, self.channels.width))
        self.reset(seed)

    def _every(self, robot: str, control: Any) -> int:
        """Steps between two calls of a controller that was given; its rate fits the step if none is asked for."""
        rate = rate_of(robot, control)
        if rate is None:
            return max(1, round(1e9 / DEFAULT_RATE / self.step_ns))
        if complaint := misfit(rate, "Hz", self.step_ns):
            raise InputError(f"the rate of the controller of {robot!r}: {complaint}")
        return int(self.spec.time.steps_between(rate))

    # --- time ----------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time [s], derived from the count of steps."""
        return self.step_number * self.step_ns * 1e-9

    def reset(self, seed: int | None = None) -> Values:
        """Back to the start, with another seed where one is given; returns all channels by full name, as `step`.

        Raises InputError for a seed that is not a whole number of at least 0.

        >>> sim.reset(seed=2)["rover/pose"], sim.time
        (array([ 0., -1.,  0.]), 0.0)
        """
        if seed is not None and (not isinstance(seed, int | np.integer) or seed < 0):
            raise InputError(f"the seed is {seed!r}; it must be a whole number, at least 0")
        self.seed = self.spec.seed if seed is None else int(seed)
        """The seed of this run."""
        streams = np.random.SeedSequence(self.seed).spawn(1 + len(self._controllers))
        for rng, stream in zip([self._rng, *self._controller_rngs.values()], streams, strict=True):
            rng.bit_generator.state = np.random.PCG64(stream).state
        self.engine.reset(self._rng)
        self.step_number = 0
        """Steps taken since the start."""
        self._by_hand: set[str] = set()
        self._deadlines: dict[str, int] = {}
        self._steered_until: dict[str, int] = {}
        self._updated_at = -1
        self._fixed: list[Any] = []
        for name, driver in self._controllers.items():
            self._guarded(name, driver.controller.reset, self._setups[name])
            self._fixed += fixed_parts(driver.controller)
        return self.values()

    def step(self, inputs: Mapping[str, Any] | None = None, n: int = 1) -> Values:
        """Take `n` steps and return all channels by full name.

        `inputs` maps a robot to its command, e.g. {"rover": {"left/speed": 2.0}}, which holds until the next one. A
        robot that a controller drives takes commands between `take_control` and `release_control`. Raises InputError
        for wrong arguments, DivergedError where the state stops being finite, ControllerError where a controller fails.

        >>> sim.step(n=100)["rover/twist"]
        array([0.5, 0. , 0.5])
        >>> sim.take_control("rover")
        >>> sim.step({"rover": {"twist": (0.2, 0.0, 0.0)}}, n=100)["rover/twist"]
        array([0.2, 0. , 0. ])
        """
        if not isinstance(n, int | np.integer) or n < 1:
            raise InputError(f"n is {n}; it must be a whole number, at least 1")
        if inputs is not None and not isinstance(inputs, Mapping):
            raise InputError(f"inputs is a mapping of robots to commands, not {inputs!r}")
        for robot, command in (inputs or {}).items():
            if robot not in self.engine.actors:
                raise InputError(Problem(f"no robot {robot!r}{closest(robot, self.engine.actors)}"))
            if robot in self._driven and robot not in self._by_hand:
                driver = self._describe(self._driven[robot])
                raise InputError(f"{robot!r} is driven by {driver}; call take_control({robot!r}) first")
            self.apply(robot, command, "caller")
        end = self.step_number + int(n)
        while self.step_number < end and not self.ended:
            self.expire_commands()
            self.update_controllers()
            self.advance(min(end - self.step_number, self.steps_to_update(), LONGEST_CALL), 0, self._no_rows)
        return self.values()

    def take_control(self, robot: str) -> None:
        """The caller drives this robot from now on: its controller is not called, and `step` takes its commands. What
        was commanded last holds until then. Raises InputError for an unknown robot.

        >>> sim.take_control("rover")
        >>> sim.step({"rover": {"twist": (0.0, 0.0, 1.0)}})["rover/twist"]
        array([0., 0., 1.])
        """
        self._check_robot(robot)
        self._by_hand.add(robot)

    def release_control(self, robot: str) -> None:
        """The robot's controller drives it again, from its next call on; one without a controller comes to rest. Raises
        InputError for an unknown robot.

        >>> sim.take_control("rover")
        >>> sim.release_control("rover")
        >>> sim.step()["rover/twist"]
        array([0.5, 0. , 0.5])
        """
        self._check_robot(robot)
        self._by_hand.discard(robot)
        if robot not in self._driven:
            self.apply_raw(robot, self.engine.rest_inputs(robot), "caller")

    def values(self) -> Values:
        """All channels now, by full name.

        >>> sim.values()["rover/pose"]
        array([ 0., -1.,  0.])
        """
        row = np.empty(self.channels.width)
        self.engine.observe(row)
        return Values(self.channels, row)

    def measured(self, robot: str | None = None) -> Measured:
        """The channels of one robot now, by local name (the first robot where none is named). Raises InputError for an
        unknown robot.

        >>> sim.measured("rover")["pose"]
        array([ 0., -1.,  0.])
        """
        row = np.empty(self.channels.width)
        self.engine.observe(row)
        robot = next(iter(self.spec.robots)) if robot is None else robot
        self._check_robot(robot)
        return Measured(self.channels, row, robot)

    def _check_robot(self, robot: str) -> None:
        if robot not in self.spec.robots:
            raise InputError(Problem(f"no robot {robot!r}{closest(robot, self.spec.robots)}"))

    # --- commands ------------------------------------------------------------------------------------------

    def apply(self, robot: str, command: Mapping[str, Any], source: str) -> None:
        """Let a command take effect at the present step boundary. `source` says in the recording who gave it. A command
        is a mapping of names to numbers in SI; anything else raises InputError.

        >>> sim.take_control("rover")
        >>> sim.apply("rover", {"twist": (0.2, 0.0, 0.0)}, "my program")
        >>> sim.step()["rover/twist"]
        array([0.2, 0. , 0. ])
        """
        if not isinstance(command, Mapping):
            raise InputError(Problem(f"a command is a mapping of names to numbers, not {command!r}", key=robot))
        self.apply_raw(robot, self.engine.resolve_command(robot, command), source)

    def apply_raw(self, robot: str, values: np.ndarray, source: str) -> None:
        """As `apply`, with all raw inputs of the robot as one row of numbers, in the order of `inputs` and unchecked.

        >>> sim.take_control("rover")
        >>> sim.apply_raw("rover", np.zeros(len(sim.inputs)), "my program")
        >>> sim.step()["rover/twist"]
        array([0., 0., 0.])
        """
        span = self.engine.robot_inputs(robot)
        present = self.engine.inputs[span]
        if present.tobytes() == values.tobytes():
            return
        present[:] = values
        if self.on_command is not None:
            self.on_command(self.step_number, robot, values, source)

    def _steerable(self, robot: str) -> list[tuple[str, Steerable]]:
        """Controllers of a robot that can be told something."""
        return [
            (name, driver.controller)
            for name, driver in self._controllers.items()
            if driver.robot == robot and isinstance(driver.controller, Steerable)
        ]

    def command_layout(self, robot: str) -> list[tuple[str, int]]:
        """Names and sizes of what can be sent to a robot from outside: to it, and to its controller.

        >>> sim.command_layout("rover")
        [('left/speed', 1), ('right/speed', 1), ('twist', 3)]
        """
        layout = list(self.engine.command_layout(robot))
        known = {name for name, _ in layout}
        for _, controller in self._steerable(robot):
            layout += [(name, size) for name, size in controller.steering if name not in known]
        return layout

    def apply_outside(self, robot: str, command: Mapping[str, Any], source: str) -> None:
        """A command from a gamepad, a connection or the lab: it holds until its deadline (`inputs.timeout` of the
        scenario) and goes before controllers, but for what a controller takes itself. Raises InputError for what
        neither takes.

        >>> sim.apply_outside("rover", {"twist": (0.2, 0.0, 0.0)}, "gamepad")
        >>> sim.step()["rover/twist"]
        array([0.2, 0. , 0. ])
        """
        timeout = max(1, round(self.spec.inputs.timeout * 1e9 / self.step_ns))
        direct = {name for name, _ in self.engine.command_layout(robot)}
        steerable = self._steerable(robot)
        steering = {name for _, controller in steerable for name, _ in controller.steering} - direct
        told = {name: value for name, value in command.items() if name in steering}
        # What neither takes goes to the engine, which refuses it by name; it does so before anybody is told anything.
        values = {name: value for name, value in command.items() if name not in steering}
        if values or not told:
            self.apply(robot, values, source)
            self._deadlines[robot] = self.step_number + timeout
        if told:
            for name, controller in steerable:
                taken = {key: value for key, value in told.items() if key in dict(controller.steering)}
                if taken:
                    self._guarded(name, controller.steer, taken)
            self._steered_until[robot] = self.step_number + timeout

    def expire_commands(self) -> None:
        """Outside commands whose deadline has passed: the robot stops, or holds, and its controller takes over. `step`
        calls it.

        >>> sim.apply_outside("rover", {"twist": (0.2, 0.0, 0.0)}, "gamepad")
        >>> sim.expire_commands()  # the deadline has not passed
        >>> sim.step()["rover/twist"]
        array([0.2, 0. , 0. ])
        """
        if not self._steered_until and not self._deadlines:
            return
        for robot, deadline in list(self._steered_until.items()):
            if self.step_number >= deadline:
                del self._steered_until[robot]
                for name, controller in self._steerable(robot):
                    self._guarded(name, controller.steer, None)
        for robot, deadline in list(self._deadlines.items()):
            if self.step_number >= deadline:
                del self._deadlines[robot]
                if self.spec.inputs.on_timeout == "stop" and not self.controllers_look_on:
                    self.apply_raw(robot, self.engine.rest_inputs(robot), "timeout")

    def update_controllers(self) -> None:
        """Call the controllers that are due at the present step, at most once each. `step` calls it. Raises
        ControllerError where one fails.

        >>> sim.update_controllers()
        >>> bool(sim.engine.inputs.any())  # the wheels' speeds are commanded
        True
        """
        if self._updated_at == self.step_number:
            return
        self._updated_at = self.step_number
        due = [item for item in self._controllers.items() if self.step_number % item[1].every == 0]
        if not due:
            return
        row = np.empty(self.channels.width)
        self.engine.observe(row)
        for name, (controller, _, robot, _) in due:
            if robot in self._by_hand or robot in self._deadlines:
                continue
            self._guarded(name, self._update, name, controller, robot, Measured(self.channels, row, robot))

    def _update(self, name: str, controller: Controller, robot: str, measured: Measured) -> None:
        command = controller.update(self.time, measured)
        if command is not None and not self.controllers_look_on:
            self.apply(robot, command, name)

    def _guarded(self, name: str, call: Callable[..., Any], *arguments: Any) -> Any:
        """A failing controller ends the run with its own traceback; a wrong setting of a built-in one is bad input."""
        spec = self._controllers[name].spec
        try:
            return call(*arguments)
        except InputError as error:
            if spec is not None and not isinstance(spec, schema.UserController):
                raise InputError([at_controller(name, spec, problem) for problem in error.problems]) from error
            raise ControllerError(
                f"{self._describe(name)} gave a wrong command at t = {self.time:g} s: {error}"
            ) from error
        except (Exception, SystemExit) as error:
            frames = traceback.extract_tb(error.__traceback__)
            # What called the user's code is of no use to the user; a built-in controller has no other frames.
            own_frames = list(dropwhile(lambda frame: frame.filename in OWN_FILES, frames)) or frames
            details = "Traceback of the controller (most recent call last):\n"
            details += "".join(traceback.format_list(own_frames)) + "".join(traceback.format_exception_only(error))
            kind = f" ({spec.type})" if spec is not None else ""
            raise ControllerError(
                f"{self._describe(name)}{kind} failed at t = {self.time:g} s: {type(error).__name__}: {error}",
                details,
            ) from error

    def _describe(self, name: str) -> str:
        return (
            f"the controller given for {name.removeprefix(GIVEN)!r}"
            if name.startswith(GIVEN)
            else f"controller '{name}'"
        )

    def steps_to_update(self) -> int:
        """Steps until the next controller or deadline is due (large where there is none).

        >>> sim.steps_to_update()
        10
        """
        step = self.step_number
        nearest = 1 << 40
        for driver in self._controllers.values():
            nearest = min(nearest, driver.every - step % driver.every)
        for deadline in (*self._deadlines.values(), *self._steered_until.values()):
            nearest = min(nearest, deadline - step)
        return max(1, nearest)

    # --- physics -------------------------------------------------------------------------------------------

    def advance(self, n: int, record_every: int, rows: np.ndarray) -> None:
        """`n` steps with the present inputs, in one compiled call: no controller is called and no deadline looked at.

        Every `record_every` steps one row of channels is written into `rows` (k, width); 0 writes none. Raises
        DivergedError where the state stops being finite.

        >>> rows = np.empty((5, sim.channels.width))
        >>> sim.advance(10, 2, rows)
        >>> sim.step_number
        10
        """
        self.engine.keep()
        try:
            finite = self.engine.advance(self.step_number, n, record_every, rows)
        except StoppedError as error:
            self.step_number = error.step
            raise
        if not finite:
            raise self._diverged(n)
        self.step_number += self.engine.steps_taken if self.engine.ended else n

    @property
    def ended(self) -> str:
        """Why the run came to its end before its time, as a robot that left the terrain; empty while it goes on."""
        return self.engine.ended

    def _diverged(self, n: int) -> DivergedError:
        """Go back and find the first step and channel that are not finite. What is not finite stays so, which allows
        halving the interval instead of taking a million single steps in Python."""
        start, row = self.step_number, np.empty(self.channels.width)

        def finite_after(steps: int) -> bool:
            self.engine.go_back()
            return steps == 0 or self.engine.advance(start, steps, 0, row[np.newaxis])

        good, bad = 0, n
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if finite_after(middle) else (good, middle)
        step = start + bad
        first = max(0, bad - LAST_STATES + 1)
        finite_after(first)
        history = []
        for k in range(first, bad + 1):
            self.engine.observe(row)
            history.append(row.copy())
            if k < bad:
                self.engine.advance(start + k, 1, 0, row[np.newaxis])
        lost = np.isfinite(history[-2]) & ~np.isfinite(history[-1])
        names = [c.name for c in self.channels if lost[self.channels.slices[c.name]].any()]
        self.step_number = step  # where the engine stands now
        hint = self.engine.stability_hint()
        return DivergedError(
            f"the state stopped being finite at t = {step * self.step_ns * 1e-9:.9g} s (step {step}), first in "
            f"{names[0] if names else 'the hidden state'}" + (f"; {hint}" if hint else ""),
            step=step,
            last_rows=[list(one) for one in history],
        )

    # --- complete state ------------------------------------------------------------------------------------

    def _world(self) -> dict[int, Any]:
        """What controllers may hold without its being their own state."""
        return parts_of_world(self.engine, *self._setups.values(), *self._controller_rngs.values(), *self._fixed)

    def snapshot(self) -> Snapshot:
        """Everything needed to continue bit for bit: engine, randomness, controllers, time.

        >>> state = sim.snapshot()
        >>> first = sim.step(n=100)["rover/pose"]
        >>> sim.restore(state)
        >>> np.array_equal(sim.step(n=100)["rover/pose"], first)
        True
        """
        world = self._world()
        return Snapshot(
            step=self.step_number,
            seed=self.seed,
            engine=self.engine.snapshot(),
            controllers={
                name: self._guarded(name, controller_state, driver.controller, world)
                for name, driver in self._controllers.items()
            },
            controller_rngs={name: dict(rng.bit_generator.state) for name, rng in self._controller_rngs.items()},
            driven_by_hand=tuple(sorted(self._by_hand)),
            deadlines=tuple(sorted(self._deadlines.items())),
        )

    def restore(self, snapshot: Snapshot | bytes) -> None:
        """Continue from a snapshot of this scenario, in memory or as a recording keeps it (`Recording.snapshots`,
        `state_at`).

        Raises InputError for a snapshot of another scenario, or a damaged one.

        >>> sim.restore(botz.state_at(rec, 0.5))
        >>> sim.time
        0.5
        """
        if isinstance(snapshot, bytes):
            snapshot = decode(snapshot)
        if not isinstance(snapshot, Snapshot):
            raise InputError(f"restore takes a snapshot, not {snapshot!r}")
        self._check_fit(snapshot)
        self.reset(snapshot.seed)
        try:
            self.engine.restore(snapshot.engine)
            for name, rng in self._controller_rngs.items():
                if name in snapshot.controllers:
                    rng.bit_generator.state = snapshot.controller_rngs[name]
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            self.reset(snapshot.seed)
            raise InputError(f"this snapshot's random generators are damaged ({error})") from error
        for name, driver in self._controllers.items():
            if name not in snapshot.controllers:
                continue  # given in this call: it starts here
            self._guarded(name, restore_controller, driver.controller, snapshot.controllers[name], self._world())
            if isinstance(driver.controller, Steerable):
                self._guarded(name, driver.controller.steer, None)  # whoever steered is not here
        self.step_number = snapshot.step
        self._by_hand = set(snapshot.driven_by_hand)
        self._deadlines = dict(snapshot.deadlines)
        self._updated_at = -1

    def get_state(self, robot: str) -> RobotState:
        """Pose, twist and joints of one robot now. Raises InputError for an unknown robot.

        >>> sim.get_state("rover").pose
        array([ 0., -1.,  0.])
        """
        self._check_robot(robot)
        return self.engine.get_state(robot)

    def set_state(self, robot: str, *, pose: Numbers = None, twist: Numbers = None, joints: Joints = None) -> None:
        """Put one robot into another state; what is not given stays. InputError, with nothing changed, for a state that
        is not admissible. Numbers are as those of `RobotState`; a joint takes a position, or a position and a velocity.

        Controllers are not told: they go on with what they remember and see the new state when they are next called.
        Where a twist is set by commands (engine `kinematics`), these are told to `on_command` like any others. A
        recording shows the state from its next row on, and its later snapshots hold it; no replay from an earlier one
        comes to it.

        >>> sim.set_state("rover", pose=(1.0, 2.0, 0.0))
        >>> sim.get_state("rover").pose
        array([1., 2., 0.])
        """
        self._check_robot(robot)
        span = self.engine.robot_inputs(robot)
        before = self.engine.inputs[span].tobytes()
        self.engine.set_state(robot, pose=pose, twist=twist, joints=joints)
        values = self.engine.inputs[span]
        if self.on_command is not None and values.tobytes() != before:
            self.on_command(self.step_number, robot, values.copy(), "set_state")

    def _check_fit(self, snapshot: Snapshot) -> None:
        """Refuse a snapshot of another scenario before anything changes."""
        mine, theirs = self.engine.state_arrays(), snapshot.engine.arrays
        if set(theirs) != set(mine) or any(
            not isinstance(theirs[name], np.ndarray) or theirs[name].shape != mine[name].shape
            or theirs[name].dtype != mine[name].dtype
            for name in mine
        ):  # fmt: skip
            raise InputError("this snapshot is of another scenario: its state has other parts or sizes")
        named = {*snapshot.driven_by_hand, *dict(snapshot.deadlines)}
        written = {name for name in snapshot.controllers if not name.startswith(GIVEN)}
        if not named <= set(self.engine.actors) or written - set(self.spec.controllers):
            raise InputError("this snapshot is of another scenario: it has other robots or controllers")
        for name in self._controllers:
            starts_here = name.startswith(GIVEN) and name not in snapshot.controllers
            if not starts_here and snapshot.controllers.get(name) is None:
                raise InputError(
                    f"the snapshot holds no state of {self._describe(name)}; give it snapshot() and restore() methods "
                    "that return and take plain data"
                )


def common_stride(strides: list[int]) -> int:
    """The longest stride that meets all of them; 0 where there are none."""
    return math.gcd(*strides) if strides else 0
