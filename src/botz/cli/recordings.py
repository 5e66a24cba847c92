"""botz info, export, plot, compare: what can be done with recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from botz.cli.common import AsJson, console, print_json, print_pairs
from botz.errors import InputError, Problem, printable

WIDE = 90
"""Columns of a terminal from which descriptions stand beside the channels."""
RecordingPath = Annotated[Path, typer.Argument(help="A recording, or the folder of a run.")]


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Recordings")(info)
    app.command(rich_help_panel="Recordings")(export)
    app.command(rich_help_panel="Recordings")(plot)
    app.command(rich_help_panel="Recordings")(compare)


def info(recording: RecordingPath, as_json: AsJson = False) -> None:
    """Say what a recording holds, how it was made and whether it is complete."""
    from botz.record.reader import read

    rec = read(recording)
    channels: list[dict[str, Any]] = [
        {"name": c.name, "unit": c.unit, "rate_hz": rec.rates[c.name], "samples": len(rec.steps(c.name)),
         "components": list(c.components), "description": c.description}
        for c in rec.channels
    ]  # fmt: skip
    general = {
        "file": str(rec.path),
        "scenario": rec.header.scenario_name,
        "engine": rec.header.engine,
        "seed": rec.seed,
        "step_s": rec.step_ns / 1e9,
        "duration_s": rec.duration,
        "complete": rec.complete,
        "problem": rec.problem,
        **rec.header.info,
        **{f"run_{key}": value for key, value in rec.summary.items()},
    }
    if as_json:
        log = [{"step": step, "level": level, "text": text} for step, level, text in rec.logs()]
        print_json({**general, "channels": channels, "log": log})
        return
    from rich.table import Table

    out = console()
    shown = {
        key.removeprefix("run_").replace("_", " "): str(value) for key, value in general.items() if key != "problem"
    }
    print_pairs(shown)
    if not rec.complete:
        out.print("INCOMPLETE", style="bold", end="")
        out.print(f": {rec.problem}", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    described = out.width >= WIDE
    table.add_column("channel", min_width=max((len(c["name"]) for c in channels), default=0), no_wrap=True)
    table.add_column("unit", no_wrap=described)
    table.add_column("rate [Hz]", justify="right")
    table.add_column("samples", justify="right", no_wrap=True)
    if described:
        table.add_column("description")
    for c in channels:
        cells = [c["name"], c["unit"], f"{c['rate_hz']:g}", str(c["samples"]), c["description"]]
        table.add_row(*cells[: len(table.columns)])
    out.print()
    out.print(table)
    for step, level, text in rec.logs():
        out.print(f"{level} at {step * rec.step_ns * 1e-9:g} s: {text}", soft_wrap=True)


def export(
    recording: RecordingPath,
    csv: Annotated[bool, typer.Option("--csv", help="Comma-separated text.")] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="Apache Parquet.")] = False,
    mat: Annotated[bool, typer.Option("--mat", help="MATLAB.")] = False,
    html: Annotated[bool, typer.Option("--html", help="A page that replays it in 3D, in one file.")] = False,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="File to write; beside the recording by default.")
    ] = None,
) -> None:
    """Write a recording's channels as CSV, Parquet or MATLAB file, or the recording as a page that replays it."""
    from botz.record.export import export as write
    from botz.record.reader import read

    wishes = (("csv", csv), ("parquet", parquet), ("mat", mat), ("html", html))
    chosen = [name for name, wanted in wishes if wanted]
    if not chosen:
        raise InputError(Problem("choose one or more of --csv, --parquet, --mat, --html"))
    if out is not None and len(chosen) > 1:
        raise InputError(Problem("--out names one file; export one format at a time"))
    rec = read(recording)
    warn_if_incomplete(rec)
    for name in chosen:
        target = out or rec.path.with_suffix(f".{name}")
        if name == "html":
            from botz.view.html_replay import write_html

            print(printable(write_html(rec, target)))
            continue
        for path in write(rec, target, name):
            print(printable(path))


def plot(
    recording: RecordingPath,
    channels: Annotated[list[str] | None, typer.Argument(help="Channels or patterns; an overview by default.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="PNG, SVG or PDF file.")] = None,
    xy: Annotated[bool | None, typer.Option("--xy/--time", help="Force x-y trajectories or time series.")] = None,
) -> None:
    """Plot channels over time, and trajectories over x and y."""
    from botz.record.reader import read
    from botz.view.plots import plot_recording

    rec = read(recording)
    warn_if_incomplete(rec)
    target = out or rec.path.with_suffix(".png")
    print(printable(plot_recording(rec, channels or (), path=target, trajectory=xy)))


def compare(
    recordings: Annotated[
        list[Path], typer.Argument(help="Recordings, or text files with columns X Y Z; first: reference.")
    ],
    channel: Annotated[str | None, typer.Option(help="Channel to compare; the first pose by default.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="PNG, SVG or PDF of the comparison.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare runs: trajectories over each other, error over time, RMS and maximum."""
    from botz.record.compare import compare as measure
    from botz.record.compare import open_track
    from botz.view.compare_plot import plot_comparison

    if len(recordings) < 2:
        raise InputError(Problem("name at least two recordings or trajectory files to compare"))
    tracks = [open_track(path) for path in recordings]
    for track in tracks:
        warn_if_incomplete(track)
    comparison = measure(tracks[0], tracks[1:], channel)
    picture = plot_comparison(comparison, out) if out is not None else None
    rows: list[dict[str, Any]] = [
        {"reference": comparison.reference, "other": difference.name, "quantity": series.label, "unit": series.unit,
         "rms": series.rms, "max": series.max, "samples": len(series.values)}
        for difference in comparison.differences
        for series in difference.errors
    ]  # fmt: skip
    if as_json:
        print_json({"comparisons": rows, "plot": str(picture) if picture else None})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("compared with reference", "quantity", "unit", "RMS", "maximum", "samples"):
        table.add_column(title, justify="left" if title in ("compared with reference", "quantity", "unit") else "right")
    for row in rows:
        table.add_row(
            str(row["other"]),
            row["quantity"],
            row["unit"],
            f"{row['rms']:.6g}",
            f"{row['max']:.6g}",
            str(row["samples"]),
        )
    console().print(table)
    if picture:
        print(printable(picture))


def warn_if_incomplete(rec: Any) -> None:
    if not getattr(rec, "complete", True):
        console(stderr=True).print(f"botz: incomplete recording: {rec.problem}", soft_wrap=True)
