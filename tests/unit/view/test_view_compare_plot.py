"""The picture of a comparison."""

from __future__ import annotations

import numpy as np
import pytest
from recorded_runs import circle

from botz.errors import InputError
from botz.record.compare import compare, open_track
from botz.view import compare_plot
from botz.view.compare_plot import plot_comparison
from botz.view.style import save as write_picture


@pytest.fixture
def drawn(monkeypatch):
    figures = []

    def keep(figure, path):
        figures.append(figure)
        return write_picture(figure, path)

    monkeypatch.setattr(compare_plot, "save", keep)
    return figures


def legend(axes) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.fixture
def runs(record):
    shifted = circle(100)
    shifted[:, 0] += 0.25
    return record(circle(100), name="first"), record(shifted, name="second"), record(circle(100), name="third")


def test_paths_over_each_other_and_errors_below(runs, tmp_path, drawn):
    comparison = compare(runs[0], runs[1:], "vivi/pose")
    path = plot_comparison(comparison, tmp_path / "a.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    paths, distance, heading = drawn[0].axes
    assert legend(paths)[:3] == ["first.mcap", "second.mcap", "third.mcap"]
    assert legend(distance) == ["second.mcap\nRMS 0.25, max 0.25 m", "third.mcap\nRMS 0, max 0 m"]
    assert distance.get_ylabel() == "distance error [m]"
    assert heading.get_ylabel() == "heading error [rad]"


def test_numbers_without_a_place_have_no_paths(runs, tmp_path, drawn):
    plot_comparison(compare(runs[0], runs[1:2], "vivi/left/speed"), tmp_path / "a.svg")
    (axes,) = drawn[0].axes
    assert axes.get_ylabel() == "left/speed error [rad/s]"


def test_a_plain_path_as_reference(runs, tmp_path, drawn):
    angle = np.linspace(0.0, 2 * np.pi, 400)
    np.savetxt(tmp_path / "path.txt", np.column_stack([np.sin(angle), 1.0 - np.cos(angle)]))
    track = open_track(tmp_path / "path.txt")
    plot_comparison(compare(track, [runs[0]], "vivi/pose"), tmp_path / "a.pdf")
    plot_comparison(compare(track, [track]), tmp_path / "b.png")
    assert drawn[0].axes[1].get_xlabel() == "time [s]"
    assert drawn[1].axes[1].get_xlabel() == "sample"
    assert "nearest place" in drawn[0].axes[0].get_title(loc="left")


def test_an_unknown_format_is_an_input_error(runs, tmp_path):
    with pytest.raises(InputError, match="choose from"):
        plot_comparison(compare(runs[0], runs[1:2], "vivi/pose"), tmp_path / "a.bmp")
