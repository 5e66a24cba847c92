"""Scenarios that the page may start: those of the library, and scenario files under the lab's root folder.

A name that comes from a page is looked up in the list of what is there. It is never made part of a path, so that no
`..`, no absolute path and no link leads elsewhere.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from botz.errors import BotzError, InputError, Problem
from botz.scenario import library
from botz.scenario.keywords import keywords
from botz.scenario.load import LoadedScenario, RobotFileError, load, scenario_document
from botz.scenario.names import closest
from botz.scenario.reading import read
from botz.view.lab.sentences import LabError, Sentence, told

PICTURES = Path(library.__file__).parent / "library" / "pictures"
"""Made by tools/make_thumbnails.py."""
MOST_FILES = 2000
LANGUAGES = {"en": "en", "pt-BR": "pt"}
"""Of the page, and what scenario files call them."""
DEEPEST = 8
"""Folders below the root that are looked into."""


def picture_of(name: str) -> Path | None:
    """The small picture of a library scenario; the name is looked up and never made part of a path."""
    if name not in library.names("scenario"):
        return None
    path = PICTURES / f"{name}.webp"
    return path if path.is_file() else None


def by_language(titles: library.Texts, descriptions: library.Texts) -> dict[str, tuple[str, str]]:
    """Title and description in each language of the page that a scenario speaks, missing ones in English."""
    return {
        language: (titles.get(key) or titles.get("en", ""), descriptions.get(key) or descriptions.get("en", ""))
        for language, key in LANGUAGES.items()
        if key == "en" or titles.get(key) or descriptions.get(key)
    }


def shown(entry: library.Entry) -> dict[str, Any]:
    texts = by_language(entry.titles, entry.descriptions)
    return {"name": entry.name, "engine": entry.engine, "description": entry.description, "texts": texts}


class Catalogue:
    def __init__(self, root: Path | None = None):
        self.root = root.resolve() if root is not None else None
        if self.root is not None and not self.root.is_dir():
            raise InputError(Problem(f"{str(root)!r} is not a folder", key="--root"))

    def files(self) -> dict[str, Path]:
        """Scenario files under the root, by their path from there with forward slashes."""
        if self.root is None:
            return {}
        found: dict[str, Path] = {}
        for folder, folders, names in os.walk(self.root, followlinks=False):
            here = Path(folder)
            depth = len(here.relative_to(self.root).parts)
            folders[:] = sorted(one for one in folders if not one.startswith(".")) if depth < DEEPEST else []
            for name in sorted(names):
                path = here / name
                if not name.endswith((".yaml", ".yml")) or not self._inside(path):
                    continue
                found[path.relative_to(self.root).as_posix()] = path
                if len(found) >= MOST_FILES:
                    return found
        return found

    def _inside(self, path: Path) -> bool:
        """Whether the file itself, and not only a link to it, lies under the root."""
        assert self.root is not None
        try:
            return path.is_file() and path.resolve().is_relative_to(self.root)
        except OSError:
            return False

    def entries(self) -> list[dict[str, Any]]:
        """Name, engine and description of each, for the list on the page."""
        entries: list[dict[str, Any]] = [shown(entry) for entry in library.list_scenarios()]
        for name, path in self.files().items():
            entry = self._entry(name, path)
            if entry is not None:
                entries.append(entry)
        for one in entries:
            one["keywords"] = keywords(one["name"], one["engine"], one["description"])
            if picture_of(one["name"]) is not None:
                one["picture"] = f"api/pictures/{one['name']}"
        return entries

    @staticmethod
    def _entry(name: str, path: Path) -> dict[str, Any] | None:
        """None for what is a YAML file and no scenario: notes, or a robot by itself."""
        try:
            document = read(path)
            if not isinstance(document.value, dict) or not {"robots", "extends"} & set(document.value):
                return None
            if "robots" not in document.value:
                document = scenario_document(path)
        except RobotFileError:
            return None
        except BotzError as error:
            return {"name": name, "engine": "", **told(Sentence("unreadable.scenario", why=str(error)), "description")}

        texts = {key: library.texts_of(document, key) for key in ("engine", "title", "description")}
        return shown(library.Entry(name, texts["engine"].get("en", ""), texts["title"], texts["description"]))

    def data_of(self, name: str) -> dict[str, Any] | None:
        """The scenario that a recording's name means, as it is now; None where there is none or it cannot be read."""
        try:
            path = library.path_of("scenario", name)
            if path is None:
                paths = [path for file, path in self.files().items() if file == name or path.stem == name]
                path = paths[0] if len(paths) == 1 else None
            return load(path).data if path is not None else None
        except (BotzError, OSError):
            return None

    def load(self, name: str) -> LoadedScenario:
        """A scenario by its name in the list."""
        path = library.path_of("scenario", name) or self.files().get(name)
        if path is None:
            raise LabError(Sentence("none.scenario", closest(name, library.names("scenario")), name=name))
        return load(path)
