"""The lab itself: who is there, what runs, and what is done about each thing that a page says."""

from __future__ import annotations

import asyncio
import gzip
import logging
from collections import OrderedDict
from collections.abc import Coroutine
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from botz.errors import BotzError
from botz.scenario.load import LoadedScenario
from botz.view.lab import messages as said
from botz.view.lab.catalogue import Catalogue
from botz.view.lab.children import Spawner
from botz.view.lab.clients import MOST_CLIENTS, Client
from botz.view.lab.driving import hands_of
from botz.view.lab.exports import Exports
from botz.view.lab.forms import SPEED_KEY, TERRAIN_KEY, changes_of, with_ground
from botz.view.lab.frames import Subscription
from botz.view.lab.guard import Guard, printable
from botz.view.lab.recordings import Recordings, scenario_of
from botz.view.lab.runs import MOST_RUNS, From, LabRun, Runs
from botz.view.lab.sentences import LabError, Sentence, told
from botz.view.lab.solutions import Arms

logger = logging.getLogger("botz.lab")
TELL_SECONDS = 0.05
"""Changes of runs that come together are told together."""
MOST_SCENES = 8
GZIP_LEVEL = 5
LOGS_AT_FIRST, MOST_LOGS_AT_FIRST = 20, 60
"""Lines of each run's log, and of all of them, that a page is told when it comes."""


@dataclass(frozen=True)
class InitialRun:
    """A run that is there when the lab opens."""

    loaded: LoadedScenario
    out: Path | None = None
    factor: float | None = None
    """Of real time; 0 for as fast as possible, None for the scenario's own, or 1."""
    serve: bool = False
    """With the scenario's links for teams and viewers."""
    label: str = ""
    waits: bool = False
    """Whether it stays paused until the first page has its picture: nobody misses its beginning."""


@dataclass(frozen=True)
class Picture:
    """A scene as the page shows it."""

    scene: Any
    glb: bytes
    packed: bytes
    """The same by gzip."""


class Lab:
    def __init__(self, guard: Guard, catalogue: Catalogue, runs_folder: Path, spawner: Spawner):
        self.guard, self.catalogue = guard, catalogue
        self.recordings = Recordings(runs_folder, catalogue.data_of)
        self.spawner = spawner
        self.runs = Runs(self.recordings, spawner, self._run_changed)
        self.exports = Exports(self.recordings, spawner)
        self.arms = Arms()
        self.clients: dict[str, Client] = {}
        self._unclaimed: list[LabRun] = []
        """Runs that the command line started: the first page to come drives them."""
        self._scenes: OrderedDict[str, asyncio.Task[Picture]] = OrderedDict()
        self._trusted: set[str] = set()
        """Users' own code that a start by name has run: a restart from a recording may run it again."""
        self._telling: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        if self._telling is not None:
            self._telling.cancel()
        for task in [*self._tasks, *self._scenes.values()]:
            task.cancel()
        await asyncio.gather(self.runs.close(), self.exports.close())

    # --- pages come and go -----------------------------------------------------------------------------------

    def has_room(self) -> bool:
        return len(self.clients) < MOST_CLIENTS

    def welcome(self, client: Client, name: str | None) -> None:
        client.name = "".join(letter for letter in (name or "") if letter.isprintable())[:64] or client.id
        self.clients[client.id] = client
        try:
            release = version("botz")
        except PackageNotFoundError:
            release = "source"
        limits = {
            "runs": MOST_RUNS,
            "clients": MOST_CLIENTS,
            "rate": said.FASTEST_FRAMES,
            "message": said.LARGEST_MESSAGE,
        }
        client.tell({"t": "welcome", "viewer": client.id, "version": release, "limits": limits})
        for run in self._unclaimed:
            if run.driver is None:
                run.new_driver(client.id)
        self._unclaimed.clear()
        lines = [(run.id, *line) for run in self.runs for line in list(run.logs)[-LOGS_AT_FIRST:]]
        for key, level, text in lines[-MOST_LOGS_AT_FIRST:]:  # the newest runs come last
            client.tell({"t": "log", "run": key, "level": level, **told(text)})
        self._tell_viewers()
        self._tell_runs()

    def farewell(self, client: Client) -> None:
        """A page has gone. What it drove comes to rest at once, and its seats are free."""
        if self.clients.pop(client.id, None) is None:
            return
        for run in self.runs:
            if run.driver == client.id:
                run.new_driver(None)
        self._tell_viewers()
        self._tell_runs()

    def _tell_viewers(self) -> None:
        for client in self.clients.values():
            client.tell_latest("viewers", self._viewers)

    def _viewers(self) -> dict[str, Any]:
        return {"t": "viewers", "viewers": [{"id": one.id, "name": one.name} for one in self.clients.values()]}

    def _run_changed(self, run: LabRun, line: tuple[str, str | Sentence] | None) -> None:
        if line is None:
            self._tell_runs()
            return
        for client in self.clients.values():
            if not client.is_behind:  # a page misses a line rather than its connection
                client.tell({"t": "log", "run": run.id, "level": line[0], **told(line[1])})

    def _tell_runs(self) -> None:
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_later(TELL_SECONDS, self._tell_runs_now)

    def _tell_runs_now(self) -> None:
        self._telling = None
        for client in self.clients.values():
            client.tell_latest("runs", self._listed_runs)

    def _listed_runs(self) -> dict[str, Any]:
        return {"t": "runs", "runs": [run.described() for run in self.runs]}

    # --- what pages say --------------------------------------------------------------------------------------

    async def answer(self, client: Client, message: said.AnyMessage) -> None:
        """Do what a page asks, or tell it why not."""
        try:
            self._answer(client, message)
        except BotzError as error:
            # Hands learn of a run's end a moment later: that is no mistake of theirs.
            if isinstance(message, said.Drive | said.Release) and self.runs.is_over(message.run):
                return
            client.tell({"t": "error", "about": message.t, **told(error)})

    def _answer(self, client: Client, message: said.AnyMessage) -> None:
        match message:
            case said.Ping():
                client.tell({"t": "pong", "at": message.at})
            case said.Drive():
                self._driven(client, message.run).drive(message)
            case said.Release():
                self._driven(client, message.run).release()
            case said.Watch():
                self._watch(client, message)
            case said.Start():
                self.runs.check_room()
                self._later(client, "start", self._start(client, message))
            case said.Pause():
                self._driven(client, message.run).pause(message.on)
            case said.Step():
                self._driven(client, message.run).step(message.n)
            case said.Speed():
                self._driven(client, message.run).set_speed(message.factor)
                self._tell_runs()
            case said.Reset():
                self.runs.reset(self._driven(client, message.run))
            case said.Stop():
                self._driven(client, message.run).stop()
            case said.Seat():
                self._seat(client, message)
            case said.Solutions():
                self._later(client, "solutions", self._solutions(client, message))
            case said.Hello():
                raise LabError(Sentence("lab.welcome"))

    def _later(self, client: Client, about: str, work: Coroutine[Any, Any, None]) -> None:
        """What takes a while is done beside; the page is told how it ended."""

        async def carry_out() -> None:
            try:
                await work
            except BotzError as error:
                client.tell({"t": "error", "about": about, **told(error)})
            except Exception:
                logger.exception("botz: lab: %s failed", about)
                client.tell({"t": "error", "about": about, **told(Sentence("lab.failed"))})

        if len(self._tasks) >= 4 * MOST_CLIENTS:
            work.close()
            raise LabError(Sentence("lab.busy"))
        task = asyncio.create_task(carry_out())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _driven(self, client: Client, key: str) -> LabRun:
        run = self.runs[key]
        if run.driver != client.id:
            raise LabError(Sentence("seat.empty") if run.driver is None else Sentence("seat.others"))
        return run

    def _watch(self, client: Client, message: said.Watch) -> None:
        run = self.runs[message.run]
        if message.channels:
            run.watched()  # also by a page that asks for a channel that is not there: somebody is looking
        else:
            client.subscriptions.pop(run.id, None)
            client.tell({"t": "watching", "run": run.id, "k": client.next_number(), "channels": []})
            return
        if run.channels is not None:
            for name in message.channels:
                run.channels.slice_of(name)  # tells an unknown one, and what it may have meant
        client.watch(Subscription(run, client.next_number(), list(dict.fromkeys(message.channels)), message.rate))

    def _seat(self, client: Client, message: said.Seat) -> None:
        run = self.runs[message.run]
        match message.action:
            case "take":
                if run.driver is not None and run.driver != client.id:
                    raise LabError(Sentence("seat.taken"))
                if run.driver is None:
                    run.new_driver(client.id)
            case "give":
                self._driven(client, message.run)
                if message.to is not None and message.to not in self.clients:
                    raise LabError(Sentence("none.viewer"))
                run.new_driver(message.to)
            case "ask":
                driver = self.clients.get(run.driver or "")
                if driver is None:
                    raise LabError(Sentence("seat.free"))
                if driver is not client:
                    driver.tell({"t": "asked", "run": run.id, "from": client.id})
        self._tell_runs()

    # --- starting --------------------------------------------------------------------------------------------

    async def _start(self, client: Client, message: said.Start) -> None:
        filled = dict(message.set or {})
        origin: From | None = None
        if message.origin is not None:
            recording = await self.recordings.open(message.origin.recording)
            loaded = await asyncio.to_thread(scenario_of, recording)
            self._check_code(loaded)
            origin = From(message.origin.recording, recording.path, min(message.origin.time, recording.duration))
            label = recording.header.scenario_name
        elif message.scenario:
            label = message.scenario
            loaded = await asyncio.to_thread(self.catalogue.load, label)
            self._trusted.update(loaded.user_code)
        else:
            raise LabError(Sentence("run.nothing"))
        asked = filled.get(SPEED_KEY)
        loaded = await asyncio.to_thread(with_ground, loaded, filled.get(TERRAIN_KEY))
        changes = changes_of(loaded, filled)
        if changes:
            loaded = await asyncio.to_thread(loaded.with_, changes)
        factor = message.factor
        if factor is None:
            factor = float(asked) if isinstance(asked, int | float) else factor_of(loaded)
        driver = client.id if client.id in self.clients else None
        run = LabRun(loaded, label=label, changed=filled, factor=factor, driver=driver, origin=origin)
        await self._begin(run)

    def _check_code(self, loaded: LoadedScenario) -> None:
        """A recording may come from anywhere: code that it names runs only where this lab has run it by name before, or
        where its file lies under the root."""
        root = self.catalogue.root
        for code in loaded.user_code:
            file = Path(code.rpartition(":")[0])
            inside = root is not None and file.is_absolute() and file.resolve().is_relative_to(root)
            if code not in self._trusted and not inside:
                raise LabError(Sentence("run.code", code=code))

    async def start_initial(self, initial: InitialRun) -> LabRun:
        loaded = initial.loaded
        self._trusted.update(loaded.user_code)
        factor = initial.factor if initial.factor is not None else factor_of(loaded)
        label = initial.label or loaded.name
        run = LabRun(loaded, label=label, changed={}, factor=factor, driver=None, out=initial.out, serve=initial.serve)
        if initial.waits:
            run.wait_for_page()
        self._unclaimed.append(run)
        await self._begin(run)
        return run

    async def _begin(self, run: LabRun) -> None:
        """Its scene first: it is asked for at once."""
        self.runs.check_room()
        try:
            await self._scene(run.id, run.spec)
        except Exception as error:  # a run without a picture is still a run
            logger.warning(
                "botz: lab: no picture of %s: %s: %s", printable(run.label), type(error).__name__, printable(str(error))
            )
        self.runs.start(run)

    # --- pictures and arms -----------------------------------------------------------------------------------

    async def _scene(self, key: str, spec: Any) -> Picture:
        """Made once."""
        task = self._scenes.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = asyncio.create_task(asyncio.to_thread(picture_of, spec))
            self._scenes[key] = task
            while len(self._scenes) > MOST_SCENES:
                self._scenes.popitem(last=False)
        self._scenes.move_to_end(key)
        return await asyncio.shield(task)

    async def run_scene(self, key: str) -> Picture:
        return await self._scene(key, self.runs[key].spec)

    async def recording_scene(self, key: str) -> Picture:
        recording = await self.recordings.open(key)
        loaded = await asyncio.to_thread(scenario_of, recording)
        return await self._scene(f"recording {recording.label}", loaded.spec)

    async def _spec(self, run: str | None, recording: str | None) -> tuple[str, Any]:
        if run is not None:
            return run, self.runs[run].spec
        if recording is None:
            raise LabError(Sentence("request.owner"))
        opened = await self.recordings.open(recording)
        return recording, (await asyncio.to_thread(scenario_of, opened)).spec

    async def _solutions(self, client: Client, message: said.Solutions) -> None:
        owner, spec = await self._spec(message.run, message.recording)
        joints: Any = message.joints
        if joints is None:
            joints = self.runs[message.run].value(f"{message.robot}/position") if message.run is not None else None
            if joints is None:
                raise LabError(Sentence("arm.posture"))
        found = await asyncio.to_thread(self.arms.solutions, owner, spec, message.robot, joints)
        client.tell({"t": "solutions", "robot": message.robot, "joints": found})

    def check_written(self, key: str) -> None:
        """A recording that a run still writes is no whole file."""
        if any(run.going_on and run.recording == key for run in self.runs):
            raise LabError(Sentence("recording.busy"))

    async def delete_recording(self, key: str) -> None:
        """Not one that is being written, or that a run starts from."""
        if any(run.going_on and run.origin is not None and run.origin.recording == key for run in self.runs):
            raise LabError(Sentence("recording.busy"))
        self.check_written(key)
        await asyncio.to_thread(self.recordings.delete, key)

    async def workspace(self, robot: str, *, run: str | None = None, recording: str | None = None) -> bytes:
        owner, spec = await self._spec(run, recording)
        return await asyncio.to_thread(self.arms.workspace, owner, spec, robot)


def factor_of(loaded: LoadedScenario) -> float:
    spec: Any = loaded.spec
    return float(spec.time.factor or 1.0)


def picture_of(spec: Any) -> Picture:
    from botz.scene.build import scene_of
    from botz.scene.glb import write_glb

    scene = scene_of(spec)
    glb = write_glb(scene)
    made = Picture(scene, glb, gzip.compress(glb, GZIP_LEVEL))
    for robot in list(spec.robots)[:1]:
        hands_of(spec, robot, [("twist", 3)])  # compiled now where it is not yet, and not when the run has begun
    return made
