"""Recordings as tables for other programs: CSV, Parquet, MATLAB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from botz.errors import InputError, Problem, RecordingError
from botz.record.reader import Recording
from botz.record.streams import component_units, field_name, unique_names
from botz.record.whole_file import whole_file
from botz.scenario.names import closest

if TYPE_CHECKING:
    import pyarrow

FORMATS = {"csv": ".csv", "parquet": ".parquet", "mat": ".mat"}
MATLAB_NAME = 63
"""Longest name of a variable or a field."""


def export(recording: Recording, path: str | Path, format: str) -> list[Path]:
    """Write every stream of a recording; returns the files written.

    One file a stream: with several streams `run.csv` becomes `run-state.csv`, `run-fast.csv`, …
    """
    if format not in FORMATS:
        raise InputError(Problem(f"unknown format {format!r}{closest(format, FORMATS)}"))
    path = Path(path)
    ending = FORMATS[format]
    base = path.with_suffix("") if path.suffix.lower() == ending else path
    written = []
    for stream in recording.streams:
        name = f"{base.name}-{field_name(stream.name)}" if len(recording.streams) > 1 else base.name
        target = base.with_name(name + ending)
        try:
            with whole_file(target) as unfinished:
                match format:
                    case "csv":
                        _write_csv(recording.to_arrow(stream.name), unfinished)
                    case "parquet":
                        _write_parquet(recording.to_arrow(stream.name), unfinished)
                    case "mat":
                        _write_mat(recording, stream.name, unfinished)
        except OSError as error:
            raise RecordingError(f"{target}: cannot write: {error.strerror or error}") from error
        written.append(target)
    return written


def _write_csv(table: pyarrow.Table, target: Path) -> None:
    """Numbers with all their digits; the unit is part of the column's name: `vivi/pose.x [m]`."""
    import pyarrow.csv

    names = [f"{field.name} [{field.metadata[b'unit'].decode()}]" for field in table.schema]
    with target.open("wb") as file:
        pyarrow.csv.write_csv(table.rename_columns(names), file)


def _write_parquet(table: pyarrow.Table, target: Path) -> None:
    import pyarrow.parquet

    with target.open("wb") as file:
        pyarrow.parquet.write_table(table, file, compression="zstd")


def _write_mat(recording: Recording, stream: str, target: Path) -> None:
    """`time`, one struct a robot with a field a channel, and structs `units` and `components` of the same form."""
    import scipy.io

    times, columns = recording.table(stream)
    robots = list(dict.fromkeys(channel.robot for channel, _ in columns))
    reserved = ("time", "units", "components")
    names = unique_names((field_name(robot) for robot in robots), reserved, longest=MATLAB_NAME)
    variables: dict[str, Any] = {"time": times[:, None]}
    units: dict[str, Any] = {"time": "s"}
    components: dict[str, Any] = {}
    for robot, name in zip(robots, names, strict=True):
        own = [(channel, values) for channel, values in columns if channel.robot == robot]
        fields = unique_names((field_name(channel.local_name) for channel, _ in own), longest=MATLAB_NAME)
        pairs = list(zip(fields, own, strict=True))
        variables[name] = {field: values for field, (_, values) in pairs}
        units[name] = {field: ", ".join(component_units(channel)) for field, (channel, _) in pairs}
        components[name] = {field: ", ".join(channel.components) for field, (channel, _) in pairs}
    try:
        content = {**variables, "units": units, "components": components}
        scipy.io.savemat(str(target), content, appendmat=False, long_field_names=True)
    except (scipy.io.matlab.MatWriteError, ValueError) as error:
        raise RecordingError(f"{target}: cannot write as MATLAB file: {error}") from error
