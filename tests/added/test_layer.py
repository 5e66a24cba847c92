"""A layer that comes in one file of another package is in the scene that the lab sends, with its texts.

`tests/browser/test_browser_layers.py` has the page draw it.
"""

from __future__ import annotations

import json
from pathlib import Path

from packages import documented, install

POINTS = documented("botz.layers", gone="no_such_module:GONE")
SCENE = """
import json, struct, sys
from botz.scenario.load import load
from botz.view.lab.lab import picture_of

glb = picture_of(load(sys.argv[1]).spec).glb
document = json.loads(glb[20 : 20 + struct.unpack_from("<I", glb, 12)[0]])
print(json.dumps(document["scenes"][0]["extras"]["botz"]))
"""


def test_it_is_in_the_scene_that_the_lab_sends(tmp_path: Path):
    package = install(tmp_path / "package", "tether_layer.py", POINTS)
    answer = package.python("-c", SCENE, "differential-circle")
    assert answer.code == 0, answer.err
    assert "'gone' of botz.layers is left out" in answer.err and "Traceback" not in answer.err
    *own, added = json.loads(answer.out)["layers"]
    assert added["name"] == "tether" and "shadows" in [layer["name"] for layer in own]
    assert added["texts"] == {"en": ["Tether", "a line to each robot"], "pt-BR": ["Corda", "uma linha até cada robô"]}
    assert [mark["kind"] for mark in added["marks"]] == ["Line", "Ring", "Text", "Arrow"]
    assert added["channels"] == ["rover/pose", "rover/twist"] and not added["on"]
