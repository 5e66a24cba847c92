"""What the lab itself says to people: each sentence has a code, so that a page can say it in its own language.

English is here and goes out with every sentence; other languages are with the page, by code, with the same holes. What
the simulator says, as about a scenario, has no code: it is the same here and in a terminal.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace
from typing import Any

from botz.errors import InputError
from botz.scenario.tree import SET

ENGLISH = {
    # what is not there
    "none.run": "no run {name!r}",
    "none.recording": "no recording {name!r}",
    "none.scenario": "no scenario {name!r} here",
    "none.robot": "no robot {name!r}",
    "none.export": "no export {name!r}",
    "none.viewer": "this viewer has gone",
    "unreadable.scenario": "cannot be read: {why}",
    "unreadable.recording": "unreadable: {why}",
    # the driver's seat
    "seat.empty": "nobody is in this run's driver's seat; take it",
    "seat.others": "somebody else is in this run's driver's seat; ask for it",
    "seat.taken": "somebody drives; ask for the seat",
    "seat.free": "the seat is free; take it",
    # runs
    "run.nothing": "scenario: name a scenario, or a recording to start from",
    "run.code": "this recording names code of its own ({code}), which the lab does not run from here",
    "run.most": "{most} runs are going on already; stop one of them first",
    "run.early": "this run has not begun yet",
    "run.over": "this run has ended",
    "run.ending": "this run is just ending; try again",
    "run.compiles": "the kernels of '{engine}' are compiled, once (up to half a minute) …",
    "run.died": "its process ended unexpectedly ({how})",
    "ended.signal": "signal {name}",
    "ended.code": "exit code {number}",
    # what a form, or a request, holds
    "form.unknown": "{key}: is not in this scenario's form",
    "form.number": "{key}: needs a number, not {value!r}",
    "form.above": "{key}: must be greater than {limit:g}, not {value:g}",
    "form.integer": "{key}: needs an integer, not {value!r}",
    "form.boolean": "{key}: needs a boolean, not {value!r}",
    "form.choice": "{key}: needs a choice, not {value!r}",
    "form.text": "{key}: needs a text, not {value!r}",
    "request.wrong": "{key}: {why}",
    "request.json": "the request is not JSON",
    "request.large": "at most {most} bytes",
    "request.owner": "name a run or a recording",
    "data.channels": "channels: names of channels, with commas between",
    "data.most": "channels: at most {most} at once",
    "data.rate": "rate: must be greater than 0",
    "data.large": "{rows} rows of {width} numbers are too many at once; ask for a lower rate",
    # arms
    "arm.none": "{robot}: is no arm whose inverse kinematics are known",
    "arm.joints": "{robot}: needs {count} finite joint variables",
    "arm.posture": "joints: give the joints",
    # recordings
    "recording.busy": "a run that is going on needs this recording; stop it first",
    "recording.elsewhere": "this recording lies outside of the lab's folder; delete it there",
    "recording.foreign": "this is no recording of Botz's; delete it by hand",
    "recording.name": "name: a text",
    "recording.unwritable": "the recording's folder cannot be changed: {why}",
    # exports
    "export.most": "{most} exports are waiting already; try again later",
    "export.early": "this export has no file yet",
    "export.closed": "the lab has ended",
    "export.failed": "the export failed ({why})",
    "export.died": "the exporting process ended early ({how})",
    # the lab
    "lab.failed": "this failed; the lab's log says why",
    "lab.busy": "the lab is busy; try again",
    "lab.welcome": "you are welcome already",
    "message.binary": "messages are msgpack, in binary frames",
    "message.large": "a message has at most {most} bytes",
    "message.packing": "not msgpack ({why})",
    "message.map": "a message is a map with the key 't'",
    "message.wrong": "{key}: {why}",
    "door.host": "wrong Host",
    "door.origin": "wrong Origin",
    "door.site": "request of another site",
    "door.token": "wrong token",
    "door.closed": "no token: open the address that the lab has printed on its terminal",
    "door.guesses": "too many wrong tokens",
    # how a robot is driven
    "hands.commands": "Full deflection is 1 of each command's unit.",
    "hands.none": "It takes no commands that hands could give.",
    "hands.wheels": "Its wheels let it neither move in every direction nor drive and turn.",
    "hands.refused": "{robot}: {why}",
    "hands.mode": "{robot}: no mode {name!r}",
    "hands.speeds": "{speed:g} m/s, {turn:g} rad/s",
    "hands.heading": "{speed:g} m/s; its heading stays.",
    "hands.car": "{speed:g} m/s; it turns while it rolls, on no less than {radius:g} m.",
    "hands.voltage": "Full deflection is the motors' full voltage.",
    "hands.arm": "{speed:g} m/s, {turn:g} rad/s, in the world's axes, while the clutch is held.",
    "hands.gripper": "Buttons open and close the gripper.",
    "hands.flight": "{speed:g} m/s along, {climb:g} m/s up, {turn:g} rad/s; hands off, it hovers.",
    "hands.plane": "Hands off, it flies level and straight on.",
}


@dataclass(frozen=True, init=False)
class Sentence:
    """One of them with its values; one of these may be a sentence again."""

    code: str
    values: dict[str, Any]
    tail: str
    """What English goes on to say, for those who write programs: names that may have been meant."""

    def __init__(self, code: str, tail: str = "", /, **values: Any):
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "tail", tail)

    def __str__(self) -> str:
        return ENGLISH[self.code].format(**self.values) + self.tail

    def told(self) -> list[Any]:
        """Code and values, as a page gets them."""
        values = {key: one.told() if isinstance(one, Sentence) else one for key, one in self.values.items()}
        return [self.code, values]


class LabError(InputError):
    """A mistake that the lab itself tells: all of its sentences, at once."""

    def __init__(self, *sentences: Sentence):
        self.sentences = sentences
        super().__init__("\n".join(str(one) for one in sentences))


def told(what: Exception | Sentence | str, key: str = "text") -> dict[str, Any]:
    """Text, under `key`, and codes, for a message or an answer; what is not the lab's own has no codes.

    Mistakes in what a form has set come under `fields` too, by their keys; who fills in a form writes no `--set`.
    """
    sentences = (what,) if isinstance(what, Sentence) else getattr(what, "sentences", ())
    message: dict[str, Any] = {key: str(what)}
    problems = what.problems if isinstance(what, InputError) else []
    if any(problem.file == SET.file for problem in problems):
        by_form = {problem for problem in problems if problem.file == SET.file}
        message[key] = "\n".join(str(replace(one, file=None) if one in by_form else one) for one in problems)
        message["fields"] = {problem.key: problem.message for problem in problems if problem in by_form}
    if sentences:
        message["said"] = [one.told() for one in sentences]
    return message


def ending(code: int) -> Sentence:
    """How a process ended."""
    if code < 0:
        return Sentence("ended.signal", name=signal.Signals(-code).name)
    return Sentence("ended.code", number=code)
