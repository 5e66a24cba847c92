"""Exports that pages have asked for: jobs, one at a time, each in a process of its own."""

from __future__ import annotations

import asyncio
import re
import secrets
import tempfile
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from botz.view.lab.children import Spawner
from botz.view.lab.recordings import Recordings
from botz.view.lab.sentences import LabError, Sentence, ending

EXPORT = "from botz.view.lab.export_process import main; main()"
MOST_WAITING = 8
MOST_KEPT = 16
"""Jobs, with their files, that are kept; the oldest go."""
TYPES = {"mp4": "video/mp4", "webm": "video/webm", "gif": "image/gif", "glb": "model/gltf-binary"}

Number = Annotated[float, Field(ge=-1e6, le=1e6)]


class Camera(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)

    name: Annotated[str, Field(max_length=100)] | None = None
    robot: Annotated[str, Field(max_length=100)] | None = None
    eye: Annotated[list[Number], Field(min_length=3, max_length=3)] | None = None
    target: Annotated[list[Number], Field(min_length=3, max_length=3)] | None = None
    vertical_view: Annotated[float, Field(gt=0.01, lt=3.0)] | None = None
    along: bool = False
    """Whether eye and target are seen from the robot's place, and go along with it."""

    @model_validator(mode="after")
    def told_whole(self) -> Camera:
        if (self.eye is None) != (self.target is None):
            raise ValueError("eye and target go together")
        if self.along and self.eye is None:
            raise ValueError("an eye that goes along needs eye and target")
        return self


class Wanted(BaseModel):
    """What the page asks for."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)

    format: Literal["mp4", "webm", "gif", "glb"]
    camera: Camera | None = None
    size: Annotated[list[Annotated[int, Field(ge=16, le=3840)]], Field(min_length=2, max_length=2)] = [1280, 720]
    fps: float = Field(default=30.0, ge=1.0, le=120.0)
    start: float = Field(default=0.0, ge=0.0, alias="from")
    end: float | None = Field(default=None, ge=0.0, alias="to")


def plain_name(recording: str, ending: str) -> str:
    """What a browser calls a file: letters that any disk takes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", recording)[:100] + ending


@dataclass
class Job:
    id: str
    recording: str
    wanted: Wanted
    source: Path
    path: Path
    status: Literal["waiting", "running", "done", "failed", "cancelled"] = "waiting"
    progress: float = 0.0
    began: tuple[float, float] | None = None
    """When the first part was done, and how much that was: before it the process only gets ready."""
    reported: float = 0.0
    """When the last part was done."""
    error: str | Sentence | None = None

    @property
    def file_name(self) -> str:
        return plain_name(self.recording, f".{self.wanted.format}")

    @property
    def left(self) -> float | None:
        """Time until it is done, at the speed so far [s]; None where that is not known."""
        if self.status != "running" or self.began is None or self.progress <= self.began[1]:
            return None
        at, first = self.began
        whole = (self.reported - at) * (1.0 - self.progress) / (self.progress - first)
        return max(0.0, whole - (time.monotonic() - self.reported))

    def note_progress(self, progress: float) -> None:
        self.progress, self.reported = progress, time.monotonic()
        if self.began is None:
            self.began = (self.reported, progress)

    def described(self) -> dict[str, Any]:
        return {
            "job": self.id,
            "status": self.status,
            "progress": self.progress,
            "left": self.left,
            "error": str(self.error) if self.error else None,
            "error_said": [self.error.told()] if isinstance(self.error, Sentence) else None,
        }


class Exports:
    def __init__(self, recordings: Recordings, spawner: Spawner):
        self._recordings, self._spawner = recordings, spawner
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._turn = asyncio.Lock()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, recording: str, body: Any) -> Job:
        try:
            wanted = Wanted.model_validate(body)
        except ValidationError as error:
            problems = [
                Sentence("request.wrong", key=".".join(str(part) for part in one["loc"])[:80], why=one["msg"][:200])
                for one in error.errors(include_url=False, include_input=False)
            ]
            raise LabError(*problems) from None
        source = await asyncio.to_thread(self._recordings.path_of, recording)
        if sum(job.status in ("waiting", "running") for job in self._jobs.values()) >= MOST_WAITING:
            raise LabError(Sentence("export.most", most=MOST_WAITING))
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="botz-lab-", ignore_cleanup_errors=True)
        key = secrets.token_hex(8)
        job = Job(key, recording, wanted, source, Path(self._folder.name) / f"{key}.{wanted.format}")
        self._jobs[key] = job
        self._forget_old()
        task = asyncio.create_task(self._work(job))
        self._tasks[key] = task
        task.add_done_callback(lambda _: self._tasks.pop(key, None))
        return job

    async def cancel(self, key: str) -> Job:
        """End it, with its process, and leave no file; one that is done is only forgotten."""
        job = self.job(key)
        task = self._tasks.get(key)
        if task is not None:
            job.status = "cancelled"
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        job.status = "cancelled"
        await asyncio.to_thread(job.path.unlink, missing_ok=True)
        return job

    def job(self, key: str) -> Job:
        if key not in self._jobs:
            raise LabError(Sentence("none.export", name=key[:100]))
        return self._jobs[key]

    def _forget_old(self) -> None:
        ended = [job for job in self._jobs.values() if job.status not in ("waiting", "running")]
        for job in ended[: max(0, len(self._jobs) - MOST_KEPT)]:
            del self._jobs[job.id]
            job.path.unlink(missing_ok=True)

    async def _work(self, job: Job) -> None:
        async with self._turn:
            job.status = "running"
            try:
                await self._carry_out(job)
            except asyncio.CancelledError:
                if job.status != "cancelled":
                    job.status, job.error = "failed", Sentence("export.closed")
                raise
            except Exception as error:  # whatever went wrong, the page is told and the next one has its turn
                job.status, job.error = "failed", Sentence("export.failed", why=f"{type(error).__name__}: {error}")

    async def _carry_out(self, job: Job) -> None:
        wanted = job.wanted
        orders = {
            "recording": str(job.source),
            "out": str(job.path),
            "format": wanted.format,
            "camera": wanted.camera.model_dump(exclude_none=True) if wanted.camera else None,
            "size": wanted.size,
            "fps": wanted.fps,
            "from": wanted.start,
            "to": wanted.end,
        }
        async with self._spawner.child(EXPORT, orders) as child:
            async for message in child.messages():
                match message["event"]:
                    case "progress":
                        job.note_progress(float(message["progress"]))
                    case "failed":
                        job.status, job.error = "failed", str(message["reason"])
                    case "finished":
                        job.status, job.progress = "done", 1.0
        if job.status == "running":
            job.status, job.error = "failed", Sentence("export.died", how=ending(child.code))

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._folder is not None:
            self._folder.cleanup()
