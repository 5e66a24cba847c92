"""botz master: a master without a device, for an arm of a served run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from botz.cli.common import AsJson, print_json, print_pairs
from botz.errors import BotzError, InputError, Problem, printable
from botz.scenario.ports import TELEOPERATION

if TYPE_CHECKING:
    from botz.control.teleop.script import MasterTable
    from botz.endpoints.teleop.client import Master

ADDRESS = TELEOPERATION
SHOWN_EVERY = 0.5
"""Between two printed lines [s]."""
SILENT = 1.0
"""Silence of the slave that is worth telling [s]."""
BUSY_SECONDS = 5.0
"""How long another master may keep the arm, or the slave be silent, before this one gives up [s]; on a slow line
longer, twice the client's own patience."""


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Run")(master)


def master(
    file: Annotated[
        Path, typer.Argument(help="What its hands do: a CSV file, or a recording (.mcap, or a run's folder) of an arm.")
    ],
    address: Annotated[str, typer.Option(help="Where the slave listens; a served run prints it.")] = ADDRESS,
    rate: Annotated[float, typer.Option(min=1.0, max=1000.0, help="Messages per second.")] = 50.0,
    robot: Annotated[str | None, typer.Option(help="The arm of the recording; the first by default.")] = None,
    timeout: Annotated[float, typer.Option(min=0.1, max=3600.0, help="How long to wait for the slave [s].")] = 10.0,
    as_json: AsJson = False,
) -> None:
    """Drive an arm of a served run (botz run NAME --serve) by a script or a recording, in real time, and show what the
    slave reports."""
    from botz.endpoints.teleop.client import Master

    if not file.exists():
        raise InputError(Problem("no such file", file=file))
    with Master(address, timeout=timeout) as client:
        table = motion_of(file, client.joints, robot)
        if not as_json:
            arm = printable(client.greeting["arm"])
            print(f"{arm} at {address}, {table.end - table.start:g} s at {rate:g} Hz", flush=True)
        result = play(client, table, rate, quiet=as_json)
    if as_json:
        print_json(result)
    else:
        print_pairs({name.replace("_", " "): f"{value:.6g}" for name, value in result.items() if is_number(value)})


def motion_of(file: Path, joints: list[str], robot: str | None) -> MasterTable:
    """A master's motion from a table, or from the joints of a recorded arm."""
    from botz.control.teleop.script import MasterTable, read_table

    if not file.is_dir() and file.suffix.lower() != ".mcap":
        return read_table(file, joints)
    from botz.record.reader import read
    from botz.scenario.names import closest

    recording = read(file)
    arms = [name.removesuffix("/position") for name in recording.channels.slices if name.endswith("/position")]
    arms = [name for name in arms if "/" not in name]
    if not arms:
        raise InputError(Problem("no arm in this recording", file=recording.path))
    if robot is not None and robot not in arms:
        raise InputError(Problem(f"no arm {robot!r} in this recording{closest(robot, arms)}", key="--robot"))
    channel = f"{robot or arms[0]}/position"
    names = recording.channels[channel].components
    if list(names) != joints:
        message = f"{channel} has the joints {', '.join(names)}; the slave has {', '.join(joints)}"
        raise InputError(Problem(message, file=recording.path))
    times, values = recording.time(channel), recording[channel]
    return MasterTable({"time": times, **{name: values[:, k] for k, name in enumerate(names)}}, joints, recording.path)


def play(client: Master, table: MasterTable, rate: float, *, quiet: bool) -> dict[str, Any]:
    """The whole table in real time; a slave that does not answer or belongs to somebody else ends it."""
    began = time.perf_counter()
    ticks, shown, heard = 0, -SHOWN_EVERY, 0.0
    worst_error = worst_force = 0.0
    while (t := ticks / rate) <= table.end - table.start + 0.5 / rate:
        client.send(**table.at(table.start + t))
        ticks += 1
        while (rest := began + ticks / rate - time.perf_counter()) > 0.0:
            if client.listen(rest):
                heard = t
                feedback = client.feedback
                worst_error = max([worst_error, *(abs(value) for value in feedback["error"])])
                worst_force = max(worst_force, feedback["force"])
        client.listen()
        if t - heard > (longest := max(BUSY_SECONDS, 2.0 * client.patience)):
            if client.reason == "busy":
                raise BotzError(f"{client.address}: {client.refusal}")
            if not client.reason:
                raise BotzError(f"nothing from {client.address} for {longest:g} s")
        if not quiet and t - shown >= SHOWN_EVERY and client.feedback:
            shown = t
            print(
                printable(line_of(t, client))
                if t - heard < SILENT
                else f"{t:7.2f} s  nothing heard for {t - heard:.1f} s",
                flush=True,
            )
    return {
        "sent": client.sent,
        "received": client.received,
        "round_trip_s": client.round_trip,
        "largest_error": worst_error,
        "largest_force_N": worst_force,
        "state": client.feedback.get("state", ""),
        "joints": client.feedback.get("joints", []),
        "reference": client.feedback.get("reference", []),
    }


def line_of(t: float, client: Master) -> str:
    feedback = client.feedback
    error = max((abs(value) for value in feedback["error"]), default=0.0)
    x, y, z = feedback["tool"][:3]
    limits = f" ({', '.join(feedback['limits'])})" if feedback["limits"] else ""
    trip = "" if client.round_trip is None else f"  there and back {1e3 * client.round_trip:5.1f} ms"
    place = f"tool {x:7.3f} {y:7.3f} {z:7.3f} m"
    return f"{t:7.2f} s  {feedback['state'] + limits:<12}  error {error:.4f}  {place}  {feedback['force']:7.1f} N{trip}"


def is_number(value: Any) -> bool:
    return isinstance(value, int | float)
