"""How a recording looks as the last line of a notebook's cell: its summary and a plot."""

from __future__ import annotations

import base64
import html
import io
import tempfile
from pathlib import Path

from PIL import Image

from botz.errors import BotzError
from botz.record.reader import Recording
from botz.view.plots import plot_recording

WIDTH = 900
"""Of the plot [px]."""


def recording_html(recording: Recording) -> str:
    """A table, and the plot that `botz plot` draws; without the plot where there is nothing to draw."""
    facts = {
        "scenario": recording.header.scenario_name,
        "engine": recording.header.engine,
        "robots": ", ".join(recording.scenario.get("robots", {})),
        "duration": f"{recording.duration:g} s",
        "channels": str(len(recording.channels)),
        "status": recording.problem or recording.summary.get("status", ""),
        "recording": str(recording.file or "in memory"),
    }
    rows = "".join(f"<tr><th>{name}</th><td>{html.escape(fact)}</td></tr>" for name, fact in facts.items() if fact)
    return f'<table style="text-align: left">{rows}</table>{plot_of(recording)}'


def plot_of(recording: Recording) -> str:
    with tempfile.TemporaryDirectory(prefix="botz-") as folder:
        try:
            path = plot_recording(recording, path=Path(folder) / "plot.png")
        except BotzError:
            return ""
        small = io.BytesIO()  # notebooks keep what they show
        with Image.open(path) as picture:
            picture.thumbnail((WIDTH, 4 * WIDTH), Image.Resampling.LANCZOS)
            picture.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    data = base64.b64encode(small.getvalue()).decode()
    return f'<img src="data:image/png;base64,{data}" style="max-width: 100%" alt="plot">'
