"""`extends` and overrides: the layers that make one complete document."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from botz.errors import InputError, Problem
from botz.scenario import library
from botz.scenario.names import closest
from botz.scenario.reading import parse_value, read
from botz.scenario.tree import MAX_DEPTH, SET, KeyPath, Node, from_plain, merge, path_text
from botz.scenario.units import show

MAX_EXTENDS = 16


def document(path: Path, kind: library.Kind, chain: tuple[Path, ...] = ()) -> Node:
    """A scenario or robot file laid over what it extends, and so on down to a file that extends nothing."""
    path = absolute(path)
    top = read(path)
    if top.value is None:
        raise InputError(top.place.problem(f"is empty; a {kind} file is a mapping (key: value)"))
    if not isinstance(top.value, dict):
        raise InputError(top.place.problem(f"a {kind} file is a mapping (key: value), not {show(top.plain())}"))
    return completed(top, kind, (*chain, path))


def completed(top: Node, kind: library.Kind, chain: tuple[Path, ...] = ()) -> Node:
    """A document laid over what it extends."""
    reference = top.get("extends")
    if reference is None:
        return top
    below = referenced(reference, kind, chain, ("extends",))
    # A run is called after its own file, not after the one it builds on.
    return merge(below.without("name"), top.without("extends"))


def referenced(reference: Node, kind: library.Kind, chain: tuple[Path, ...], key: KeyPath) -> Node:
    """The document that an `extends` names: a library name, or a path from the file that says it."""
    name = reference.value
    if not isinstance(name, str) or not name:
        wanted = f"needs the name of a library {kind} or a path, not {show(reference.plain())}"
        raise InputError(reference.place.problem(wanted, key))
    if library.looks_like_path(name):
        path = absolute(reference.place.folder / name)
        if not os.path.lexists(path):  # False for a name that no disk takes
            raise InputError(reference.place.problem(f"no such file: {path_text(path)}", key))
        if path.is_dir():
            raise InputError(reference.place.problem(f"{name!r} is a folder; name a YAML file", key))
    elif (found := library.path_of(kind, name)) is not None:
        path = found
    else:
        hint = other_kind(name, kind) or closest(name, library.names(kind))
        raise InputError(reference.place.problem(f"no {kind} {name!r} in the library{hint}", key))
    if path in chain:
        loop = " -> ".join(path_text(file) for file in (*chain[chain.index(path) :], path))
        raise InputError(reference.place.problem(f"extends itself: {loop}", key))
    if len(chain) >= MAX_EXTENDS:
        raise InputError(reference.place.problem(f"a chain of more than {MAX_EXTENDS} files", key))
    return document(path, kind, chain)


def absolute(path: Path) -> Path:
    """Without touching the disk, so that odd names are reported by whoever opens them."""
    return Path(os.path.abspath(path))  # noqa: PTH100


def with_robots(scenario: Node) -> tuple[Node, dict[KeyPath, list[Problem]]]:
    """Each robot laid over what the scenario's robots have in common (`robot`), and that over the robot file that it
    extends; what went wrong, by the robot's path."""
    robots, common = scenario.get("robots"), scenario.get("robot")
    failed: dict[KeyPath, list[Problem]] = {}
    if common is not None:
        scenario = scenario.without("robot")
        if not isinstance(common.value, dict):
            message = f"needs a mapping (key: value) of what all robots have in common, not {show(common.plain())}"
            failed[("robot",)] = [common.place.problem(message, ("robot",))]
    if robots is None or not isinstance(robots.value, dict):
        return scenario, failed
    if common is not None and isinstance(common.value, dict):
        laid = {name: Node(merge(common, robot).value, robot.place) for name, robot in robots.value.items()}
        robots = Node(laid, robots.place)
    engine = scenario.get("engine")
    placed: dict[str, Node] = {}
    for name, robot in robots.value.items():
        placed[name] = robot
        reference = robot.get("extends")
        if reference is None:
            continue
        path = ("robots", name)
        try:
            below = referenced(reference, "robot", (), (*path, "extends"))
            _check_engine(below, engine, reference, (*path, "extends"))
            placed[name] = Node(merge(below, robot.without("extends"), path).value, robot.place)
        except InputError as error:
            failed[path] = error.problems
    return scenario.with_items(robots=Node(placed, robots.place)), failed


def _check_engine(robot: Node, engine: Node | None, reference: Node, key: KeyPath) -> None:
    own = robot.get("engine")
    if own is not None and engine is not None and own.value != engine.value:
        message = f"robot {reference.value!r} is for engine {own.plain()!r}, this scenario for {engine.plain()!r}"
        raise InputError(reference.place.problem(message, key))


def overridden(scenario: Node, overrides: Sequence[str] | Mapping[str, Any]) -> Node:
    """The scenario with `a.b.c=VALUE` (or {"a.b.c": value}) laid over it, all together, later ones on top."""
    layer, problems = Node({}, SET), []
    for item in [overrides] if isinstance(overrides, str) else overrides:
        try:
            path, value = _assignment(item, overrides[item]) if isinstance(overrides, Mapping) else _parsed(item)
            for key in reversed(path):
                value = Node({key: value}, SET)
            layer = merge(layer, value)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return merge(scenario, layer)


def _parsed(text: str) -> tuple[list[str], Node]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InputError(SET.problem(f"{text!r} is not KEY=VALUE, such as time.step=0.01"))
    path = _key_path(key.strip())
    if not value.strip():
        raise InputError(SET.problem("no value; write KEY=VALUE (null takes a key away)", tuple(path)))
    return path, parse_value(value, SET, tuple(path))


def _assignment(key: str, value: Any) -> tuple[list[str], Node]:
    return _key_path(key), from_plain(value, SET)


def _key_path(key: str) -> list[str]:
    path = key.split(".")
    if not all(path) or len(path) > MAX_DEPTH:
        raise InputError(SET.problem(f"{key!r} is not a key path, such as robots.rover.pose.0"))
    if path[0] == "extends":
        raise InputError(SET.problem("cannot be set here; write a file that extends another", ("extends",)))
    return path


def other_kind(name: str, kind: library.Kind) -> str:
    """What to do with a robot's name where a scenario is needed, or the other way round; empty for neither."""
    if kind == "scenario" and name in library.names("robot"):
        engine = next(entry.engine for entry in library.list_robots() if entry.name == name)
        return (
            f"; {name!r} is a robot of engine {engine!r}: write a scenario whose robot has `extends: {name}`, "
            f"or choose one that is there: botz list {engine}"
        )
    if kind == "robot" and name in library.names("scenario"):
        return f"; {name!r} is a scenario, see its robots with: botz show {name}"
    return ""
