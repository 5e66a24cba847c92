"""Whose packets are read at a port that anybody may send to, so that a flood costs little more than its arrival.

A packet that is not read is dropped before anything in it is looked at. Who has sent something useful has room kept;
strangers share what is left, and one who sends nothing but rubbish is not read for the rest of a second.
"""

from __future__ import annotations

from botz.endpoints.udp_port import Address

MOST_BAD = 200
"""Bad packets of one sender that are read in a second."""
MOST_GOOD = 5000
"""Packets of one known sender that are read in a second."""
STRANGERS_RATE, STRANGERS_BURST = 500.0, 256.0
"""Packets of all unknown senders together that are read: in a second, and at once."""
MOST_KNOWN = 64
"""Senders for whom room is kept; a further one takes the place of the one that has been silent for longest."""


class Admission:
    """Times are those of one clock [s]."""

    def __init__(self, now: float) -> None:
        self._known: dict[Address, int] = {}
        """Packets read in this second, by sender; the last to be heard is the last here."""
        self._bad: dict[Address, int] = {}
        """Bad packets in this second, by sender."""
        self._second = self._filled = now
        self._tokens = STRANGERS_BURST

    def admits(self, sender: Address, now: float) -> bool:
        """Whether a packet of this sender is to be read."""
        if now - self._second >= 1.0:
            self._second = now
            self._bad.clear()
            self._known = dict.fromkeys(self._known, 0)
        if self._bad.get(sender, 0) >= MOST_BAD:
            return False
        if sender in self._known:
            count = self._known.pop(sender)
            self._known[sender] = count + 1
            return count < MOST_GOOD
        self._tokens = min(STRANGERS_BURST, self._tokens + STRANGERS_RATE * (now - self._filled))
        self._filled = now
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True

    def judge(self, sender: Address, *, good: bool) -> None:
        """What a packet that was read turned out to be."""
        if good:
            if sender not in self._known and len(self._known) >= MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known.setdefault(sender, 1)
        else:
            self._bad[sender] = bad = self._bad.get(sender, 0) + 1
            if bad >= MOST_BAD:
                self._known.pop(sender, None)
