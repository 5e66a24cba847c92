"""botz run, demo, replay."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from botz.cli.common import AsJson, OpenPage, OutFolder, console, print_json, print_pairs
from botz.cli.scenarios import print_warnings
from botz.errors import BotzError, InputError, Problem, printable

if TYPE_CHECKING:
    from botz.run import Outcome, Progress, Servers

DEMO = "vivi-rough"
UNTIL_STOPPED = 86400
"""Seconds of a run that has no end of its own."""
DEMO_FILM: dict[str, Any] = {"size": (640, 360), "fps": 15.0, "end": 8.0}


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Run")(run)
    app.command(rich_help_panel="Run")(demo)
    app.command(rich_help_panel="Recordings")(replay)


def run(
    scenario: Annotated[str, typer.Argument(help="Name of a library scenario (botz list) or a scenario file.")],
    duration: Annotated[str | None, typer.Option(help="How long, in seconds or with a unit: 20, '2 min'.")] = None,
    out: OutFolder = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting; may be repeated.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all randomness.")] = None,
    realtime: Annotated[
        float | None, typer.Option(metavar="[FACTOR]", help="Run in real time, or at a factor of it.")
    ] = None,
    headless: Annotated[bool, typer.Option("--headless", help="Open no window and no server.")] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="In real time, with links for teams and viewers; prints where they are.")
    ] = False,
    publish: Annotated[
        bool, typer.Option("--publish", help="Share the state with readers on this machine and print the run's id.")
    ] = False,
    lab: Annotated[
        bool, typer.Option("--lab", help="Run in the lab: prints the address of a page to watch and drive it.")
    ] = False,
    open_page: OpenPage = False,
    video: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Film the run afterwards: .mp4, .webm or .gif; more by botz video."),
    ] = None,
    progress: Annotated[bool | None, typer.Option(help="Show a progress bar; by default on a terminal.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run a scenario and keep what it recorded."""
    from botz.run import run_scenario
    from botz.scenario.load import load

    if lab and (headless or publish or video or as_json):
        others = {"--headless": headless, "--publish": publish, "--video": video, "--json": as_json}
        other = next(name for name, given in others.items() if given)
        raise InputError(Problem(f"cannot be joined with {other}; choose one", key="--lab"))
    if open_page and not lab:
        raise InputError(Problem("opens the page of the lab; add --lab", key="--open"))
    if video is not None:
        from botz.view.encoding import check_format

        check_format(video, "--video")

    overrides = list(set_ or [])
    if duration is not None:
        overrides.append(f"time.duration={duration}")
    if seed is not None:
        overrides.append(f"seed={seed}")
    if realtime is not None:
        overrides.append(f"time.realtime={realtime}")
    if out is not None and not str(out).strip(". "):
        raise InputError(Problem("needs the name of a folder", key="--out"))
    try:
        loaded = load(scenario, overrides=overrides)
    except InputError as error:
        raise InputError([by_option(problem, set_ or []) for problem in error.problems]) from None
    print_warnings(loaded)
    spec: Any = loaded.spec
    if lab:
        from botz.cli.lab import serve_run

        if serve:
            servers_of(spec, headless)  # says where there is nothing to serve, before a lab opens
        serve_run(loaded, scenario, out, open_page=open_page, serve=serve)
        return
    servers = servers_of(spec, headless) if serve else None
    factor = True if serve and spec.time.factor is None else None
    tell_id = (lambda run_id: print(f"botz: run {run_id}", file=sys.stderr, flush=True)) if publish or serve else None
    try:
        with messages_on_stderr(), progress_bar(progress, spec.time.steps, spec.time.step_ns) as report:
            outcome = run_scenario(
                loaded, out=out, realtime=factor, progress=report, shared=publish, on_ready=tell_id, servers=servers
            )
    except KeyboardInterrupt:
        print("botz: interrupted", file=sys.stderr)
        raise typer.Exit(130) from None
    extra: dict[str, str] = {}
    failure: BotzError | None = None
    if video is not None and outcome.error is None:
        try:
            extra["video"] = film(outcome, video)
        except BotzError as error:  # what the run came to is told first
            failure = error
    try:
        show_outcome(outcome, as_json, extra)
    finally:
        if failure is not None:
            raise failure


def servers_of(spec: Any, headless: bool) -> Servers:
    """What a run is served by; the processes are started when the run is ready."""
    from botz.endpoints.serving import Served, links_of

    if headless:
        raise InputError(Problem("opens servers, --headless none; choose one", key="--serve"))
    return Served(links_of(spec), seed=spec.seed)


def by_option(problem: Problem, written: list[str]) -> Problem:
    """A mistake in --duration, --seed or --realtime is told under the name that the user wrote."""
    option = {"time.duration": "--duration", "seed": "--seed", "time.realtime": "--realtime"}.get(problem.key)
    by_set = any(text.startswith(f"{problem.key}=") for text in written)
    if option is None or by_set or str(problem.file) != "--set":
        return problem
    return Problem(problem.message, key=option)


def demo(
    out: OutFolder = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the lab; 0 takes any that is free.")] = 0,
    open_page: OpenPage = False,
    headless: Annotated[bool, typer.Option("--headless", help="Open no window and no server.")] = False,
    as_json: AsJson = False,
) -> None:
    """VIVI on rough terrain: in the lab, where you drive it; without a terminal or with --headless to the end, leaving
    a recording, a plot and a film."""
    from botz.run import run_scenario
    from botz.scenario.load import load

    wants_lab = open_page or port > 0
    if wants_lab and (headless or as_json):
        message = f"is for the lab, which {'--headless' if headless else '--json'} leaves out; choose one"
        raise InputError(Problem(message, key="--open" if open_page else "--port"))
    loaded = load(DEMO)
    spec: Any = loaded.spec
    if not as_json:
        print(f"{DEMO}: {spec.description}", flush=True)
    if wants_lab or (not headless and not as_json and sys.stdin.isatty() and sys.stdout.isatty()):
        from botz.cli.lab import serve_run
        from botz.view.lab.client import client_folder

        try:
            client_folder()
        except BotzError as error:
            print(f"botz: {printable(error)}\nbotz: going on without the lab", file=sys.stderr)
        else:
            # Somebody drives: it lasts until it is stopped.
            changes = [f"time.duration={UNTIL_STOPPED}", "controllers.tour.loop=true"]
            serve_run(load(DEMO, overrides=changes), DEMO, out, port=port, open_page=open_page, waits=True)
            return
    with messages_on_stderr(), progress_bar(None, spec.time.steps, spec.time.step_ns) as report:
        outcome = run_scenario(loaded, out=out, progress=report)
    extra = {}
    if outcome.error is None:
        from botz.record.reader import read
        from botz.view.plots import plot_recording

        extra["plot"] = str(plot_recording(read(outcome.path), path=outcome.folder / "plot.png"))
        try:
            extra["video"] = film(outcome, outcome.folder / "video.mp4", **DEMO_FILM)
        except BotzError as error:  # a machine without graphics still gets the rest
            print(f"botz: no film: {printable(error)}", file=sys.stderr)
    show_outcome(outcome, as_json, extra)


def film(outcome: Outcome, path: Path, **options: Any) -> str:
    """Film a run that has ended."""
    from botz.cli.video import frames_bar
    from botz.view.video import render_video

    with frames_bar() as report:
        return str(render_video(outcome.path, path, progress=report, **options))


def replay(
    recording: Annotated[Path, typer.Argument(help="A recording, or the folder of a run.")],
    run_elements: Annotated[
        bool, typer.Option("--run-elements", help="Run the files of force elements that the recording names.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run the recorded inputs again and say whether all states come out identical."""
    from botz.record.reader import read
    from botz.replay import replay_recording

    rec = read(recording)
    result = replay_recording(rec, run_elements=run_elements)
    if not rec.complete:
        print(printable(f"botz: incomplete recording: {rec.problem}"), file=sys.stderr)
    if as_json:
        print_json({**result.as_dict(), "complete": rec.complete})
    else:
        print(printable(result.sentence()))
    raise typer.Exit(0 if result.identical else 1)


@contextlib.contextmanager
def messages_on_stderr() -> Iterator[None]:
    """Standard output belongs to the results; what a user's controller prints goes to standard error."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


@contextlib.contextmanager
def progress_bar(wanted: bool | None, steps: int, step_ns: int) -> Iterator[Progress | None]:
    """A bar with the time left and the factor of real time, on standard error."""
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = [
        TextColumn("{task.fields[simulated]} s"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[factor]} × real time"),
    ]
    with Progress(*columns, console=console(stderr=True)) as bar:
        task = bar.add_task("", total=steps, simulated="0.0", factor="–")
        began, drawn = time.perf_counter(), 0.0

        def report(step: int, last: int) -> None:
            nonlocal drawn
            now = time.perf_counter()
            if now - drawn > 0.05 or step >= last:
                drawn = now
                simulated = step * step_ns * 1e-9
                factor = simulated / max(now - began, 1e-9)
                bar.update(task, completed=step, total=last, simulated=f"{simulated:.1f}", factor=f"{factor:.3g}")

        yield report


def show_outcome(outcome: Outcome, as_json: bool, extra: dict[str, str] | None = None) -> None:
    """The summary of a run on standard output, its error on standard error; ends the command with its exit code."""
    extra = extra or {}
    if as_json:
        print_json({"recording": str(outcome.path), **extra, **numbers(outcome.summary)})
    else:
        shown = {**outcome.summary, **extra, "recording": str(outcome.path)}
        print_pairs({name.replace("_", " "): value for name, value in shown.items() if name != "error"})
    if outcome.error is not None:
        raise outcome.error
    raise typer.Exit(outcome.exit_code)


def numbers(summary: dict[str, str]) -> dict[str, Any]:
    """The summary with its numbers as numbers."""
    result: dict[str, Any] = {}
    for name, text in summary.items():
        try:
            result[name] = int(text) if text.isdigit() else float(text)
        except ValueError:
            result[name] = text
    return result
