"""Links side by side against the same equations link by link."""

from __future__ import annotations

import numpy as np
import pytest

from botz.physics.arm import composite_body, dh
from botz.physics.arm.chain_block import BLOCK, LANES, bias_and_inertia, fill_block
from botz.physics.arm.newton_euler import newton_euler

GRAVITY = (0.7, -1.3, -9.7)


def random_links(n: int, rng: np.random.Generator) -> np.ndarray:
    links = np.zeros(n, dh.LINK)
    alpha = rng.uniform(-np.pi, np.pi, n)
    links["ca"], links["sa"] = np.cos(alpha), np.sin(alpha)
    for field in ("a", "d", "theta", "cx", "cy", "cz"):
        links[field] = rng.normal(size=n)
    links["mass"], links["rotor"] = rng.uniform(0.5, 5.0, n), rng.uniform(0.0, 0.5, n)
    for link in links:
        root = rng.normal(size=(3, 3))
        inertia = root @ root.T
        link["ixx"], link["iyy"], link["izz"] = np.diag(inertia)
        link["ixy"], link["ixz"], link["iyz"] = inertia[0, 1], inertia[0, 2], inertia[1, 2]
    links["kind"] = np.where(rng.uniform(size=n) < 0.3, dh.PRISMATIC, dh.REVOLUTE)
    return links


@pytest.mark.parametrize("n", range(1, LANES + 1))
def test_torques_and_inertia_are_those_of_link_by_link(n: int):
    rng = np.random.default_rng(n)
    block = np.zeros(1, BLOCK)
    for _ in range(5):
        links = random_links(n, rng)
        q, qd = rng.normal(size=(2, n))
        scratch, frames = np.zeros(n, dh.SCRATCH), np.zeros((n, 12))
        dh.set_joints(links, q, scratch)
        dh.chain_frames(links, scratch, frames)
        load, inertia = np.zeros(n), np.zeros((n, n))
        newton_euler(links, *GRAVITY, qd, np.zeros(n), scratch, load)
        composite_body.inertia_matrix(links, scratch, inertia)

        found, lower = np.zeros(n), np.zeros((n, n))
        block.view(np.uint8)[...] = 255  # NaN: nothing of it is read before it is written
        fill_block(links, block[0])
        bias_and_inertia(links, *GRAVITY, frames, qd, block[0], found, lower)

        assert found == pytest.approx(load, rel=1e-12, abs=1e-12 * np.abs(load).max())
        assert np.tril(lower) == pytest.approx(np.tril(inertia), rel=1e-12, abs=1e-12 * inertia.max())
