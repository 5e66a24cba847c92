"""From a YAML file to a tree with line marks.

YAML is read from parser events, never through constructors, so a tag can name no Python type. Plain scalars
follow the YAML 1.2 core schema (`1e-3` is a number, `yes` and `on` are text); limits on size, nodes, depth and
aliases are kept while reading.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from botz.errors import InputError, Problem
from botz.scenario.tree import MAX_DEPTH, KeyPath, Node, Place, from_plain

MAX_BYTES = 2**20
MAX_NODES = 200_000
MAX_ALIASES = 1000

_FAST_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml where PyYAML was built with it: fifteen times as fast."""


def read(path: Path) -> Node:
    """The document in a YAML file. Raises InputError with all that is wrong about its form."""
    place = Place(Path(os.path.abspath(path)))  # noqa: PTH100 (does not fail on odd names, as resolve does)
    try:
        if path.is_dir():
            raise InputError(place.problem("is a folder; name a YAML file"))
        if not path.exists():
            raise InputError(place.problem("no such file"))
        if not path.is_file():
            raise InputError(place.problem("is not a regular file"))
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(place.problem(f"cannot be read: {reason}")) from None
    return parse(content, place.file)


def parse(content: bytes | str, file: Path | None) -> Node:
    place = Place(file)
    if len(content) > MAX_BYTES:
        raise InputError(place.problem(f"is larger than {MAX_BYTES // 1024} KiB, the limit for a scenario file"))
    if isinstance(content, bytes):
        try:
            content = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            bad = f"is not UTF-8 text: byte 0x{error.object[error.start]:02x}"
            raise InputError(Place(file, line).problem(bad)) from None
    try:
        return _Builder(content, file).document(_FAST_LOADER)
    except (yaml.YAMLError, ValueError, OverflowError):
        # Once more with the parser in Python, whose messages are the same everywhere.
        return _Builder(content, file).checked_document()


def parse_value(text: str, place: Place, path: KeyPath) -> Node:
    """The value in `--set key=VALUE`: a YAML scalar, list or mapping, whose place is the command line."""
    try:
        node = parse(text, None)
    except InputError as error:
        raise InputError([place.problem(found.message, path) for found in error.problems]) from None
    return from_plain(node.plain(), place)


_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"([-+]?)\.(inf|Inf|INF|nan|NaN|NAN)")


def scalar(text: str) -> Any:
    """A plain scalar by the YAML 1.2 core schema."""
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text[0] in "tT"
    if _INT.fullmatch(text) and len(text) < 400:  # longer ones become inf below, which no field accepts
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if _FLOAT.fullmatch(text):
        return float(text)
    if match := _SPECIAL.fullmatch(text):
        return float(match[1] + match[2])
    return text


@dataclass
class _Frame:
    """A mapping or list under construction, with its size and height when aliases are written out."""

    value: Any
    place: Place
    anchor: str | None
    key: str | None = None
    key_place: Place | None = None
    weight: int = 1
    height: int = 1


@dataclass
class _Builder:
    content: str
    file: Path | None
    problems: list[Problem] = field(default_factory=list)
    stack: list[_Frame] = field(default_factory=list)
    anchors: dict[str, tuple[Node, int, int]] = field(default_factory=dict)
    root: Node | None = None
    nodes: int = 0
    aliases: int = 0
    documents: int = 0

    def document(self, loader: Any) -> Node:
        for event in yaml.parse(self.content, Loader=loader):
            self._take(event)
        if self.problems:
            raise InputError(self.problems)
        return self.root or Node(None, Place(self.file, 1))

    def checked_document(self) -> Node:
        try:
            return self.document(yaml.SafeLoader)
        except yaml.YAMLError as error:
            raise InputError([*self.problems, self._syntax_problem(error)]) from None
        except (ValueError, OverflowError):  # from inside the parser, which does not say where
            out_of_range = Place(self.file).problem("not valid YAML: an escape or directive is out of range")
            raise InputError([*self.problems, out_of_range]) from None

    def _take(self, event: yaml.Event) -> None:
        place = Place(self.file, event.start_mark.line + 1 if event.start_mark else None)
        match event:
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents == 2:
                    self._stop(place, "a second document begins here; a file holds one")
            case yaml.ScalarEvent():
                self._check_tag(event, place)
                value = scalar(event.value) if event.implicit[0] and event.tag is None else event.value
                if not event.value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in event.value):
                    self._stop(place, "text holds half of a surrogate pair, which is no character")
                if self._awaits_key():
                    self._take_key(value, event, place)
                else:
                    self._add(Node(value, place), 1, 0, event.anchor)
            case yaml.AliasEvent():
                self._take_alias(str(event.anchor), place)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._check_tag(event, place)
                if self._awaits_key():
                    self._stop(place, "a key must be text, not a list or mapping")
                if len(self.stack) >= MAX_DEPTH:
                    self._stop(place, f"is nested deeper than {MAX_DEPTH} levels")
                empty: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
                self.stack.append(_Frame(empty, place, event.anchor))
                self._count(1, place)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                frame = self.stack.pop()
                self._add(Node(frame.value, frame.place), frame.weight, frame.height, frame.anchor, counted=True)

    def _awaits_key(self) -> bool:
        return bool(self.stack) and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None

    def _take_key(self, value: Any, event: yaml.ScalarEvent, place: Place) -> None:
        frame = self.stack[-1]
        if event.value == "<<" and event.implicit[0]:
            self._stop(place, "merge keys (<<) are not supported; use extends: or repeat the keys")
        if not isinstance(value, str):
            shown = f'key {event.value or "null"} must be text; write "{event.value}"'
            self.problems.append(place.problem(shown, self._path()))
        elif value in frame.value:
            first = frame.value[value].place.line
            twice = f"is written twice in this mapping, first in line {first}"
            self.problems.append(place.problem(twice, (*self._path(), value)))
        frame.key, frame.key_place = str(event.value), place

    def _path(self) -> KeyPath:
        parts: list[str | int] = []
        for frame in self.stack:
            if isinstance(frame.value, list):
                parts.append(len(frame.value))
            elif frame.key is not None:
                parts.append(frame.key)
        return tuple(parts)

    def _take_alias(self, name: str, place: Place) -> None:
        self.aliases += 1
        if self.aliases > MAX_ALIASES:
            self._stop(place, f"more than {MAX_ALIASES} aliases")
        if self._awaits_key():
            self._stop(place, "a key must be text, not an alias")
        if name not in self.anchors:
            self._stop(place, f"alias *{name} has no anchor &{name} before it")
        node, weight, height = self.anchors[name]
        if len(self.stack) + height > MAX_DEPTH:
            self._stop(place, f"is nested deeper than {MAX_DEPTH} levels")
        self._add(node, weight, height, None)

    def _add(self, node: Node, weight: int, height: int, anchor: str | None, *, counted: bool = False) -> None:
        if not counted:
            self._count(weight, node.place)
        if anchor is not None:
            self.anchors[anchor] = (node, weight, height)
        if not self.stack:
            self.root = node
            return
        parent = self.stack[-1]
        parent.weight += weight
        parent.height = max(parent.height, height + 1)
        if isinstance(parent.value, list):
            parent.value.append(node)
        else:
            assert parent.key is not None and parent.key_place is not None
            parent.value[parent.key] = Node(node.value, parent.key_place)
            parent.key = None

    def _count(self, weight: int, place: Place) -> None:
        self.nodes += weight
        if self.nodes > MAX_NODES:
            self._stop(place, f"more than {MAX_NODES} values once aliases are written out")

    def _check_tag(self, event: Any, place: Place) -> None:
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self.problems.append(place.problem(f"tag {tag} is not allowed; write plain values", self._path()))

    def _stop(self, place: Place, message: str) -> None:
        raise InputError([*self.problems, place.problem(message, self._path()[:4])])

    def _syntax_problem(self, error: yaml.YAMLError) -> Problem:
        if isinstance(error, yaml.reader.ReaderError):
            line = self.content.count("\n", 0, error.position) + 1
            code = error.character if isinstance(error.character, int) else ord(error.character)
            return Place(self.file, line).problem(f"not valid YAML: character U+{code:04X} is not allowed")
        if not isinstance(error, yaml.MarkedYAMLError):
            return Place(self.file).problem(f"not valid YAML: {error}")
        mark = error.problem_mark or error.context_mark
        message = error.problem or error.context or "cannot be read"
        if "'\\t'" in message:
            message = "a tab cannot indent or start a value; use spaces"
        elif "<stream end>" in message or "end of stream" in message:
            message = "it ends in the middle of a value; a bracket or quote is not closed"
        elif error.context and error.context_mark and mark and error.context_mark.line != mark.line:
            message += f", {error.context} that begins in line {error.context_mark.line + 1}"
        return Place(self.file, mark.line + 1 if mark else None).problem(f"not valid YAML: {message}")
