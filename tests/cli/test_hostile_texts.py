"""Texts of files and of the network on a terminal: as they are, never as markup, control characters as escapes."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import numpy as np
import pytest
import yaml

from botz.channels import Channel, ChannelTable
from botz.cli.main import main
from botz.errors import BotzError, Problem, printable
from botz.record.streams import RecordingHeader, StreamSpec
from botz.record.writer import RecordingWriter

MARKUP = "[/bold] [red] [link=x] :smile: $\\frac{$ $x$"
CONTROL = "\x1b[2J\x07\x9b31m\r\x7f\u202egpj"
HOSTILE = f"{MARKUP}{CONTROL}"
DANGEROUS = set("\x1b\x07\x9b\r\x7f\u202e\x08")


def botz(*words: str) -> int:
    try:
        main(list(words))
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


def shown(capsys) -> str:
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert not DANGEROUS & set(text), ascii(text)
    return text


def recording(path: Path, *, whole: bool = True) -> Path:
    channels = ChannelTable(
        [
            Channel(f"{HOSTILE}/pose", "m, m, rad", HOSTILE, ("x", "y", "heading")),
            Channel(f"vivi/{HOSTILE}", HOSTILE, HOSTILE),
        ]
    )
    header = RecordingHeader({}, HOSTILE, HOSTILE, 1, 1_000_000, {HOSTILE: HOSTILE})
    streams = [StreamSpec("state", 1, tuple(channel.name for channel in channels))]
    writer = RecordingWriter(path, header, channels, ChannelTable([]), streams)
    writer.write_rows(0, np.arange(30), np.random.default_rng(1).normal(size=(30, channels.width)))
    writer.write_log(3, "warning", HOSTILE)
    writer.flush()
    if whole:
        writer.close({"status": HOSTILE, HOSTILE: f"one\n{HOSTILE}"})
    return path


@pytest.mark.parametrize("whole", [True, False])
def test_info(tmp_path, capsys, whole):
    path = recording(tmp_path / "r.mcap", whole=whole)
    assert botz("info", str(path)) == 0
    text = shown(capsys)
    assert text.count("[/bold] [red] [link=x] :smile: $\\frac{$ $x$\\x1b[2J\\x07\\x9b31m\\r\\x7f\\u202egpj") >= 4
    assert ("INCOMPLETE: " in text) is not whole
    assert botz("info", str(path), "--json") == 0
    found = json.loads(shown(capsys))
    assert found["scenario"] == HOSTILE
    assert found["log"][0]["text"] == HOSTILE


@pytest.mark.filterwarnings("error:Glyph")
def test_plots_exports_and_comparisons(tmp_path, capsys):
    path = recording(tmp_path / "r.mcap", whole=False)
    assert botz("plot", str(path), "--out", str(tmp_path / "r.svg")) == 0
    assert botz("plot", str(path), "*", "--time", "--out", str(tmp_path / "r.png")) == 0
    assert botz("export", str(path), "--csv") == 0
    channel = ("--channel", f"{HOSTILE}/pose")
    assert botz("compare", str(path), str(path), *channel, "--out", str(tmp_path / "c.png")) == 0
    assert botz("replay", str(path)) == 2
    assert "incomplete recording" in shown(capsys)


def test_names_in_scenarios(tmp_path, capsys):
    data = {
        "engine": "kinematics",
        "description": HOSTILE,
        HOSTILE: 1,
        "robots": {"vivi": {"extends": HOSTILE}, HOSTILE: {}},
    }
    path = tmp_path / "s.yaml"
    path.write_text(yaml.safe_dump(data))
    assert botz("check", str(path)) == 2
    assert botz("run", str(path)) == 2
    assert "[/bold]" in shown(capsys)
    good = {"engine": "kinematics", "description": HOSTILE, "robots": {"vivi": {"extends": "differential-castor-rear"}}}
    path.write_text(yaml.safe_dump(good))
    assert botz("check", str(path)) == 0
    shown(capsys)
    assert botz("show", str(path)) == 0
    assert yaml.safe_load(shown(capsys))["description"] == HOSTILE


def test_names_in_models(tmp_path, capsys):
    # XML itself forbids most control characters, but not these.
    name = f"{MARKUP.replace('$', '')}\x9b31m\x7f\u202e"
    path = tmp_path / "m.urdf"
    path.write_text(
        f'<robot name="{name}"><link name="{name}"/><link name="b"/><joint name="{name}" type="revolute">'
        f'<parent link="{name}"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>',
        encoding="utf-8",
    )
    botz("model", "check", str(path))
    assert "[/bold]" in shown(capsys)


def test_errors_and_the_log_of_a_run(tmp_path, capsys, caplog):
    from botz.endpoints.soccer.team import Complaints
    from botz.run.outputs import Recorder

    assert str(Problem(HOSTILE, key="a\x1b", file=Path("f\x1b"), line=3)).startswith(r"f\x1b:3: a\x1b: [/bold]")
    assert printable("größer → 3\u00a0m\n\tok") == "größer → 3\u00a0m\n\tok"
    header = RecordingHeader({}, "x", "none", 1, 1_000_000)
    channels = ChannelTable([Channel("a/x", "m", "")])
    recorder = Recorder(tmp_path / "r.mcap", header, channels, ChannelTable([]), [StreamSpec("state", 1, ("a/x",))])
    with caplog.at_level(logging.WARNING):
        recorder.write_log(0, "warning", HOSTILE)
        recorder.write_log(0, "info", HOSTILE)
        ignored = Complaints("team", ("malformed",))
        ignored.add("malformed", "%s", HOSTILE)
    assert len(caplog.messages) >= 3
    assert not any(DANGEROUS & set(message) for message in caplog.messages)


def test_an_error_of_a_run(monkeypatch, capsys):
    def fail(*words, **options):
        raise BotzError(HOSTILE)

    monkeypatch.setattr("botz.record.reader.read", fail)
    assert botz("info", "x.mcap") == 1
    assert "[/bold]" in shown(capsys)


def test_texts_of_a_robot_file_that_is_shown(tmp_path, capsys):
    path = tmp_path / "r.yaml"
    data = {"engine": "kinematics", "extends": "differential", "description": HOSTILE, "source": HOSTILE}
    path.write_text(yaml.safe_dump(data))
    assert botz("wheels", str(path), "--out", str(tmp_path / "r.png")) == 0
    text = shown(capsys)
    assert text.replace("\n", " ").count("[/bold] [red] [link=x] :smile: $\\frac{$ $x$\\x1b[2J") == 2
    assert botz("wheels", str(path), "--json", "--out", str(tmp_path / "r.svg")) == 0
    assert json.loads(shown(capsys))["description"] == HOSTILE


def test_a_text_of_the_terminals_library_is_shown_as_it_is(capsys):
    """It is never rendered from a string, so it has to be looked at when it is written."""
    from rich.table import Table
    from rich.text import Text

    from botz.cli.common import console

    table = Table(title=Text(HOSTILE))
    table.add_column(Text(HOSTILE))
    table.add_row(Text(HOSTILE))
    console().print(Text(HOSTILE), table, HOSTILE, soft_wrap=True)
    shown(capsys)
