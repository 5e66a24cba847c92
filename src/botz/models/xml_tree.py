"""XML model files as a light tree that knows the line of every element.

Model files come from anywhere, so nothing in them is followed: a document type or an entity of its own is refused,
which leaves neither files to be drawn in nor text that grows when it is expanded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from botz.errors import InputError, Problem
from botz.models.robot_model import Place

LARGEST = 64 * 2**20
"""Largest model file [bytes]; meshes are files of their own."""
DEEPEST = 200
MOST_ELEMENTS = 1_000_000
OWN = "botz"
"""Child of an element, or of a foreign plugin block, with what Botz knows beyond it."""


_DECLARATION = re.compile(rb"<\?xml\s[^<>]*\?>")


@dataclass(eq=False)
class XmlNode:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    text: str = ""
    """Text directly inside, without the space around it."""
    children: list[XmlNode] = field(default_factory=list)
    line: int | None = None
    file: Path | None = None

    @property
    def place(self) -> Place:
        return Place(self.file, self.line)

    def problem(self, message: str, key: str = "") -> Problem:
        """A problem at this element's line."""
        return self.place.problem(message, key)

    def get(self, name: str, default: str | None = None) -> str | None:
        """An attribute."""
        return self.attributes.get(name, default)

    def all(self, *tags: str) -> Iterator[XmlNode]:
        """Children of these tags, in the file's order."""
        return (child for child in self.children if child.tag in tags)

    def first(self, *tags: str) -> XmlNode | None:
        return next(self.all(*tags), None)

    def value(self, tag: str, default: str | None = None) -> str | None:
        """Text of the first child of a tag."""
        child = self.first(tag)
        return default if child is None else child.text

    def add(self, tag: str, text: str = "", **attributes: str) -> XmlNode:
        """A new child; for writers."""
        child = XmlNode(tag, dict(attributes), text)
        self.children.append(child)
        return child


def read_xml(source: Path | str, file: Path | None = None) -> XmlNode:
    """The root element of a file (a Path) or of a text (a str), which `file` names in messages; raises InputError."""
    if isinstance(source, Path):
        file = source
        text = _bytes_of(source)
    else:
        text = source.encode()
    if len(text) > LARGEST:
        raise InputError(
            Problem(f"is larger than {LARGEST // 2**20} MiB; a model file refers to its meshes", file=file)
        )
    return _Building(file).parse(text)


def _bytes_of(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(LARGEST + 1)
    except FileNotFoundError:
        raise InputError(Problem("there is no such file; look for a typing error in its path", file=path)) from None
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror or error}", file=path)) from None


class _Building:
    """The tree while expat reads."""

    def __init__(self, file: Path | None):
        self.file = file
        self.open: list[XmlNode] = []
        self.pieces: list[list[str]] = []
        self.root: XmlNode | None = None
        self.count = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.EntityDeclHandler = self._entity
        self.parser.ExternalEntityRefHandler = self._entity
        self.parser.SkippedEntityHandler = self._entity

    def parse(self, text: bytes) -> XmlNode:
        if (late := _DECLARATION.search(text, 1)) is not None:
            # Strict readers refuse a declaration after a comment or an empty line; robots' own do not.
            text = text[: late.start()] + b"\n" * late[0].count(b"\n") + text[late.end() :]
        try:
            self.parser.Parse(text, True)
        except expat.ExpatError as error:
            words = expat.ErrorString(error.code)
            message = f"is not well-formed XML: {words} (column {error.offset + 1}); mend the file there"
            raise InputError(Problem(message, file=self.file, line=error.lineno)) from None
        except (LookupError, ValueError) as error:  # an encoding that Python doesn't know
            raise InputError(Problem(f"cannot be read as XML: {error}; save it as UTF-8", file=self.file)) from None
        assert self.root is not None  # expat refuses a document without an element
        return self.root

    def _refuse(self, message: str) -> None:
        raise InputError(Problem(message, file=self.file, line=self.parser.CurrentLineNumber))

    def _doctype(self, name: str, *_: Any) -> None:
        self._refuse(f"has a document type (<!DOCTYPE {name}>), which is refused; remove it, a model file needs none")

    def _entity(self, *_: Any) -> int:
        self._refuse("has an entity of its own, which is refused; write out what it stands for")
        return 0

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if len(self.open) >= DEEPEST:
            self._refuse(f"has elements nested more than {DEEPEST} deep; no model needs that")
        if self.count > MOST_ELEMENTS:
            self._refuse(f"has more than {MOST_ELEMENTS} elements; split the model")
        node = XmlNode(tag, attributes, line=self.parser.CurrentLineNumber, file=self.file)
        if self.open:
            self.open[-1].children.append(node)
        else:
            self.root = node
        self.open.append(node)
        self.pieces.append([])

    def _end(self, _: str) -> None:
        self.open.pop().text = "".join(self.pieces.pop()).strip()

    def _characters(self, text: str) -> None:
        if self.pieces:
            self.pieces[-1].append(text)


def parsed_numbers(text: str, count: int | None = None) -> tuple[float, ...] | str:
    """The numbers in a text; or what is wrong with them, in words that begin with "needs"."""
    words = text.split()
    needs = "needs a number" if count == 1 else f"needs {count} numbers" if count else "needs numbers"
    if "$(" in text or "${" in text:
        return f"{needs}, not {text.strip()!r}, which only xacro understands; let the file's name end in .xacro"
    if count is not None and len(words) != count:
        return f"{needs}, not {len(words)} in {text.strip()!r}"
    found = []
    for word in words:
        try:
            number = float(word) if "_" not in word else math.nan
        except ValueError:
            return f"{needs}, not {word!r}"
        if not math.isfinite(number):
            return f"{needs} that is finite, not {word!r}" if count == 1 else f"{needs} that are finite, not {word!r}"
        found.append(number)
    return tuple(found)


class XmlReading:
    """What readers of model files share: values of attributes and texts, with all problems kept until the end."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []

    def wrong(self, node: XmlNode, message: str, key: str = "") -> None:
        self.problems.append(node.problem(message, key))

    def note(self, node: XmlNode, message: str, key: str = "") -> None:
        self.notes.append(node.problem(message, key))

    def finish(self) -> None:
        """Raise what was found."""
        if self.problems:
            raise InputError(self.problems)

    def attribute(self, node: XmlNode, name: str) -> str | None:
        """A text that must be there and not be empty; None with a problem otherwise."""
        text = (node.get(name) or "").strip()
        if not text:
            self.wrong(node, f"<{node.tag}> needs the attribute {name!r}")
            return None
        return text

    def numbers(
        self, node: XmlNode, name: str, count: int, default: Sequence[float] | None = None
    ) -> tuple[float, ...]:
        """Numbers of an attribute; the default where it is not given; with a problem, the default or zeros."""
        instead = tuple(default) if default is not None else (0.0,) * count
        text = node.get(name)
        if text is None:
            if default is None:
                self.wrong(node, f"<{node.tag}> needs the attribute {name!r}")
            return instead
        found = parsed_numbers(text, count)
        if isinstance(found, str):
            self.wrong(node, found, f"{node.tag}.{name}")
            return instead
        return found

    def number(self, node: XmlNode, name: str, default: float | None = None) -> float:
        return self.numbers(node, name, 1, None if default is None else (default,))[0]

    def text_numbers(self, node: XmlNode, count: int, default: Sequence[float] | None = None) -> tuple[float, ...]:
        """Numbers of an element's text; the default where it is empty."""
        instead = tuple(default) if default is not None else (0.0,) * count
        if not node.text and default is not None:
            return instead
        found = parsed_numbers(node.text, count)
        if isinstance(found, str):
            self.wrong(node, found, node.tag)
            return instead
        return found

    def child_numbers(
        self, node: XmlNode, tag: str, count: int, default: Sequence[float] | None = None
    ) -> tuple[float, ...]:
        """Numbers of the text of the first child of a tag; the default where there is none."""
        child = node.first(tag)
        if child is None:
            if default is None:
                self.wrong(node, f"<{node.tag}> needs <{tag}>")
            return tuple(default) if default is not None else (0.0,) * count
        return self.text_numbers(child, count, default)

    def child_number(self, node: XmlNode, tag: str, default: float | None = None) -> float:
        return self.child_numbers(node, tag, 1, None if default is None else (default,))[0]


_BAD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def xml_text(node: XmlNode) -> str:
    """The document of a tree, two spaces deeper at each level."""
    return '<?xml version="1.0" encoding="utf-8"?>\n' + "".join(_lines(node, ""))


def _lines(node: XmlNode, space: str) -> Iterator[str]:
    words = "".join(f" {name}={quoteattr(_BAD.sub('', value))}" for name, value in node.attributes.items())
    if node.children:
        yield f"{space}<{node.tag}{words}>\n"
        if node.text:
            yield f"{space}  {escape(_BAD.sub('', node.text))}\n"
        for child in node.children:
            yield from _lines(child, space + "  ")
        yield f"{space}</{node.tag}>\n"
    elif node.text:
        yield f"{space}<{node.tag}{words}>{escape(_BAD.sub('', node.text))}</{node.tag}>\n"
    else:
        yield f"{space}<{node.tag}{words}/>\n"


def shown(*values: float) -> str:
    """Numbers as XML holds them, such that reading gives the same bits."""
    return " ".join(
        repr(int(value)) if float(value) == int(value) and abs(value) < 1e15 else repr(float(value)) for value in values
    )
