"""How late the steps of a served match are, by itself and while junk pours into the port for teams."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from botz.bench.results import Result, duration
from botz.errors import BotzError

SECONDS = 5.0
"""How long a run takes; the flood lasts for all of it."""
PACKETS_PER_SECOND = 10_000
LONGEST_PACKET = 200
ON_TIME = 5.0
"""Target: the 99th percentile of lateness [ms]."""
PORTS = (
    "links.league.listen=127.0.0.1:0",
    "links.league.vision=127.0.0.1:9",  # to nobody: a match that plays on this machine must not see this one
    "links.referee=null",
    "links.voltage.listen=127.0.0.1:0",
    "links.camera.listen=127.0.0.1:0",
    "links.poses.listen=127.0.0.1:0",
)
ADDRESS = re.compile(r"\s+league commands\s+([\d.]+):(\d+)")


def junk() -> list[bytes]:
    """Packets of all lengths that are no messages, the same each time; a few of them nearly are."""
    rng = np.random.default_rng(4)
    noise = [rng.bytes(int(length)) for length in rng.integers(0, LONGEST_PACKET, 200)]
    nearly = [b"\x0a" + bytes([length]) + rng.bytes(20) for length in range(56)]
    return noise + nearly


def pour(address: tuple[str, int], stop: threading.Event) -> int:
    """Send junk at its rate until `stop`; returns how many packets."""
    packets, sent = junk(), 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.setblocking(False)
        began = time.perf_counter()
        while not stop.is_set():
            due = int((time.perf_counter() - began) * PACKETS_PER_SECOND)
            while sent < due:
                with suppress(OSError):  # a full buffer, or the match has ended: this one is lost
                    out.sendto(packets[sent % len(packets)], address)
                sent += 1
            time.sleep(0.001)
    return sent


def lateness(*, flooded: bool) -> tuple[float, float]:
    """99th percentile of the steps' lateness in a served run [s], and the junk sent to it each second."""
    with tempfile.TemporaryDirectory() as folder:
        options = [word for setting in PORTS for word in ("--set", setting)]
        command = [sys.executable, "-m", "botz", "run", "soccer", "--serve", "--duration", f"{SECONDS}", *options]
        command += ["--out", str(Path(folder) / "run"), "--json", "--no-progress"]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert run.stderr is not None
        told: list[str] = []
        for line in run.stderr:
            told.append(line)
            if found := ADDRESS.match(line):
                break
        else:
            raise BotzError(f"the benchmark's match was not served: {''.join(told).strip() or 'it said nothing'}")
        stop, sent = threading.Event(), [0]
        address = (found[1], int(found[2]))
        flood = threading.Thread(target=lambda: sent.append(pour(address, stop)))
        began = time.perf_counter()
        if flooded:
            flood.start()
        try:
            answer, rest = run.communicate(timeout=SECONDS + 120.0)
        except subprocess.TimeoutExpired:
            run.kill()
            raise BotzError("the benchmark's match did not end") from None
        finally:
            stop.set()
            if flooded:
                flood.join()
        took = time.perf_counter() - began
    if run.returncode:
        raise BotzError(f"the benchmark's match failed: {rest.strip()}")
    return float(json.loads(answer)["lateness_p99_s"]), sent[-1] / took


def flood_results() -> list[Result]:
    calm, _ = lateness(flooded=False)
    flooded, packets = lateness(flooded=True)
    where = f"{SECONDS:g} s of botz run soccer --serve"
    return [
        duration(f"lateness, 99th percentile, {where}", 1e3 * calm, "ms", target=ON_TIME),
        duration(f"lateness, 99th percentile, {where}, flooded", 1e3 * flooded, "ms", target=ON_TIME),
        Result("junk packets of the flood", packets, "1/s"),
    ]
