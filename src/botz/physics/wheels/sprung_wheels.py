"""Four sprung wheels on a body, whoever moves that body: all of their stages in one call."""

from __future__ import annotations

from botz.kernels import compiled
from botz.physics.wheels.contact_search import add_walls, find_contacts
from botz.physics.wheels.tyre_block import tyre_forces
from botz.physics.wheels.wheel_block import contact_motion, place_wheels, sum_wheels


@compiled
def wheel_forces(model, state, work, body, ground, slices, cos_blocked, plain, dt, step):
    """All that four wheels do to the body that carries them; `omega` of the state are their absolute speeds.

    dt is the step over which the deflections of treads and walls go (0: they stay, and only their rates are found),
    `step` that of the method, whichever it is.
    """
    place_wheels(model, work, body)
    find_contacts(model, state, work, body, ground, slices, cos_blocked, plain)
    contact_motion(model, state, work, body)
    tyre_forces(model, state, work, dt, step)
    sum_wheels(state, work, body)
    if plain:
        add_walls(model, state, work, body, slices, dt, step)
