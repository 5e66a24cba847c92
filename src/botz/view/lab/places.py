"""Places for connections: many for those who have shown the token, few for strangers, and how fast strangers may send.

A connection begins as a stranger's. Its first bytes are searched for the token before anything is parsed; who shows it
has a place of its own, which no stranger can take. A stranger who comes when all places of strangers are taken takes
that of the one who has had it longest, so that half-sent requests keep nobody out.
"""

from __future__ import annotations

import hmac
import re
from collections import Counter, OrderedDict
from typing import Any

from botz.view.lab.clients import Allowance

MOST_HOLDERS = 128
"""Connections of those who have the token."""
MOST_STRANGERS, MOST_STRANGERS_PER_ADDRESS = 48, 32
PIECES_PER_SECOND, PIECES_PER_SECOND_AND_ADDRESS = 80.0, 40.0
"""What strangers send, in pieces as they arrive, in total and per address; a page that opens sends about ten."""
PIECES_BURST_SECONDS = 4.0
ENTRIES_PER_SECOND, ENTRIES_BURST_SECONDS = 10.0, 12.0
"""Pages per second and address that are welcomed."""
DROPS_PER_SECOND, DROPS_BURST_SECONDS = 0.5, 20.0
"""Pages per second and address that may be dropped for what they do, before the address has to wait. Those with the
token and strangers are counted apart: on loopback all have one address."""
MOST_ADDRESSES = 1024
"""Addresses whose allowances are kept; the longest unseen goes."""
HEAD_BYTES = 1 << 14

GIVEN = re.compile(
    rb"(?i:\bauthorization: *bearer +|[?&]token=)(?P<token>[\w.~-]{16,512})"
    rb"|(?i:\bcookie:)[^\r\n]*?\bbotz-lab-\d+=(?P<session>[\w-]{16,100})"
)


class Limited:
    """An allowance for each address."""

    def __init__(self, rate: float, burst: float):
        self._rate, self._burst = rate, burst
        self._by_address: OrderedDict[str, Allowance] = OrderedDict()

    def of(self, address: str) -> Allowance:
        allowance = self._by_address.setdefault(address, Allowance(self._rate, self._burst))
        self._by_address.move_to_end(address)
        if len(self._by_address) > MOST_ADDRESSES:
            self._by_address.popitem(last=False)
        return allowance


class Places:
    """Who is connected to one server."""

    def __init__(self, token: str, session: str):
        self._token, self._session = token.encode(), session.encode()
        self._strangers: dict[Any, str] = {}
        """Addresses by transport, who came first comes first."""
        self._holders: set[Any] = set()
        self._pieces = Allowance(PIECES_PER_SECOND, PIECES_BURST_SECONDS)
        self._pieces_of = Limited(PIECES_PER_SECOND_AND_ADDRESS, PIECES_BURST_SECONDS)
        self.entries = Limited(ENTRIES_PER_SECOND, ENTRIES_BURST_SECONDS)
        self._drops = Limited(DROPS_PER_SECOND, DROPS_BURST_SECONDS)

    @property
    def counts(self) -> tuple[int, int]:
        """Holders and strangers."""
        return len(self._holders), len(self._strangers)

    def enter(self, transport: Any, address: str) -> Any | None:
        """A new connection; the one whose place it takes, which is to be cut off."""
        self._strangers[transport] = address
        by_address = Counter(self._strangers.values())
        if by_address[address] > MOST_STRANGERS_PER_ADDRESS:
            crowded = address
        elif len(self._strangers) > MOST_STRANGERS:
            crowded = by_address.most_common(1)[0][0]
        else:
            return None
        oldest = next(one for one, whose in self._strangers.items() if whose == crowded)
        del self._strangers[oldest]
        return oldest

    def leave(self, transport: Any) -> None:
        self._strangers.pop(transport, None)
        self._holders.discard(transport)

    def is_holder(self, transport: Any) -> bool:
        return transport in self._holders

    def admit(self, transport: Any) -> bool:
        """The token was shown; False where all places of holders are taken."""
        if transport not in self._holders:
            if len(self._holders) >= MOST_HOLDERS:
                return False
            self._strangers.pop(transport, None)
            self._holders.add(transport)
        return True

    def drops(self, transport: Any, address: str) -> Allowance:
        """How many more pages of this connection's address, and with or without the token as it, may be dropped."""
        return self._drops.of(f"{address} with the token" if self.is_holder(transport) else address)

    def shows_token(self, head: bytes) -> bool:
        """Whether a request's first bytes hold the token or the cookie; what they ask for is looked at later."""
        for found in GIVEN.finditer(head[:HEAD_BYTES]):
            token, session = found["token"], found["session"]
            if token is not None and hmac.compare_digest(token, self._token):
                return True
            if session is not None and hmac.compare_digest(session, self._session):
                return True
        return False

    def hears(self, address: str) -> bool:
        """Whether a stranger's next piece is looked at at all."""
        return self._pieces_of.of(address).spend() and self._pieces.spend()
