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
def discovered(group: str) -> dict[str, Any]:
    """What installed packages name in an entry-point group such as `botz.families`, by name.

    A package that cannot be imported is named on stderr, once, and left out.
    """
    from importlib.metadata import entry_points  # late: as slow as a small command

    records = {}
    for point in entry_points(group=group):
        try:
            records[point.name] = point.load()
        except Exception as error:  # whatever happens while another package is imported
            text = f"botz: {point.name!r} of {group} is left out: {point.value} cannot be imported: {error}"
            print(printable(text), file=sys.stderr)
    return records
