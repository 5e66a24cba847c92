"""The notebook runs from top to bottom, and what is committed is what it printed then."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

import botz

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(cell: Any) -> str:
    return "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")


def pictures(cell: Any) -> list[str]:
    return [output.data["image/png"] for output in cell.outputs if "image/png" in output.get("data", {})]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The kernel is another process: it finds this Botz, and does not ask for a display.
    sources = str(Path(botz.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([sources, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep))
    monkeypatch.delenv("MPLBACKEND", raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(path, as_version=4)
    kept = [(printed(cell), len(pictures(cell))) for cell in code_cells(notebook)]
    folder = tmp_path / "notebook"
    folder.mkdir()
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()  # a cell that fails raises
    for cell, (text, count) in zip(code_cells(notebook), kept, strict=True):
        assert shape_of(printed(cell)) == shape_of(text), "out of date; run python tools/make_pictures.py"
        assert len(pictures(cell)) == count


def shape_of(text: str) -> str:
    """The text with its numbers left out: another processor may round the last digits differently."""
    return re.sub(r"\s+", " ", re.sub(r"-?\d+\.?\d*(?:e[+-]?\d+)?", "#", text))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook_is_kept_executed_and_clean(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1)), "executed once, from the top"
    assert sum(len(pictures(cell)) for cell in cells) >= 1
    text = path.read_text(encoding="utf-8")
    assert len(text) < 300_000, "its pictures are large"
    assert str(Path.home()) not in text or str(Path.home()) == "/"
    assert not re.search(r"/(home|root|tmp|work|Users)/", text), "it holds a path of somebody's machine"
    errors = [output for cell in cells for output in cell.outputs if output.output_type == "error"]
    assert not errors


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS
