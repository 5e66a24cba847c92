"""botz doctor: whether this machine has what Botz needs, and what to do where it has not."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import typer

from botz.cli.common import AsJson, print_json
from botz.errors import BotzError

DISK_NEEDED = 1 << 30
"""Bytes free below which a warning is due: an hour of a recorded vehicle needs about half of it."""


class Finding(NamedTuple):
    part: str
    good: bool
    text: str
    remedy: str = ""


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Trust")(doctor)


def doctor(as_json: AsJson = False) -> None:
    """Check this installation: versions, kernel cache, lab, films, disk. Exit code 1 where something is missing."""
    findings = [examine(part) for part in PARTS]
    if as_json:
        print_json([finding._asdict() for finding in findings])
    else:
        width = max(len(finding.part) for finding in findings)
        for finding in findings:
            print(f"{'good   ' if finding.good else 'PROBLEM'}  {finding.part:<{width}}  {finding.text}")
            if not finding.good:
                print(f"         {'':<{width}}  remedy: {finding.remedy}")
    raise typer.Exit(0 if all(finding.good for finding in findings) else 1)


def examine(part: Callable[[], Finding]) -> Finding:
    """One broken part must not hide the others."""
    try:
        return part()
    except Exception as error:
        name = part.__name__.replace("_", " ")
        return Finding(
            name, False, f"{type(error).__name__}: {error}", "install Botz anew: pip install --force-reinstall"
        )


def python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("python", sys.version_info >= (3, 11), f"{version}, {sys.executable}", "use Python 3.11 or newer")


def packages() -> Finding:
    """Every required package, in a version that pyproject.toml allows."""
    from importlib.metadata import PackageNotFoundError, requires, version

    try:
        needed = [text for text in requires("botz") or [] if "extra ==" not in text]
    except PackageNotFoundError:
        return Finding("packages", False, "botz runs from a source tree that is not installed", "pip install .")
    missing = []
    for text in needed:
        name, _, least = text.partition(">=")
        try:
            found = version(name)
        except PackageNotFoundError:
            missing.append(f"{name} is missing")
            continue
        if numbers_of(found) < numbers_of(least):
            missing.append(f"{name} {found} is older than {least}")
    text = "; ".join(missing) or f"botz {version('botz')} and {len(needed)} packages"
    return Finding("packages", not missing, text, "pip install --upgrade botz")


def numbers_of(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: 1.2.0rc1 is (1, 2, 0)."""
    numbers = []
    for part in version.split("."):
        digits = "".join(character for character in part if character.isdigit())
        if not part[:1].isdigit():
            break
        numbers.append(int(digits))
    return tuple(numbers)


def kernel_cache() -> Finding:
    from botz import kernel_cache

    if kernel_cache.FOLDER is None:
        return Finding("kernel cache", True, "compilation is switched off (NUMBA_DISABLE_JIT=1)")
    remedy = "set BOTZ_CACHE_DIR to a folder that you can write; until then every run compiles anew"
    return Finding("kernel cache", not kernel_cache.PASSING, str(kernel_cache.FOLDER), remedy)


def physics() -> Finding:
    """Compile (or load) one engine and make a step."""
    from botz import Simulation

    simulation = Simulation("differential-circle")
    simulation.step(n=1)
    return Finding("physics", True, f"one step of differential-circle, t = {simulation.time:g} s")


def shared_memory() -> Finding:
    from botz.sim.shared_memory import segment_folder

    remedy = "set BOTZ_SHM_DIR to a folder of your own that you can write"
    try:
        folder = segment_folder()
    except BotzError as error:
        return Finding("shared memory", False, str(error), remedy)
    return Finding("shared memory", os.access(folder, os.W_OK), str(folder), remedy)


def loopback() -> Finding:
    """Bind and connect on 127.0.0.1, as the lab and the endpoints do."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = server.getsockname()
            with socket.create_connection(address, timeout=2.0):
                return Finding("loopback", True, "a connection to 127.0.0.1 works")
    except OSError as error:
        remedy = "let programs listen at 127.0.0.1 and connect to it: a firewall or a sandbox forbids that here"
        return Finding("loopback", False, str(error), remedy)


def lab_page() -> Finding:
    from botz.view.lab.client import client_folder

    try:
        return Finding("lab", True, f"the page is built: {client_folder()}")
    except BotzError as error:
        first, *rest = str(error).splitlines()
        return Finding("lab", False, first, " ".join(rest))


def films() -> Finding:
    """Draw one image with MuJoCo's renderer, in a process of its own: a missing library may end it."""
    import subprocess

    program = (
        "import mujoco; m = mujoco.MjModel.from_xml_string('<mujoco/>'); r = mujoco.Renderer(m, 8, 8); "
        "r.update_scene(mujoco.MjData(m)); r.render(); r.close()"
    )
    backend = os.environ.get("MUJOCO_GL", "egl" if sys.platform == "linux" else "")
    environ = os.environ | ({"MUJOCO_GL": backend} if backend else {})
    answer = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, timeout=60)
    remedy = "sudo apt install libegl1 libegl-mesa0 libgl1-mesa-dri (botz video and films out of the lab need them)"
    last = (answer.stderr.strip().splitlines() or ["ended without a message"])[-1]
    return Finding("films", answer.returncode == 0, "an image was drawn" if answer.returncode == 0 else last, remedy)


def disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free
    text = f"{free / 1e9:.1f} GB free in {Path.cwd()}"
    return Finding("disk", free >= DISK_NEEDED, text, "free some space, or record elsewhere with --out")


PARTS = (python, packages, kernel_cache, physics, shared_memory, loopback, lab_page, films, disk)
