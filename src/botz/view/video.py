"""A recording as a film or a picture, without a browser and without a window."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from botz.child import child_process, how_it_ended
from botz.errors import ArgumentProblem, BotzError, InputError
from botz.record.reader import Recording, read
from botz.scenario.load import load_data
from botz.view.encoding import check_format

DRAWING = "from botz.view.video_process import main; main()"
LARGEST_SIDE = 7680
MOST_FRAMES = 200_000
LARGEST_GIF = 5e8
"""Pixels of all frames together."""
NO_GRAPHICS = """no graphics to draw images with ({tried})
  Debian, Ubuntu:  sudo apt install libegl1 libegl-mesa0 libgl1-mesa-dri      (or: libosmesa6)
  Fedora:          sudo dnf install mesa-libEGL mesa-dri-drivers"""


def render_video(
    recording: str | Path | Recording,
    out: str | Path,
    *,
    camera: Mapping[str, Any] | str = "chase",
    target: str | None = None,
    size: tuple[int, int] = (1280, 720),
    fps: float = 30.0,
    speed: float = 1.0,
    start: float = 0.0,
    end: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Draw a recording into `out` (.mp4, .webm, .gif, or .png for the picture at `start`) and return the file's path.

    `camera` is a name (orbit, chase, board, above, fixed, follow, or one of the scene's own) or a mapping with `eye`,
    `target` [m] and perhaps `vertical_view` [rad]; with `along` both are seen from the robot's place, and go along with
    it. `target` is the robot it looks after. `size` is in pixels, `fps` in frames per second of the film; `start` and
    `end` are simulated times [s]. `speed` is that of the film: 2 shows two seconds in one. `progress` is called with
    the number of frames drawn and their total. Raises InputError for wrong arguments, BotzError without graphics.

    >>> botz.render_video(rec, "circle.mp4", camera="orbit", speed=2.0)  # doctest: +SKIP
    PosixPath('circle.mp4')
    >>> botz.render_video(rec, "circle.txt")
    Traceback (most recent call last):
    botz.errors.InputError: ...
    """
    out = Path(out)
    check_format(out)
    if out.suffix.lower() == ".gif":
        fps = 100.0 / max(2, round(100.0 / fps)) if fps > 0 else fps  # a GIF shows its frames for whole hundredths
    rec = recording if isinstance(recording, Recording) else read(recording)
    times = times_of(rec.duration, float(rec.steps()[0]) * rec.step_ns * 1e-9 if len(rec.steps()) else 0.0,
                     fps, speed, start, end, picture=out.suffix.lower() == ".png")  # fmt: skip
    check_size(size, even=out.suffix.lower() in (".mp4", ".webm"))
    if out.suffix.lower() == ".gif" and len(times) * size[0] * size[1] > LARGEST_GIF:
        wished = f"{len(times)} frames of {size[0]}x{size[1]} are too much for a GIF, which is made in memory"
        raise InputError(ArgumentProblem(f"{wished}; take a smaller size or fewer fps, or write .mp4", key="out"))
    view = ordered_camera(camera)
    if target is not None:
        view["target_robot"] = target
    check_camera(rec.scenario, rec.label, view)
    orders: dict[str, Any] = {
        "out": str(out.absolute()),
        "camera": view,
        "size": list(size),
        "fps": fps,
        "times": times,
    }
    tried: list[str] = []
    with rec.on_disk() as file:
        orders["recording"] = str(file.resolve())
        for library in graphics_libraries():
            reason = draw_with(library, orders, progress)
            if not reason:
                return out
            tried.append(f"{library or 'the system’s'}: {reason}")
    raise BotzError(NO_GRAPHICS.format(tried="; ".join(tried)))


def graphics_libraries() -> list[str]:
    """What to try, in this order; empty for the system's own."""
    chosen = os.environ.get("MUJOCO_GL")
    if chosen:
        return [chosen]
    return ["egl", "osmesa"] if sys.platform == "linux" else [""]


def draw_with(library: str, orders: Mapping[str, Any], progress: Callable[[int, int], None] | None) -> str:
    """Draw in a process of its own; returns why its graphics cannot be used, or nothing when the work is done."""
    total, begun = len(orders["times"]), False
    with child_process(DRAWING, {**orders, "gl": library}) as (child, answers):
        while True:
            ended = child.poll() is not None
            for message in answers(ended):
                match message["event"]:
                    case "graphics":
                        begun = True
                    case "progress":
                        if progress is not None:
                            progress(int(message["frame"]), total)
                    case "no graphics":
                        return str(message["reason"])
                    case "failed" if "problems" in message:
                        raise InputError([ArgumentProblem(text, key=key) for text, key in message["problems"]])
                    case "failed":
                        raise BotzError(f"cannot draw {orders['recording']}: {message['reason']}")
                    case "finished":
                        return ""
            if ended:
                if begun:
                    raise BotzError(f"drawing ended unexpectedly ({how_it_ended(child.returncode)})")
                return how_it_ended(child.returncode)
            time.sleep(0.02)


def times_of(
    duration: float, first: float, fps: float, speed: float, start: float, end: float | None, *, picture: bool
) -> list[float]:
    """The moments of the frames [s]."""
    if not 0.1 <= fps <= 240.0:
        raise InputError(ArgumentProblem(f"{fps:g} images per second; between 0.1 and 240", key="fps"))
    if not 1e-3 <= speed <= 1e4:
        raise InputError(ArgumentProblem(f"a speed of {speed:g}; between 0.001 and 10000", key="speed"))
    start = max(start, first)
    if start > duration:
        raise InputError(ArgumentProblem(f"{start:g} s is after the end of the recording, {duration:g} s", key="start"))
    last = duration if end is None else min(end, duration)
    if last < start:
        raise InputError(ArgumentProblem(f"{last:g} s is before the start, {start:g} s", key="end"))
    if picture:
        return [start]
    count = int((last - start) * fps / speed + 1e-9) + 1
    if count > MOST_FRAMES:
        raise InputError(ArgumentProblem(f"{count} frames, at most {MOST_FRAMES}; take a higher speed", key="fps"))
    return [start + k * speed / fps for k in range(count)]


def check_size(size: tuple[int, int], *, even: bool) -> None:
    if not all(16 <= side <= LARGEST_SIDE for side in size):
        raise InputError(ArgumentProblem(f"{size[0]}x{size[1]}: sides between 16 and {LARGEST_SIDE}", key="size"))
    if even and any(side % 2 for side in size):
        raise InputError(ArgumentProblem(f"{size[0]}x{size[1]}: films need even sides", key="size"))


def ordered_camera(camera: Mapping[str, Any] | str) -> dict[str, Any]:
    """What the drawing process is told: `eye` and `target` that stand, or what a `CameraPath` is made of, as `name`."""
    if isinstance(camera, str):
        return {"name": camera}
    told = dict(camera)
    return {"name": told} if told.pop("along", False) else told


def check_camera(scenario: Mapping[str, Any], name: str, view: Mapping[str, Any]) -> None:
    """Mistakes show before a process is started."""
    from botz.scene.build import scene_of
    from botz.view.cameras import CameraPath

    CameraPath(scene_of(load_data(scenario, name).spec), view.get("name", "chase"), view.get("target_robot"))
