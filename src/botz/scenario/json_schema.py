"""JSON Schema (2020-12) of scenario and robot files, so that editors complete and check them.

The models describe complete documents. A file that extends another holds only what it changes, so each
definition exists a second time as a partial one: nothing required, null allowed (it takes a key away). Which of
the two holds is decided by whether `extends` is there. What entries by name have in common may be written once beside
them (`wheel` for `wheels`): then the entries are partial, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from botz.scenario.families import FAMILIES

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PREFIX = "#/$defs/"
_PARTIAL = "Partial"
_COMMON = {"wheel": "wheels", "motor": "motors"}
"""Keys that hold what all entries of another key have in common."""
_COMMON_ROBOT = "What all robots have in common; each of `robots` is laid over it."
_EXTENDS = {
    "scenario": {
        "type": "string",
        "description": "Scenario that this one builds on: a library name, or a path relative to this file.",
    },
    "robot": {
        "type": "string",
        "description": "Robot file that this one builds on: a library name, or a path relative to this file.",
    },
}

Schema = dict[str, Any]


def scenario_schema() -> Schema:
    models = {engine: family.scenario for engine, family in FAMILIES.items()}
    return _document("scenario", models, "Botz scenario", engine_required=True)


def robot_schema() -> Schema:
    models = {engine: family.robot for engine, family in FAMILIES.items()}
    return _document("robot", models, "Botz robot", engine_required=False)


def _document(kind: str, models: Mapping[str, type[BaseModel]], title: str, *, engine_required: bool) -> Schema:
    """By `engine`: the complete definition of that family's document, or the partial one where it extends."""
    references, defined = models_json_schema([(model, "validation") for model in models.values()])
    definitions: Schema = defined["$defs"]
    _refuse_other_names(definitions)
    _describe_common_parts(definitions)
    partial = {name + _PARTIAL: _partial(schema) for name, schema in definitions.items()}
    _need_nothing_beside_common_parts(definitions)
    definitions |= partial
    names = {
        engine: references[(model, "validation")]["$ref"].removeprefix(_PREFIX) for engine, model in models.items()
    }
    for name in names.values():
        _allow_extends(definitions, name, kind)
        if kind == "scenario":
            _let_robots_extend(definitions, name)
    is_known = {"type": "string", "enum": list(models)}
    choices: list[Schema] = [
        {"if": {"properties": {"engine": {"const": engine}}, "required": ["engine"]}, "then": {"$ref": _PREFIX + name}}
        for engine, name in names.items()
    ]
    # What extends another file may leave the engine out, which is then that file's: it fits one family at least.
    any_family = {"anyOf": [{"$ref": _PREFIX + name} for name in names.values()]}
    choices.append({"if": {"not": {"required": ["engine"]}}, "then": any_family})
    document: Schema = {
        "$schema": _DIALECT,
        "title": title,
        "type": "object",
        "properties": {"engine": is_known, "extends": _EXTENDS[kind]},
        "allOf": choices,
        "$defs": definitions,
    }
    if engine_required:
        document["anyOf"] = [{"required": ["engine"]}, {"required": ["extends"]}]
    return document


def _refuse_other_names(schema: Any) -> None:
    """Mappings by name accept names that fit the pattern, and nothing else."""
    if isinstance(schema, dict) and "patternProperties" in schema:
        schema.setdefault("additionalProperties", False)
    for entry in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        _refuse_other_names(entry)


def _describe_common_parts(definitions: Schema) -> None:
    """What entries by name have in common is such an entry, and not just any mapping."""
    for properties, common, each in _with_common_parts(definitions):
        (entry,) = _references(properties[each])
        sides = definitions[entry.removeprefix(_PREFIX)].get("properties", {})
        of_sides = [_references(side) for side in sides.values()]
        if of_sides and all(one == of_sides[0] and len(one) == 1 for one in of_sides):
            (entry,) = of_sides[0]  # a fixed set of entries, as left and right
        properties[common] = {"description": properties[common]["description"], "$ref": entry}


def _need_nothing_beside_common_parts(definitions: Schema) -> None:
    for properties, common, each in _with_common_parts(definitions):
        for key in (common, each):
            properties[key] = _to_partial(properties[key])


def _with_common_parts(definitions: Schema) -> list[tuple[Schema, str, str]]:
    found = [schema.get("properties", {}) for schema in definitions.values()]
    return [
        (properties, common, each)
        for properties in found
        for common, each in _COMMON.items()
        if common in properties and each in properties
    ]


def _to_partial(schema: Any) -> Any:
    """A copy whose references lead to partial definitions."""
    if isinstance(schema, list):
        return [_to_partial(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: value + _PARTIAL if key == "$ref" else _to_partial(value) for key, value in schema.items()}


def _allow_extends(definitions: Schema, name: str, kind: str) -> None:
    """The definition `name` becomes: complete, or with `extends` and partial."""
    complete, partial = definitions[name], definitions[name + _PARTIAL]
    partial["properties"] = {"extends": _EXTENDS[kind], **partial["properties"]}
    definitions[name + "Complete"] = complete
    definitions[name] = {
        "if": {"type": "object", "required": ["extends"]},
        "then": {"$ref": _PREFIX + name + _PARTIAL},
        "else": {"$ref": _PREFIX + name + "Complete"},
    }


def _let_robots_extend(definitions: Schema, scenario: str) -> None:
    """Each of the robots may extend a robot file, and so may what they have in common; beside it they need nothing."""
    complete, partial = definitions[scenario + "Complete"], definitions[scenario + _PARTIAL]
    robots = complete["properties"].get("robots", {})
    for reference in _references(robots):
        name = reference.removeprefix(_PREFIX)
        if name + "Complete" not in definitions:
            _allow_extends(definitions, name, "robot")
        common = {"description": _COMMON_ROBOT, "$ref": _PREFIX + name + _PARTIAL}
        for properties in (complete["properties"], partial["properties"]):
            properties["robot"] = common
        complete["properties"]["robots"] = {"description": robots.get("description", "")}
        complete["if"] = {"required": ["robot"]}
        complete["then"] = {"properties": {"robots": _to_partial(robots)}}
        complete["else"] = {"properties": {"robots": robots}}


def _references(schema: Any) -> list[str]:
    if isinstance(schema, dict):
        own = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
        return own + [found for value in schema.values() for found in _references(value)]
    return [found for entry in schema for found in _references(entry)] if isinstance(schema, list) else []


def _partial(schema: Any) -> Any:
    """A copy in which nothing is required, references lead to partial definitions and null is allowed."""
    if isinstance(schema, list):
        return [_partial(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    copy: Schema = {}
    for key, value in schema.items():
        match key:
            case "required" | "discriminator" | "minProperties" | "default":
                continue
            case "oneOf":  # without its `type` an object may fit several of them
                copy["anyOf"] = _partial(value)
            case "$ref":
                copy[key] = value + _PARTIAL
            case "properties":
                copy[key] = {name: {"anyOf": [_partial(entry), {"type": "null"}]} for name, entry in value.items()}
            case "additionalProperties" | "patternProperties" if isinstance(value, dict):
                copy[key] = _partial_entries(key, value)
            case _:
                copy[key] = _partial(value)
    return copy


def _partial_entries(key: str, value: Schema) -> Schema:
    """Entries of mappings by name (wheels, controllers) may be taken away with null as well."""
    if key == "additionalProperties":
        return {"anyOf": [_partial(value), {"type": "null"}]}
    return {pattern: {"anyOf": [_partial(entry), {"type": "null"}]} for pattern, entry in value.items()}
