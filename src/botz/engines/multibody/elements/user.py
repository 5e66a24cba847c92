"""Users' force elements: found in their files, compiled, and what is wrong with them said in a line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numba import from_dtype
from numba.core.errors import NumbaError

from botz.engines.multibody.elements.base import FRAME, NOT_FINITE, BuiltElement, ElementKind, compiled_call
from botz.errors import InputError, Problem
from botz.scenario import user_code
from botz.scenario.names import closest

EXAMPLE = "element.py:name"
"""How a user's element is written."""

_KINDS: dict[str, tuple[tuple[int, int], ElementKind]] = {}
"""Elements of users' files already imported, with the file's time and size then: four alike are compiled once."""


def user_kind(text: str, *, key: str, allowed: bool) -> ElementKind:
    """The element that `file.py:name` or `module:name` means; raises InputError at `key`."""
    where, name = user_code.place_of(text)
    stamp = _stamp(where)
    if allowed and text in _KINDS and _KINDS[text][0] == stamp:
        return _KINDS[text][1]
    try:
        module = user_code.imported(text, key=key, allowed=allowed, example=EXAMPLE)
    except user_code.ImportFailed as error:
        raise InputError(Problem(f"{error}{_line_in(where, error.__cause__)}", key=key)) from error.__cause__
    found = getattr(module, name, None)
    if callable(found) and not isinstance(found, ElementKind):
        message = f"{name!r} in {where} is no force element; put @force_element(Parameters) above its function"
        raise InputError(Problem(message, key=key))
    kind: ElementKind = user_code.named(module, text, ElementKind, "force element", key=key)
    _KINDS[text] = stamp, kind
    return kind


def _stamp(where: str) -> tuple[int, int]:
    try:
        status = Path(where).stat()
    except (OSError, ValueError):  # a module
        return 0, 0
    return status.st_mtime_ns, status.st_size


def failure(element: BuiltElement, frame: np.ndarray) -> str:
    """What an element did that failed with this frame, as the end of a sentence that begins with its name."""
    if frame["failed"][0] == NOT_FINITE:
        return "gave a force that is not finite"
    # Compiled code can tell that there was an exception, not which; called from Python it says so.
    code = element.kind.function.py_func.__code__
    where = code.co_filename
    begins = f" ({where}:{code.co_firstlineno})"  # Numba does not tell the line of an index
    try:
        element.kind.function(element.parameters.copy()[0], frame.copy()[0])
    except Exception as error:
        said = " ".join(str(error).split())
        return f"raised {type(error).__name__}{f': {said}' if said else ''}{_line_in(where, error) or begins}"
    return f"raised an exception{begins}"


def _line_in(where: str, error: BaseException | None) -> str:
    """Where in the user's file an exception arose, as the end of a message."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__ if error is not None else None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == where:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f" ({where}:{line})" if line is not None else ""


def check_compiles(kind: ElementKind, dtype: np.dtype, name: str, *, key: str) -> None:
    """Compile an element for parameters of this layout; raises InputError at `key`, in place of Numba's screenful."""
    try:
        # By itself first: seen through the call of it, Numba names that call in place of the user's line.
        kind.function.compile((from_dtype(dtype), from_dtype(FRAME)))
        compiled_call(kind, dtype)
    except Exception as error:
        complaint = _complaint(kind, dtype, error)
        raise InputError(Problem(f"element {name!r} cannot be compiled: {complaint}", key=key)) from error


def _complaint(kind: ElementKind, dtype: np.dtype, error: Exception) -> str:
    """Numba's core sentence and the line that it is about."""
    code = kind.function.py_func.__code__
    file, line = Path(code.co_filename).name, code.co_firstlineno
    if isinstance(error, KeyError):
        # So Numba says that a record lacks a field.
        missing = str(error.args[0]) if error.args else ""
        known = [*(dtype.names or ()), *(FRAME.names or ())]
        return f"neither parameters nor frame have {missing!r}{closest(missing, known, show=4)} ({file}:{line})"
    if not isinstance(error, NumbaError):
        return f"{type(error).__name__}: {error} ({file}:{line})"
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    said = [one.strip() for one in text.splitlines() if one.strip() and not one.startswith("Failed in ")]
    core = said[0] if said else type(error).__name__
    if core.endswith(":") and len(said) > 1:
        core += " " + said[1].removeprefix(">>> ")
    place = re.search(r'File "([^"]+)", line (\d+)', text)
    if place is not None:
        file, line = Path(place[1]).name, int(place[2])
    return f"{core[:200]} ({file}:{line})"
