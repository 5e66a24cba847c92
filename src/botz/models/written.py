"""Writing model files."""

from __future__ import annotations

from pathlib import Path

from botz.errors import InputError, Problem


def write_text(path: Path, text: str) -> None:
    """The text as a file in UTF-8, in a folder that is made where it is missing; raises InputError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    except OSError as error:
        raise InputError(Problem(f"cannot be written: {error.strerror or error}", file=path)) from None
