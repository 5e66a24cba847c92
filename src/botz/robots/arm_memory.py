"""All numbers of one arm in one array: its records, and the workspace of the compiled calls.

A call from Python pays for each array that it hands over, most for arrays of records. So an arm's calls get one plain
array, and look at its parts as what they are, which costs nothing in compiled code. They hold Python's lock from the
beginning to the end, so that threads may share an arm: no call sees the workspace of another.
"""

from __future__ import annotations

import numpy as np

from botz.kernels import inlined
from botz.physics.arm.dh import ARM, LINK, SCRATCH

ARM_SIZE, LINK_SIZE, SCRATCH_SIZE = (kind.itemsize // 8 for kind in (ARM, LINK, SCRATCH))
"""Numbers in a record of each kind, all of them of eight bytes."""
LINKS = 1 + ARM_SIZE
"""Where the links begin: behind the number of joints and the arm's record. The workspace is behind them."""


def arm_memory(arm: np.ndarray, links: np.ndarray) -> np.ndarray:
    n = len(links)
    work = n * SCRATCH_SIZE + 12 * (n + 1) + max((n + 3) * n + 6 * n + 36, (n + 6) * (n + 8)) + 12
    memory = np.zeros(LINKS + n * LINK_SIZE + work)
    memory[0] = n
    arm_of(memory)[:] = arm
    links_of(memory)[:] = links
    return memory


def arm_of(memory: np.ndarray) -> np.ndarray:
    return memory[1:LINKS].view(ARM)


def links_of(memory: np.ndarray) -> np.ndarray:
    return memory[LINKS : LINKS + int(memory[0]) * LINK_SIZE].view(LINK)


@inlined
def parts_of(memory):  # -> arm (1), links, scratch of each, frames (n + 1, 12), and what is left
    n = int(memory[0])
    scratch = LINKS + n * LINK_SIZE
    frames = scratch + n * SCRATCH_SIZE
    room = frames + 12 * (n + 1)
    return (
        memory[1:LINKS].view(ARM),
        memory[LINKS:scratch].view(LINK),
        memory[scratch:frames].view(SCRATCH),
        memory[frames:room].reshape((n + 1, 12)),
        memory[room:],
    )
