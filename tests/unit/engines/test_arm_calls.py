"""The ways into an arm's compiled calls: straight for arrays of one position, the long one for all else."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import config

from botz.errors import InputError
from botz.robots import arm_calls as calls
from botz.robots.arm_inverse import Solutions, SolutionsOfMany
from botz.robots.serial_arm import SerialArm

Call = Callable[..., Any]
OF_Q = ("forward", "frames", "jacobian", "manipulability", "inertia", "gravity")
OF_STATE = ("coriolis", "energy")
OF_MOTION = ("torques", "accelerations")
METHODS = {**dict.fromkeys(OF_Q, 1), **dict.fromkeys(OF_STATE, 2), **dict.fromkeys(OF_MOTION, 3)}
"""With the number of vectors that each takes."""
WITH_OUT = [name for name in METHODS if name != "manipulability"]


@pytest.fixture(scope="module")
def titan() -> SerialArm:
    return SerialArm.of("titan4")


def motions(own: SerialArm, *shape: int) -> list[np.ndarray]:
    rng = np.random.default_rng(11)
    return [rng.uniform(-1.0, 1.0, (*shape, own.n)) for _ in range(3)]


def strided(values: np.ndarray) -> np.ndarray:
    wide = np.zeros((len(values), 2))
    wide[:, 0] = values
    return wide[:, 0]


def read_only(values: np.ndarray) -> np.ndarray:
    values = values.copy()
    values.flags.writeable = False
    return values


OTHER_KINDS: dict[str, Call] = {
    "list": lambda values: values.tolist(),
    "tuple": lambda values: tuple(values.tolist()),
    "strided": strided,
    "backward": lambda values: values[::-1].copy()[::-1],
    "read only": read_only,
    "other byte order": lambda values: values.astype(values.dtype.newbyteorder()),
    "more digits": lambda values: values.astype(np.longdouble),
    "matrix": lambda values: values.view(np.ma.MaskedArray),
}


@pytest.mark.parametrize("name", METHODS)
def test_any_leading_dimensions(titan: SerialArm, name: str):
    given = motions(titan, 2, 3)[: METHODS[name]]
    method = getattr(titan, name)
    many = method(*given)
    assert many.shape[:2] == (2, 3)
    for at in np.ndindex(2, 3):
        assert np.array_equal(method(*(values[at] for values in given)), many[at])
    none = [values[:, :0] for values in given]
    assert method(*none).shape == (2, 0, *many.shape[2:])


@pytest.mark.parametrize("name", [*OF_STATE, *OF_MOTION])
def test_one_position_goes_with_many_speeds_and_the_other_way_round(titan: SerialArm, name: str):
    q, *others = motions(titan, 4)[: METHODS[name]]
    method = getattr(titan, name)
    assert np.array_equal(method(q[1], *others)[2], method(q[1], *(values[2] for values in others)))
    assert np.array_equal(method(q, *(values[2] for values in others))[1], method(q[1], *(v[2] for v in others)))


def test_one_number_stands_for_all_joints(titan: SerialArm):
    q = motions(titan, 3)[0]
    zero = np.zeros(titan.n)
    for given in (q, q[0]):
        assert np.array_equal(titan.torques(given, 0.0, [1.0]), titan.torques(given, zero, zero + 1.0))
    with pytest.raises(InputError, match="wrench: needs a force and a moment"):
        titan.torques(q[0], 0.0, 0.0, wrench=[])


def test_a_wrench_for_all_and_one_for_each(titan: SerialArm):
    q, qd, qdd = motions(titan, 2, 3)
    wrench = np.arange(36.0).reshape(2, 3, 6)
    for method in (titan.torques, titan.accelerations):
        each, fixed = method(q, qd, qdd, wrench=wrench), method(q, qd, qdd, wrench=wrench[1, 2])
        assert np.array_equal(each[1, 2], method(q[1, 2], qd[1, 2], qdd[1, 2], wrench=wrench[1, 2]))
        assert np.array_equal(fixed[1, 2], each[1, 2]) and not np.array_equal(fixed[0, 0], each[0, 0])


@pytest.mark.parametrize("kind", OTHER_KINDS)
@pytest.mark.parametrize("name", METHODS)
def test_other_kinds_of_numbers_give_the_same_bits_and_compile_nothing(titan: SerialArm, name: str, kind: str):
    given = [values[0] for values in motions(titan, 1)[: METHODS[name]]]
    method = getattr(titan, name)
    expected, before = method(*given), compiled_kinds()
    for place in range(len(given)):
        other = [OTHER_KINDS[kind](values) if k == place else values for k, values in enumerate(given)]
        found = method(*other)
        assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()
    assert compiled_kinds() == before


def compiled_kinds() -> int:
    return sum(len(getattr(one, "signatures", ())) for one in vars(calls).values())


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("shape", [(), (2,)])
def test_what_is_wrong_is_told_on_either_way(titan: SerialArm, name: str, shape: tuple[int, ...]):
    given = motions(titan, *shape)[: METHODS[name]]
    method = getattr(titan, name)
    method(*given)
    for place in range(len(given)):
        for bad, says in ((np.nan, "needs finite numbers"), (-np.inf, "needs finite numbers")):
            wrong = [values.copy() for values in given]
            wrong[place].flat[-1] = bad
            with pytest.raises(InputError, match=says):
                method(*wrong)
        for size in (0, titan.n - 1, titan.n + 1):
            wrong = [values.copy() for values in given]
            wrong[place] = np.zeros((*shape, size))
            with pytest.raises(InputError, match=r"joint variables|has the shape"):
                method(*wrong)
        with pytest.raises(InputError, match="needs numbers, not None"):
            method(*(None if k == place else values for k, values in enumerate(given)))


@pytest.mark.parametrize("name", METHODS)
def test_results_are_new_arrays(titan: SerialArm, name: str):
    first, second = (values[: METHODS[name]] for values in (motions(titan), [-v for v in motions(titan)]))
    method = getattr(titan, name)
    kept = method(*first)
    copied = np.array(kept)
    method(*second)
    assert np.array_equal(kept, copied)
    assert not any(np.may_share_memory(kept, array) for array in (*first, titan._memory))


@pytest.mark.parametrize("name", WITH_OUT)
@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_results_into_an_array_of_the_callers(titan: SerialArm, name: str, shape: tuple[int, ...]):
    given = motions(titan, *shape)[: METHODS[name]]
    method = getattr(titan, name)
    expected = method(*given)
    out = np.full(expected.shape, np.nan)
    assert method(*given, out=out) is out and np.array_equal(out, expected)
    for wrong in (out.ravel()[:-1], out.astype(np.float32), read_only(out), np.zeros((*out.shape, 2))[..., 0], "out"):
        with pytest.raises(InputError, match="out: needs a contiguous, writable array of float64"):
            method(*given, out=wrong)


def test_no_result_over_its_own_arguments(titan: SerialArm):
    q, qd, qdd = motions(titan, 2)
    with pytest.raises(InputError, match="out: shares memory with an argument"):
        titan.torques(q, qd, qdd, out=qdd)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="only compiled calls hold Python's lock to their end")
def test_threads_share_an_arm(titan: SerialArm):
    motion = motions(titan, 200)
    expected = [(titan.jacobian(q), titan.accelerations(q, qd, qdd)) for q, qd, qdd in zip(*motion, strict=True)]
    wrong: list[int] = []

    def compare() -> None:
        for k, (q, qd, qdd) in enumerate(zip(*motion, strict=True)):
            found = titan.jacobian(q), titan.accelerations(q, qd, qdd)
            if any(one.tobytes() != other.tobytes() for one, other in zip(found, expected[k], strict=True)):
                wrong.append(k)

    threads = [threading.Thread(target=compare) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_copy_is_an_arm_of_its_own(titan: SerialArm):
    q = motions(titan)[0]
    other = copy.deepcopy(titan)
    before = titan.gravity(q)
    other.links["mass"] *= 2.0
    assert np.array_equal(titan.gravity(q), before) and np.allclose(other.gravity(q), 2.0 * before)


# --- inverse kinematics ------------------------------------------------------------------------------


def test_poses_of_any_leading_dimensions(titan: SerialArm):
    q = motions(titan, 2, 3)[0]
    poses = titan.forward(q)
    many = titan.inverse(poses, present=q)
    assert isinstance(many, SolutionsOfMany) and many.joints.shape == (2, 3, 8, titan.n) and many.counts.shape == (2, 3)
    assert isinstance(many[1], SolutionsOfMany) and len(many) == 2
    for at in np.ndindex(2, 3):
        one, same = titan.inverse(poses[at], present=q[at]), many[at]
        assert isinstance(one, Solutions) and isinstance(same, Solutions)
        assert one.joints.tobytes() == same.joints.tobytes() and one.costs.tobytes() == same.costs.tobytes()
        assert (one.status, one.branches, one.singular, len(one)) == (
            same.status, same.branches, same.singular, len(same)
        )  # fmt: skip
    none = titan.inverse(poses[:, :0])
    assert none.joints.shape == (2, 0, 8, titan.n)
    with pytest.raises(InputError, match="many poses are an array"):
        titan.inverse_many(poses[0, 0])


def test_solutions_stay_as_they_are(titan: SerialArm):
    q = motions(titan, 2)[0]
    first = titan.inverse(titan.forward(q[0]))
    kept = first.joints.copy(), first.costs.copy(), first.status
    titan.inverse(titan.forward(q[1]))
    assert np.array_equal(first.joints, kept[0]) and np.array_equal(first.costs, kept[1]) and first.status == kept[2]
    assert "solved" in repr(first) and first.best.shape == (titan.n,)
    with pytest.raises(AttributeError):
        first.status = "other"


@pytest.mark.parametrize("kind", ["list", "strided", "read only"])
def test_what_is_wanted_may_be_of_any_kind(titan: SerialArm, kind: str):
    q = motions(titan)[0]
    pose = titan.forward(q)
    expected = titan.inverse(pose, present=q, weights=np.full(titan.n, 2.0))
    found = titan.inverse(pose.tolist(), present=OTHER_KINDS[kind](q), weights=OTHER_KINDS[kind](np.full(titan.n, 2.0)))
    assert found.joints.tobytes() == expected.joints.tobytes() and found.costs.tobytes() == expected.costs.tobytes()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"present": [np.nan] * 6}, "present: needs finite numbers"),
        ({"weights": [np.inf] * 6}, "weights: needs finite numbers"),
        ({"weights": np.full(6, -1.0)}, "weights: none can be negative"),
        ({"present": np.zeros(7)}, "present: needs 6 numbers"),
        ({"weights": np.zeros((2, 6))}, "weights: needs 6 numbers"),
    ],
)
def test_wrong_wishes_are_told(titan: SerialArm, changes: dict[str, Any], says: str):
    with pytest.raises(InputError, match=says):
        titan.inverse(titan.forward(titan.middle), **changes)
