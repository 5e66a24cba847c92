"""What the tests of all families of `botz verify` have in common: every check passes, and fails when the package is
broken where it looks."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType
from typing import Any, ClassVar

import pytest
from mutations import Mutation, noticed_by_process

from botz.verify import checks, suites


@cache
def made(family: str, function: str) -> list[checks.Check]:
    """The checks of one function; once a process, since some take seconds."""
    known = {one.__name__: one for one in verified(family).FUNCTIONS}
    return checks.make(known[function], checks.FAST)


@cache
def noticed(family: str) -> dict[str, list[str]]:
    return noticed_by_process(f"mutated_{family}")


def verified(family: str) -> ModuleType:
    return importlib.import_module(f"botz.verify.{family}.suite")


class FamilyTests:
    """A subclass in a file of its own names its family: families are then tested side by side."""

    family: ClassVar[str]

    @property
    def names(self) -> list[str]:
        return [function.__name__ for function in verified(self.family).FUNCTIONS]

    @property
    def mutations(self) -> tuple[Mutation, ...]:
        return tuple(importlib.import_module(f"mutated_{self.family}").MUTATIONS)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "function" in metafunc.fixturenames:
            metafunc.parametrize("function", self.names)
        if "mutation" in metafunc.fixturenames:
            metafunc.parametrize("mutation", self.mutations, ids=lambda mutation: mutation.name)

    def test_checks_pass(self, function: str):
        assert made(self.family, function)
        for check in made(self.family, function):
            if check.skipped:
                assert "not installed" in check.skipped
                continue
            assert check.passed, (
                f"{check.name}: {check.measured}, expected {check.expected} ± {check.tolerance}\n{check.why}"
            )
            assert check.why, check.name

    def test_names_are_unique(self):
        assert len(self.names) == len(set(self.names))
        names = [check.name for function in self.names for check in made(self.family, function)]
        assert len(names) == len(set(names))

    def test_the_family_is_all_of_its_functions(self, monkeypatch: pytest.MonkeyPatch):
        def one(samples: int) -> checks.Check:
            """One."""
            return checks.close("one", samples, samples, 0, "")

        module: Any = verified(self.family)
        monkeypatch.setattr(module, "FUNCTIONS", (one, one))
        assert [check.expected for check in getattr(module, f"{self.family}_checks")(7)] == [7, 7]
        assert [check.expected for check in suites.run(self.family)] == [checks.FAST] * 2
        assert [check.expected for check in suites.run(self.family, full=True)] == [checks.FULL] * 2

    def test_a_broken_line_is_noticed(self, mutation: Mutation):
        assert noticed(self.family)[mutation.name] == list(mutation.noticed_by)

    def test_the_unbroken_package_passes_uncompiled(self):
        assert noticed(self.family)["nothing"] == []
