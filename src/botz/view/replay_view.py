"""A recording shown from Python: inline in a notebook, otherwise in the browser."""

from __future__ import annotations

import html
import os
import re
import sys
import tempfile
import webbrowser
from dataclasses import dataclass
from pathlib import Path

from botz.record.reader import Recording
from botz.view.html_replay import DISPLAY_RATE, replay_page

HEIGHT = 520
"""Of the frame in a notebook [px]."""


@dataclass(frozen=True)
class ReplayView:
    """A replay of a recording; as the last line of a cell a notebook shows it."""

    page: str
    """The whole HTML file."""
    path: Path | None = None
    """The file that the browser was given; None in a notebook, which needs none."""
    height: int = HEIGHT

    def _repr_html_(self) -> str:
        # A page of its own within the notebook's: neither's styles and scripts reach the other.
        style = f"width: 100%; height: {self.height}px; border: 0"
        return f'<iframe srcdoc="{html.escape(self.page)}" style="{style}" allow="fullscreen"></iframe>'

    def __repr__(self) -> str:
        return f"<ReplayView {self.path or 'in a notebook'}, {len(self.page) / 1e6:.1f} MB>"


def show(recording: Recording, *, rate: float = DISPLAY_RATE, height: int = HEIGHT) -> ReplayView:
    """See `Recording.show`."""
    page = replay_page(recording, rate=rate)
    if in_notebook():
        return ReplayView(page, height=height)
    name = re.sub(r"[^\w.-]+", "-", recording.header.scenario_name)[:60]
    number, file = tempfile.mkstemp(prefix=f"botz-{name}-", suffix=".html")
    with os.fdopen(number, "w", encoding="utf-8") as out:
        out.write(page)
    path = Path(file)
    if not webbrowser.open(path.as_uri()):
        print(f"botz: no browser was found; the replay is in {path}", file=sys.stderr)
    return ReplayView(page, path, height)


def in_notebook() -> bool:
    """Whether a notebook shows what a cell ends with; IPython in a terminal does not."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")
