"""Where squares, a ball and the walls of a field touch ([yamamoto2003] section 3.1, and the cases that it leaves out).

Two squares, and a square and the wall beside a goal, are apart when one of their faces' normals separates them; that
face and the edge of the other body that faces it give one contact or two: vertex on edge, edge on edge, frontal. A gap
is the distance still to go, negative for an overlap.
"""

from __future__ import annotations

from math import sqrt

from botz.kernels import compiled, inlined

CLIP_MARGIN = 1e-6
"""Vertices count as on a face up to this far beyond its ends [m], so that rounding does not lose a frontal contact."""


@inlined
def half_extent(half, cosine, sine):
    """Of a turned square along either axis."""
    return half * (abs(cosine) + abs(sine))


@inlined
def into_frame(cosine, sine, x, y):
    """A vector in a robot's frame: a rotation, where the source's arctangent loses the quadrant."""
    return cosine * x + sine * y, cosine * y - sine * x


@compiled
def separations(half1, c1, s1, half2, c2, s2, dx, dy):  # -> of the four face normals: two of each square
    """Distance of the squares along the normals of the first and of the second one; (dx, dy) leads to the second."""
    overlap = abs(c1 * c2 + s1 * s2) + abs(c1 * s2 - s1 * c2)
    ax, ay = into_frame(c1, s1, dx, dy)
    bx, by = into_frame(c2, s2, dx, dy)
    reach1, reach2 = half1 + half2 * overlap, half2 + half1 * overlap
    return abs(ax) - reach1, abs(ay) - reach1, abs(bx) - reach2, abs(by) - reach2


@compiled
def square_gap(half1, c1, s1, half2, c2, s2, dx, dy):
    """The largest separation: negative exactly where two squares overlap."""
    a, b, c, d = separations(half1, c1, s1, half2, c2, s2, dx, dy)
    return max(max(a, b), max(c, d))


@compiled
def facing_edge(half, cosine, sine, ax, ay):  # -> the two ends of a square's edge that faces along −a, from its middle
    along, across = into_frame(cosine, sine, ax, ay)
    if abs(along) >= abs(across):
        side = -half if along > 0.0 else half
        return (
            side * cosine - half * sine, side * sine + half * cosine,
            side * cosine + half * sine, side * sine - half * cosine,
        )  # fmt: skip
    side = -half if across > 0.0 else half
    return (
        half * cosine - side * sine, half * sine + side * cosine,
        -half * cosine - side * sine, -half * sine + side * cosine,
    )  # fmt: skip


@compiled
def clip(px, py, qx, qy, along_x, along_y, low, high):  # -> whether anything is left, the clipped ends
    """The part of an edge p–q whose coordinate along a direction lies between two limits."""
    p, q = along_x * px + along_y * py, along_x * qx + along_y * qy
    if max(p, q) < low - CLIP_MARGIN or min(p, q) > high + CLIP_MARGIN:
        return False, px, py, qx, qy
    length = q - p
    new_px, new_py, new_qx, new_qy = px, py, qx, qy
    # At the limits themselves: of two faces that lie flush either may be the reference, with the same points.
    if (p < low < q) or (q < high < p):
        share = ((low if p < low else high) - p) / length
        new_px, new_py = px + share * (qx - px), py + share * (qy - py)
    if (q < low < p) or (p < high < q):
        share = ((low if q < low else high) - q) / -length
        new_qx, new_qy = qx + share * (px - qx), qy + share * (py - qy)
    return True, new_px, new_py, new_qx, new_qy


@compiled
def square_square(half1, c1, s1, half2, c2, s2, dx, dy):
    """-> contacts (0 to 2), normal towards the first, the points from the first's middle and their gaps.

    The face that separates best is the reference; points are those of the other square's edge before it.
    """
    a, b, c, d = separations(half1, c1, s1, half2, c2, s2, dx, dy)
    best1, best2 = max(a, b), max(c, d)
    first = best1 >= best2
    if first:
        along = a >= b
        ax, ay = (c1, s1) if along else (-s1, c1)
        half, other, co, so = half1, half2, c2, s2
        toward = ax * dx + ay * dy
    else:
        along = c >= d
        ax, ay = (c2, s2) if along else (-s2, c2)
        half, other, co, so = half2, half1, c1, s1
        toward = -(ax * dx + ay * dy)
    if toward < 0.0:
        ax, ay = -ax, -ay
    # In the reference's frame of origin, (mx, my) leads to the other square's middle.
    mx, my = (dx, dy) if first else (-dx, -dy)
    px, py, qx, qy = facing_edge(other, co, so, ax, ay)
    px, py, qx, qy = px + mx, py + my, qx + mx, qy + my
    left, px, py, qx, qy = clip(px, py, qx, qy, -ay, ax, -half, half)
    if not left:
        return 0, ax, ay, px, py, 0.0, qx, qy, 0.0
    gap_p, gap_q = ax * px + ay * py - half, ax * qx + ay * qy - half
    # Half way between the faces, so that of two that are parallel it does not matter which is the reference.
    px, py = px - 0.5 * gap_p * ax, py - 0.5 * gap_p * ay
    qx, qy = qx - 0.5 * gap_q * ax, qy - 0.5 * gap_q * ay
    if first:
        return 2, -ax, -ay, px, py, gap_p, qx, qy, gap_q
    return 2, ax, ay, px + dx, py + dy, gap_p, qx + dx, qy + dy, gap_q


@compiled
def ball_square(radius, half, cosine, sine, dx, dy):
    """A ball whose middle is (dx, dy) from a square's: -> normal from square to ball, point from the square's middle,
    gap. The nearest point of the square (the source's λ reduced to its edges) may be a corner."""
    x, y = into_frame(cosine, sine, dx, dy)
    near_x, near_y = min(max(x, -half), half), min(max(y, -half), half)
    out_x, out_y = x - near_x, y - near_y
    distance = sqrt(out_x * out_x + out_y * out_y)
    if distance > 0.0:
        nx, ny = out_x / distance, out_y / distance
        gap = distance - radius
    elif abs(x) >= abs(y):
        nx, ny = (1.0 if x >= 0.0 else -1.0), 0.0
        gap = abs(x) - half - radius
    else:
        nx, ny = 0.0, (1.0 if y >= 0.0 else -1.0)
        gap = abs(y) - half - radius
    return (
        cosine * nx - sine * ny, sine * nx + cosine * ny,
        cosine * near_x - sine * near_y, sine * near_x + cosine * near_y,
        gap,
    )  # fmt: skip


# --- walls -----------------------------------------------------------------------------------------------------------
# The field is symmetric: everything here is said for the quarter x, y > 0, into which the caller mirrors. Its solids
# are the side wall y > W/2, the back of the goal x > L/2 + depth, the triangle in the corner, and the wall beside the
# goal: x > L/2 and y > half the goal's width, a corner whose tip is the post.


@compiled
def ball_at_goal_wall(end, post, x, y, radius):  # -> normal towards the ball, gap
    """A ball before the wall beside the goal: its face, the goal's side, or the post."""
    near_x, near_y = max(x, end), max(y, post)
    out_x, out_y = x - near_x, y - near_y
    distance = sqrt(out_x * out_x + out_y * out_y)
    if distance > 0.0:
        return out_x / distance, out_y / distance, distance - radius
    if x - end <= y - post:
        return -1.0, 0.0, end - x - radius
    return 0.0, -1.0, post - y - radius


@compiled
def goal_wall_gap(end, post, x, y, half, cosine, sine):  # -> gap, which face: 0 end wall, 1 goal's side, 2 the robot's
    """A square and the wall beside the goal; cosine and sine are mirrored with the quarter. For 2 also the outward
    normal of the robot's face that meets the post."""
    extent = half_extent(half, cosine, sine)
    best, face = end - x - extent, 0
    ax, ay = 0.0, 0.0
    if post - y - extent > best:
        best, face = post - y - extent, 1
    for k in range(4):
        bx, by = (cosine, sine) if k % 2 == 0 else (-sine, cosine)
        if k >= 2:
            bx, by = -bx, -by
        if bx < 0.0 or by < 0.0:
            continue  # the wall reaches to infinity; a face that looks another way cannot separate it
        gap = bx * (end - x) + by * (post - y) - half
        if gap > best:
            best, face, ax, ay = gap, 2, bx, by
    return best, face, ax, ay


@compiled
def square_at_goal_wall(end, post, x, y, half, cosine, sine):
    """-> gap, contacts (0 to 2), normal towards the robot, points from its middle and their gaps."""
    best, face, ax, ay = goal_wall_gap(end, post, x, y, half, cosine, sine)
    if face == 2:
        return best, 1, -ax, -ay, end - x, post - y, best, 0.0, 0.0, 0.0
    nx, ny = (-1.0, 0.0) if face == 0 else (0.0, -1.0)
    px, py, qx, qy = facing_edge(half, cosine, sine, nx, ny)
    if face == 0:
        left, px, py, qx, qy = clip(px, py, qx, qy, 0.0, 1.0, post - y, 1e9)
        gap_p, gap_q = end - x - px, end - x - qx
    else:
        left, px, py, qx, qy = clip(px, py, qx, qy, 1.0, 0.0, end - x, 1e9)
        gap_p, gap_q = post - y - py, post - y - qy
    return best, 2 if left else 0, nx, ny, px, py, gap_p, qx, qy, gap_q
