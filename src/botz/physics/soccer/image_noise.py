"""What keeps a camera's images from being perfect: blur, brightness and noise.

Whole numbers throughout, so that the same frame has the same bits everywhere.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from botz.kernels import compiled, inlined

GAIN_ONE = 4096
"""A gain of 1."""
LEVELS = 1024
"""How many values the noise has: quantiles of its distribution, in sixteenths of a level."""
WEIGHT_ONE = 65536
"""What the weights of a blur sum to."""
M32 = 0xFFFFFFFF


@njit(cache=True, error_model="numpy", nogil=True)
def blur_box(source, weights, box, column, padded, image):
    """Blur the pixels of a box: first along columns, then along rows; beyond its edge the image goes on as it ends.

    weights (2 r + 1) sum to WEIGHT_ONE. `column` and `padded` are buffers for one row of uint32: 3 (width + 2 r).
    """
    rows, columns, taps = source.shape[0], source.shape[1], weights.shape[0]
    reach = taps // 2
    low, high = max(0, box[2] - reach), min(columns, box[3] + reach)
    width = box[3] - box[2]
    for v in range(box[0], box[1]):
        for c in range(3 * (high - low)):
            column[c] = 0
        for k in range(taps):
            add_row(source[min(max(v + k - reach, 0), rows - 1)], low, high, weights[k], column)
        for u in range(-reach, width + reach):
            from_u = min(max(box[2] + u, low), high - 1) - low
            for c in range(3):
                padded[3 * (u + reach) + c] = (column[3 * from_u + c] + 128) >> 8
        for c in range(3 * width):
            column[c] = 1 << 23
        for k in range(taps):
            add_shifted(padded, 3 * k, weights[k], 3 * width, column)
        for u in range(width):
            for c in range(3):
                image[v, box[2] + u, c] = column[3 * u + c] >> 24


@compiled
def add_row(row, low, high, weight, total):
    for u in range(low, high):
        for c in range(3):
            total[3 * (u - low) + c] += weight * row[u, c]


@compiled
def add_shifted(values, shift, weight, count, total):
    for c in range(count):
        total[c] += weight * values[shift + c]


@inlined
def mixed(x):  # -> 32 bits in which each bit of x takes part
    x ^= x >> 16
    x = (x * 0x21F0AAAD) & M32
    x ^= x >> 15
    x = (x * 0x735A2D97) & M32
    return x ^ (x >> 15)


@njit(cache=True, error_model="numpy", nogil=True)
def brighten_and_add_noise(source, gain, levels, key, other_key, image):
    """image = source · gain / GAIN_ONE + noise. levels (LEVELS): values of the noise in sixteenths, each as likely as
    the others; the keys (32 bits) choose which come where."""
    columns = source.shape[1]
    for v in range(source.shape[0]):
        for u in range(columns):
            bits = mixed((mixed((v * columns + u) ^ key) + other_key) & M32)
            for c in range(3):
                value = ((np.int64(source[v, u, c]) * gain + 128) >> 8) + levels[bits & (LEVELS - 1)]
                image[v, u, c] = min(max((value + 8) >> 4, 0), 255)
                bits >>= 10
