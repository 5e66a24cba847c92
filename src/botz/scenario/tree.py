"""Documents as trees that know where each value was written, and how one is laid over another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from botz.errors import InputError, Problem

MAX_DEPTH = 50

KeyPath = tuple[str | int, ...]


class Removed(Enum):
    """Value of a key that an override took away with null; kept until all layers are merged."""

    REMOVED = 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was written: an absolute file, or a label such as `overrides`."""

    file: Path | None
    line: int | None = None

    @property
    def folder(self) -> Path:
        """Where relative paths written here start."""
        return self.file.parent if self.file is not None and self.file.is_absolute() else Path.cwd()

    def problem(self, message: str, path: KeyPath = ()) -> Problem:
        file = None if self.file is None else shown_path(self.file)
        return Problem(message, key=key_text(path), file=file, line=self.line)


SET = Place(Path("overrides"))
"""What is laid over a scenario in a call; on the command line, what `--set` says."""


NOWHERE = Place(None)
"""A mapping that a caller gave: its keys say where."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value and the place of it, or of its key in a mapping. Never changed once built: nodes are shared."""

    value: Any
    """dict[str, Node], list[Node] or a scalar."""
    place: Place

    def get(self, key: str) -> Node | None:
        node = self.value.get(key) if isinstance(self.value, dict) else None
        return None if node is None or node.value is Removed.REMOVED else node

    def with_items(self, **items: Node) -> Node:
        return Node({**self.value, **items}, self.place)

    def without(self, key: str) -> Node:
        return Node({name: node for name, node in self.value.items() if name != key}, self.place)

    def plain(self) -> Any:
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items() if node.value is not Removed.REMOVED}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value

    def _trail(self, path: KeyPath) -> list[Node]:
        """The nodes along `path` as far as it exists, from this one on."""
        trail = [self]
        for key in path:
            match trail[-1].value, key:
                case dict() as items, str() if key in items:
                    trail.append(items[key])
                case list() as entries, int() if 0 <= key < len(entries):
                    trail.append(entries[key])
                case _:
                    break
        return trail

    def nearest(self, path: KeyPath) -> Node:
        """The node at `path`, or the deepest one above it that exists."""
        return self._trail(path)[-1]

    def at(self, path: KeyPath) -> Node | None:
        trail = self._trail(path)
        return trail[-1] if len(trail) == len(path) + 1 else None

    def walk(self, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Node]]:
        yield path, self
        items: Any = ()
        if isinstance(self.value, dict):
            items = self.value.items()
        elif isinstance(self.value, list):
            items = enumerate(self.value)
        for key, node in items:
            yield from node.walk((*path, key))


def key_path(text: str) -> KeyPath:
    """The path of a key as `key_text` writes it, `controllers.plan.steps.3.pose`; `steps[3].pose` says the same."""
    return tuple(int(part) if part.isdecimal() else part for part in re.split(r"[.\[\]]+", text.strip("[]")) if part)


def key_text(path: KeyPath) -> str:
    parts = [str(part) for part in path]
    return ".".join(part if part.isprintable() else repr(part) for part in parts)


def path_text(path: Path) -> str:
    """For a message: short, and without characters that a terminal would act on."""
    text = str(shown_path(path))
    return text if text.isprintable() else repr(text)


def shown_path(path: Path) -> Path:
    """Relative to the current folder where it lies below it."""
    try:
        return path.relative_to(Path.cwd())
    except (ValueError, OSError):
        return path


def from_plain(data: Any, place: Place, *, depth: int = 0) -> Node:
    """Numbers, text, lists and mappings from Python, a recording or the command line."""
    if depth > MAX_DEPTH:
        raise InputError(place.problem(f"is nested deeper than {MAX_DEPTH} levels"))
    if hasattr(data, "tolist"):  # NumPy
        data = data.tolist()
    if isinstance(data, Path):
        data = str(data)
    if isinstance(data, Mapping):
        items = {}
        for key, value in data.items():
            if not isinstance(key, str):
                raise InputError(place.problem(f"key {key!r} is not text"))
            items[key] = from_plain(value, place, depth=depth + 1)
        return Node(items, place)
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return Node([from_plain(value, place, depth=depth + 1) for value in data], place)
    if data is None or isinstance(data, bool | int | float | str):
        return Node(data, place)
    raise InputError(place.problem(f"a value of type {type(data).__name__} has no place in a scenario"))


def placed_as(node: Node, other: Node, path: KeyPath = ()) -> Node:
    """The same document with the places of another one: of the same keys, or of the nearest above them."""
    place = other.nearest(path).place
    if isinstance(node.value, dict):
        return Node({key: placed_as(entry, other, (*path, key)) for key, entry in node.value.items()}, place)
    if isinstance(node.value, list):
        return Node([placed_as(entry, other, (*path, k)) for k, entry in enumerate(node.value)], place)
    return Node(node.value, place)


def merge(base: Node, over: Node, path: KeyPath = ()) -> Node:
    """`over` laid over `base`: mappings merge by name, lists and scalars are replaced, null takes a key away.

    A mapping whose `type` changes replaces the whole one below it, because the other type's keys mean nothing to
    it. Over a list, a mapping of indices (`pose.0=1` on the command line) replaces single entries.
    """
    if isinstance(base.value, list) and isinstance(over.value, dict) and over.value:
        if all(key.isdecimal() and len(key) < 10 for key in over.value):
            return _replace_entries(base, over, path)
        return over
    if not (isinstance(base.value, dict) and isinstance(over.value, dict)):
        return over
    # A path on the command line goes through mappings without being the place where they are written.
    place = base.place if over.place.line is None else over.place
    if _type_changes(base, over):
        return Node(over.value, place)
    merged = dict(base.value)
    for key, node in over.value.items():
        if key not in merged:
            merged[key] = node
        elif node.value is None:
            merged[key] = Node(Removed.REMOVED, node.place)
        else:
            merged[key] = merge(merged[key], node, (*path, key))
    return Node(merged, place)


def _type_changes(base: Node, over: Node) -> bool:
    below, above = base.value.get("type"), over.value.get("type")
    return below is not None and above is not None and below.value != above.value


def _replace_entries(base: Node, over: Node, path: KeyPath) -> Node:
    entries = list(base.value)
    for key, node in over.value.items():
        if int(key) >= len(entries):
            message = f"there is no entry {key}; the list has entries 0 to {len(entries) - 1}"
            raise InputError(node.place.problem(message if entries else "the list is empty", (*path, key)))
        entries[int(key)] = merge(entries[int(key)], node, (*path, int(key)))
    return Node(entries, over.place)
