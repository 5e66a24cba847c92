"""What a camera above a field sees: cubes and a ball before a picture of the empty field, as 8-bit colours.

A ray leaves the lens at t = 0 and meets the ground at t = 1. `rays` holds, for each corner of each pixel, where that is
relative to the foot of the lens [m]; NaN where the lens shows nothing.
"""

from __future__ import annotations

from math import cos, inf, isfinite, sin, sqrt

import numpy as np
from numba import njit

from botz.kernels import compiled, inlined, record, words

LENS = record(**dict.fromkeys(words("x y height cosine sine half_view half_width u0 v0 distortion fold"), np.float64))
"""Foot and height of the lens, its turn, half the width of the image on the ground [m] and in pixels, the pixel in the
middle, the radial distortion, and the squared radius at which it would fold the image over (inf: nowhere)."""

TOP, TEAM, FIRST, SECOND, FRONT, FLANK = range(6)
"""Parts of a robot that have a colour: top, patch of the team, two patches of its number, faces across x and y."""
PARTS = 6
MISSED, MIXED = -1, -2
INNER, OUTER = 0.07, 0.86
"""Patches reach from INNER to OUTER of half the side: the team's on the front half, the number's on the rear half, the
first on the left."""
SHAPE = 6
"""Numbers for each body: the lens in the body's axes and unit (x, y), cosine and sine by that unit, height of the top
by that of the lens, and the unit (half the side, or the radius)."""
SPREAD = 0.375
"""How far samples are from the middle of their pixel."""
BALL_RIM = 0.68
"""How bright the rim of the ball is against its top."""


# --- where things are in the image ---------------------------------------------------------------------------


@compiled
def pixel_of(lens, x, y, z):  # -> u, v
    """The pixel that shows a point; whole numbers are the middles of pixels. What the lens cannot show comes to lie on
    the rim of what it can."""
    lift = lens.height / ((lens.height - z) * lens.half_view)
    dx, dy = (x - lens.x) * lift, (y - lens.y) * lift
    a, b = lens.cosine * dx + lens.sine * dy, lens.cosine * dy - lens.sine * dx
    r2 = a * a + b * b
    if r2 > lens.fold:
        shrink = sqrt(lens.fold / r2)
        a, b, r2 = a * shrink, b * shrink, lens.fold
    seen = lens.half_width * (1.0 + lens.distortion * r2)
    return lens.u0 + seen * a, lens.v0 - seen * b


@compiled
def bounds(lens, x, y, heading, half, top, rows, columns, box):
    """First and last + 1 of the rows and columns that may show a prism on the ground; all, where the lens is too near
    to tell."""
    box[0], box[1], box[2], box[3] = 0, rows, 0, columns
    if not top < 0.9 * lens.height:
        return
    c, s = half * cos(heading), half * sin(heading)
    low_u, high_u, low_v, high_v = inf, -inf, inf, -inf
    for level in range(2):
        for i in range(-1, 2):
            for j in range(-1, 2):
                u, v = pixel_of(lens, x + i * c - j * s, y + i * s + j * c, level * top)
                low_u, high_u, low_v, high_v = min(low_u, u), max(high_u, u), min(low_v, v), max(high_v, v)
    # Between these points an edge L long (of half the image) bends by at most L²/8 times the second derivative of the
    # distortion, 6 |k| r, or lies on the rim of a lens that folds.
    size = 2.0 * half / lens.half_view * lens.height / (lens.height - top)
    margin = 1.0 + 1.2 * abs(lens.distortion) * size * size * lens.half_width
    if not (abs(low_u) < 1e9 and abs(high_u) < 1e9 and abs(low_v) < 1e9 and abs(high_v) < 1e9):
        return
    box[0], box[1] = clipped(low_v - margin, rows), clipped(high_v + margin + 1.5, rows)
    box[2], box[3] = clipped(low_u - margin, columns), clipped(high_u + margin + 1.5, columns)


@inlined
def clipped(value, limit):
    return int(min(max(value, 0.0), float(limit)))


@compiled
def place_body(lens, x, y, heading, half, top, shape):
    c, s = cos(heading) / half, sin(heading) / half
    dx, dy = lens.x - x, lens.y - y
    shape[0], shape[1] = c * dx + s * dy, c * dy - s * dx
    shape[2], shape[3] = c, s
    shape[4], shape[5] = top / lens.height, half


# --- what a ray meets ----------------------------------------------------------------------------------------


@inlined
def part_of_top(x, y):  # -> part
    """x forward and y left, from −1 to 1."""
    if INNER <= x <= OUTER and abs(y) <= OUTER:
        return TEAM
    if -OUTER <= x <= -INNER and INNER <= abs(y) <= OUTER:
        return FIRST if y > 0.0 else SECOND
    return TOP


@inlined
def ray_meets_cube(shapes, i, gx, gy):  # -> t (2: not at all), part
    ex, ey = shapes[i, 0], shapes[i, 1]
    hx, hy = shapes[i, 2] * gx + shapes[i, 3] * gy, shapes[i, 2] * gy - shapes[i, 3] * gx
    begin = max(0.0, 1.0 - shapes[i, 4])
    x, y = ex + begin * hx, ey + begin * hy  # at the height of the top
    if abs(x) <= 1.0 and abs(y) <= 1.0:
        return begin, part_of_top(x, y)
    x, y = ex + hx, ey + hy  # on the ground
    # A ray leads away from the foot of the lens, so it can enter only by the faces that look there.
    enter, leave, part = begin, 1.0, TOP
    if ex > 1.0 or ex < -1.0:
        face = 1.0 if ex > 0.0 else -1.0
        if (x - face) * face > 0.0 or hx == 0.0:
            return 2.0, TOP
        t = (face - ex) / hx
        if t > enter:
            enter, part = t, FRONT
        leave = min(leave, (-face - ex) / hx)
    elif hx != 0.0:
        leave = min(leave, ((1.0 if hx > 0.0 else -1.0) - ex) / hx)
    if ey > 1.0 or ey < -1.0:
        face = 1.0 if ey > 0.0 else -1.0
        if (y - face) * face > 0.0 or hy == 0.0:
            return 2.0, TOP
        t = (face - ey) / hy
        if t > enter:
            enter, part = t, FLANK
        leave = min(leave, (-face - ey) / hy)
    elif hy != 0.0:
        leave = min(leave, ((1.0 if hy > 0.0 else -1.0) - ey) / hy)
    if enter <= leave and part != TOP:
        return enter, part
    return 2.0, TOP


@inlined
def pixel_on_cube(shapes, i, gx, gy, right_x, right_y, down_x, down_y):  # -> part that fills it, MISSED or MIXED
    """What a pixel shows of a cube, where the ray through its middle tells. The other rays of its samples end within
    SPREAD of its width and height."""
    c, s = shapes[i, 2], shapes[i, 3]
    dx = SPREAD * (abs(c * right_x + s * right_y) + abs(c * down_x + s * down_y))
    dy = SPREAD * (abs(c * right_y - s * right_x) + abs(c * down_y - s * down_x))
    hx, hy = c * gx + s * gy, c * gy - s * gx
    begin = max(0.0, 1.0 - shapes[i, 4])
    x, y = shapes[i, 0] + begin * hx, shapes[i, 1] + begin * hy
    if dx < 0.3 and dy < 0.3 and abs(x) + dx <= 1.0 and abs(y) + dy <= 1.0:
        part = part_of_top(x - dx, y - dy)
        same = part == part_of_top(x - dx, y + dy) and part == part_of_top(x + dx, y - dy)
        return part if same and part == part_of_top(x + dx, y + dy) else MIXED
    ground_x, ground_y = shapes[i, 0] + hx, shapes[i, 1] + hy
    beside_x = min(x, ground_x) > 1.0 + dx or max(x, ground_x) < -1.0 - dx
    return MISSED if beside_x or min(y, ground_y) > 1.0 + dy or max(y, ground_y) < -1.0 - dy else MIXED


@inlined
def ray_meets_ball(shapes, i, height, gx, gy):  # -> t (2: not at all), brightness
    """The ball lies on the ground; its unit is its radius."""
    radius = shapes[i, 5]
    ex, ey, ez = shapes[i, 0], shapes[i, 1], height / radius - 1.0
    hx, hy, hz = shapes[i, 2] * gx + shapes[i, 3] * gy, shapes[i, 2] * gy - shapes[i, 3] * gx, -height / radius
    a = hx * hx + hy * hy + hz * hz
    b = ex * hx + ey * hy + ez * hz
    root = b * b - a * (ex * ex + ey * ey + ez * ez - 1.0)
    if not root > 0.0:
        return 2.0, 0.0
    t = (-b - sqrt(root)) / a
    if not 0.0 < t <= 1.0:
        return 2.0, 0.0
    return t, BALL_RIM + (1.0 - BALL_RIM) * max(0.0, ez + t * hz)


# --- drawing -------------------------------------------------------------------------------------------------


@njit(cache=True, error_model="numpy", nogil=True)
def draw_bodies(
    # what stays the same
    lens, rays, empty, palette, ball_colour,
    # where the bodies are: robots (x, y, heading, side) and ball (x, y, radius); NaN in x: not there
    robots, ball,
    # room to work in
    shapes, near,
    # in and out: what the frame before has drawn, and the image
    boxes, image,
):  # fmt: skip
    """Draw robots and ball over the empty field. Where boxes of bodies meet, each pixel is worked out against all of
    them, so the order of drawing does not matter."""
    for i in range(boxes.shape[0]):
        restore(empty, boxes[i], image)
    rows, columns, n = image.shape[0], image.shape[1], robots.shape[0]
    for i in range(n):
        x, y, heading, side = robots[i, 0], robots[i, 1], robots[i, 2], robots[i, 3]
        boxes[i, :] = 0
        if isfinite(x) and isfinite(y) and isfinite(heading):
            bounds(lens, x, y, heading, 0.5 * side, side, rows, columns, boxes[i])
            place_body(lens, x, y, heading, 0.5 * side, side, shapes[i])
    boxes[n, :] = 0
    if isfinite(ball[0]) and isfinite(ball[1]):
        bounds(lens, ball[0], ball[1], 0.0, ball[2], 2.0 * ball[2], rows, columns, boxes[n])
        place_body(lens, ball[0], ball[1], 0.0, ball[2], 2.0 * ball[2], shapes[n])
    for i in range(n + 1):
        count = neighbours(boxes, i, near)
        for v in range(boxes[i, 0], boxes[i, 1]):
            for u in range(boxes[i, 2], boxes[i, 3]):
                if count > 1 and is_done(boxes, near, count, i, v, u):
                    continue
                draw_pixel(lens, rays, empty, palette, ball_colour, shapes, near, count, n, v, u, image)


@compiled
def restore(empty, box, image):
    for v in range(box[0], box[1]):
        for u in range(box[2], box[3]):
            for k in range(3):
                image[v, u, k] = empty[v, u, k]


@compiled
def neighbours(boxes, i, near):  # -> how many bodies the pixels of box i can show
    near[0, 0] = i
    count = 1
    for j in range(boxes.shape[0]):
        if (
            j != i
            and boxes[j, 0] < boxes[i, 1]
            and boxes[i, 0] < boxes[j, 1]
            and boxes[j, 2] < boxes[i, 3]
            and boxes[i, 2] < boxes[j, 3]
        ):
            near[0, count] = j
            count += 1
    return count


@compiled
def is_done(boxes, near, count, i, v, u):
    """Whether a box before this one has the pixel too, and so has drawn it."""
    for k in range(1, count):
        j = near[0, k]
        if j < i and boxes[j, 0] <= v < boxes[j, 1] and boxes[j, 2] <= u < boxes[j, 3]:
            return True
    return False


@inlined
def draw_pixel(lens, rays, empty, palette, ball_colour, shapes, near, count, ball, v, u, image):
    x0, y0 = rays[v, u, 0], rays[v, u, 1]
    right_x, right_y = rays[v, u + 1, 0] - x0, rays[v, u + 1, 1] - y0
    down_x, down_y = rays[v + 1, u, 0] - x0, rays[v + 1, u, 1] - y0
    middle_x, middle_y = x0 + 0.5 * (right_x + down_x), y0 + 0.5 * (right_y + down_y)
    here, fills = 0, MIXED
    for k in range(count):
        i = near[0, k]
        if i == ball:
            found = MIXED
        else:
            found = pixel_on_cube(shapes, i, middle_x, middle_y, right_x, right_y, down_x, down_y)
        if found != MISSED:
            near[1, here] = i
            fills = found
            here += 1
    if here == 0:
        return
    if here == 1 and fills != MIXED:
        for k in range(3):
            image[v, u, k] = palette[near[1, 0], fills, k]
        return
    red = green = blue = 0
    hits = 0
    for s in range(4):
        # Four places on a turned grid, so that edges along rows and columns get five levels too.
        across, down = 0.375 + 0.5 * s - (1.25 if s > 1 else 0.0), 0.125 + 0.25 * s
        gx, gy = x0 + across * right_x + down * down_x, y0 + across * right_y + down * down_y
        nearest, body, part, bright = 1.5, -1, TOP, 0.0
        for k in range(here):
            i = near[1, k]
            if i == ball:
                t, shade = ray_meets_ball(shapes, ball, lens.height, gx, gy)
                if t < nearest:
                    nearest, body, bright = t, ball, shade
            else:
                t, face = ray_meets_cube(shapes, i, gx, gy)
                if t < nearest:
                    nearest, body, part = t, i, face
        if body == ball:
            red += int(bright * ball_colour[0])
            green += int(bright * ball_colour[1])
            blue += int(bright * ball_colour[2])
            hits += 1
        elif body >= 0:
            red += palette[body, part, 0]
            green += palette[body, part, 1]
            blue += palette[body, part, 2]
            hits += 1
    if hits:
        misses = 4 - hits
        image[v, u, 0] = (red + misses * np.int64(empty[v, u, 0]) + 2) >> 2
        image[v, u, 1] = (green + misses * np.int64(empty[v, u, 1]) + 2) >> 2
        image[v, u, 2] = (blue + misses * np.int64(empty[v, u, 2]) + 2) >> 2


# --- what differs from the empty field -----------------------------------------------------------------------


@njit(cache=True, error_model="numpy", nogil=True)
def changed_spans(image, empty, boxes, gap, spans, pixels):  # -> how many spans and pixels; −1 where there is no room
    """Row, first column and length of what differs from the empty field, and its colours one after the other. Only
    `boxes` are searched, which come by rising first column; spans with at most `gap` equal pixels between them are
    one."""
    count = total = 0
    for v in range(image.shape[0]):
        cursor, first, last = 0, -1, -1
        for i in range(boxes.shape[0]):
            if v < boxes[i, 0] or v >= boxes[i, 1]:
                continue
            for u in range(max(cursor, boxes[i, 2]), boxes[i, 3]):
                if (
                    image[v, u, 0] == empty[v, u, 0]
                    and image[v, u, 1] == empty[v, u, 1]
                    and image[v, u, 2] == empty[v, u, 2]
                ):
                    continue
                if first >= 0 and u - last > gap:
                    if count == spans.shape[0] or total + last - first > pixels.shape[0]:
                        return -1, 0
                    total = keep_span(image, v, first, last, count, total, spans, pixels)
                    count += 1
                    first = u
                elif first < 0:
                    first = u
                last = u + 1
            cursor = max(cursor, boxes[i, 3])
        if first >= 0:
            if count == spans.shape[0] or total + last - first > pixels.shape[0]:
                return -1, 0
            total = keep_span(image, v, first, last, count, total, spans, pixels)
            count += 1
    return count, total


@compiled
def keep_span(image, v, first, last, count, total, spans, pixels):  # -> pixels so far
    spans[count, 0], spans[count, 1], spans[count, 2] = v, first, last - first
    for u in range(first, last):
        for k in range(3):
            pixels[total, k] = image[v, u, k]
        total += 1
    return total
