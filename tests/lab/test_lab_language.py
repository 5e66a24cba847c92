"""The lab speaks Portuguese: what the server says in English has its translation in the page, by code or by words."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from lab_rig import Page, RunningLab

import botz
import botz.view
from botz.scenario import library
from botz.view.lab.catalogue import Catalogue
from botz.view.lab.driving import hands_of
from botz.view.lab.forms import TERRAINS, fields_of
from botz.view.lab.recordings import Recordings
from botz.view.lab.sentences import ENGLISH, LabError, Sentence, told

WEB = Path(__file__).parents[2] / "web" / "src"
VIEW = Path(botz.view.__file__).parent
SOURCES = sorted([*VIEW.glob("lab/*.py"), *VIEW.glob("*/driving.py")])
ENTRY = re.compile(r'^ {2}(?:"((?:[^"\\]|\\.)+)"|(\w+)):\s+"((?:[^"\\]|\\.)*)",$', re.MULTILINE)
IN_A_TERMINAL = {"server.py", "client.py", "run_process.py", "export_process.py"}
"""Modules whose mistakes are told in a terminal, or are those of a run."""


def table(file: str, name: str) -> dict[str, str]:
    """One of the page's tables of texts."""
    source = (WEB / file).read_text(encoding="utf-8")
    body = source.split(f"export const {name}:", 1)[1].split("\n};", 1)[0]
    found = {json.loads(f'"{quoted or bare}"'): json.loads(f'"{text}"') for quoted, bare, text in ENTRY.findall(body)}
    assert len(found) == sum(bool(re.match(r' {2}["\w]', line)) for line in body.split("\n")), "an entry was not read"
    return found


def holes(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def calls(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node


# --- sentences -------------------------------------------------------------------------------------------------


def test_every_sentence_of_the_lab_is_there_in_portuguese_with_the_same_values():
    translated = table("texts_pt_server.ts", "ptSentences")
    assert set(translated) == set(ENGLISH)
    for code, english in ENGLISH.items():
        assert holes(translated[code]) == holes(english), code


def test_the_sources_say_these_sentences_with_their_values_and_no_others():
    said = set()
    for file in SOURCES:
        for call in calls(ast.parse(file.read_text(encoding="utf-8")), "Sentence"):
            first = call.args[0]
            assert isinstance(first, ast.Constant) and first.value in ENGLISH, f"{file.name}:{call.lineno}"
            given = {keyword.arg for keyword in call.keywords}
            assert given == holes(ENGLISH[first.value]), f"{file.name}:{call.lineno}"
            said.add(first.value)
    assert said == set(ENGLISH)


def test_nothing_is_told_to_a_page_without_a_code():
    for file in SOURCES:
        if file.name in IN_A_TERMINAL:
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for call in calls(tree, "InputError", "BotzError", "Problem"):
            # The folder that the command line gives is the one mistake that no page can make.
            assert "--root" in ast.unparse(call), f"{file.name}:{call.lineno}"
        for node in ast.walk(tree):
            pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
            for key, value in pairs:
                if isinstance(key, ast.Constant) and key.value in ("error", "text", "note"):
                    words = any(isinstance(one, ast.Constant) and " " in str(one.value) for one in ast.walk(value))
                    assert not words, f"{file.name}:{value.lineno}"


def test_a_sentence_says_its_values_and_may_hold_another():
    one = Sentence("run.died", how=Sentence("ended.code", number=3))
    assert str(one) == "its process ended unexpectedly (exit code 3)"
    assert told(one) == {"text": str(one), "said": [["run.died", {"how": ["ended.code", {"number": 3}]}]]}
    two = LabError(Sentence("none.robot", "; choose from: a, b", name="c"), Sentence("seat.free"))
    assert str(two) == "no robot 'c'; choose from: a, b\nthe seat is free; take it"
    assert told(two, "error")["said"] == [["none.robot", {"name": "c"}], ["seat.free", {}]]
    assert told(ValueError("of the simulator")) == {"text": "of the simulator"}
    assert "names code of its own (a.py:B)" in str(Sentence("run.code", code="a.py:B"))


def test_pages_get_the_codes(lab: RunningLab, page: Page):
    page.say(t="stop", run="nowhere")
    error = page.wait_for(lambda message: message["t"] == "error")
    assert error == {"t": "error", "about": "stop", **told(Sentence("none.run", name="nowhere"))}
    page.say(t="start", scenario="differential-circle", set={"seed": "x", "time.duration": True})
    error = page.wait_for(lambda message: message["t"] == "error")
    assert [code for code, _ in error["said"]] == ["form.integer", "form.number"]
    missing = lab.get("/api/recordings/nowhere/info")
    assert missing.status_code == 404
    assert missing.json() == told(Sentence("none.recording", name="nowhere"), "error")
    assert lab.get("/api/form?scenario=differential-circle", host="evil.example").json() == told(
        Sentence("door.host"), "error"
    )


def test_lists_tell_by_code_what_cannot_be_read(tmp_path: Path):
    (tmp_path / "broken.yaml").write_text("robots: [", encoding="utf-8")
    (scenario,) = [one for one in Catalogue(tmp_path).entries() if one["name"] == "broken.yaml"]
    ((code, values),) = scenario["said"]
    assert code == "unreadable.scenario" and scenario["description"].endswith(values["why"])
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "recording.mcap").write_bytes(b"no recording")
    (recording,) = Recordings(tmp_path).entries()
    ((code, values),) = recording["said"]
    assert code == "unreadable.recording" and recording["status"] == f"unreadable: {values['why']}"


# --- forms and hands -------------------------------------------------------------------------------------------


def form_words() -> Iterator[tuple[str, str]]:
    """Everything in English that forms of the library show, and where: labels without components and names of the
    scenario, components that are words, choices, explanations, and the heads of groups."""
    for name in library.names("scenario"):
        spec: Any = botz.load(name).spec
        for field in fields_of(spec):
            where = f"{name}: {field.key}"
            assert field.label.endswith(field.part), where
            yield field.label.removesuffix(field.part).strip() or field.label, where
            if field.part in ("heading", "roll", "pitch", "yaw"):
                yield field.part, where
            for choice in field.choices or ():
                if isinstance(choice, str) and len(choice) > 1:  # classes of roughness are letters
                    yield choice, where
            for words in (field.help, field.group):
                if words:
                    yield words, where
            parts = field.key.split(".")
            if len(parts) > 2:
                yield parts[0], where
                if parts[0] not in ("robots", "controllers"):
                    yield parts[1], where
    for ground in TERRAINS:
        yield ground, "the choice of grounds"


def test_every_word_of_every_form_in_the_library_is_there_in_portuguese():
    translated = table("texts_pt_server.ts", "ptForm")
    offered: dict[str, str] = {}
    for words, where in form_words():
        offered.setdefault(words, where)
    missing = {words: where for words, where in offered.items() if not translated.get(words, "").strip()}
    assert not missing
    assert not set(translated) - set(offered), "no form says these any more"


EXAMPLES = {
    "planar": ("differential-circle", {"twist": 3}),
    "omni": ("omni-eight", {"twist": 3}),
    "tank": ("skid-circle", {"drive": 2, "tank": 2}),
    "soccer": ("soccer", {"twist": 2}),
    "arm": ("titan4-pick", {"twist": 6, "gripper/opening": 1}),
    "flight": ("lophorina-waypoints", {"velocity": 4}),
    "plane": ("fixed-wing-cruise", {"steer": 3}),
}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_modes_axes_and_note_of_all_hands_are_there_in_portuguese(kind: str):
    scenario, commands = EXAMPLES[kind]
    spec: Any = botz.load(scenario).spec
    hands = hands_of(spec, next(iter(spec.robots)), list(commands.items()))
    assert hands.hands == kind
    texts = table("texts_pt.ts", "pt")
    wanted = {f"axis.{axis}" for axis in hands.axes} | {f"handMode.{mode}" for mode in hands.modes} | {f"hint.{kind}"}
    assert wanted <= set(texts)
    described = hands.described()
    assert described["note"]
    translated = table("texts_pt_server.ts", "ptSentences")
    for code, values in described["note_said"]:
        assert holes(translated[code]) == set(values)
