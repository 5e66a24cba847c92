"""`botz verify soccer`: every check passes, and fails when the package is broken where it looks."""

from __future__ import annotations

import mutated_soccer as mutated
import numpy as np
import pytest
from mutations import noticed_by_process

from botz.verify import checks
from botz.verify.soccer import FUNCTIONS, soccer_checks
from botz.verify.soccer_overlaps import Walls, ball_overlap, square_overlap, vertices


@pytest.fixture(scope="module")
def found() -> dict[str, list[checks.Check]]:
    return {function.__name__: checks.make(function, checks.FAST) for function in FUNCTIONS}


@pytest.mark.parametrize("name", [function.__name__ for function in FUNCTIONS])
def test_checks_pass(found, name):
    assert found[name]
    for check in found[name]:
        assert check.passed, (
            f"{check.name}: {check.measured}, expected {check.expected} ± {check.tolerance}\n{check.why}"
        )
        assert check.why, check.name


def test_names_are_unique(found):
    names = [check.name for made in found.values() for check in made]
    assert len(names) == len(set(names))
    assert len(found) == len(FUNCTIONS)


def test_the_family_is_all_of_its_functions(monkeypatch):
    def one(samples: int) -> checks.Check:
        """One."""
        return checks.close("one", samples, samples, 0, "")

    monkeypatch.setattr("botz.verify.soccer.FUNCTIONS", (one, one))
    assert [check.expected for check in soccer_checks(7)] == [7, 7]
    assert [check.expected for check in checks.run("soccer")] == [checks.FAST] * 2
    assert [check.expected for check in checks.run("soccer", full=True)] == [checks.FULL] * 2


# --- the judge of overlaps, by cases that are plain to see ------------------------------------------------------------

WALLS = Walls(end=0.75, side=0.65, post=0.2, back=0.85, corner=1.33)


def square(x: float, y: float, heading: float = 0.0) -> np.ndarray:
    return vertices(np.array([[x, y, heading]]), 0.1)


@pytest.mark.parametrize(
    ("other", "overlap"),
    [
        (square(0.09, 0.0), 0.01),
        (square(0.11, 0.0), -0.01),
        (square(0.09, 0.095), 0.005),
        (square(0.05 + 0.05 * np.sqrt(2.0) - 0.01, 0.0, np.pi / 4), 0.01),
        (square(0.0, 0.0), 0.1),
    ],
)
def test_overlap_of_squares(other, overlap):
    assert square_overlap(square(0.0, 0.0), other)[0] == pytest.approx(overlap, abs=1e-12)
    assert square_overlap(other, square(0.0, 0.0))[0] == pytest.approx(overlap, abs=1e-12)


@pytest.mark.parametrize(
    ("place", "overlap"),
    [((0.065, 0.0), 0.005), ((0.08, 0.0), -0.01), ((0.06, 0.06), 0.02 - 0.01 * np.sqrt(2.0)), ((0.0, 0.0), 0.07)],
)
def test_overlap_of_ball_and_square(place, overlap):
    found = ball_overlap(square(0.0, 0.0), np.array([place]), 0.02)
    assert found[0] == pytest.approx(overlap, abs=1e-12)


@pytest.mark.parametrize(
    ("pose", "overlap"),
    [
        ((0.0, 0.61), 0.01),
        ((0.0, 0.5), -0.1),
        ((0.71, 0.4), 0.01),
        ((-0.71, -0.4), 0.01),
        ((0.79, 0.0), -0.01),
        ((0.81, 0.0), 0.01),
        ((0.79, 0.16), 0.01),
        ((0.66, 0.58), (0.76 + 0.58 - 1.33 + 0.0) / np.sqrt(2.0)),
    ],
)
def test_overlap_of_square_and_walls(pose, overlap):
    assert WALLS.square_overlap(square(*pose))[0] == pytest.approx(overlap, abs=1e-12)


@pytest.mark.parametrize(
    ("place", "overlap"),
    [((0.0, 0.64), 0.01), ((0.74, 0.3), 0.01), ((0.74, 0.19), 0.02 - 0.01 * np.sqrt(2.0)), ((0.84, 0.0), 0.01),
     ((0.8, 0.19), 0.01), ((0.0, 0.0), -0.63), ((0.8, 0.3), 0.07)],
)  # fmt: skip
def test_overlap_of_ball_and_walls(place, overlap):
    assert WALLS.ball_overlap(np.array([place]), 0.02)[0] == pytest.approx(overlap, abs=1e-12)


# --- broken lines ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def noticed() -> dict[str, list[str]]:
    return noticed_by_process(mutated.__file__)


@pytest.mark.parametrize("mutation", mutated.MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_broken_line_is_noticed(noticed, mutation):
    assert noticed[mutation.name] == list(mutation.noticed_by)


def test_the_unbroken_package_passes_uncompiled(noticed):
    assert noticed["nothing"] == []
