"""Programs that a scenario names: `file.py:name` or `module:name`, a user's controller or force element."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from botz.errors import InputError, Problem
from botz.scenario.names import closest


class ImportFailed(Exception):
    """A user's file or module raised while it was imported; the cause holds its traceback."""

    def __init__(self, where: str, cause: Exception):
        super().__init__(f"importing {where} failed: {type(cause).__name__}: {cause}")
        self.__cause__ = cause


def place_of(text: str) -> tuple[str, str]:
    """The file or module, and the name in it, of `where:name`; a drive letter's colon belongs to the file."""
    where, _, name = text.rpartition(":")
    return where, name


def imported(text: str, *, key: str, allowed: bool, example: str) -> ModuleType:
    """The module of `where:name`, imported anew where it is a file.

    Raises InputError at `key` where it is not there, not `allowed` or ends the program, and ImportFailed where its own
    code raises.
    `example` shows in a message how a file is written.
    """
    if not allowed:
        message = f"{text!r} is a program; it runs only from a scenario that is named on the command line"
        raise InputError(Problem(message, key=key))
    where, _ = place_of(text)
    try:
        return _module_of_file(Path(where)) if where.endswith(".py") else importlib.import_module(where)
    except FileNotFoundError as error:
        if where.endswith(".py") and not Path(where).is_file():
            raise InputError(Problem(f"no such file: {where}", key=key)) from None
        raise ImportFailed(where, error) from error
    except ModuleNotFoundError as error:
        if error.name is not None and (where == error.name or where.startswith(error.name + ".")):
            hint = f"; a file is written with its ending, as {example}"
            raise InputError(Problem(f"no module {where!r}{hint}", key=key)) from None
        raise ImportFailed(where, error) from error
    except SystemExit:
        message = f"importing {where} ends the program (sys.exit); put that under `if __name__ == '__main__':`"
        raise InputError(Problem(message, key=key)) from None
    except Exception as error:
        raise ImportFailed(where, error) from error


def named(module: ModuleType, text: str, wanted: type, what: str, *, key: str) -> Any:
    """The `wanted` object that `where:name` names in its module; `what` it is called in a message."""
    where, name = place_of(text)
    found = getattr(module, name, None)
    if not isinstance(found, wanted):
        offered = [one for one, value in vars(module).items() if isinstance(value, wanted) and not one.startswith("_")]
        raise InputError(Problem(f"no {what} {name!r} in {where}{closest(name, offered)}", key=key))
    return found


def _module_of_file(file: Path) -> ModuleType:
    """The module of a Python file; its neighbours can be imported by it, as when Python runs it as a script."""
    if not file.is_file():
        raise FileNotFoundError(file)
    name = f"botz_user_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    folder = str(file.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    # Dataclasses and pickle look the module up by its name while it is being imported.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module
