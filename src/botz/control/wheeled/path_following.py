"""Following a path of lines and arcs with a robot whose curvature is bounded."""

from __future__ import annotations

from math import atan2, hypot
from typing import Any

from botz.control.planar import Pose, on_arc, relative

END = 1e-7
"""Distance to the end of a piece at which the next one begins [m]."""


class PathFollower:
    """Steps along a path; its state is a dict of plain numbers and lists, which belongs to the controller.

    Progress is the path's point nearest to the robot, so that a robot that waits for its steering loses nothing. A
    step never goes beyond the end of a piece: curvature then changes exactly where the path has it change.
    """

    def __init__(self, state: dict[str, Any], curvature: float, period: float):
        self.state = state
        self._curvature = curvature
        self._period = period

    @staticmethod
    def begin(start: Pose, segments: list[tuple[float, float]]) -> dict[str, Any]:
        """State at the start of a path of pieces (curvature [1/m], length [m])."""
        return {"start": list(start), "segments": [list(piece) for piece in segments], "piece": 0, "along": 0.0}

    @property
    def finished(self) -> bool:
        return self.state["piece"] >= len(self.state["segments"])

    def step(
        self, pose: Pose, speed: float, turn_rate: float, *, stop_within: float
    ) -> tuple[float, float]:  # -> speed ≥ 0, turn rate
        """Errors of a path decay over a length λ: κ = κ_path − e_y/λ² − 2 e_θ/λ, critically damped in space."""
        offset, angle = self._progress(pose)
        remaining = self._remaining()
        if remaining <= stop_within:
            self.state["piece"] = len(self.state["segments"])
        if self.finished:
            return 0.0, 0.0
        path_curvature, length = self.state["segments"][self.state["piece"]]
        reach = max(0.5 / self._curvature, 5.0 * speed * self._period)
        curvature = path_curvature - offset / reach**2 - 2.0 * angle / reach
        curvature = min(max(curvature, -self._curvature), self._curvature)
        in_piece = length - self.state["along"]
        fastest = min(
            speed, turn_rate / max(abs(curvature), 1e-12), max(2.0 * remaining, 0.02 * speed), in_piece / self._period
        )
        return fastest, curvature * fastest

    def _progress(self, pose: Pose) -> tuple[float, float]:
        """Moves on to the nearest point of the path; returns how far left of it and turned from it the robot is.

        Beyond the end of the last piece it goes on along that piece.
        """
        state = self.state
        while not self.finished:
            curvature, length = state["segments"][state["piece"]]
            start: Pose = (state["start"][0], state["start"][1], state["start"][2])
            x, y, _ = relative(on_arc(start, curvature, state["along"]), pose)
            # Nearest point of a circle that touches the x axis at the origin.
            state["along"] += atan2(curvature * x, 1.0 - curvature * y) / curvature if curvature else x
            state["along"] = max(0.0, state["along"])
            if state["along"] < length - END or state["piece"] == len(state["segments"]) - 1:
                foot = relative(on_arc(start, curvature, state["along"]), pose)
                return self._offset(curvature, x, y), foot[2]
            state["start"] = list(on_arc(start, curvature, length))
            state["piece"] += 1
            state["along"] = 0.0
        return 0.0, 0.0

    @staticmethod
    def _offset(curvature: float, x: float, y: float) -> float:
        """Distance left of the circle through the origin along the x axis."""
        if curvature == 0.0:
            return y
        return (1.0 - hypot(curvature * x, 1.0 - curvature * y)) / curvature

    def _remaining(self) -> float:
        ahead = self.state["segments"][self.state["piece"] :]
        return sum(length for _, length in ahead) - self.state["along"]
