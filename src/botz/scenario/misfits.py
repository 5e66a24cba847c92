"""Mistakes that show only when several keys are seen together."""

from __future__ import annotations

from collections.abc import Iterable

Path = tuple[str | int, ...]


class Misfits(ValueError):
    """Raised by a validator that can say more precisely where it went wrong than "in this mapping".

    Pydantic reports a validator's ValueError at the mapping as a whole; the paths here, relative to that
    mapping, let the error name the key and its line, and one validator report several mistakes.
    """

    def __init__(self, found: Iterable[tuple[Path, str]]):
        self.found = list(found)
        super().__init__("; ".join(message for _, message in self.found))
