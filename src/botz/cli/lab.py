"""botz lab: the page in a browser."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from botz.cli.common import OpenPage
from botz.cli.scenarios import print_warnings
from botz.errors import InputError, Problem

if TYPE_CHECKING:
    from botz.scenario.load import LoadedScenario


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Run")(lab)


def lab(
    scenario: Annotated[
        str | None, typer.Argument(help="A scenario to start with: of the library (botz list) or a file.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at; 0 takes any that is free.")] = 8470,
    root: Annotated[
        Path | None, typer.Option(help="Folder whose scenario files the page may start, with the code that they name.")
    ] = None,
    runs: Annotated[Path, typer.Option(help="Folder of recordings, old and new.")] = Path("runs"),
    token: Annotated[str | None, typer.Option(help="What pages must know; made anew where not given.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of SCENARIO.")
    ] = None,
    open_page: OpenPage = False,
) -> None:
    """Serve the lab: one page in a browser to drive, watch, replay and compare. Prints its address."""
    from botz.scenario.load import load
    from botz.view.lab.client import client_folder
    from botz.view.lab.lab import InitialRun
    from botz.view.lab.server import LabSettings, serve_lab

    if set_ and scenario is None:
        raise InputError(Problem("changes a scenario; name one", key="--set"))
    initial = None
    if scenario is not None:
        loaded = load(scenario, overrides=list(set_ or []))
        print_warnings(loaded)
        initial = InitialRun(loaded, label=scenario)
    settings = LabSettings(host, port, root, runs, token, client=client_folder(), initial=initial)
    serve_lab(settings, on_address=announce(open_page))


def serve_run(
    loaded: LoadedScenario,
    label: str,
    out: Path | None,
    *,
    port: int = 0,
    open_page: bool = False,
    waits: bool = False,
    serve: bool = False,
) -> None:
    """The lab with one run in it, until Ctrl-C; one that waits starts when the first page is there, and `serve` opens
    the scenario's links too."""
    from botz.view.lab.client import client_folder
    from botz.view.lab.lab import InitialRun
    from botz.view.lab.server import LabSettings, serve_lab

    runs = out.parent if out is not None else Path("runs")
    initial = InitialRun(loaded, out=out, label=label, waits=waits, serve=serve)
    settings = LabSettings(port=port, runs=runs, client=client_folder(), initial=initial)
    serve_lab(settings, on_address=announce(open_page))


def announce(open_page: bool) -> Callable[[str], None]:
    """What is done with the address once the lab listens."""

    def tell(address: str) -> None:
        print_address(address)
        if open_page and not webbrowser.open(address):
            print("botz: found no browser to open; open the address above", file=sys.stderr)

    return tell


def print_address(address: str) -> None:
    """On standard output: it is what the command is for."""
    print(f"lab  {address}", flush=True)
    print("botz: Ctrl-C ends the lab; runs that are going on are stopped and their recordings kept", file=sys.stderr)
