"""Names: which ones are allowed, and the nearest one to a misspelt one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

NAME_PATTERN = r"^[a-z][a-z0-9_]*$"
"""Robots, wheels, controllers: valid as part of a channel, a ROS topic and a Python keyword argument."""


def closest(name: str, choices: Iterable[str], *, show: int = 12) -> str:
    """The end of an error message: `; did you mean 'x'? (x, y, z)`, or the choices alone, or nothing."""
    known = sorted({str(choice) for choice in choices})
    if not known:
        return ""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    listed = ", ".join(known[:show]) + (", …" if len(known) > show else "")
    return f"; did you mean {near[0]!r}? ({listed})" if near else f"; choose from: {listed}"
