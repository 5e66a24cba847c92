"""Writes docs/api.md, the reference of the Python interface, from signatures and docstrings.

    python tools/make_api.py

Text of a docstring is Markdown; its examples are doctests, which `tests/docs/test_api.py` runs after `SETUP`.
"""

from __future__ import annotations

import ast
import dataclasses
import doctest
import importlib
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

PAGE = Path(__file__).resolve().parent.parent / "docs" / "api.md"

SETUP = """\
import numpy as np

import botz

scenario = botz.load("differential-circle", overrides={"time.duration": 1.0})
sim = botz.Simulation(scenario)
rec = botz.simulate(scenario)
arm = botz.SerialArm.of("titan4")
"""

INTRODUCTION = f"""\
# API reference

All public functions and classes, made of their docstrings by `tools/make_api.py`; [Python](python-api.md) tells how
they go together. Quantities are in SI: metres, kilograms, seconds, radians. Arrays are NumPy's; `(k, 3)` is a shape.

Examples run as they stand, after these lines:

```python
{SETUP}```

Each example starts from a simulation that has been reset. Where `run` appears, it is an `AttachedRun` of a run of the
same scenario that is held before its first step."""

SECTIONS: dict[str, list[str]] = {
    "Scenarios": ["botz:load", "botz:LoadedScenario"],
    "Simulation": [
        "botz:simulate",
        "botz:Simulation",
        "botz.sim.snapshots:Snapshot",
        "botz.engines.base:RobotState",
        "botz.channels:Values",
        "botz.channels:Measured",
        "botz.channels:Channel",
        "botz.channels:ChannelTable",
    ],
    "Recordings": [
        "botz:read",
        "botz:Recording",
        "botz.record.poses:Poses",
        "botz:state_at",
        "botz:compare",
        "botz.record.compare:open_track",
        "botz.record.trajectory:Trajectory",
        "botz.record.compare:Comparison",
        "botz.record.compare:Difference",
        "botz.record.compare:ErrorSeries",
        "botz:render_video",
    ],
    "Arms": ["botz:SerialArm", "botz.robots.arm_inverse:Solutions", "botz.robots.arm_inverse:SolutionsOfMany"],
    "Force elements and sensors": [
        "botz:force_element",
        "botz.engines.multibody.elements.base:ElementKind",
        "botz.engines.multibody.elements.base:Report",
        "botz:sensor",
        "botz.engines.multibody.sensing:SensorKind",
    ],
    "Runs in other processes": ["botz:AttachedRun"],
    "Errors": [
        "botz:BotzError",
        "botz:InputError",
        "botz.errors:Problem",
        "botz:ControllerError",
        "botz:DivergedError",
        "botz:RecordingError",
    ],
}
"""What the page shows, as `module:name`, in this order."""

CONSTRUCTED = {"Simulation", "SerialArm", "AttachedRun", "InputError", "ControllerError", "DivergedError", "Problem"}
"""Classes that users make objects of; objects of the others are returned by functions."""

ALIASES = {
    "ScenarioSource": "str | Path | Mapping[str, Any] | LoadedScenario",
    "Track": "Recording | Trajectory",
    "UserElements": 'Literal["run", "skip", "refuse"]',
    "Progress": "Callable[[int, int], None]",
    "CommandListener": "Callable[[int, str, np.ndarray, str], None]",
    "Out": "np.ndarray | None",
    "Numbers": "Sequence[float] | np.ndarray | None",
    "Joints": "Mapping[str, float | tuple[float, float]] | None",
    "Cost": 'Literal["nearest", "middle"]',
    "Method": 'Literal["composite-body", "newton-euler"]',
    "Message": 'Literal["", "Imu", "NavSatFix", "MagneticField", "FluidPressure"]',
}
"""Names of types in signatures, written out."""


class Attribute(NamedTuple):
    """A property, a field of a dataclass, or an attribute with a text behind it."""

    name: str
    type: str
    text: str


@dataclasses.dataclass(frozen=True)
class Entry:
    """A function, class or method of the page."""

    title: str
    """As it is called: `botz.load`, `Simulation.step`."""
    thing: Any
    module: str

    @property
    def text(self) -> str:
        """The docstring; empty where there is none of its own."""
        return inspect.cleandoc(self.thing.__doc__ or "")

    @property
    def name(self) -> str:
        return self.title.rsplit(".", 1)[-1]

    @property
    def signature(self) -> str:
        """How it is called, as Python code; empty for a class that users do not call."""
        if inspect.isclass(self.thing) and self.name not in CONSTRUCTED:
            return ""
        return written_signature(self.title, inspect.signature(self.thing))

    @cached_property
    def methods(self) -> list[Entry]:
        """Public methods that the class itself defines."""
        if not inspect.isclass(self.thing):
            return []
        own = {name: value for name, value in vars(self.thing).items() if not name.startswith("_")}
        kinds = (classmethod, staticmethod)
        return [
            Entry(f"{self.name}.{name}", getattr(self.thing, name), self.module)
            for name, value in own.items()
            if inspect.isfunction(value) or isinstance(value, kinds)
        ]

    @cached_property
    def attributes(self) -> list[Attribute]:
        return list(attributes_of(self.thing)) if inspect.isclass(self.thing) else []


@cache
def entries() -> dict[str, list[Entry]]:
    """What stands on the page, by section."""
    found: dict[str, list[Entry]] = {}
    for section, names in SECTIONS.items():
        found[section] = []
        for place in names:
            module, name = place.split(":")
            thing = getattr(importlib.import_module(module), name)
            title = f"botz.{name}" if module == "botz" else name
            found[section].append(Entry(title, thing, module))
    return found


def everything() -> Iterator[Entry]:
    """All functions, classes and methods of the page."""
    for section in entries().values():
        for entry in section:
            yield entry
            yield from entry.methods


def attributes_of(kind: type) -> Iterator[Attribute]:
    """Fields of dataclasses, properties, and whatever else has a text behind its first assignment."""
    texts = dict(texts_of_attributes(kind))
    fields = list(dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else []
    for field in fields:
        if not field.name.startswith("_"):
            yield Attribute(field.name, expanded(str(field.type)), texts.pop(field.name, ("", ""))[1])
    for name, (type_, text) in texts.items():
        if not name.startswith("_"):
            yield Attribute(name, expanded(type_), text)
    for name, value in vars(kind).items():
        function = value.fget if isinstance(value, property) else getattr(value, "func", None)
        if function is not None and not name.startswith("_"):
            yield Attribute(name, expanded(str(function.__annotations__.get("return", ""))), value.__doc__ or "")


def texts_of_attributes(kind: type) -> Iterator[tuple[str, tuple[str, str]]]:
    """Name, annotation and text of the attributes that a class assigns with a text behind them."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(tree, ast.ClassDef)
    bodies = [tree.body, *(one.body for one in tree.body if isinstance(one, ast.FunctionDef))]
    for body in bodies:
        for statement, text in pairwise(body):
            if not (
                isinstance(statement, ast.Assign | ast.AnnAssign)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
                and isinstance(text.value.value, str)
            ):
                continue
            target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
            type_ = ast.unparse(statement.annotation) if isinstance(statement, ast.AnnAssign) else ""
            for one in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(one, ast.Attribute | ast.Name):
                    yield one.attr if isinstance(one, ast.Attribute) else one.id, (type_, text.value.value)


# --- how it is written ------------------------------------------------------------------------------------


def expanded(annotation: str) -> str:
    return re.sub(r"\b[A-Z]\w+\b", lambda found: ALIASES.get(found[0], found[0]), annotation)


def written_signature(title: str, signature: inspect.Signature) -> str:
    """On one line where it fits, else one argument per line."""
    parts: list[str] = []
    keywords = False
    for argument in signature.parameters.values():
        if argument.name in ("self", "arm") and not parts and title[:1].isupper():
            continue
        if argument.kind is argument.KEYWORD_ONLY and not keywords:
            if not any(part.startswith("*") for part in parts):
                parts.append("*")
            keywords = True
        stars = "*" if argument.kind is argument.VAR_POSITIONAL else ""
        stars = "**" if argument.kind is argument.VAR_KEYWORD else stars
        part = f"{stars}{argument.name}"
        annotated = argument.annotation is not argument.empty
        if annotated:
            part += f": {expanded(written_type(argument.annotation))}"
        if argument.default is not argument.empty:
            given = argument.default
            default = json.dumps(given) if isinstance(given, str) else getattr(given, "__name__", None) or repr(given)
            part += f" = {default}" if annotated else f"={default}"
        parts.append(part)
        if argument.kind is argument.POSITIONAL_ONLY:
            following = list(signature.parameters.values())
            after = following[following.index(argument) + 1 :]
            if not any(one.kind is one.POSITIONAL_ONLY for one in after):
                parts.append("/")
    returned = (
        ""
        if signature.return_annotation in (inspect.Signature.empty, "None", None)
        else (f" -> {expanded(written_type(signature.return_annotation))}")
    )
    line = f"{title}({', '.join(parts)}){returned}"
    if len(line) <= 110:
        return line
    return "\n".join([f"{title}(", *(f"    {part}," for part in parts), f"){returned}"])


def written_type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def written_text(text: str) -> str:
    """A docstring as Markdown, with its examples in fences of their own."""
    parts: list[str] = []
    examples: list[str] = []

    def close() -> None:
        if examples:
            parts.append("```pycon\n" + "".join(examples).rstrip("\n") + "\n```")
            examples.clear()

    for part in doctest.DocTestParser().parse(text):
        if isinstance(part, doctest.Example):
            source = re.sub(r" *# doctest: .*", "", part.source).rstrip("\n").split("\n")
            examples.append(f">>> {source[0]}\n" + "".join(f"... {line}".rstrip() + "\n" for line in source[1:]))
            if part.exc_msg is not None:
                examples.append("Traceback (most recent call last):\n" + part.exc_msg)
            else:
                examples.append(part.want)
        elif part.strip():
            close()
            parts.append(part.strip("\n"))
    close()
    return "\n\n".join(parts)


def written_attributes(attributes: list[Attribute]) -> str:
    lines = ["| attribute | type | meaning |", "| --- | --- | --- |"]
    for one in attributes:
        type_ = f"`{one.type}`" if one.type else ""
        cells = [f"`{one.name}`", type_, " ".join(one.text.split())]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def written(entry: Entry, level: int) -> Iterator[str]:
    """The paragraphs of one entry."""
    yield f"{'#' * level} {entry.title}"
    if level == 3 and entry.module != "botz":
        yield f"{'Class' if inspect.isclass(entry.thing) else 'Function'} of `{entry.module}`."
    if entry.signature:
        yield textwrap.indent(entry.signature, "    ")
    if entry.text:
        yield written_text(entry.text)
    if entry.attributes:
        yield written_attributes(entry.attributes)
    for method in entry.methods:
        yield from written(method, level + 1)


def contents() -> str:
    """Links to all functions and classes, with the first sentence of each."""
    lines = ["| name | what it is |", "| --- | --- |"]
    for entry in (one for section in entries().values() for one in section):
        sentence = re.split(r"(?<=[^.])[.:](?:\s|$)", " ".join(entry.text.split("\n\n")[0].split()))[0]
        anchor = re.sub(r"[^\w\- ]", "", entry.title.lower()).replace(" ", "-")
        lines.append(f"| [`{entry.title}`](#{anchor}) | {sentence.replace('|', chr(92) + '|')} |")
    return "\n".join(lines)


def page() -> str:
    """The text of docs/api.md."""
    parts = [INTRODUCTION, contents()]
    for section, shown in entries().items():
        parts.append(f"## {section}")
        for entry in shown:
            parts += written(entry, 3)
    return "\n\n".join(parts) + "\n"


def main() -> int:
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
