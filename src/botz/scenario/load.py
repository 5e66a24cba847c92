"""From a scenario's name or file to a checked, frozen description. Nothing of the user's is executed here."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from botz.errors import InputError, Problem
from botz.scenario import library
from botz.scenario.checks import cross_checks, fit_default_rates, rate_fields
from botz.scenario.families import FAMILIES, Family
from botz.scenario.layers import absolute, completed, document, other_kind, overridden, with_robots
from botz.scenario.names import closest
from botz.scenario.problems import problems_of, unknown
from botz.scenario.reading import read
from botz.scenario.schema import FILE_KEYS, ROBOT_KEYS, ScenarioBase, Strict
from botz.scenario.tree import NOWHERE, KeyPath, Node, Place, from_plain, key_path, key_text, path_text, placed_as
from botz.scenario.units import doubt, doubting_angles, show

MODEL_SUFFIXES = (".urdf", ".xacro", ".sdf", ".world", ".xml", ".mjcf")


class RobotFileError(InputError):
    """A robot file where a scenario is needed."""


@dataclass(frozen=True)
class LoadedScenario:
    """A scenario that passed all checks; `load` and `with_` make it. It is frozen.

    >>> scenario.name, scenario.engine, scenario.spec.time.duration
    ('differential-circle', 'kinematics', 1.0)
    """

    spec: ScenarioBase
    """The description, in SI; its class is the engine's, as `KinematicsScenario`."""
    file: Path | None
    """The file that it was loaded from; None for a mapping and for one out of a recording."""
    folder: Path
    """Where the scenario lies. Paths in `spec` and `data` are absolute already."""
    data: dict[str, Any]
    """The complete scenario as plain numbers, text, lists and mappings: `load_data` makes the same one of it."""
    user_code: tuple[str, ...]
    """Classes of the user's that a run would import, as `/path/file.py:Class`."""
    tree: Node = field(repr=False, compare=False)
    """The document with the place of every key."""
    doubted: bool = False
    """Whether `warnings_of` has something to look for."""
    files_must_exist: bool = True
    """False for one out of a recording: it names files that may be gone."""

    def with_(self, changes: Mapping[str, Any] | None = None, /, **keys: Any) -> LoadedScenario:
        """The same scenario with some keys changed, checked again; this one stays as it is.

        Paths of keys come in a mapping, keys of the top level by name too; a mapping as a value changes what it names
        and leaves the rest. Raises InputError with all mistakes found.

        >>> changed = scenario.with_({"robots.rover.pose.0": 1.5}, seed=3, time={"duration": "20 s"})
        >>> changed.spec.seed, changed.spec.time.duration, scenario.spec.time.duration
        (3, 20.0, 1.0)
        """
        return self.with_overrides({**(changes or {}), **keys})

    def with_overrides(self, overrides: Sequence[str] | Mapping[str, Any]) -> LoadedScenario:
        """As `with_`, also with a list of texts such as "seed=3", as `load` takes it. Raises InputError.

        >>> scenario.with_overrides(["seed=3", "time.duration=500 ms"]).spec.time.duration
        0.5
        """
        complete = placed_as(from_plain(without_fitted_rates(self.data, self.tree), NOWHERE), self.tree)
        tree, failed = with_robots(overridden(complete, overrides))
        loaded = _checked(tree, self.file, failed, files_must_exist=self.files_must_exist)
        return replace(loaded, folder=self.folder)

    def with_places(self, error: InputError) -> InputError:
        """An error found after loading (by an engine or a controller), with the file and line of its keys.

        >>> from botz.errors import Problem
        >>> error = botz.InputError(Problem("too far away", key="robots.rover.pose"))
        >>> scenario.with_places(error).problems[0].file.name
        'differential-circle.yaml'
        """
        placed = []
        for problem in error.problems:
            if problem.key and problem.file is None:
                place = self.tree.nearest(key_path(problem.key)).place
                found = place.problem(problem.message)
                problem = replace(found, key=problem.key)
            placed.append(problem)
        return InputError(placed)

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self.spec.name

    @property
    def engine(self) -> str:
        """Name of the engine that runs it, for example `kinematics`."""
        return str(self.data["engine"])


@dataclass(frozen=True)
class LoadedRobot:
    """A robot file that passed all checks, outside any scenario."""

    spec: Strict
    """The description, in SI; its class is the engine's, as `WheeledRobot`."""
    file: Path
    name: str
    data: dict[str, Any]
    """The complete robot as plain numbers, text, lists and mappings."""


ScenarioSource = str | Path | Mapping[str, Any] | LoadedScenario
"""What a run can be made of."""


def load(
    source: str | Path | Mapping[str, Any], *, overrides: Sequence[str] | Mapping[str, Any] = ()
) -> LoadedScenario:
    """Load a library scenario by its name, a scenario file, or a mapping with the same keys. Nothing is run.

    `overrides` are laid on top: strings `"robots.rover.pose.0=1"` as on the command line, or a mapping
    `{"robots.rover.pose.0": 1}`. Numbers are in SI, text has a unit. Paths in a mapping start at the current folder.
    Raises InputError with all mistakes found.

    >>> botz.load("differential-circle", overrides={"time.duration": "2 s"}).spec.time.duration
    2.0
    >>> rover = {"extends": "differential", "pose": [0, 1, 0]}
    >>> botz.load({"engine": "kinematics", "time": {"duration": 1}, "robots": {"rover": rover}}).engine
    'kinematics'
    """
    if isinstance(source, Mapping):
        path, place, name = None, NOWHERE, "scenario"
        document = completed(from_plain(source, NOWHERE), "scenario")
    else:
        path = absolute(locate(source, "scenario"))
        place, name = Place(path, 1), path.stem
        document = scenario_document(path)
    tree = overridden(document, overrides)
    if _is_missing(tree.get("name")):
        tree = tree.with_items(name=Node(re.sub(r"[^A-Za-z0-9._-]+", "-", name), place))
    tree, failed = with_robots(tree)
    return _checked(tree, path, failed, files_must_exist=True)


def scenario_document(path: Path) -> Node:
    """A scenario file with all that it extends, not checked yet; RobotFileError where it is a robot's."""
    try:
        written = document(path, "scenario")
    except InputError:
        _refuse_robot(read(path), path)
        as_robot = _as_robot(path)
        if as_robot is not None:
            _refuse_robot(as_robot, path)
        raise
    _refuse_robot(written, path)
    return written


def holds_scenario(source: str | Path) -> bool:
    """Whether a file that has mistakes was meant as a scenario: it, or what it extends, holds what only scenarios
    have."""
    try:
        path = absolute(locate(source, "scenario"))
        try:
            tree = scenario_document(path)
        except InputError:
            tree = read(path)
    except InputError:
        return False
    return tree.get("robots") is not None or _has_scenario_keys(tree)


def _as_robot(path: Path) -> Node | None:
    """What a file and those that it extends, down to a robot of the library, make together; None where they make no
    robot."""
    try:
        tree = document(path, "robot")
    except InputError:
        return None
    return None if _has_scenario_keys(tree) else tree


def load_data(
    data: Mapping[str, Any], name: str = "scenario", *, overrides: Sequence[str] | Mapping[str, Any] = ()
) -> LoadedScenario:
    """A resolved scenario, as kept in a recording. Files that it names need not exist any more."""
    tree = from_plain(data, Place(Path(name)))
    if not isinstance(tree.value, dict):
        raise InputError(tree.place.problem(f"a scenario is a mapping, not {show(data)}"))
    return _checked(overridden(tree, overrides), None, {}, files_must_exist=False)


def load_robot(source: str | Path, *, overrides: Sequence[str] | Mapping[str, Any] = ()) -> LoadedRobot:
    """Load a library robot by its name, or a robot file, by itself; outside a scenario it must say its engine.

    `overrides` begin at the robot, as `"wheels.left.radius=0.1"`.
    """
    path = absolute(locate(source, "robot"))
    tree, _, problems = _absolute_paths(overridden(document(path, "robot"), overrides), True)
    family = _family(tree)
    problems += _not_finite(tree)
    try:
        spec = family.robot.model_validate(tree.plain())
    except ValidationError as error:
        raise InputError(_in_order(problems + problems_of(error, family.robot, tree))) from None
    if problems:
        raise InputError(_in_order(problems))
    return LoadedRobot(spec, path, path.stem, spec.model_dump(mode="json"))


def locate(source: str | Path, kind: library.Kind) -> Path:
    """The file of a library name or path. A bare name means the library before it means a file."""
    text = str(source)
    if isinstance(source, str) and not library.looks_like_path(text):
        found = library.path_of(kind, text)
        if found is not None:
            return found
        try:
            there = bool(text) and Path(text).exists()
        except (OSError, ValueError):
            there = False
        if not there:
            hint = other_kind(text, kind) or closest(text, library.names(kind))
            raise InputError(f"no {kind} {text!r} in the library and no such file{hint}")
    if message := _other_file(Path(source), kind):
        raise InputError(Problem(message, file=Path(text)))
    return Path(source)


def _other_file(path: Path, kind: library.Kind) -> str:
    """What to do with a file that is by its name no YAML at all; empty for others."""
    suffix = path.suffix.lower()
    if suffix == ".py":
        message = "is a Python program; a scenario file names a controller of yours as `type: FILE.py:Class`"
        return f"{message}; `botz new FOLDER` writes an example"
    if suffix in MODEL_SUFFIXES:
        names_it = {"scenario": "a scenario of engine multibody names it: `robots: {name: {model: FILE}}`"}
        names = names_it.get(kind, "a robot file of engine multibody names it: `model: FILE`")
        return f"is a model file; {names}; `botz model check FILE` checks it by itself"
    try:
        recorded = suffix == ".mcap" or (path / "recording.mcap").is_file()
    except (OSError, ValueError):
        recorded = False
    if recorded:
        return f"is a recording; `botz replay {path}` runs it again, `botz plot {path}` draws it"
    return ""


def _refuse_robot(tree: Node, path: Path) -> None:
    """A robot file where a scenario is needed: one message instead of one per key."""
    engine = tree.get("engine")
    family = FAMILIES.get(engine.value) if engine is not None and isinstance(engine.value, str) else None
    if tree.get("robots") is not None:
        return
    only_robot: set[str] = set()
    if family is not None:
        only_robot = family.robot.model_fields.keys() - family.scenario.model_fields.keys()
    if any(tree.get(key) is not None for key in only_robot) or _extends_robot(tree):
        message = "is a robot file; a scenario names it: `robots: {name: {extends: FILE}}`"
        raise RobotFileError(Problem(f"{message}; `botz check FILE` checks it by itself", file=path))


def _extends_robot(tree: Node) -> bool:
    """Builds on a robot of the library, and holds nothing that only a scenario has."""
    below = tree.get("extends")
    name = below.value if below is not None and isinstance(below.value, str) else ""
    return name in library.names("robot") and name not in library.names("scenario") and not _has_scenario_keys(tree)


def _has_scenario_keys(tree: Node) -> bool:
    return any(tree.get(key) is not None for key in ("time", "controllers", "record"))


def _is_missing(node: Node | None) -> bool:
    return node is None or node.value is None or node.value == ""


def _checked(
    tree: Node, file: Path | None, failed: dict[KeyPath, list[Problem]], *, files_must_exist: bool
) -> LoadedScenario:
    """`failed` holds robots whose files could not be read, and why: nothing more is said about those."""
    family = _family(tree)
    problems = [problem for found in failed.values() for problem in found]
    tree, user_code, unfound = _absolute_paths(tree, files_must_exist)
    data = tree.plain()
    fit_default_rates(family.scenario, data)
    found = unfound + _not_finite(tree) + cross_checks(family.scenario, data, tree)
    spec = None
    doubts: list[float] = []
    try:
        with doubting_angles(doubts.append):
            spec = family.scenario.model_validate(data)
    except ValidationError as error:
        found += problems_of(error, family.scenario, tree)
    excused = [key_text(path) + "." for path in failed]
    problems += [entry for entry in found if not f"{entry.key}.".startswith(tuple(excused))]
    if problems or spec is None:
        raise InputError(_in_order(problems))
    folder = Path.cwd() if file is None else file.parent
    data = spec.model_dump(mode="json")
    return LoadedScenario(spec, file, folder, data, tuple(user_code), tree, bool(doubts), files_must_exist)


def without_fitted_rates(data: Mapping[str, Any], written: Node) -> dict[str, Any]:
    """A complete scenario without the default rates that nobody wrote: they fit themselves to another step."""
    complete = deepcopy(dict(data))
    for path in rate_fields(FAMILIES[str(data["engine"])].scenario, complete):
        if written.at(path) is None:
            holder: Any = complete
            for key in path[:-1]:
                holder = holder[key]
            del holder[path[-1]]
    return complete


def with_factor(loaded: LoadedScenario, factor: float) -> LoadedScenario:
    """The same scenario at another factor of real time, 0 for as fast as possible. Nothing else depends on it, so that
    it need not be checked again."""
    spec: Any = loaded.spec
    time = spec.time.model_copy(update={"realtime": factor or False})
    data = {**loaded.data, "time": time.model_dump(mode="json")}
    return replace(loaded, spec=spec.model_copy(update={"time": time}), data=data)


def warnings_of(loaded: LoadedScenario) -> list[Problem]:
    """What may be a mistake but need not be one: angles of more than a turn without a unit."""
    if not loaded.doubted:
        return []
    family = FAMILIES[loaded.engine]

    def refuse(angle: float) -> None:
        raise ValueError(doubt(angle))

    try:
        with doubting_angles(refuse):
            family.scenario.model_validate(loaded.tree.plain())
    except ValidationError as error:
        return _in_order(problems_of(error, family.scenario, loaded.tree))
    return []


def _family(tree: Node) -> Family:
    engine = tree.get("engine")
    if engine is None or engine.value is None:
        raise InputError(tree.place.problem(f"missing{closest('', FAMILIES)}", ("engine",)))
    if not isinstance(engine.value, str) or engine.value not in FAMILIES:
        raise InputError(engine.place.problem(unknown(engine.plain(), FAMILIES), ("engine",)))
    return FAMILIES[engine.value]


def _absolute_paths(tree: Node, must_exist: bool) -> tuple[Node, list[str], list[Problem]]:
    """Paths made absolute by the folder of the file in which each is written; the user's classes; lost files."""
    user_code: list[str] = []
    problems: list[Problem] = []

    def path_at(text: str, place: Place, path: KeyPath) -> str:
        full = absolute(place.folder / text)
        if must_exist and not os.path.isfile(full):  # noqa: PTH113 (False for a name that no disk takes)
            problems.append(place.problem(f"no such file: {path_text(full)}", path))
        return str(full)

    def visit(node: Node, path: KeyPath) -> Node:
        if isinstance(node.value, dict):
            below = {key: visit(entry, (*path, key)) for key, entry in node.value.items() if key != "parameters"}
            return Node({key: below.get(key, entry) for key, entry in node.value.items()}, node.place)
        if isinstance(node.value, list):
            return Node([visit(entry, (*path, index)) for index, entry in enumerate(node.value)], node.place)
        if not isinstance(node.value, str):
            return node
        # A robot of the library has a name; anything else that names one is a file.
        is_robot_file = path[-1] in ROBOT_KEYS and library.looks_like_path(node.value)
        if path[-1] in FILE_KEYS or is_robot_file:
            return Node(path_at(node.value, node.place, path), node.place)
        is_code = len(path) >= 3 and path[-3] in ("controllers", "elements") and path[-1] == "type"
        if is_code and ":" in node.value:
            module, _, name = node.value.rpartition(":")
            if module.endswith(".py") and name.isidentifier():
                module = path_at(module, node.place, path)
            user_code.append(f"{module}:{name}")
            return Node(user_code[-1], node.place)
        return node

    return visit(tree, ()), user_code, problems


def _not_finite(tree: Node) -> list[Problem]:
    """Also where the schema takes anything, as in the parameters of a user's controller."""
    return [
        node.place.problem(f"needs a finite number, not {show(node.value)}", path)
        for path, node in tree.walk()
        if isinstance(node.value, float) and not math.isfinite(node.value)
    ]


def _in_order(problems: list[Problem]) -> list[Problem]:
    """By file and line, what the command line says last; the same complaint only once."""
    unique = list(dict.fromkeys(problems))
    return sorted(unique, key=lambda entry: (entry.line is None, str(entry.file), entry.line or 0))
