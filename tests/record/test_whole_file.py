"""Files appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from botz.record.whole_file import whole_file


def test_a_file_appears_when_it_is_whole(tmp_path: Path):
    with whole_file(tmp_path / "a.csv") as unfinished:
        unfinished.write_text("1")
        assert not (tmp_path / "a.csv").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize("ending", [KeyboardInterrupt, OSError])
def test_an_older_file_stays_when_writing_ends_early(tmp_path: Path, ending: type[BaseException]):
    (tmp_path / "a.csv").write_text("old")
    with pytest.raises(ending), whole_file(tmp_path / "a.csv") as unfinished:
        unfinished.write_text("new, by halves")
        raise ending
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "old"


def test_the_name_of_the_unfinished_file_cannot_be_guessed(tmp_path):
    """In a folder that others write to, a link of that name would send the output elsewhere."""
    names = set()
    for _ in range(2):
        with whole_file(tmp_path / "a.csv") as unfinished:
            names.add(unfinished.name)
            unfinished.write_text("1")
        assert unfinished.suffix == ".csv"
    assert len(names) == 2
