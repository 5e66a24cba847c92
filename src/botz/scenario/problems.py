"""From pydantic's errors to what a user reads: file, line, key, value and remedy."""

from __future__ import annotations

import difflib
import math
import types
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from botz.errors import Problem
from botz.scenario.families import FAMILIES
from botz.scenario.misfits import Misfits
from botz.scenario.names import NAME_PATTERN, closest
from botz.scenario.schema import COMMON_PARTS, RUN_NAME_PATTERN, USER_PATTERN, ByType, ScenarioBase, tags
from botz.scenario.tree import SET, KeyPath, Node
from botz.scenario.units import POSE_KEYS, SPACE_POSE_KEYS, Quantity, doubt, show

_PATTERNS = {
    NAME_PATTERN: "a name: lower-case letters, digits and _, beginning with a letter",
    RUN_NAME_PATTERN: "a name: letters, digits, '.', '_' and '-'",
    USER_PATTERN: "file.py:Class or module:Class",
}


# --- what a type allows ----------------------------------------------------------------------------------------


def bare(annotation: Any) -> Any:
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def metadata(annotation: Any) -> list[Any]:
    """All that is annotated, also inside `X | None`."""
    found: list[Any] = []
    if get_origin(annotation) is Annotated:
        found += annotation.__metadata__
    if get_origin(bare(annotation)) in (Union, types.UnionType):
        for member in get_args(bare(annotation)):
            found += metadata(member)
    return found


def models_by_tag(annotation: Any) -> dict[str, type[BaseModel]]:
    """The models of a union told apart by `type`; one model alone has the tag ''; empty for other types."""
    annotation_bare = bare(annotation)
    for mark in (annotation, *metadata(annotation)):
        if isinstance(mark, ByType) and mark.models:
            return {tag: model for model in mark.models for tag in tags(model)}
    if isinstance(annotation_bare, type) and issubclass(annotation_bare, BaseModel):
        return {"": annotation_bare}
    found: dict[str, type[BaseModel]] = {}
    if get_origin(annotation_bare) in (Union, types.UnionType):
        members = [member for member in get_args(annotation_bare) if member is not type(None)]
        if len(members) == 1:
            return models_by_tag(members[0])
        for member in members:
            for model in models_by_tag(member).values():
                found |= dict.fromkeys(tags(model), model)
    return found


def child(annotation: Any, key: str | int) -> Any:
    """The type of an entry of a mapping, list or model (the only one there); None where there is none."""
    inner = bare(annotation)
    if get_origin(inner) in (Union, types.UnionType) and type(None) in get_args(inner):
        rest = [member for member in get_args(inner) if member is not type(None)]
        return child(rest[0], key) if len(rest) == 1 else None
    origin, arguments = get_origin(inner), get_args(inner)
    if origin is dict:
        return arguments[1]
    if origin is list:
        return arguments[0]
    if origin is tuple and isinstance(key, int):
        return arguments[key] if key < len(arguments) else None
    field = models_by_tag(annotation).get("", BaseModel).model_fields.get(str(key))
    return None if field is None else field_type(field)


def field_type(field: FieldInfo) -> Any:
    return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation


# --- where an error is -----------------------------------------------------------------------------------------


class _Spot:
    """A pydantic error's location, walked through the types: union tags are no keys of the user's."""

    def __init__(self, model: type[BaseModel], location: tuple[str | int, ...]):
        self.model = model
        self.location = location
        self.path: KeyPath = ()
        self.owner: type[BaseModel] | None = None
        self.annotation: Any = model
        self.is_key = False
        for part in location:
            models = models_by_tag(self.annotation)
            if part in models and "" not in models:
                self.annotation = models[str(part)]
                continue
            if part == "[key]":
                self.is_key = True
                break
            self.owner = models.get("")
            self.annotation = child(self.annotation, part)
            self.path = (*self.path, part)

    @property
    def field(self) -> FieldInfo | None:
        return self.owner.model_fields.get(str(self.path[-1])) if self.owner and self.path else None


def problems_of(error: ValidationError, model: type[BaseModel], tree: Node) -> list[Problem]:
    entries = [(dict(entry), _Spot(model, entry["loc"])) for entry in error.errors(include_url=False)]
    misspelt = {
        (*spot.path[:-1], meant)
        for entry, spot in entries
        if entry["type"] == "extra_forbidden"
        for meant in difflib.get_close_matches(str(spot.path[-1]), _keys(spot), n=1)
    }
    found: list[Problem] = []
    for entry, spot in entries:
        mapping = spot.path[:-1] if entry["type"] == "missing" else spot.path
        if entry["type"] == "missing" and ({spot.path, (*mapping, "extends")} & misspelt):
            continue  # one mistake, and the misspelt key says it
        if entry["type"] in ("missing", "union_tag_not_found") and _only_on_command_line(mapping, tree):
            siblings = tree.nearest(mapping[:-1]).value.keys() - {mapping[-1]}
            message = f"no {mapping[-1]!r} to change{closest(str(mapping[-1]), siblings)}"
            found.append(tree.nearest(mapping).place.problem(message, mapping))
            continue
        written = tree.at(_as_written(spot.path, tree))
        value = entry["input"] if written is None else written.plain()  # "-3 cm", not the -0.03 made of it
        for path, message in _messages({**entry, "input": value}, spot):
            path = _as_written(path, tree)
            found.append(tree.nearest(path).place.problem(message, path))
    return found


def _only_on_command_line(path: KeyPath, tree: Node) -> bool:
    """Whether an override means to change something by a name that is not there, beside names that are."""
    node, parent = tree.at(path), tree.at(path[:-1])
    if not path or node is None or parent is None or not isinstance(parent.value, dict):
        return False
    return node.place == SET and parent.place != SET and len(parent.value) > 1


def _as_written(path: KeyPath, tree: Node) -> KeyPath:
    """A pose given as a mapping is checked as a list; its entries are still called x, y, heading. What all wheels have
    in common is checked in each of them; it is written once."""
    for index, part in enumerate(path[:-2]):
        common = (*path[:index], COMMON_PARTS.get(part, ""), *path[index + 2 :]) if isinstance(part, str) else ()
        if common and part in COMMON_PARTS and tree.at(path) is None and tree.at(common) is not None:
            return common
    above = tree.at(path[:-1]) if path else None
    if above is not None and isinstance(path[-1], int) and isinstance(above.value, dict):
        keys = POSE_KEYS if set(above.value) <= set(POSE_KEYS) else SPACE_POSE_KEYS
        return (*path[:-1], keys[path[-1]]) if path[-1] < len(keys) else path
    return path


# --- what it says ----------------------------------------------------------------------------------------------


def _messages(entry: dict[str, Any], spot: _Spot) -> Iterator[tuple[KeyPath, str]]:
    kind, value, context = entry["type"], entry["input"], entry.get("ctx", {})
    path = spot.path
    match kind:
        case "value_error" if isinstance(context.get("error"), Misfits):
            yield from (((*path, *below), message) for below, message in context["error"].found)
        case "value_error":
            yield path, str(context["error"])
        case "missing":
            yield path, _missing(spot.field)
        case "extra_forbidden" if value is None and str(path[-1])[:1].isdigit():
            # `{duration: 2,5 s}`: YAML ends the value at the comma and takes `5 s` for a key.
            yield path, "a comma separates keys here; a decimal number is written with a point, as in 2.5 s"
        case "extra_forbidden":
            yield path, f"unknown key{closest(str(path[-1]), _keys(spot))}"
        case "union_tag_invalid" | "union_tag_not_found" if isinstance(value, dict):
            choices = models_by_tag(spot.annotation)
            if value.get("type") is None:
                yield (*path, "type"), f"missing{closest('', choices)}"
            else:
                engines = _engines_that_know(value["type"], spot)
                known = f"{show(value['type'])} is of engine {' and '.join(engines)}{closest('', choices)}"
                yield (*path, "type"), known if engines else unknown(value["type"], choices)
        case "literal_error":
            members = [member for member in get_args(bare(spot.annotation)) if member is not type(None)]
            optional = len(members) == 1 and get_args(members[0])
            yield path, unknown(value, get_args(members[0]) if optional else members)
        case "string_pattern_mismatch":
            words = _PATTERNS.get(context["pattern"], f"text that matches {context['pattern']}")
            yield path, f"{show(path[-1] if spot.is_key else value)} is not {words}"
        case _:
            yield path, _limit_or_type(kind, value, context, spot)


def _engines_that_know(kind: Any, spot: _Spot) -> list[str]:
    """Engines other than the present one whose files have this `type` at the same place."""
    if not isinstance(kind, str):
        return []
    which = "scenario" if issubclass(spot.model, ScenarioBase) else "robot"
    places = {name: _Spot(getattr(family, which), spot.location) for name, family in FAMILIES.items()}
    return [name for name, place in places.items() if kind in models_by_tag(place.annotation).keys() - {""}]


def _missing(field: FieldInfo | None) -> str:
    description = " ".join((field.description or "").split()) if field else ""
    first = description.split(". ")[0].rstrip(".")
    begin = first[:1].lower() if first[1:2].islower() else first[:1]  # but K_t stays K_t
    return f"missing ({begin + first[1:]})" if first else "missing"


def _keys(spot: _Spot) -> list[str]:
    keys = list(spot.owner.model_fields) if spot.owner else []
    is_document = len(spot.path) == 1 or (len(spot.path) == 3 and spot.path[0] == "robots")
    return [*keys, "extends"] if is_document else keys


def unknown(value: Any, choices: Iterable[Any]) -> str:
    """A value that is none of the choices, with the nearest one."""
    if isinstance(value, dict | list):
        return f"needs one of {', '.join(str(choice) for choice in choices)}, not {show(value)}"
    return f"unknown {show(value)}{closest(str(value), [str(choice) for choice in choices])}"


_LIMITS = {
    "greater_than": ("greater than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}
_TYPES = {
    "dict_type": "a mapping (key: value)",
    "model_type": "a mapping (key: value)",
    "model_attributes_type": "a mapping (key: value)",
    "union_tag_invalid": "a mapping (key: value)",
    "union_tag_not_found": "a mapping (key: value)",
    "list_type": "a list",
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
}


def _limit_or_type(kind: str, value: Any, context: dict[str, Any], spot: _Spot) -> str:
    if kind in _LIMITS:
        words, key = _LIMITS[kind]
        bound = _with_unit(context[key], spot.annotation)
        return f"must be {words} {bound}, not {show(value)}{_doubt(value, spot.annotation)}"
    if kind in _TYPES:
        hint = f'; write "{show(value)}"' if kind == "string_type" and isinstance(value, bool | int | float) else ""
        return f"needs {_TYPES[kind]}, not {show(value)}{hint}"
    if kind in ("too_short", "too_long"):
        limit = context.get("min_length", context.get("max_length"))
        words = "at least" if kind == "too_short" else "at most"
        return f"needs {words} {limit} {'entry' if limit == 1 else 'entries'}, not {len(value)}"
    return "is not valid here"


def _doubt(value: Any, annotation: Any) -> str:
    """An angle of more than a turn without a unit may have been meant in degrees."""
    bare = isinstance(value, int | float) and not isinstance(value, bool)
    if _units(annotation)[:1] != ["rad"] or not bare or not 2.0 * math.pi < abs(value) < math.inf:
        return ""
    return f"; {doubt(value)}"


def _units(annotation: Any) -> list[str | None]:
    return [entry.unit for entry in metadata(annotation) if isinstance(entry, Quantity)]


def _with_unit(limit: float, annotation: Any) -> str:
    units = _units(annotation)
    text = f"{limit:.6g}" if isinstance(limit, float) else str(limit)
    if not units or not units[0] or limit == 0:
        return text
    return f"{text} rad ({math.degrees(limit):.6g} deg)" if units[0] == "rad" else f"{text} {units[0]}"
