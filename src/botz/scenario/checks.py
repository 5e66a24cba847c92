"""Checks across a scenario: names that refer to each other, and rates that must fit the step.

They work on the raw document by its types rather than on the checked model, so that these mistakes are reported
together with all others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from botz.errors import Problem
from botz.scenario.names import closest
from botz.scenario.problems import bare, child, field_type, metadata, models_by_tag
from botz.scenario.schema import DividesStep, ScenarioBase, TimeSettings, type_tag
from botz.scenario.tree import KeyPath, Node
from botz.scenario.units import Quantity

SEARCHED = 100_000
"""Multiples of the step that are tried for a rate to offer."""
RESERVED = {"world", "botz", "tf", "rosout"}
"""Names of frames and topics that every recording has."""


def cross_checks(model: type[ScenarioBase], data: dict[str, Any], tree: Node) -> list[Problem]:
    return [*_robots_exist(data, tree), *_names_are_free(data, tree), *_rates_fit(model, data, tree)]


def _robots_exist(data: dict[str, Any], tree: Node) -> Iterator[Problem]:
    robots, controllers = data.get("robots"), data.get("controllers")
    if not isinstance(robots, dict) or not isinstance(controllers, dict):
        return
    for name, controller in controllers.items():
        robot = controller.get("robot") if isinstance(controller, dict) else None
        if isinstance(robot, str) and robot not in robots:
            path = ("controllers", name, "robot")
            yield tree.nearest(path).place.problem(f"no robot {robot!r}{closest(robot, robots)}", path)


def _names_are_free(data: dict[str, Any], tree: Node) -> Iterator[Problem]:
    """Frames and topics of the recording have names of their own, and a robot follows one controller."""
    robots = data.get("robots")
    for name in robots if isinstance(robots, dict) else ():
        if name in RESERVED:
            message = f"the recording itself uses the name {name!r}; choose another"
            yield tree.nearest(("robots", name)).place.problem(message, ("robots", name))
    drivers: dict[str, str] = {}
    controllers = data.get("controllers")
    for name, controller in controllers.items() if isinstance(controllers, dict) else ():
        robot = controller.get("robot") if isinstance(controller, dict) else None
        if not isinstance(robot, str):
            continue
        if robot in drivers:
            path = ("controllers", name, "robot")
            message = f"robot {robot!r} already follows controller {drivers[robot]!r}; a robot follows one"
            yield tree.nearest(path).place.problem(message, path)
        drivers.setdefault(robot, name)


def _that_fit(period: float, step_ns: int, is_rate: bool) -> list[str]:
    """The nearest rate or period to each side that fits the step: in six digits where one within a factor of two can
    be written so, or else in as many as it takes."""

    def text_of(steps: int, digits: int) -> str | None:
        value = 1e9 / (steps * step_ns) if is_rate else steps * step_ns / 1e9
        text = f"{value:.{digits}g}"
        back = 1e9 / float(text) if is_rate else float(text) * 1e9
        return text if abs(back - steps * step_ns) <= max(0.01, 1e-12 * back) else None

    middle = math.floor(period / step_ns)
    farthest = min(SEARCHED, middle // 2 + 1)
    shorter = range(middle, max(0, middle - farthest), -1)
    longer = range(middle + 1, middle + 1 + 2 * farthest)
    # A longer period is a lower rate: the smaller number comes first.
    sides = (longer, shorter) if is_rate else (shorter, longer)
    texts = (next(filter(None, (text_of(steps, digits) for digits in (6, 15) for steps in side)), "") for side in sides)
    return [text for text in texts if text]


def _rates_fit(model: type[ScenarioBase], data: dict[str, Any], tree: Node) -> Iterator[Problem]:
    step_ns = _step_ns(model, data)
    for path, unit, value, _ in _step_fields(model, data, ()) if step_ns else ():
        if complaint := misfit(value, unit, step_ns):
            yield tree.nearest(path).place.problem(complaint, path)


def fit_default_rates(model: type[ScenarioBase], data: dict[str, Any]) -> None:
    """Write the default rates and periods that are no whole number of steps into the document, as the nearest that
    are: only what a user wrote may be refused."""
    step_ns = _step_ns(model, data)
    for path, unit, value, is_default in list(_step_fields(model, data, ())) if step_ns else ():
        if not is_default or misfit(value, unit, step_ns) is None:
            continue
        is_rate = unit == "Hz"
        steps = max(1, round((1e9 / value if is_rate else value * 1e9) / step_ns))
        holder: Any = data
        for key in path[:-1]:
            holder = holder.setdefault(key, {}) if isinstance(holder, dict) else holder[key]
        holder[path[-1]] = 1e9 / (steps * step_ns) if is_rate else steps * step_ns / 1e9


def rate_fields(model: type[ScenarioBase], data: dict[str, Any]) -> list[KeyPath]:
    """Where a document's rates and periods stand, which must fit the step."""
    return [path for path, _, _, is_default in _step_fields(model, data, ()) if not is_default]


def _step_ns(model: type[ScenarioBase], data: dict[str, Any]) -> int:
    """The step; 0 where it is wrong, which the check of the model reports."""
    try:
        time: TimeSettings = TypeAdapter(field_type(model.model_fields["time"])).validate_python(data.get("time", {}))
    except ValidationError:
        return 0
    return time.step_ns


def _step_fields(annotation: Any, data: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str, float, bool]]:
    """All fields marked with DividesStep: path, unit (Hz or s), value, and whether it is the default."""
    models = models_by_tag(annotation)
    if models and isinstance(data, dict):
        model = models.get("") or models.get(str(type_tag(data.get("type"))))
        for name, field in model.model_fields.items() if model else ():
            kind_of_field = field_type(field)
            marks = metadata(kind_of_field)
            if any(isinstance(mark, DividesStep) for mark in marks):
                quantity = next(mark for mark in marks if isinstance(mark, Quantity))
                try:
                    value = quantity.convert(data.get(name, field.default))
                except ValueError:
                    continue
                yield (*path, name), str(quantity.unit), value, name not in data
            elif name in data:
                yield from _step_fields(kind_of_field, data[name], (*path, name))
            elif isinstance(field.default, BaseModel):
                yield from _step_fields(kind_of_field, {}, (*path, name))
    elif isinstance(data, dict) and bare(annotation) is not Any:
        for key, entry in data.items():
            yield from _step_fields(child(annotation, key), entry, (*path, key))


def misfit(value: float, unit: str, step_ns: int) -> str | None:
    """What is wrong with a rate [Hz] or a period [s] (0: never) for this step; None if it is whole steps."""
    if value <= 0:
        return None  # 0 as a period means never; the rest is reported by the check of the model
    is_rate = unit == "Hz"
    period = 1e9 / value if is_rate else value * 1e9
    if not math.isfinite(period):
        return f"{value:g} {unit} cannot be counted in steps"
    steps = round(period / step_ns)
    if steps >= 1 and abs(period - steps * step_ns) <= max(0.01, 1e-12 * period):
        return None
    shown = f"{value:.10g} {unit}"
    if period < step_ns:
        limit = f"at most {1e9 / step_ns:.10g} Hz" if is_rate else f"at least {step_ns / 1e9:.10g} s"
        return f"{shown} is more often than the step of {step_ns} ns; {limit}"
    nearest = " or ".join(f"{text} {unit}" for text in _that_fit(period, step_ns, is_rate))
    of = f"has a period of {period:.10g} ns, which is" if is_rate else "is"
    return f"{shown} {of} not a multiple of the step of {step_ns} ns; nearest: {nearest}"
