"""botz verify, bench: what can be trusted, and how fast it is."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from botz.cli.common import AsJson, console, print_json
from botz.errors import InputError, Problem
from botz.scenario.names import closest


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Trust")(verify)
    app.command(rich_help_panel="Trust")(bench)


def verify(
    family: Annotated[str | None, typer.Argument(help="A robot family; all of them by default.")] = None,
    full: Annotated[bool, typer.Option("--full", help="The long form, with many more samples.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check the physics against closed forms, conservation laws and other programs."""
    from botz.verify import checks, suites

    chosen = [family] if family else suites.verified()
    failed = False
    results: list[dict[str, Any]] = []
    for name in chosen:
        found = suites.run(name, full=full)
        failed |= any(check.passed is False for check in found)
        results.append(checks.to_json(name, found))
        if not as_json:
            print_checks(name, found)
    if as_json:
        print_json(results[0] if family else results)
    raise typer.Exit(1 if failed else 0)


def print_checks(family: str, found: list[Any]) -> None:
    from rich.table import Table

    table = Table(
        title=f"{family}: {sum(c.passed is True for c in found)} of {len(found)} checks pass", title_justify="left"
    )
    for title in ("check", "expected", "measured", "tolerance", ""):
        table.add_column(title, justify="left" if title in ("check", "") else "right", overflow="fold")
    for check in found:
        verdict = f"skipped: {check.skipped}" if check.passed is None else ("pass" if check.passed else "FAIL")
        style = "red" if check.passed is False else ("yellow" if check.passed is None else "")
        table.add_row(
            check.name, shown(check.expected), shown(check.measured), shown(check.tolerance), verdict, style=style
        )
    console().print(table)
    for check in found:
        if check.passed is False:
            print(f"FAIL: {check.name}: {shown(check.measured)}, expected {shown(check.expected)}")


def shown(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def bench(
    name: Annotated[str | None, typer.Argument(help="A benchmark; all of them by default.")] = None,
    peers: Annotated[
        bool,
        typer.Option("--peers", help="First install the programs to compare with, in an environment of their own."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure speed: rates and times with their targets, and ratios to other programs in the same run."""
    from botz.bench import suites

    known = suites.benches()
    if name is not None and name not in known:
        raise InputError(Problem(f"unknown benchmark {name!r}{closest(name, known)}"))
    if peers:
        from botz.bench.peers import install

        install()
    found = [suites.run(one) for one in ([name] if name else list(known))]
    if as_json:
        print_json(found[0] if name else found)
        return
    from rich.table import Table

    for result in found:
        table = Table(title=f"{result['bench']} on {result['machine']}", title_justify="left")
        for title in ("metric", "value", "unit", "target", "met", "peer", "peer value", "ratio"):
            table.add_column(title, justify="right" if title in ("value", "target", "peer value", "ratio") else "left")
        for row in result["results"]:
            met = "" if row["met"] is None else ("yes" if row["met"] else "NO")
            table.add_row(
                row["metric"], shown(row["value"]), row["unit"], shown(row["target"]), met, row["peer"] or "–",
                shown(row["peer_value"]), shown(row["ratio"]),
            )  # fmt: skip
        console().print(table)
