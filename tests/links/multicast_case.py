"""Vision as multicast, in a network of its own: run by test_multicast.py, inside a namespace that holds nothing else.

Prints what each client saw as JSON.
"""

from __future__ import annotations

import json
import select
import socket
import subprocess
import sys
from typing import Any

from fake_match import FakeMatch

from botz.endpoints.soccer.league import LeagueLink
from botz.endpoints.soccer.league_messages import Environment, RefereeCall
from botz.endpoints.soccer.referee import RefereeLink
from botz.scenario.soccer.links import LeagueLink as Settings
from botz.scenario.soccer.links import RefereeLink as RefereeSettings

PATIENCE = 10.0
SILENCE = 0.3
"""How long a client waits that must see nothing [s]; loopback delivers before `sendto` returns."""


def lay_out(*commands: str) -> str:
    """Run them; what went wrong, or nothing."""
    for command in commands:
        answer = subprocess.run(command.split(), capture_output=True, text=True)
        if answer.returncode:
            return f"{command}: {answer.stderr.strip()}"
    return ""


def client(bound: str, port: int, *, group: str | None = None, on: str = "0.0.0.0") -> socket.socket:
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as clients of the league do: several a machine
    opened.bind((bound, port))
    if group is not None:
        membership = socket.inet_aton(group) + socket.inet_aton(on)
        opened.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
    return opened


def step_seen(opened: socket.socket, patience: float = PATIENCE) -> int | None:
    opened.settimeout(patience)
    try:
        return Environment.FromString(opened.recv(65536)).step
    except TimeoutError:
        return None


def send(match: FakeMatch, step: int, **settings: str) -> int:
    """One vision message; returns its time to live."""
    match.step = step
    link = LeagueLink(match, Settings(listen="127.0.0.1:0", **settings))
    link.send_if_due(link.next_due())
    assert link.counters()["sent"] == 1, link.counters()
    ttl = link._out.getsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL)
    link.close()
    return ttl


def main() -> None:
    if problem := lay_out("ip link set lo up"):
        sys.exit(problem)
    missing = lay_out(
        "ip link add botz0 type veth peer name botz1",
        "ip addr add 10.9.8.7/24 dev botz0",
        "ip link set botz0 up",
        "ip link set botz1 up",
        "ip route add default dev botz0",
    )
    if missing:
        lay_out("ip route add 224.0.0.0/4 dev lo")  # a machine without a network
    match = FakeMatch()
    seen: dict[str, Any] = {"missing": missing}
    on_loopback(match, seen, watched=not missing)
    referee_calls(seen)
    if not missing:
        on_another_interface(match, seen)
    print(json.dumps(seen))


def on_loopback(match: FakeMatch, seen: dict[str, Any], *, watched: bool) -> None:
    """The league's defaults; clients join as their libraries do, by the default interface."""
    clients = {
        "bound to the group": client("224.0.0.1", 10002),
        "bound to the group and joined": client("224.0.0.1", 10002, group="224.0.0.1"),
        "bound to the port": client("0.0.0.0", 10002),
        "bound to the port and joined": client("0.0.0.0", 10002, group="224.0.0.1"),
        "joined on loopback": client("0.0.0.0", 10002, group="224.0.0.1", on="127.0.0.1"),
        "bound to 127.0.0.1": client("127.0.0.1", 10002),
        "bound to 127.0.0.1 and joined": client("127.0.0.1", 10002, group="224.0.0.1", on="127.0.0.1"),
    }
    watcher = watch("botz0") if watched else None
    seen["ttl on loopback"] = send(match, 11, vision="224.0.0.1:10002")
    # A copy to the address itself reaches one of the two that share it; either would do alone.
    shared = [clients.pop(name) for name in ("bound to 127.0.0.1", "bound to 127.0.0.1 and joined")]
    seen["bound to 127.0.0.1"] = sorted(str(step_seen(opened, SILENCE)) for opened in shared)
    for name, opened in clients.items():
        seen[name] = step_seen(opened)
        seen[f"{name}: once more"] = step_seen(opened, SILENCE)
    if watcher:
        seen["packets out of the other interface"] = vision_packets(watcher, 10002)

    joined = client("0.0.0.0", 10003, group="224.5.23.2", on="127.0.0.1")
    send(match, 12, vision="224.5.23.2:10003")
    seen["another group on loopback"] = step_seen(joined)


def referee_calls(seen: dict[str, Any]) -> None:
    """A referee that chooses no interface, and one that chooses loopback; a team that hears it too."""
    link = RefereeLink(FakeMatch(), RefereeSettings())
    team = client("0.0.0.0", 10003, group="224.5.23.2", on="127.0.0.1")
    for name, interface in (("loopback", "127.0.0.1"), ("default interface", None)):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as referee:
            if interface is not None:
                referee.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(interface))
            before = link.counters()["received"]
            referee.sendto(RefereeCall(foul=7, teamcolor=2, timestamp=1.0).SerializeToString(), ("224.5.23.2", 10003))
            select.select(link.sockets, [], [], SILENCE)
            link.receive()
            seen[f"calls by {name}"] = link.counters()["received"] - before
    seen["calls ignored"] = link.counters()["ignored"]
    team.settimeout(PATIENCE)
    seen["the team hears the referee"] = RefereeCall.FromString(team.recv(1024)).foul
    link.close()


def on_another_interface(match: FakeMatch, seen: dict[str, Any]) -> None:
    there = client("0.0.0.0", 10004, group="224.5.23.2", on="10.9.8.7")
    elsewhere = client("127.0.0.1", 10004)
    watcher = watch("botz0")
    seen["ttl on the other interface"] = send(match, 13, vision="224.5.23.2:10004", interface="10.9.8.7")
    seen["joined on the other interface"] = step_seen(there)
    seen["packets out of it when chosen"] = vision_packets(watcher, 10004)
    seen["bound to loopback"] = step_seen(elsewhere, SILENCE)


def watch(interface: str) -> socket.socket:
    every_protocol = 0x0003
    watcher = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(every_protocol))
    watcher.bind((interface, every_protocol))
    watcher.settimeout(SILENCE)
    return watcher


def vision_packets(watcher: socket.socket, port: int) -> int:
    """How many packets to that port went out of the watched interface."""
    count = 0
    try:
        while True:
            packet, (_, _, direction, *_) = watcher.recvfrom(65536)
            header = 4 * (packet[0] & 0x0F)
            to_port = int.from_bytes(packet[header + 2 : header + 4], "big")
            is_udp = packet[0] >> 4 == 4 and packet[9] == socket.IPPROTO_UDP
            count += is_udp and to_port == port and direction == socket.PACKET_OUTGOING
    except TimeoutError:
        return count


if __name__ == "__main__":
    main()
