"""One export of a recording, in a process of its own: drawing and encoding take all of a core, for minutes perhaps.

When standard input closes, nobody wants the result any more.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from botz.child import end_with_parent, take_orders
from botz.errors import BotzError, InputError, Problem

Progress = Callable[[int, int], None]
"""Told how many parts of how many are done."""


def main() -> None:
    if hasattr(os, "nice"):
        os.nice(10)  # runs that are going on come first
    orders, tell = take_orders()
    end_with_parent()

    def progress(done: int, of: int) -> None:
        tell({"event": "progress", "progress": done / max(1, of)})

    try:
        if orders["format"] == "glb":
            write_animation(orders, progress)
        else:
            write_video(orders, progress)
        tell({"event": "finished"})
    except (BotzError, OSError) as error:
        tell({"event": "failed", "reason": str(error)})
    os._exit(0)


def write_video(orders: dict[str, Any], progress: Progress) -> None:
    from botz.view.video import render_video

    camera = dict(orders["camera"] or {"name": "chase"})
    target = camera.pop("robot", None)
    render_video(
        orders["recording"],
        orders["out"],
        camera=camera if "eye" in camera else str(camera.get("name", "chase")),
        target=target,
        size=(orders["size"][0], orders["size"][1]),
        fps=orders["fps"],
        start=orders["from"],
        end=orders["to"],
        progress=progress,
    )


def write_animation(orders: dict[str, Any], progress: Progress) -> None:
    from botz.record.reader import read
    from botz.scenario.load import load_data
    from botz.scene.build import scene_of
    from botz.scene.glb import write_animated_glb
    from botz.view.sampling import Samples
    from botz.view.video import MOST_FRAMES

    recording = read(orders["recording"])
    scene = scene_of(load_data(recording.scenario, recording.label).spec)
    samples = Samples(recording, scene.channels())
    first = float(recording.time()[0]) if recording.time().size else 0.0
    begin = max(orders["from"], first)
    end = recording.duration if orders["to"] is None else min(orders["to"], recording.duration)
    if end < begin:
        raise BotzError(f"nothing was recorded from {begin:g} s to {end:g} s")
    count = max(2, round((end - begin) * orders["fps"]) + 1)
    if count > MOST_FRAMES:
        raise InputError(Problem(f"{count} keys, at most {MOST_FRAMES}; take a part of the recording", key="fps"))
    times = np.linspace(begin, end, count) if end > begin else [begin]
    names = [name for name in scene.channels() if name in samples]
    values = {}
    for number, name in enumerate(names):
        values[name] = np.array([np.ravel(samples.value(name, float(time))) for time in times])
        progress(number + 1, len(names) + 1)  # what is left is to write it
    Path(orders["out"]).write_bytes(write_animated_glb(scene, times, values))
