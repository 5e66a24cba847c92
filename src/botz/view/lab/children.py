"""Processes beside the server, awaited. They are started by a thread of their own, so that they do not inherit the
server's place behind the physics in the queue for the cores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from subprocess import Popen
from typing import Any

from botz.child import Answers, child_process

LOOK_SECONDS = 0.02
"""How often a process is asked for news."""


class Child:
    """One process and what it says."""

    def __init__(self, process: Popen[str], answers: Answers):
        self._process, self._answers = process, answers

    @property
    def code(self) -> int:
        return self._process.returncode if self._process.returncode is not None else 0

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """All it says, until it ends."""
        while True:
            ended = self._process.poll() is not None
            for message in self._answers(ended):
                yield message
            if ended:
                return
            await asyncio.sleep(LOOK_SECONDS)

    def say(self, word: str) -> None:
        """One line to its standard input."""
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):
            self._process.stdin.write(word + "\n")
            self._process.stdin.flush()

    def look(self) -> tuple[list[dict[str, Any]], bool]:
        """What it has said since the last look, and whether it has ended."""
        ended = self._process.poll() is not None
        return self._answers(ended), ended


class Spawner:
    """Starts processes. To be made before the server gives way to the physics: on Linux a thread has a niceness of its
    own, and what it starts inherits that one."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="botz-spawner")
        self._pool.submit(int).result()  # the thread is there from now on

    @asynccontextmanager
    async def child(self, code: str, orders: Mapping[str, Any]) -> AsyncIterator[Child]:
        """A fresh interpreter with its orders; leaving the context closes its standard input, which ends it."""
        loop = asyncio.get_running_loop()
        context: AbstractContextManager[tuple[Popen[str], Answers]] = child_process(code, orders)
        starting = loop.run_in_executor(self._pool, context.__enter__)
        try:
            process, answers = await asyncio.shield(starting)
            yield Child(process, answers)
        finally:
            await starting  # also where nobody wants it any more: what was started is ended
            # Its end may take a while, which must not keep others from starting.
            await asyncio.shield(asyncio.to_thread(context.__exit__, None, None, None))

    def close(self) -> None:
        self._pool.shutdown(wait=False)
