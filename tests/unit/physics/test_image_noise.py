"""Blur, brightness and noise of images. Also runs with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numpy as np
import pytest

from botz.physics.soccer.image_noise import GAIN_ONE, LEVELS, WEIGHT_ONE, blur_box, brighten_and_add_noise
from botz.scene.soccer.camera import noise_levels

IMAGE = np.random.default_rng(1).integers(0, 256, (14, 17, 3), dtype=np.uint8)
SILENCE = np.zeros(LEVELS, dtype=np.int64)


def blurred(image, weights, box):
    weights = np.array(weights, dtype=np.uint32)
    assert weights.sum() == WEIGHT_ONE
    room = np.zeros((2, 3 * (image.shape[1] + len(weights))), dtype=np.uint32)
    result = np.full_like(image, 77)
    blur_box(image, weights, np.array(box), room[0], room[1], result)
    return result


def noisy(image, gain=GAIN_ONE, levels=SILENCE, key=1, other=2):
    result = np.zeros_like(image)
    brighten_and_add_noise(image, gain, levels, key, other, result)
    return result


WEIGHTS = [4000, 16000, 25536, 16000, 4000]


@pytest.mark.parametrize("box", [(0, 14, 0, 17), (3, 9, 4, 12), (0, 2, 15, 17), (13, 14, 0, 1)])
def test_blur_is_the_weighted_mean_and_touches_its_box_alone(box):
    padded = np.pad(IMAGE.astype(float), ((2, 2), (2, 2), (0, 0)), mode="edge")
    share = np.array(WEIGHTS) / WEIGHT_ONE
    expected = sum(a * b * padded[i : i + 14, j : j + 17] for i, a in enumerate(share) for j, b in enumerate(share))
    found = blurred(IMAGE, WEIGHTS, box)
    inside = np.zeros(IMAGE.shape[:2], dtype=bool)
    inside[box[0] : box[1], box[2] : box[3]] = True
    assert np.abs(found[inside] - expected[inside]).max() <= 0.51
    assert (found[~inside] == 77).all()


@pytest.mark.parametrize("level", [0, 1, 128, 255])
def test_blur_leaves_an_even_image(level):
    even = np.full((9, 8, 3), level, dtype=np.uint8)
    assert (blurred(even, WEIGHTS, (0, 9, 0, 8)) == level).all()


def test_gain_and_its_limits():
    assert (noisy(IMAGE) == IMAGE).all()
    assert np.abs(noisy(IMAGE, GAIN_ONE // 2) - 0.5 * IMAGE).max() <= 0.51
    assert (noisy(IMAGE, 2 * GAIN_ONE) == np.minimum(2 * IMAGE.astype(int), 255)).all()


def test_noise_has_its_size_and_is_the_same_for_the_same_keys():
    grey = np.full((40, 40, 3), 128, dtype=np.uint8)
    levels = noise_levels(6.0)
    noise = noisy(grey, levels=levels).astype(float) - 128.0
    # Of n values: the mean is off by 6/√n, the deviation by 6/√(2 n), within four of these.
    assert noise.mean() == pytest.approx(0.0, abs=4 * 6 / noise.size**0.5)
    assert noise.std() == pytest.approx(6.0, abs=4 * 6 / (2 * noise.size) ** 0.5 + 0.02)
    assert (noisy(grey, levels=levels) == noisy(grey, levels=levels)).all()
    for keys in ({"key": 7}, {"other": 7}):
        other = noisy(grey, levels=levels, **keys).astype(float) - 128.0
        assert abs(np.corrcoef(noise.ravel(), other.ravel())[0, 1]) < 0.06
    for a, b in (noise[:, 1:] * noise[:, :-1], noise[1:] * noise[:-1]), (noise[..., 1:] * noise[..., :-1],) * 2:
        assert abs(a.mean()) < 2.5 and abs(b.mean()) < 2.5, "neighbours and colours go together"


def test_noise_stays_within_a_byte():
    ends = np.array([[[0, 255, 3]] * 30] * 30, dtype=np.uint8)
    found = noisy(ends, levels=noise_levels(40.0)).astype(int)
    assert (found[..., 0] == 0).mean() == pytest.approx(0.5, abs=0.1)
    assert (found[..., 1] == 255).mean() == pytest.approx(0.5, abs=0.1)
