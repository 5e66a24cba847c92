"""Options and output that several commands share."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on standard output.")]


def print_json(value: Any) -> None:
    """JSON that any parser takes: numbers that are not finite become null."""
    from botz.record.plain_json import finite

    print(json.dumps(finite(value), indent=2, ensure_ascii=False))


def console(*, stderr: bool = False):
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


def print_pairs(pairs: dict[str, str]) -> None:
    """Names and values in two columns; never cut, so that a path can be copied or piped."""
    width = max((len(name) for name in pairs), default=0)
    for name, value in pairs.items():
        print(f"{name:<{width}}  {value}".rstrip())
