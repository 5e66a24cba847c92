"""What serves a run, in processes of their own that `botz.endpoints.serving` starts: one for each endpoint that asks
for it, as the camera does, and one for all others.

Each is a fresh interpreter that attaches to the run's shared memory and never delays the physics. When standard input
closes, the parent is gone or wants it to end.
"""

from __future__ import annotations

import errno
import math
import os
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from botz.child import Tell, take_orders
from botz.errors import BotzError, InputError
from botz.registry import imported
from botz.scenario.links import Endpoint
from botz.sim.attached import AttachedRun

LONGEST_WAIT = 0.05
"""How often the end of the run is looked for when nothing else happens [s]."""
SHORTEST_TURN = 0.001
"""From one turn to the next at least [s]: a flood is taken in gulps, which costs far less than packet by packet. A
command that comes alone does not wait."""
GRACE_SECONDS = 5.0
"""How long a server has to end by itself once the parent is gone."""
NICENESS = 5
"""Servers step back behind the physics where both want a core."""
REASONS = {
    errno.EADDRINUSE: "in use by another program",
    errno.EADDRNOTAVAIL: "no address of this machine",
    errno.EACCES: "not allowed to this user",
}

Endpoints = Mapping[str, Endpoint]


class Connection(Protocol):
    """What an endpoint opens, in the loop below. Times are those of `time.perf_counter()`; no call waits."""

    @property
    def addresses(self) -> dict[str, str]: ...
    @property
    def sockets(self) -> list[socket.socket]: ...
    def receive(self) -> None: ...
    def next_due(self) -> float | None: ...
    def send_if_due(self, now: float) -> None: ...
    def counters(self) -> dict[str, Any]: ...
    def close(self) -> None: ...


class CannotOpen(Exception):
    """A link that could not be opened, and why."""

    def __init__(self, link: str, error: Exception):
        super().__init__(f"{link}: {error}")
        self.answer: dict[str, Any] = {"event": "failed", "link": link, "reason": str(error)}
        cause = error if isinstance(error, OSError) else error.__cause__
        if isinstance(error, InputError):
            self.answer["problems"] = [[problem.message, problem.key] for problem in error.problems]
        if isinstance(cause, OSError) and cause.errno in REASONS:
            self.answer["address"] = REASONS[cause.errno]


def main() -> None:
    orders, tell = take_orders()
    parent_gone = threading.Event()
    threading.Thread(target=watch_parent, args=(parent_gone,), daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(NICENESS)

    records = orders["endpoints"].items()
    try:
        endpoints = {name: imported(record).model_validate(settings) for name, (record, settings) in records}
        serve = serve_alone if any(one.serves for one in endpoints.values()) else serve_together
        run = AttachedRun(orders["run_id"])

        def should_stop() -> bool:
            return parent_gone.is_set() or run.finished

        counters = serve(run, endpoints, orders["seed"], tell, should_stop)
        run.close()
        tell({"event": "finished", "counters": counters})
    except CannotOpen as error:
        tell(error.answer)
    except BotzError as error:
        tell({"event": "failed", "link": "", "reason": str(error)})
    os._exit(0)  # a thread still waits for standard input; an orderly end could stumble over it


def watch_parent(gone: threading.Event) -> None:
    sys.stdin.read()
    gone.set()
    time.sleep(GRACE_SECONDS)
    os._exit(1)


def serve_alone(
    run: AttachedRun, endpoints: Endpoints, seed: int, tell: Tell, should_stop: Callable[[], bool]
) -> dict[str, Any]:
    """One endpoint that has this process for itself."""
    ((name, endpoint),) = endpoints.items()
    ready = False

    def tell_ready(address: str) -> None:
        nonlocal ready
        ready = True
        tell({"event": "ready", "addresses": {name: address}})

    try:
        serve = imported(endpoint.serves)
        return {name: serve(run, endpoint, seed, ready=tell_ready, should_stop=should_stop)}
    except (OSError, BotzError) as error:
        if ready:
            raise BotzError(str(error)) from error
        raise CannotOpen(name, error) from error


def serve_together(
    run: AttachedRun, endpoints: Endpoints, seed: int, tell: Tell, should_stop: Callable[[], bool]
) -> dict[str, Any]:
    """All endpoints that share this process; none of them draws random numbers."""
    del seed
    links: dict[str, Connection] = {}
    addresses: dict[str, str] = {}
    try:
        for name, endpoint in endpoints.items():
            try:
                links[name] = imported(endpoint.opens)(run, endpoint)
            except (OSError, BotzError) as error:
                raise CannotOpen(name, error) from error
            addresses |= links[name].addresses
        tell({"event": "ready", "addresses": addresses})
        closed = turn_until(should_stop, links, tell)
        return {name: link.counters() for name, link in (closed | links).items()}
    finally:
        for link in links.values():
            link.close()


def turn_until(should_stop: Callable[[], bool], links: dict[str, Connection], tell: Tell) -> dict[str, Connection]:
    """All links in one loop: what has arrived, then what is due. A link that fails is closed, the others go on; returns
    those and takes them out of `links`."""
    closed: dict[str, Connection] = {}

    def guarded(name: str, call: Callable[..., None], *arguments: float) -> None:
        try:
            call(*arguments)
        except (OSError, BotzError) as error:
            tell({"event": "warning", "text": f"the link {name!r} is closed: {error}"})
            closed[name] = links.pop(name)
            closed[name].close()

    with selectors.DefaultSelector() as selector:
        while links and not should_stop():
            began = time.perf_counter()
            watch(selector, links)
            times = [due for link in links.values() if (due := link.next_due()) is not None]
            wait = min(LONGEST_WAIT, max(0.0, min(times, default=math.inf) - began))
            heard = {key.data for key, _ in selector.select(wait)}
            for name in [name for name in links if name in heard]:
                guarded(name, links[name].receive)
            now = time.perf_counter()
            for name in list(links):
                guarded(name, links[name].send_if_due, now)
            time.sleep(max(0.0, began + SHORTEST_TURN - time.perf_counter()))
    return closed


def watch(selector: selectors.BaseSelector, links: Mapping[str, Connection]) -> None:
    """Bring what is watched up to date; a stream's sockets come and go with its clients."""
    wanted = {sock: name for name, link in links.items() for sock in link.sockets}
    watched = {key.fileobj for key in selector.get_map().values()}
    # First those that have gone: a new socket may have the number of a closed one.
    for sock in watched - wanted.keys():
        selector.unregister(sock)
    for sock in wanted.keys() - watched:
        selector.register(sock, selectors.EVENT_READ, wanted[sock])
