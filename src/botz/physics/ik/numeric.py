"""Inverse kinematics of any serial arm by damped least squares.

Every start descends by δq = Jᵀ (J Jᵀ + λ I)⁻¹ e, Levenberg and Marquardt's step: far from the pose the damping λ
follows the squared error, which keeps steps short where the arm is singular, and close to it the steps become Newton's
[sugihara2011]. Joints at a stop that the step would push further are left out of it, the others are stopped there.
Starts are the wanted position and then points that fill the joints' ranges evenly, the same every time.

How many starts are enough is not known before: a solution whose basin is small is seldom hit. Of N starts that arrived
at w different solutions, with nothing known beforehand about their number and their basins, the expected number of
solutions is w (N − 1)/(N − w − 2) [boender1987]; the search goes on until that exceeds w by less than `UNSEEN`. This
is an estimate and no proof: the set may be incomplete.
"""

from __future__ import annotations

from math import atan2, floor, pi, sqrt

from botz.kernels import compiled, inlined
from botz.physics.arm.dh import REVOLUTE, chain_frames, chain_jacobian, set_joints
from botz.physics.ik.choice import NOT_CONVERGED, SOLVED, continued, same
from botz.rotations import cross

CLOSE_ENOUGH = 1e-10
"""Error of position [m] and of rotation [rad] below which a pose is reached."""
STEPS = 80
"""Steps of one start."""
STARTS = 512
"""Starts before a pose is given up. A start arrives in a third of the cases, of poses in corners of the ranges in 3 of
100: of 30,000 poses that were made of joints, of arms of 3 to 7 joints, 12 took more than 64 starts, 2 more than 128,
the last one 223. Poses that are found cost none of this."""
FEW_STARTS = 8
"""Starts that are made in any case where one solution is enough, or where there are infinitely many."""
MOST_STARTS = 32768
"""Starts after which the search for further solutions is given up. Poses in corners of narrow ranges come there."""
UNSEEN = 0.05
"""Expected number of solutions not yet seen below which the search ends."""
MOST_NUMERIC = 16
"""Solutions that are kept: six joints have no more, but at singular poses."""
LONGEST = 0.7
"""Longest step of a joint: radians, or metres as a share of the arm's reach."""
SEPARATE = 1e-5
"""Solutions whose joints all differ by less are one [rad, m]."""
LEAST_GAIN = 0.05
"""Share of its squared error that a start has to lose in ten steps, or it is given up."""

# Columns of the lower part of `room`, one row a joint.
AT, TRIAL, STEP, HELD, LOW, HIGH = 0, 1, 2, 3, 4, 5


@inlined
def rotation_left(now, goal):  # -> the vector (axis times angle, base axes) that turns `now` to `goal`
    ax, ay, az = cross(now[0], now[1], now[2], goal[0], goal[1], goal[2])
    bx, by, bz = cross(now[3], now[4], now[5], goal[3], goal[4], goal[5])
    cx, cy, cz = cross(now[6], now[7], now[8], goal[6], goal[7], goal[8])
    sx, sy, sz = 0.5 * (ax + bx + cx), 0.5 * (ay + by + cy), 0.5 * (az + bz + cz)
    sine = sqrt(sx * sx + sy * sy + sz * sz)
    trace = 0.0
    for k in range(9):
        trace += now[k] * goal[k]
    angle = atan2(sine, 0.5 * (trace - 1.0))
    if sine > 1e-6:
        return sx * angle / sine, sy * angle / sine, sz * angle / sine
    if angle < 1.0:
        return sx, sy, sz
    # Half a turn: about the axis that most of all stays where it is, or the sum of an axis and its goal.
    vx, vy, vz, longest = 0.0, 0.0, 0.0, -1.0
    for k in range(3):
        x, y, z = now[3 * k] + goal[3 * k], now[3 * k + 1] + goal[3 * k + 1], now[3 * k + 2] + goal[3 * k + 2]
        length = sqrt(x * x + y * y + z * z)
        if length > longest:
            vx, vy, vz, longest = x, y, z, length
    return vx * angle / longest, vy * angle / longest, vz * angle / longest


@compiled
def misfit(links, column, goal, scale, scratch, frames, room):  # -> squared error, largest error of position, of turn
    """Of the joints in a column of `room`; the error itself, positions by `scale`, goes to its column n + 6."""
    n = len(links)
    set_joints(links, room[6:, column], scratch)
    chain_frames(links, scratch, frames)
    last = frames[n - 1]
    x, y, z = goal[9] - last[9], goal[10] - last[10], goal[11] - last[11]
    rx, ry, rz = rotation_left(last, goal)
    room[0, n + 6], room[1, n + 6], room[2, n + 6] = scale * x, scale * y, scale * z
    room[3, n + 6], room[4, n + 6], room[5, n + 6] = rx, ry, rz
    place, turn = x * x + y * y + z * z, rx * rx + ry * ry + rz * rz
    return scale * scale * place + turn, sqrt(place), sqrt(turn)


@compiled
def damped_step(n, damping, room):
    """Jᵀ (J Jᵀ + λ I)⁻¹ e of the joints that are not held, to column STEP. J is room[:6, :n].

    λ is never below rounding: J Jᵀ of an arm of fewer than six joints is singular everywhere.
    """
    trace = 0.0
    for i in range(6):
        for j in range(i + 1):
            total = 0.0
            for k in range(n):
                if room[6 + k, HELD] == 0.0:
                    total += room[i, k] * room[j, k]
            room[i, n + j] = total
        trace += room[i, n + i]
        room[i, n + 7] = room[i, n + 6]
    damping += 1e-14 * trace
    # Cholesky's factor in place, forward and back.
    for j in range(6):
        room[j, n + j] += damping
        for k in range(j):
            room[j, n + j] -= room[j, n + k] * room[j, n + k]
        root = sqrt(max(room[j, n + j], 1e-300))
        room[j, n + j] = root
        for i in range(j + 1, 6):
            for k in range(j):
                room[i, n + j] -= room[i, n + k] * room[j, n + k]
            room[i, n + j] /= root
    for i in range(6):
        for k in range(i):
            room[i, n + 7] -= room[i, n + k] * room[k, n + 7]
        room[i, n + 7] /= room[i, n + i]
    for i in range(5, -1, -1):
        for k in range(i + 1, 6):
            room[i, n + 7] -= room[k, n + i] * room[k, n + 7]
        room[i, n + 7] /= room[i, n + i]
    for k in range(n):
        total = 0.0
        if room[6 + k, HELD] == 0.0:
            for i in range(6):
                total += room[i, k] * room[i, n + 7]
        room[6 + k, STEP] = total


@compiled
def limited_step(links, damping, reach, room):
    """The damped step with the joints held that stand at a stop and would go on, to column TRIAL, inside the ranges."""
    n = len(links)
    for k in range(n):
        room[6 + k, HELD] = 0.0
    for _ in range(n + 1):
        damped_step(n, damping, room)
        held = False
        for k in range(n):
            own = room[6 + k]
            if own[HELD] == 0.0 and (
                (own[AT] <= own[LOW] and own[STEP] < 0.0) or (own[AT] >= own[HIGH] and own[STEP] > 0.0)
            ):
                own[HELD], held = 1.0, True
        if not held:
            break
    share = 1.0
    for k in range(n):
        longest = LONGEST if links[k].kind == REVOLUTE else LONGEST * reach
        if abs(room[6 + k, STEP]) * share > longest:
            share = longest / abs(room[6 + k, STEP])
    for k in range(n):
        own = room[6 + k]
        own[TRIAL] = min(max(own[AT] + share * own[STEP], own[LOW]), own[HIGH])


@compiled
def descended(links, goal, reach, scratch, frames, room):  # -> whether the pose was reached
    """From the joints in column AT to a solution in the same column."""
    n = len(links)
    scale = 1.0 / reach
    square, place, turn = misfit(links, AT, goal, scale, scratch, frames, room)
    factor, marked, extra = 1.0, square, 0
    for step in range(STEPS):
        reached = place < CLOSE_ENOUGH and turn < CLOSE_ENOUGH
        # Once there, two steps more: they are cheap, and bring the last digits.
        if reached:
            extra += 1
            if extra > 2 or square < 1e-30:
                return True
        elif step % 10 == 9:
            if square > (1.0 - LEAST_GAIN) * marked:
                return False
            marked = square
        last = frames[n - 1]
        chain_jacobian(links, frames, last[9], last[10], last[11], room)
        for i in range(3):
            for k in range(n):
                room[i, k] *= scale
        better = False
        for _ in range(6):
            limited_step(links, factor * square, reach, room)
            new_square, new_place, new_turn = misfit(links, TRIAL, goal, scale, scratch, frames, room)
            if new_square < square:
                better = True
                break
            # The error of where it stands again: the failed trial has overwritten it.
            misfit(links, AT, goal, scale, scratch, frames, room)
            factor *= 8.0
        if not better:
            return reached
        square, place, turn = new_square, new_place, new_turn
        factor = max(0.2 * factor, 1e-4)
        for k in range(n):
            room[6 + k, AT] = room[6 + k, TRIAL]
    return place < CLOSE_ENOUGH and turn < CLOSE_ENOUGH


@compiled
def set_bounds(links, limits, turning, room):
    """The joints' ranges, of those that turn only where `turning`. A joint without one may go anywhere."""
    for k in range(len(links)):
        counts = limits and (turning or links[k].kind != REVOLUTE)
        room[6 + k, LOW] = links[k].lower if counts else -1e300
        room[6 + k, HIGH] = links[k].upper if counts else 1e300


@compiled
def brought_inside(links, wanted, room):  # -> whether it could
    """Whole turns taken off or added until every joint is in its range."""
    for k in range(len(links)):
        value = continued(links[k], room[6 + k, AT], wanted[k])
        within = min(max(value, links[k].lower), links[k].upper)
        if abs(value - within) > CLOSE_ENOUGH:
            return False
        room[6 + k, AT] = within
    return True


@inlined
def next_prime(number):
    number += 1
    while True:
        divisor = 2
        while divisor * divisor <= number and number % divisor != 0:
            divisor += 1
        if divisor * divisor > number:
            return number
        number += 1


@compiled
def start_at(links, number, wanted, reach, room):
    """Number 0 is `wanted`; then multiples of the square roots of primes, whose fractions fill the ranges evenly. A
    joint without a range starts up to half a turn, or the arm's reach, from `wanted`."""
    prime = 1
    for k in range(len(links)):
        own = room[6 + k]
        prime = next_prime(prime)
        value = wanted[k]
        if number > 0:
            fraction = 0.5 + number * sqrt(prime)
            fraction -= floor(fraction)
            around = pi if links[k].kind == REVOLUTE else reach
            low, high = links[k].lower, links[k].upper
            if not high - low < 1e6:
                low, high = wanted[k] - around, wanted[k] + around
            value = low + fraction * (high - low)
        own[AT] = min(max(value, own[LOW]), own[HIGH])


@compiled
def is_new(links, count, joints, room):
    new = True
    for other in range(count):
        new = new and not same(links, room[6:, AT], joints[other], SEPARATE)
    return new


@compiled
def size_of(links):
    """About the arm's reach: makes metres comparable with radians."""
    total = 0.0
    for k in range(len(links)):
        total += abs(links[k].a) + abs(links[k].d)
        if links[k].kind != REVOLUTE and links[k].upper - links[k].lower < 1e6:
            total += max(abs(links[k].upper), abs(links[k].lower))
    return total if total > 0.0 else 1.0


@inlined
def seen_enough(count, arrivals):
    """Whether fewer than `UNSEEN` solutions are expected beyond those `count` at which starts arrived ([boender1987],
    w (N − 1)/(N − w − 2) < w + UNSEEN solved for N)."""
    return arrivals > count * (count + 1) / UNSEEN + count + 2


@compiled
def numeric_solutions(links, flange, wanted, limits, every, scratch, frames, room, joints):  # -> count, status
    """Joints that bring the last frame to `flange` (axes x, y, z and origin, base axes): the one that is found from
    `wanted` and others, where `every` until no more are expected. `room` is (6 + n, 8 + n), `frames` at least (n, 12).
    """
    reach = size_of(links)
    # Of more joints than six every start finds another solution.
    few = not every or len(links) > 6
    count, arrivals = 0, 0
    for number in range(MOST_STARTS):
        if count == len(joints) or (few and count > 0 and number >= FEW_STARTS):
            break
        if count == 0 and number >= STARTS:
            break
        if seen_enough(count, arrivals) and count > 0:
            break
        # Stops lead into corners: every other start turns freely, and counts if it ends inside.
        freely = limits and number % 2 == 1
        set_bounds(links, limits, not freely, room)
        start_at(links, number, wanted, reach, room)
        if not descended(links, flange, reach, scratch, frames, room):
            continue
        if freely and not brought_inside(links, wanted, room):
            continue
        arrivals += 1
        if is_new(links, count, joints, room):
            for k in range(len(links)):
                joints[count, k] = room[6 + k, AT]
            count += 1
    return count, SOLVED if count > 0 else NOT_CONVERGED
