"""Runs of the lab: each a child process, watched and steered through its shared memory."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from botz import kernel_cache
from botz.channels import ChannelTable
from botz.errors import BotzError
from botz.scenario.load import LoadedScenario, with_factor
from botz.scenario.names import closest
from botz.sim.attached import AttachedRun
from botz.terrain.height_grid import kept_grids
from botz.view.lab.children import LOOK_SECONDS, Child, Spawner
from botz.view.lab.driving import Hands, hands_of
from botz.view.lab.frames import read_row
from botz.view.lab.guard import printable
from botz.view.lab.messages import Drive
from botz.view.lab.recordings import Recordings
from botz.view.lab.sentences import LabError, Sentence, ending

RUN = "from botz.view.lab.run_process import main; main()"
MOST_RUNS = 4
"""Going on at once."""
MOST_ENDED = 12
"""Ended ones that stay on the list."""
STOP_SECONDS = 20.0
"""How long a run has to end by itself; then its process is told, and then killed."""
SILENT_SHARE, SILENT_SECONDS = 0.8, 0.24
"""Of the scenario's timeout for commands, and at most [s]: a page that drives and is silent for so long, on the wall
clock, has let go. The scenario's own timeout counts simulated time, which a slowed run stretches, and may let the last
command hold, which is for programs."""
MOST_LOGS = 100
ENDLESS_SECONDS = 86400.0
"""A run this long lasts until it is stopped: pages show no end of it."""
LARGEST_DETAILS = 1 << 14

logger = logging.getLogger("botz.lab")
GOING_ON = ("starting", "running", "paused")


@dataclass(frozen=True)
class From:
    """A recording, and the time in it, that a run starts from."""

    recording: str
    path: Path
    time: float


@dataclass
class Driving:
    """The driver's hands on a run: commands through slots of their own."""

    attached: AttachedRun
    robots: dict[str, Hands] = field(default_factory=dict)
    robot: str = ""
    sent: int = -1
    taken: int = -1
    at: float = 0.0

    def note_taken(self) -> int:
        if self.sent != self.taken and self.attached.command_taken(self.robot):
            self.taken = self.sent
        return self.taken


class LabRun:
    """One entry of the list: a scenario with its settings, run once or, after a reset, again."""

    def __init__(
        self,
        loaded: LoadedScenario,
        *,
        label: str,
        changed: dict[str, Any],
        factor: float,
        driver: str | None,
        origin: From | None = None,
        out: Path | None = None,
        serve: bool = False,
    ):
        self.id = secrets.token_hex(6)
        self.loaded, self.label, self.set = loaded, label, changed
        self.factor, self.driver, self.origin, self.out = factor, driver, origin, out
        self.spec: Any = loaded.spec
        self.step_ns: int = self.spec.time.step_ns
        self.status = "starting"
        self.serve = serve
        """Whether the scenario's links are opened."""
        self.error: str | Sentence | None = None
        self.details = ""
        """The traceback of a user's code that failed, with file and line."""
        self.recording: str | None = None
        self.channels: ChannelTable | None = None
        self.hands: dict[str, Hands] = {}
        self.logs: deque[tuple[str, str | Sentence]] = deque(maxlen=MOST_LOGS)
        self.attached: AttachedRun | None = None
        self._last: tuple[int, np.ndarray] | None = None
        self._driving: Driving | None = None
        self._taken = -1
        self._stopping = False
        self._again = False
        self._start_paused = False
        self._waits = False
        self._goes_on = False
        """A page has come before the process that begins paused was there."""
        self._stop_at = 0.0
        self._ending: dict[str, Any] | None = None

    # --- what is known of it ---------------------------------------------------------------------------------

    @property
    def going_on(self) -> bool:
        return self.status in GOING_ON

    @property
    def time(self) -> float:
        state = self.state()
        first = self.origin.time if self.origin else 0.0
        return state[0] * self.step_ns * 1e-9 if state is not None else first

    @property
    def duration(self) -> float:
        """Simulated time of its end [s]; one that starts in the middle of a recording goes on for the whole duration
        from there."""
        return float(self.spec.time.duration) + (self.origin.time if self.origin else 0.0)

    def state(self) -> tuple[int, np.ndarray] | None:
        """Step and row, the latest there is."""
        if self.attached is not None:
            self._last = read_row(self.attached.segment) or self._last
        return self._last

    def value(self, channel: str) -> np.ndarray | None:
        state = self.state()
        if state is None or self.channels is None or channel not in self.channels.slices:
            return None
        return np.asarray(state[1][self.channels.slices[channel]])

    def described(self) -> dict[str, Any]:
        """What pages are told. Of a run that has ended, its recording tells the channels: the list goes to every page
        at every change."""
        channels = self.channels.plain() if self.going_on and self.channels is not None else []
        hands = self.hands.values() if self.going_on else ()
        return {
            "id": self.id,
            "scenario": self.label,
            "engine": self.loaded.engine,
            "status": self.status,
            "time": self.time,
            "duration": self.duration if self.duration < ENDLESS_SECONDS else None,
            "step_ns": self.step_ns,
            "factor": self.factor,
            "driver": self.driver,
            "recording": self.recording,
            "error": str(self.error) if self.error else None,
            "error_details": self.details,
            "error_said": [self.error.told()] if isinstance(self.error, Sentence) else None,
            "channels": channels,
            "robots": [one.described() for one in hands],
            "set": self.set,
        }

    # --- control ---------------------------------------------------------------------------------------------

    def _must(self) -> AttachedRun:
        if self.attached is None:
            raise LabError(Sentence("run.early") if self.going_on else Sentence("run.over"))
        return self.attached

    def pause(self, on: bool) -> None:
        self._waits = False
        self._must().pause(on)

    def wait_for_page(self) -> None:
        """Starts paused, and goes on when the first page watches it."""
        self._waits = self._start_paused = True

    def watched(self) -> None:
        """A page asks for its numbers: what waited for one goes on, at once or as soon as it has begun."""
        if not self._waits:
            return
        self._waits = False
        if self.attached is not None:
            self.attached.pause(False)
        else:
            self._goes_on = True

    def step(self, n: int) -> None:
        self._must().step(n)

    def set_speed(self, factor: float) -> None:
        self.factor = factor
        if self.attached is not None:
            self.attached.set_speed(factor)

    def stop(self) -> None:
        """End it and keep what it has recorded."""
        self.release()
        self._again = False
        if not self._stopping:
            self._stopping, self._stop_at = True, time.monotonic()

    def reset(self) -> bool:
        """Back to its beginning; what was recorded so far is kept. Whether it has to be started anew."""
        if not self.going_on:
            return True
        paused = self.status == "paused"
        self.stop()
        self._again, self._start_paused = True, paused
        return False

    # --- hands -----------------------------------------------------------------------------------------------

    def drive(self, message: Drive) -> None:
        if not self.going_on:  # hands learn of the end a moment later; that is no mistake of theirs
            return
        attached = self._must()
        hands = self.hands.get(message.robot)
        if hands is None:
            raise LabError(Sentence("none.robot", closest(message.robot, self.hands), name=message.robot))
        command = hands.of(message.mode, message.axes, message.buttons or {})
        if self._driving is None:
            try:
                own = AttachedRun(attached.segment.run_id)
            except BotzError:  # it has just ended, which is told by itself
                return
            self._driving = Driving(own, taken=self._taken)
        driving = self._driving
        driving.note_taken()
        driving.attached.command(message.robot, command)
        driving.robots[message.robot] = hands
        driving.robot, driving.sent, driving.at = message.robot, message.seq, time.monotonic()

    def release(self) -> None:
        """Hands off: what was driven comes to rest, at once."""
        driving, self._driving = self._driving, None
        if driving is None:
            return
        self._taken = driving.sent
        with suppress(BotzError):  # it may have ended meanwhile
            for robot, hands in driving.robots.items():
                driving.attached.command(robot, hands.rest)
        driving.attached.close()

    def new_driver(self, viewer: str | None) -> None:
        self.release()
        self.driver, self._taken = viewer, -1

    def taken_sequence(self) -> int:
        """Number of the last drive message that the physics has taken; −1 where there is none."""
        return self._driving.note_taken() if self._driving is not None else self._taken

    def _watch_driver(self) -> None:
        if self._driving is None:
            return
        if time.monotonic() - self._driving.at > min(SILENT_SHARE * self.spec.inputs.timeout, SILENT_SECONDS):
            self.release()

    # --- life ------------------------------------------------------------------------------------------------

    async def live(self, spawner: Spawner, recordings: Recordings, tell: Tell) -> None:
        """Until it has ended for good."""
        while True:
            self.status, self.error, self.details, self.recording = "starting", None, "", None
            self._stopping, self._again, self._ending = False, False, None
            tell(self, None)
            try:
                await self._once(spawner, recordings, tell)
            except BotzError as error:
                self._ending = {"status": "failed", "error": str(error)}
            self._conclude()
            if not self._again:
                break
        tell(self, None)

    async def _once(self, spawner: Spawner, recordings: Recordings, tell: Tell) -> None:
        loaded = with_factor(self.loaded, self.factor)
        orders = {
            "scenario": loaded,
            "grids": kept_grids(),
            "runs": str(recordings.folder.absolute()),
            "out": str(self.out.absolute()) if self.out is not None else None,
            "from": {"recording": str(self.origin.path), "time": self.origin.time} if self.origin else None,
            "paused": self._start_paused,
            "serve": self.serve,
        }
        self._start_paused = False
        if kernel_cache.must_compile(loaded.engine):
            self._log("info", Sentence("run.compiles", engine=loaded.engine), tell)
        async with spawner.child(RUN, orders) as child:
            while self._ending is None:
                messages, ended = child.look()
                for message in messages:
                    self._take(message, child, recordings, tell)
                    if message["event"] == "ready":
                        await self._begin(tell)
                if ended or self._give_up():
                    break
                self._look(tell)
                await asyncio.sleep(LOOK_SECONDS)
        for message in child.look()[0]:
            self._take(message, child, recordings, tell)
        if self._ending is None:
            why = None if self._stopping else Sentence("run.died", how=ending(child.code))
            self._ending = {"status": "failed" if why else "interrupted", "error": why}

    def _give_up(self) -> bool:
        """Whether its process is to be ended from outside: it has not begun, or does not end."""
        if not self._stopping:
            return False
        if self.attached is None:
            return True
        self.attached.stop()
        return time.monotonic() - self._stop_at > STOP_SECONDS

    def _take(self, message: dict[str, Any], child: Child, recordings: Recordings, tell: Tell) -> None:
        match message["event"]:
            case "ready":
                self.attached = AttachedRun(message["run_id"])
                child.say("attached")
                self.recording = recordings.id_of(Path(message["folder"]))
                self.channels = self.attached.channels
                self._last = None
                self.attached.set_speed(self.factor)  # it may have been changed meanwhile
                if self._goes_on:
                    self._goes_on = False
                    self.attached.pause(False)
            case "log":
                self._log(str(message["level"]), str(message["text"]), tell)
            case "finished":
                self._ending = message

    async def _begin(self, tell: Tell) -> None:
        """It goes on: find out how its robots are driven, and tell."""
        if self.attached is None:
            return
        layouts = self.attached.segment.descriptor["commands"]
        self.hands = await asyncio.to_thread(all_hands, self.spec, layouts)
        self.status = "paused" if self.attached.paused else "running"
        tell(self, None)

    def _log(self, level: str, text: str | Sentence, tell: Tell) -> None:
        self.logs.append((level, text))
        tell(self, (level, text))

    def _look(self, tell: Tell) -> None:
        if self.attached is None:
            return
        self._watch_driver()
        status = "paused" if self.attached.paused else "running"
        if (status, self.attached.factor) != (self.status, self.factor):
            self.status, self.factor = status, self.attached.factor
            tell(self, None)

    def _conclude(self) -> None:
        self.release()
        self.state()
        self.attached = None
        end = self._ending or {"status": "failed"}
        self.status, self.error = str(end["status"]), end.get("error") or None
        self.details = str(end.get("details") or "")[:LARGEST_DETAILS]
        if self.error and not self._again:
            self.logs.append(("error", f"{self.error}\n{self.details}" if self.details else self.error))
            logger.warning("botz: lab: run of %s failed: %s", printable(self.label), printable(self.error))


def all_hands(spec: Any, layouts: Mapping[str, Any]) -> dict[str, Hands]:
    return {robot: hands_of(spec, robot, layout) for robot, layout in layouts.items() if robot in spec.robots}


Tell = Callable[[LabRun, tuple[str, str | Sentence] | None], None]
"""Called when something about a run has changed, or with a line of its log."""


class Runs:
    """All runs of the lab."""

    def __init__(self, recordings: Recordings, spawner: Spawner, tell: Tell):
        self._recordings, self._spawner, self._tell = recordings, spawner, tell
        self._runs: dict[str, LabRun] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def __iter__(self):
        return iter(list(self._runs.values()))

    def __getitem__(self, key: str) -> LabRun:
        if key not in self._runs:
            raise LabError(Sentence("none.run", name=key[:100]))
        return self._runs[key]

    def is_over(self, key: str) -> bool:
        """Whether there was such a run: it has ended, or its physics has and the rest is about to."""
        run = self._runs.get(key)
        return run is not None and (not run.going_on or (run.attached is not None and run.attached.finished))

    def check_room(self) -> None:
        if sum(not task.done() for task in self._tasks.values()) >= MOST_RUNS:
            raise LabError(Sentence("run.most", most=MOST_RUNS))

    def start(self, run: LabRun) -> None:
        self.check_room()
        self._runs.pop(run.id, None)  # the newest comes last
        self._runs[run.id] = run
        self._tasks[run.id] = asyncio.create_task(run.live(self._spawner, self._recordings, self._tell))
        ended = [one for one in self._runs.values() if self._tasks[one.id].done()]
        for old in ended[: max(0, len(ended) - MOST_ENDED)]:
            del self._runs[old.id], self._tasks[old.id]

    def reset(self, run: LabRun) -> None:
        if run.reset():
            if not self._tasks[run.id].done():
                raise LabError(Sentence("run.ending"))
            self.start(run)

    async def close(self) -> None:
        """Stop all; their recordings are kept."""
        for run in self._runs.values():
            run.stop()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
