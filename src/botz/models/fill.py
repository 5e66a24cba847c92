"""Inertias that a model file leaves out, from its shapes and masses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from botz.errors import InputError, Problem
from botz.models.meshes.mesh import shapes_properties
from botz.models.robot_model import Inertial, ModelLink, RobotModel
from botz.models.tree import wrong_inertia


def filled(model: RobotModel) -> tuple[RobotModel, list[str]]:
    """The model with an inertia for every link that has a mass, and which ones were missing or impossible.

    A link's mass fills its meshes evenly where it is seen by meshes, else the shapes that it touches with. A centre of
    mass that the file gives stays; one at the link's origin is taken as not given. Raises InputError where there is
    nothing to take it from.
    """
    links = dict(model.links)
    names: list[str] = []
    problems: list[Problem] = []
    for name, link in model.links.items():
        if link.inertial is None or not link.inertial.mass > 0.0 or wrong_inertia(link.inertial) is None:
            continue
        try:
            links[name] = replace(link, inertial=_from_shapes(link, link.inertial))
            names.append(name)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return replace(model, links=links), names


def _from_shapes(link: ModelLink, given: Inertial) -> Inertial:
    if not link.shapes:
        message = f"has {given.mass:g} kg and no shape to take an inertia from; give it a shape or an inertia"
        raise InputError(given.place.problem(message, f"link {link.name}"))
    seen = [shape for shape in link.shapes if shape.visual and shape.kind == "mesh"]
    touched = [shape for shape in link.shapes if shape.collision]
    try:
        found = shapes_properties([replace(shape, collision=True) for shape in seen] or link.shapes, given.mass)
    except InputError:
        if not seen or not touched:
            raise
        found = shapes_properties(touched, given.mass)
    if not np.any(given.centre):
        return replace(found, place=given.place)
    # About another centre the parallel-axis theorem adds m (d² 1 − d dᵀ).
    d = given.centre - found.centre
    tensor = found.inertia + given.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertial(given.mass, given.centre, tensor, given.place)
