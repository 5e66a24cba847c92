"""Where compiled kernels are kept between runs.

Numba notices an edit in the file of a kernel, but not in the files that the kernel calls into. So the cache folder's
name is a hash of all sources that kernels are made of: another source, another folder, never a stale kernel. The folder
belongs to the user alone (mode 0700), since what lies in it is loaded as code. Nothing here imports Numba.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOMS_WITHOUT_KERNELS = {"scenario", "scene", "control", "record", "run", "view", "links", "cli", "verify", "bench"}
"""Edits in these do not touch compiled code; a test checks that no kernel lives there."""
ROOM_NEEDED = 4 << 20
"""Bytes that a new cache must have room for: Numba does not forgive a disk that fills up while it saves."""
KEEP = 4
"""How many older folders stay: enough for a few checkouts and branches."""


def source_hash(extra_files: list[Path] | None = None) -> str:
    """Hash of the sources that kernels are made of, the interpreter, and a user's own element files."""
    digest = hashlib.sha256(f"{sys.version_info[:2]}{sys.implementation.cache_tag}".encode())
    package = Path(__file__).parent
    own = [file for file in package.rglob("*.py") if file.relative_to(package).parts[0] not in ROOMS_WITHOUT_KERNELS]
    for file in sorted(own) + sorted(extra_files or []):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def base_folder() -> Path:
    """`$BOTZ_CACHE_DIR`, or the user's cache folder of this system."""
    chosen = os.environ.get("BOTZ_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "botz" / "kernels"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "botz" / "kernels"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "botz" / "kernels"


def owned_folder(folder: Path) -> bool:
    """Make `folder` for this user alone and say whether it can be trusted and written."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if hasattr(os, "getuid"):
            status = folder.stat()
            if status.st_uid != os.getuid():
                return False
            if status.st_mode & 0o077:
                folder.chmod(0o700)
        probe = folder / f".probe-{os.getpid()}"
        try:
            probe.write_bytes(bytes(ROOM_NEEDED) if not any(folder.glob("*.ready")) else b"")
        finally:
            probe.unlink(missing_ok=True)
    except (OSError, RuntimeError):
        return False
    return True


def prepare() -> tuple[Path | None, bool]:
    """Point Numba at this source's cache folder, before Numba is imported. Returns the folder, and whether it lasts:
    where no lasting place can be written, kernels are compiled anew in every run, with one notice."""
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        return None, True
    try:
        base = base_folder()
    except RuntimeError:  # no home folder
        base = Path(tempfile.gettempdir()) / f"botz-{os.getuid() if hasattr(os, 'getuid') else 'user'}" / "kernels"
    folder = base / source_hash()
    if owned_folder(base) and owned_folder(folder):
        point_numba_at(folder)
        return folder, True
    # Numba refuses to define a cached function when it finds no place at all, so it gets one for this process and those
    # that it starts.
    passing = Path(tempfile.mkdtemp(prefix="botz-kernels-"))
    atexit.register(shutil.rmtree, passing, ignore_errors=True)
    os.environ["BOTZ_CACHE_DIR"] = str(passing)
    folder = passing / folder.name
    folder.mkdir(mode=0o700)
    point_numba_at(folder)
    return folder, False


def point_numba_at(folder: Path) -> None:
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    numba = sys.modules.get("numba")
    if numba is not None:
        # Numba came first (a notebook, say): it reads this setting when a function is defined.
        numba.config.CACHE_DIR = str(folder)


def forget_old(folder: Path) -> None:
    """Remove the folders of older sources."""
    try:
        others = sorted(
            (path for path in folder.parent.iterdir() if path.is_dir() and path != folder),
            key=lambda path: path.stat().st_mtime,
            reverse=True,
        )
    except OSError:
        return
    for path in others[KEEP:]:
        shutil.rmtree(path, ignore_errors=True)


FOLDER, LASTING = prepare()


def announce(engine: str) -> None:
    """Before the first kernels of an engine run: say why it takes a while, once for each source."""
    if FOLDER is None or (FOLDER / f"{engine}.ready").exists():
        return
    text = f"botz: compiling the kernels of '{engine}', once (up to half a minute) …"
    if not LASTING:
        why = "no writable cache folder (set BOTZ_CACHE_DIR)"
        text = f"botz: compiling the kernels of '{engine}' for this run only: {why}"
    print(text, file=sys.stderr, flush=True)


def mark_ready(engine: str) -> None:
    """After the first kernels of an engine have run."""
    if FOLDER is None:
        return
    marker = FOLDER / f"{engine}.ready"
    try:
        if not marker.exists():
            marker.touch()
            forget_old(FOLDER)
    except OSError:
        return
