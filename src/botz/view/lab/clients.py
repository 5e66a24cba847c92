"""Pages that are connected: what each has been told, what it watches, and how fast it may talk.

Nothing queues without bound. Of frames and of the list of runs only the latest goes out; what else is to be said waits
in a short queue; a page that takes nothing for a while, or talks too much, is dropped.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from botz.view.lab.frames import Subscription
from botz.view.lab.messages import BadMessage, packed
from botz.view.lab.sentences import told

MOST_CLIENTS = 32
MOST_QUEUED = 256
"""Messages that wait for a page, frames and lists not counted."""
STALLED_SECONDS = 10.0
"""A page that takes nothing for so long is dropped [s]."""
FULL_BYTES = 1 << 15
"""More than this waiting to be sent: the next frame is left out."""
MESSAGES_PER_SECOND = 200.0
BURST_SECONDS = 2.0
"""A page may talk faster than that for this long."""
MOST_MISTAKES = 5
MOST_SUBSCRIPTIONS = 8


class Dropped(Exception):
    """This page is not listened to any more; why."""


class Allowance:
    """So many a second, and a little more at times."""

    def __init__(self, rate: float, burst: float):
        self._rate, self._most = rate, rate * burst
        self._left, self._at = self._most, time.monotonic()

    def spend(self, amount: float = 1.0) -> bool:
        """False where it is used up."""
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < amount:
            return False
        self._left -= amount
        return True

    @property
    def is_spent(self) -> bool:
        """Whether the next one would be refused."""
        return self._left + (time.monotonic() - self._at) * self._rate < 1.0


class Client:
    """One page."""

    def __init__(self, websocket: WebSocket, address: str, on_drop: Callable[[str], None] = lambda why: None):
        self.id = secrets.token_hex(4)
        self.name = ""
        self.address = address
        self.subscriptions: dict[str, Subscription] = {}
        """By run."""
        self.mistakes = 0
        self.allowance = Allowance(MESSAGES_PER_SECOND, BURST_SECONDS)
        self.counts = dict.fromkeys(("sent", "skipped"), 0)
        self._websocket, self._on_drop = websocket, on_drop
        self.scope = websocket.scope
        """Of the request that it came by."""
        self._aborted = False
        self.transport: Any = websocket.scope.get("state", {}).get("transport")
        self._queue: deque[bytes] = deque()
        self._stale: dict[str, Callable[[], dict[str, Any]]] = {}
        """Kinds of message of which only the latest counts, and what makes it."""
        self._wake = asyncio.Event()
        self._numbers = 0

    # --- to the page -----------------------------------------------------------------------------------------

    def tell(self, message: dict[str, Any]) -> None:
        if self._aborted:
            return
        if len(self._queue) >= MOST_QUEUED:
            self._on_drop(f"{MOST_QUEUED} messages wait for it")
            self.abort()
            return
        self._queue.append(packed(message))
        self._wake.set()

    @property
    def is_behind(self) -> bool:
        """So much waits for it that what it can do without is left out."""
        return len(self._queue) > MOST_QUEUED // 2

    def tell_latest(self, kind: str, make: Callable[[], dict[str, Any]]) -> None:
        """A message that is made when it can be sent, and once however often it is asked for until then."""
        self._stale[kind] = make
        self._wake.set()

    def watch(self, subscription: Subscription) -> None:
        self.subscriptions.pop(subscription.run.id, None)
        if len(self.subscriptions) >= MOST_SUBSCRIPTIONS:
            self.subscriptions.pop(next(iter(self.subscriptions)))
        self.subscriptions[subscription.run.id] = subscription
        self._wake.set()

    def next_number(self) -> int:
        self._numbers += 1
        return self._numbers

    async def send_all(self) -> None:
        """Sends what is due, for as long as the connection lasts."""
        loop = asyncio.get_running_loop()
        while True:
            self._wake.clear()
            while self._queue:
                await self._send(self._queue.popleft())
            for kind in list(self._stale):
                await self._send(packed(self._stale.pop(kind)()))
            due = await self._send_frames()
            if self._queue or self._stale:
                continue
            timer = loop.call_later(max(0.0, due - time.monotonic()), self._wake.set) if due is not None else None
            await self._wake.wait()
            if timer is not None:
                timer.cancel()

    async def _send_frames(self) -> float | None:
        """Frames that are due; when the next one is."""
        for subscription in list(self.subscriptions.values()):
            if subscription.resolve():
                await self._send(packed(dict(subscription.watching())))
            now = time.monotonic()
            if now < subscription.due:
                continue
            if self._is_full():
                subscription.due = now + subscription.period
                self.counts["skipped"] += 1
                continue
            frame = subscription.frame(now)
            if frame is not None:
                await self._send(frame)
                self.counts["sent"] += 1
        return min((one.due for one in self.subscriptions.values()), default=None)

    def _is_full(self) -> bool:
        return self.transport is not None and self.transport.get_write_buffer_size() > FULL_BYTES

    async def _send(self, data: bytes) -> None:
        try:
            async with asyncio.timeout(STALLED_SECONDS):
                await self._websocket.send_bytes(data)
                # Where the system's buffer is full, what follows waits here and not in memory.
                while self._is_full() and not self.transport.is_closing():
                    await asyncio.sleep(0.02)
        except TimeoutError:
            self.abort()
            raise Dropped(f"took nothing for {STALLED_SECONDS:g} s") from None

    # --- from the page ---------------------------------------------------------------------------------------

    async def receive(self) -> bytes | None:
        """The next message, None for text; raises Dropped when the page has talked too much or has gone."""
        message = await self._websocket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1005))
        if not self.allowance.spend():
            raise Dropped(f"more than {MESSAGES_PER_SECOND:g} messages per second")
        return message.get("bytes")

    def mistake(self, error: BadMessage) -> None:
        """Tell the page what was wrong; too many of these and it is dropped."""
        self.mistakes += 1
        if self.mistakes >= MOST_MISTAKES:
            raise Dropped(f"{MOST_MISTAKES} messages that cannot be understood, the last: {error}")
        self.tell({"t": "error", "about": None, **told(error)})

    async def close(self, code: int, reason: str) -> None:
        with suppress(Exception):  # it may have gone already
            async with asyncio.timeout(1.0):
                await self._websocket.close(code, reason[:100])
        if self._is_full():
            self.abort()

    def abort(self) -> None:
        """End the connection without waiting for what could not be sent."""
        self._aborted = True
        if self.transport is not None:
            self.transport.abort()
