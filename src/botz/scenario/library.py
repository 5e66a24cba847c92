"""Robots and scenarios found by name: data files beside this module, and those of families of other packages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

from botz.errors import InputError
from botz.scenario.families import FAMILIES
from botz.scenario.names import closest
from botz.scenario.reading import read
from botz.scenario.tree import Node

Kind = Literal["scenario", "robot"]
_FOLDERS = {"scenario": "scenarios", "robot": "robots"}


Texts = dict[str, str]
"""A text by language: `en`, and what else there is."""


class Entry(NamedTuple):
    name: str
    engine: str
    titles: Texts
    descriptions: Texts

    @property
    def description(self) -> str:
        return self.descriptions.get("en", "")

    def data(self) -> dict[str, str]:
        """In English."""
        return {"name": self.name, "engine": self.engine, "title": self.titles.get("en", ""),
                "description": self.description}  # fmt: skip


def library_folder() -> Path:
    return Path(__file__).with_name("library")


def files(kind: Kind) -> Iterator[Path]:
    """All files, those of Botz first: other packages are asked only where it is not among them."""
    yield from (library_folder() / _FOLDERS[kind]).glob("*.yaml")
    for package in filter(None, (family.library for family in FAMILIES.values())):
        place = find_spec(package)
        for folder in (place and place.submodule_search_locations) or ():
            yield from (Path(folder) / _FOLDERS[kind]).glob("*.yaml")


def names(kind: Kind) -> list[str]:
    return sorted({path.stem for path in files(kind)})


def path_of(kind: Kind, name: str) -> Path | None:
    """The file of a library name; None where there is none. A name is never a path."""
    return next((path for path in files(kind) if path.stem == name), None)


def find(kind: Kind, name: str) -> Path:
    path = path_of(kind, name)
    if path is None:
        raise InputError(f"no {kind} {name!r} in the library{closest(name, names(kind))}")
    return path


def looks_like_path(text: str) -> bool:
    """Whether a reference means a file rather than a library name."""
    return text.endswith((".yaml", ".yml", ".py")) or "/" in text or os.sep in text


def list_scenarios() -> list[Entry]:
    return [_entry("scenario", name) for name in names("scenario")]


def list_robots() -> list[Entry]:
    return [_entry("robot", name) for name in names("robot")]


def _entry(kind: Kind, name: str) -> Entry:
    engine = _inherited(kind, name, "engine").get("en", "")
    return Entry(name, engine, _inherited(kind, name, "title"), _inherited(kind, name, "description"))


def _inherited(kind: Kind, name: str, key: str) -> Texts:
    """What the file says, or else the library file that it extends."""
    seen: set[str] = set()
    while name not in seen and (path := path_of(kind, name)) is not None:
        seen.add(name)
        document = read(path)
        if texts := texts_of(document, key):
            return texts
        name = texts_of(document, "extends").get("en", "")
    return {}


def texts_of(document: Node, key: str) -> Texts:
    """A text of a file that is not checked yet: one text is English, several are named by their language."""
    node = document.get(key)
    value = node.value if node is not None else None
    if isinstance(value, str):
        return {"en": " ".join(value.split())}
    if not isinstance(value, dict):
        return {}
    return {name: " ".join(text.value.split()) for name, text in value.items() if isinstance(text.value, str)}
