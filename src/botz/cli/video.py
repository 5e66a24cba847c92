"""botz video."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from botz.cli.common import console
from botz.errors import InputError, Problem


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Recordings")(video)


def video(
    recording: Annotated[Path, typer.Argument(help="A recording, or the folder of a run.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="File to write: .mp4, .webm, .gif, or .png for one picture.")
    ] = None,
    camera: Annotated[
        str, typer.Option(help="orbit, chase, board, above, fixed, follow, or a camera of the scene, as 'field'.")
    ] = "chase",
    target: Annotated[str | None, typer.Option(help="The robot to look at; the first one by default.")] = None,
    size: Annotated[str, typer.Option(metavar="WIDTHxHEIGHT", help="Size of the picture.")] = "1280x720",
    fps: Annotated[float, typer.Option(help="Images per second of the film.")] = 30.0,
    speed: Annotated[float, typer.Option(help="Seconds of the run in one second of the film.")] = 1.0,
    start: Annotated[float, typer.Option(help="Where to begin, in seconds.")] = 0.0,
    end: Annotated[float | None, typer.Option(help="Where to end, in seconds.")] = None,
    progress: Annotated[bool | None, typer.Option(help="Show a progress bar; by default on a terminal.")] = None,
) -> None:
    """Film a recording, without a browser and without a window."""
    from botz.view.video import render_video

    folder = recording if recording.is_dir() else recording.parent
    target_file = out or folder / "video.mp4"
    with frames_bar(progress) as report:
        written = render_video(
            recording,
            target_file,
            camera=camera,
            target=target,
            size=size_of(size),
            fps=fps,
            speed=speed,
            start=start,
            end=end,
            progress=report,
        )
    print(written)


def size_of(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,5})[xX×](\d{1,5})", text.strip())
    if found is None:
        raise InputError(Problem(f"{text!r} is no size; write it as 1280x720", key="--size"))
    return int(found[1]), int(found[2])


@contextlib.contextmanager
def frames_bar(wanted: bool | None = None) -> Iterator[Callable[[int, int], None] | None]:
    """A bar that counts pictures, on standard error."""
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = [TextColumn("drawing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(compact=True)]
    with Progress(*columns, console=console(stderr=True)) as bar:
        task = bar.add_task("", total=None)
        yield lambda frame, total: bar.update(task, completed=frame, total=total)
