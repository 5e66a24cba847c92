"""What the documentation says of adding each kind, which the tests beside this one follow, is complete and short."""

from __future__ import annotations

import re
import tomllib

import pytest
from packages import EXTRAS, HERE, documented, how_to_add

GROUPS = ("families", "elements", "sensors", "controllers", "endpoints", "layers", "capabilities")


@pytest.mark.parametrize("kind", how_to_add())
def test_it_is_said_in_ten_lines(kind: str):
    text = how_to_add()[kind]
    prose = [line for line in text.splitlines() if line.strip() and not line.startswith("```")]
    assert 2 <= len(prose) <= 10


def test_every_group_of_entry_points_that_is_read_is_described():
    source = HERE.parents[1] / "src" / "botz"
    text = "".join(file.read_text(encoding="utf-8") for file in source.rglob("*.py"))
    read = set(re.findall(r'(?:discovered\(|by_type\(|ENTRY_POINTS = )\s*"botz\.(\w+)"', text))
    assert read == set(GROUPS)
    assert all(len(documented(f"botz.{group}")[f"botz.{group}"]) == 1 for group in GROUPS)


def test_the_example_package_has_the_entry_points_that_are_described():
    project = tomllib.loads((EXTRAS / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    described = {}
    for group in GROUPS:
        described |= documented(f"botz.{group}")
    del described["botz.families"]
    assert project["entry-points"] == described
