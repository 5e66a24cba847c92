"""Quantities whose unit can be judged only when the robot is known: as a joint's, which turns or slides."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import ModelWrapValidatorHandler, PrivateAttr, model_validator

from botz.scenario.schema import Strict
from botz.scenario.units import Quantity, parse


class Written(Strict):
    """Remembers the strings among the values of some of its keys, which the check has turned into numbers."""

    by_name: ClassVar[tuple[str, ...]] = ()
    """Keys that hold a mapping of names to quantities of any unit."""
    _strings: dict[tuple[str, str], str] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _remember(cls, data: Any, check: ModelWrapValidatorHandler[Any]) -> Any:
        made = check(data)
        for key in cls.by_name:
            values = data.get(key) if isinstance(data, dict) else None
            for name, value in (values if isinstance(values, dict) else {}).items():
                if isinstance(value, str):
                    made._strings[key, name] = value
        return made

    def unit_misfit(self, key: str, name: str, unit: str) -> str:
        """What is wrong about the unit with which the value of `name` in `key` is written; empty where nothing is, or
        where the unit that is needed is none that is known."""
        text = self._strings.get((key, name))
        try:
            known = parse(f"1 {unit}")[1] is not None
        except ValueError:
            known = False
        if text is None or not known:
            return ""
        try:
            Quantity(unit).convert(text)
        except ValueError as error:
            return str(error)
        return ""
