"""Who may talk to the lab: Host, Origin and token of every request, and what is told about those turned away.

Any web page that a user visits can reach ws://127.0.0.1, and so can every other user of the machine. So on loopback too
a request must name this server as its host (a name that an attacker's name server points here is refused), whatever
acts must come from the lab's own page, and nothing is answered without the token. The printed address holds it; the
page that it opens gets a cookie, which no script can read.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import logging
import secrets
import socket
import time
from collections import Counter
from collections.abc import Iterable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from botz.view.lab.places import Places
from botz.view.lab.sentences import Sentence, told

logger = logging.getLogger("botz.lab")

LOOPBACK = ("127.0.0.1", "localhost", "::1")
WRONG_TOKEN_SECONDS = 1.0
"""Wrong tokens are answered one after the other, each after this long [s]: nobody guesses one that way."""
MOST_WAITING = 16
"""Wrong tokens of one address that wait for their answer. While there are so many, no token that somebody has chosen is
looked at from that address, a right one neither: whoever guesses learns nothing from being turned away at once. Cookies
and tokens that the lab has made are too long to be guessed, and stay welcome."""
TOLD_OF_EACH = 5
"""Refusals of a kind that are told singly in TOLD_SECONDS; the rest are counted."""
TOLD_SECONDS = 10.0
DISCARD_BYTES, DISCARD_SECONDS = 1 << 20, 2.0
OPEN_PATHS = ("/", "/assets/", "/favicon.ico", "/api/health")
"""What needs no token: the page itself, which says where the token is found."""
PAGE = "/"
"""Where the printed address leads: there the token may stand in the address."""

POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
]


@dataclass
class RefusalLog:
    """Tells what was refused, and does not let a flood of it fill the log."""

    counts: dict[str, int] = field(default_factory=dict)
    """All that was refused, by kind."""
    _recent: dict[str, tuple[float, int]] = field(default_factory=dict)

    def note(self, kind: str, text: str) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        now = time.monotonic()
        since, told = self._recent.get(kind, (now, 0))
        if now - since > TOLD_SECONDS:
            if told > TOLD_OF_EACH:
                logger.warning("botz: lab: refused: %s, %d more times", kind, told - TOLD_OF_EACH)
            since, told = now, 0
        self._recent[kind] = (since, told + 1)
        if told < TOLD_OF_EACH:
            logger.warning("botz: lab: refused: %s (%s)", kind, printable(text))


def printable(text: str) -> str:
    """What a stranger has sent, safe to show on a terminal."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in text[:120])
    return shown + ("…" if len(text) > 120 else "")


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class Guard:
    """The rules for one server."""

    def __init__(self, host: str, port: int, token: str | None = None):
        self.host, self.port = host.lower(), port
        self.chosen = token is not None
        """Whether somebody has thought of the token, so that it may be guessed."""
        self.token: str = token or secrets.token_urlsafe(24)
        self.session = secrets.token_urlsafe(24)
        """What the page's cookie holds."""
        self.cookie = f"botz-lab-{port}"
        """Its name: browsers do not tell the ports of an address apart."""
        self.places = Places(self.token, self.session)
        self.refusals = RefusalLog()
        self._anywhere = host in ("0.0.0.0", "::", "")
        self._names = {*LOOPBACK, self.host}
        if self._anywhere:
            self._names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
        self._turn = asyncio.Lock()
        self._waiting: Counter[str] = Counter()
        """Wrong tokens, by the address that they came from."""

    def knows_host(self, header: str) -> bool:
        """A Host header that means this server: name or address, and port."""
        try:
            parts = urlsplit(f"//{header}")
            host, port = (parts.hostname or "").lower(), parts.port
        except ValueError:
            return False
        if parts.netloc != header or "@" in header or (port or 80) != self.port:
            return False
        # Bound to all addresses it is reached by any of them; by a name only where it is the machine's own.
        return host in self._names or (self._anywhere and is_address(host))

    def knows_origin(self, origin: str, host: str) -> bool:
        """The page that asks was served by this server, under the name that it now uses."""
        return origin == f"http://{host}"

    def refusal(self, scope: Scope) -> tuple[int, Sentence, str] | None:
        """Status, kind and detail, of a request that may not come in; the token aside."""
        headers = Fields(scope["headers"])
        hosts = headers.all("host")
        if len(hosts) != 1 or not self.knows_host(hosts[0]):
            return 421, Sentence("door.host"), ", ".join(hosts) or "none"
        acts = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        origins = headers.all("origin")
        if (acts or origins) and not (len(origins) == 1 and self.knows_origin(origins[0], hosts[0])):
            return 403, Sentence("door.origin"), ", ".join(origins) or "none"
        site = headers.all("sec-fetch-site")
        if scope["path"].startswith("/api/") and site and site[0] not in ("same-origin", "none"):
            return 403, Sentence("door.site"), site[0]
        return None

    def token_fits(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())

    def has_cookie(self, scope: MutableMapping[str, Any]) -> bool:
        cookies = [one.strip() for value in Fields(scope["headers"]).all("cookie") for one in value.split(";")]
        wanted = f"{self.cookie}={self.session}".encode()
        return any(hmac.compare_digest(one.encode("latin-1"), wanted) for one in cookies)

    def cookie_header(self) -> tuple[bytes, bytes]:
        """For the page that the printed address opens; gone with the browser."""
        return b"set-cookie", f"{self.cookie}={self.session}; Path=/; HttpOnly; SameSite=Strict".encode()

    async def check(self, token: str | None, whose: str) -> Sentence | None:
        """Why a token that is given without the cookie opens nothing; None where it does."""
        if token is None:
            self.refusals.note("no token", whose)
            return Sentence("door.closed")
        if self.chosen and self.is_guessing(whose):
            self.refusals.note("too many wrong tokens", whose)
            return Sentence("door.guesses")
        if self.token_fits(token):
            return None
        await self.wrong_token(whose)
        return Sentence("door.token")

    async def wrong_token(self, whose: str) -> None:
        """Told, and slowed: returns when the answer may be given."""
        self.refusals.note("wrong token", whose)
        address = address_of(whose)
        self._waiting[address] += 1
        try:
            async with self._turn:
                await asyncio.sleep(WRONG_TOKEN_SECONDS)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address]

    def is_guessing(self, whose: str) -> bool:
        """Whether too many wrong tokens of this client's address wait already."""
        return self._waiting[address_of(whose)] >= MOST_WAITING


class Fields:
    """Headers of a request, text by name."""

    def __init__(self, headers: Iterable[tuple[bytes, bytes]]):
        self._pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in headers]

    def all(self, name: str) -> list[str]:
        return [value for key, value in self._pairs if key == name]


def given_token(scope: Scope) -> str | None:
    """By header, `Authorization: Bearer …`; in the address only where the printed one leads, which the page removes
    from the address line at once."""
    if scope["path"] == PAGE:
        return next(iter(parse_qs(scope["query_string"].decode("latin-1")).get("token", [])), None)
    for value in Fields(scope["headers"]).all("authorization"):
        scheme, _, token = value.partition(" ")
        if scheme.lower() == "bearer":
            return token.strip()
    return None


class Guarded:
    """The application behind its guard."""

    def __init__(self, app: ASGIApp, guard: Guard):
        self.app, self.guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refused = self.guard.refusal(scope)
        if refused is not None:
            status, kind, detail = refused
            self.guard.refusals.note(str(kind), f"{detail}, from {client_of(scope)}")
            await turn_away(scope, receive, send, status, kind)
            return
        extra = list(HEADERS)
        if scope["type"] == "http" and not self.guard.has_cookie(scope):
            token, whose = given_token(scope), client_of(scope)
            if token is not None or not is_open(scope["path"]):
                why = await self.guard.check(token, whose)
                if why is not None and not is_open(scope["path"]):
                    await turn_away(scope, receive, send, 429 if why.code == "door.guesses" else 401, why)
                    return
                if why is None and scope["path"] == PAGE:
                    extra.append(self.guard.cookie_header())

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *extra]
            await send(message)

        await self.app(scope, receive, send_with_headers)


def is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith("/assets/")


def client_of(scope: MutableMapping[str, Any]) -> str:
    client = scope.get("client")
    return f"{client[0]}:{client[1]}" if client else "unknown"


def address_of(client: str) -> str:
    """A client's address without its port."""
    return client.rpartition(":")[0]


async def turn_away(scope: Scope, receive: Receive, send: Send, status: int, why: Sentence) -> None:
    if scope["type"] == "http":
        await discard_body(receive)
    start, body = "http.response.start", "http.response.body"
    if scope["type"] == "websocket":
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})
            return
        start, body = f"websocket.{start}", f"websocket.{body}"
    headers = [(b"content-type", b"application/json"), (b"connection", b"close"), *HEADERS]
    await send({"type": start, "status": status, "headers": headers})
    await send({"type": body, "body": json.dumps(told(why, "error")).encode() + b"\n"})


async def discard_body(receive: Receive) -> None:
    """Read what little there is: to be closed with something unread would cost the client its answer."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            size, more = 0, True
            while more and size < DISCARD_BYTES:
                message = await receive()
                size += len(message.get("body", b""))
                more = message.get("more_body", False)
