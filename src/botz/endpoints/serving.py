"""Serving a run: its endpoints in processes of their own, watched from the one that records."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from botz.child import Answers, child_process, how_it_ended
from botz.errors import BotzError, InputError, Problem
from botz.scenario.links import Endpoint

SERVER = "from botz.endpoints.server_process import main; main()"
READY_SECONDS = 120.0
"""How long a server may take to be ready: on a fresh machine it compiles."""


def links_of(spec: Any) -> dict[str, Endpoint]:
    """The settings of what a scenario serves, by name."""
    found = {name: getattr(spec.links, name) for name in type(spec.links).model_fields}
    settings = {name: link for name, link in found.items() if link is not None}
    if not settings:
        raise InputError(Problem("all are null, so that --serve has nothing to open", key="links"))
    return settings


@dataclass
class Server:
    """One process that serves."""

    kind: str
    links: list[str]
    process: subprocess.Popen[str]
    answers: Answers
    addresses: dict[str, str] = field(default_factory=dict)
    counters: dict[str, dict[str, Any]] = field(default_factory=dict)
    problem: str = ""
    """Why it ended before its time."""
    failure: BotzError | None = None
    """The same as an error, where it could say so itself."""
    done: bool = False
    """It has said its last word, or never will."""


class Served:
    """The servers of one run; leaving the context ends them.

    >>> with Served(links_of(spec), seed=spec.seed) as served:
    ...     served.start(run_id, should_stop=lambda: False)

    `run_scenario(…, servers=served)` does both.
    """

    def __init__(self, settings: Mapping[str, Endpoint], *, seed: int, tell: Callable[[str], None] | None = None):
        self._tell = tell or (lambda table: print(table, file=sys.stderr, flush=True))
        self._settings = {name: link.model_dump(mode="json") for name, link in settings.items()}
        self._processes: dict[str, dict[str, Any]] = {}
        """For each process its endpoints: which record, and what it says."""
        for name, link in settings.items():
            process = self._processes.setdefault(name if link.serves else "links", {})
            process[name] = (f"{type(link).__module__}:{type(link).__qualname__}", self._settings[name])
        self._seed = seed
        self._stack = ExitStack()
        self._servers: list[Server] = []
        self._warnings: list[str] = []

    def __enter__(self) -> Served:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """End all servers: they say what they have counted, or are killed."""
        try:
            self._stack.__exit__(kind, error, trace)
        finally:
            for server in self._servers:
                self._listen(server, ended=True)

    def start(self, run_id: str, should_stop: Callable[[], bool]) -> None:
        """Start the servers and wait until all are ready, then print where they are; or return when `should_stop`."""
        for kind, endpoints in self._processes.items():
            orders = {"run_id": run_id, "kind": kind, "endpoints": endpoints, "seed": self._seed}
            process, answers = self._stack.enter_context(child_process(SERVER, orders))
            self._servers.append(Server(kind, list(endpoints), process, answers))
        deadline = time.monotonic() + READY_SECONDS
        while waiting := [server for server in self._servers if not server.addresses]:
            if should_stop():
                return
            for server in waiting:
                self._listen(server, ended=server.process.poll() is not None)
                if server.done and not server.addresses:
                    raise server.failure or BotzError(f"the {server.kind} process did not start: {server.problem}")
            if time.monotonic() > deadline:
                raise BotzError(f"the {waiting[0].kind} process is not ready after {READY_SECONDS:g} s")
            time.sleep(0.01)
        self._tell(table(self.addresses))

    @property
    def addresses(self) -> dict[str, str]:
        """Where each server is, by what a user calls it."""
        return {name: address for server in self._servers for name, address in server.addresses.items()}

    def look(self) -> list[str]:
        """What is to be told since the last look, as that a server has died; the run goes on without it."""
        for server in self._servers:
            if not server.done:
                self._listen(server, ended=server.process.poll() is not None)
                if server.done and server.problem:
                    gone = ", ".join(server.addresses or server.links)
                    self._warnings.append(f"no longer served: {gone} ({server.problem})")
        told, self._warnings = self._warnings, []
        return told

    def counters(self) -> dict[str, dict[str, Any]]:
        """What each link has counted, once its process has ended; nothing of one that died."""
        return {name: counts for server in self._servers for name, counts in server.counters.items()}

    def _listen(self, server: Server, *, ended: bool) -> None:
        for message in server.answers(ended):
            match message["event"]:
                case "ready":
                    server.addresses = message["addresses"]
                case "warning":
                    self._warnings.append(str(message["text"]))
                case "finished":
                    server.counters, server.done = message["counters"], True
                case "failed":
                    server.problem, server.done = str(message["reason"]), True
                    server.failure = self._failure(message)
        if ended and not server.done:
            server.problem, server.done = how_it_ended(server.process.returncode), True

    def _failure(self, message: Mapping[str, Any]) -> BotzError:
        """What a server that could not start says; where it is the user's to mend, with place, value and remedy."""
        link, problems = str(message["link"]), message.get("problems", [])
        keys = [key for _, key in problems]
        listen = f"links.{link}.listen"
        if "address" in message and keys in ([], [listen]) and "listen" in self._settings[link]:
            address = self._settings[link]["listen"]
            host = address.rpartition(":")[0] if not message["address"].startswith("no address") else "127.0.0.1"
            other = f"{host}:0"
            remedy = f"choose another with --set {listen}={other} (0: any free port)"
            return InputError(Problem(f"cannot listen at {address}, {message['address']}; {remedy}", key=listen))
        if problems:
            return InputError([Problem(text, key=key) for text, key in problems])
        return BotzError(f"{link or 'servers'}: {message['reason']}")


def table(addresses: Mapping[str, str]) -> str:
    width = max(len(name) for name in addresses)
    return "\n".join(["botz: served at", *(f"  {name:<{width}}  {address}" for name, address in addresses.items())])
