"""Records of other installed packages: robot families, force elements, sensors, controllers, endpoints and layers.

A record names code as `module:name`, which is imported when it is first used, so that reading the records stays light.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import Any

from botz.errors import printable


def imported(reference: str) -> Any:
    """What `module:name` names, or the module itself where there is no name."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name) if name else import_module(module)


@cache
def installed_points() -> Any:
    """All entry points of all installed packages, read once."""
    from importlib.metadata import entry_points  # late: as slow as a small command

    return entry_points()


@cache
def discovered(group: str, kind: type = object) -> dict[str, Any]:
    """What installed packages name in an entry-point group such as `botz.families`, by name: objects or subclasses of
    `kind`.

    A package that cannot be imported, or that names something else, is named on stderr, once, and left out.
    """
    records = {}
    for point in installed_points().select(group=group):
        try:
            record = point.load()
            if isinstance(record, kind) or (isinstance(record, type) and issubclass(record, kind)):
                records[point.name] = record
                continue
            problem = f"is no {kind.__name__}"
        except Exception as error:  # whatever happens while another package is imported
            problem = f"cannot be imported: {error}"
        print(printable(f"botz: {point.name!r} of {group} is left out: {point.value} {problem}"), file=sys.stderr)
    return records
