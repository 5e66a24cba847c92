"""What a page may ask of an export's camera."""

from __future__ import annotations

from typing import Any

import pytest
from lab_rig import RunningLab

EYE = {"eye": [1.0, 2.0, 3.0], "target": [0.0, 0.0, 0.0]}


@pytest.mark.parametrize(
    ("camera", "told"),
    [
        ({"eye": EYE["eye"]}, "eye and target go together"),
        ({"target": EYE["target"], "name": "follow"}, "eye and target go together"),
        ({"along": True, "robot": "duo"}, "needs eye and target"),
        ({**EYE, "along": "yes"}, "camera.along"),
        ({**EYE, "along": True, "vertical_view": 7.0}, "camera.vertical_view"),
    ],
)
def test_a_camera_that_is_told_by_halves_is_refused(lab: RunningLab, camera: dict[str, Any], told: str):
    answer = lab.post("/api/recordings/any/export", {"format": "mp4", "camera": camera})
    assert answer.status_code == 422 and told in answer.json()["error"]
    assert "camera" in answer.json()["error"]


def test_a_camera_that_is_told_whole_is_not_what_is_wrong(lab: RunningLab):
    answer = lab.post("/api/recordings/any/export", {"format": "mp4", "camera": {**EYE, "robot": "duo", "along": True}})
    assert answer.status_code == 404 and "any" in answer.json()["error"]
