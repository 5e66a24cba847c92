"""A team that sees nothing but the images of the camera above the field.

    botz run soccer --serve                                   (first terminal)
    python examples/soccer/camera_team.py --team blue         (second terminal)

Every image goes the same way: find the coloured patches, put them together to robots, follow the ball, plan, send wheel
speeds. All of it takes a few milliseconds; an image comes every thirty.
"""

from __future__ import annotations

import argparse
import socket
import time
from itertools import combinations
from math import atan2, hypot
from typing import NamedTuple

import numpy as np
from scipy import ndimage
from strategy import Ball, Pose, Team, wrap
from vision_team import address, command_packet

from botz import BotzError
from botz.endpoints.camera.client import CameraClient, CameraGone
from botz.scenario.ports import CAMERA

COLOURFUL = 60  # how much the largest of red, green and blue exceeds the smallest; field and walls are grey
SMALLEST = 12  # pixels; less is noise
FORGET = 0.4  # seconds after which a robot that is not seen any more is left alone


class Patch(NamedTuple):
    colour: str
    x: float
    y: float
    pixels: int


# --- what is in an image -------------------------------------------------------------------------------------------


class Eyes:
    """Finds patches of known colours. The camera tells its colours, its lens and what the robots wear."""

    def __init__(self, camera: CameraClient):
        self.camera = camera
        self.names = list(camera.colours)
        # Brightness changes, but the shares of red, green and blue in a colour stay.
        colours = np.array(list(camera.colours.values()), dtype=np.float32)
        self.shares = colours / colours.sum(axis=1, keepdims=True)
        self.side = camera.robots[0].side
        self.wears = {(robot.team, robot.code): robot.id for robot in camera.robots}

    def patches(self, image: np.ndarray) -> list[Patch]:
        red, green, blue = np.ascontiguousarray(image.transpose(2, 0, 1))
        most, least = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
        contrast = most - least
        v, u = np.nonzero(contrast > COLOURFUL)
        # The rims of patches are blurred and may run into each other. What counts as a patch depends on the light.
        strength = contrast[v, u]
        inner = strength > 0.6 * np.median(strength) if len(v) else slice(None)
        v, u = v[inner], u[inner]
        pixels = image[v, u].astype(np.float32)
        shares = pixels / pixels.sum(axis=1, keepdims=True)
        nearest = ((shares[:, None, :] - self.shares) ** 2).sum(axis=2).argmin(axis=1)

        found = []
        for group in (["orange"], ["blue", "yellow"], ["red", "green", "magenta", "cyan"]):
            # Patches of one group never touch: there is black between them. So all its colours can be searched at once.
            members = np.isin(nearest, [self.names.index(name) for name in group])
            mask = np.zeros(image.shape[:2], dtype=bool)
            mask[v[members], u[members]] = True
            labels, count = ndimage.label(mask)
            own = labels[v[members], u[members]]
            sizes = np.bincount(own, minlength=count + 1)
            mean_u = np.bincount(own, u[members], count + 1)
            mean_v = np.bincount(own, v[members], count + 1)
            votes = np.bincount(own * len(self.names) + nearest[members], minlength=(count + 1) * len(self.names))
            winners = votes.reshape(count + 1, -1).argmax(axis=1)
            # What is higher above the ground looks further out; the lens knows by how much.
            height = self.camera.ball_radius if group == ["orange"] else self.side
            for label in np.flatnonzero(sizes >= SMALLEST):
                size = int(sizes[label])
                x, y = self.camera.pixel_to_field(mean_u[label] / size, mean_v[label] / size, height)
                found.append(Patch(self.names[winners[label]], x, y, size))
        return found

    def robots(self, patches: list[Patch], before: dict[tuple[str, int], Pose]) -> dict[tuple[str, int], Pose]:
        """Robots by team and number: a patch of the team in front, and two that tell the number behind it.

        Two robots that touch can look like a third one between them. Who was nearly there before is believed first.
        """
        fronts = [patch for patch in patches if patch.colour in ("blue", "yellow")]
        codes = [patch for patch in patches if patch.colour in ("red", "green", "magenta", "cyan")]
        candidates = []
        for front in fronts:
            near = [code for code in codes if hypot(code.x - front.x, code.y - front.y) < self.side]
            for pair in combinations(near, 2):
                x, y = 0.5 * (pair[0].x + pair[1].x), 0.5 * (pair[0].y + pair[1].y)
                forward = front.x - x, front.y - y
                length = hypot(*forward)
                apart = pair[1].x - pair[0].x, pair[1].y - pair[0].y
                # Half a side in front of the rear patches, which are half a side apart, at a right angle.
                misfit = abs(length - 0.5 * self.side) + abs(hypot(*apart) - 0.5 * self.side)
                misfit += abs(apart[0] * forward[0] + apart[1] * forward[1]) / max(length, 1e-6)
                if misfit > 0.35 * self.side:
                    continue
                second_is_left = forward[0] * apart[1] - forward[1] * apart[0] > 0.0
                left, right = (pair[1], pair[0]) if second_is_left else pair
                number = self.wears.get((front.colour, (left.colour, right.colour)))
                if number is None:
                    continue
                pose = 0.5 * (front.x + x), 0.5 * (front.y + y), atan2(forward[1], forward[0])
                candidates.append(
                    (misfit + surprise(pose, before.get((front.colour, number))), front, pair, number, pose)
                )
        found: dict[tuple[str, int], Pose] = {}
        used: set[Patch] = set()
        for _, front, pair, number, pose in sorted(candidates, key=lambda candidate: candidate[0]):
            parts = {front, *pair}
            if (front.colour, number) not in found and not parts & used:
                found[front.colour, number] = pose
                used |= parts
        return found


def surprise(pose: Pose, before: Pose | None) -> float:
    """How unlikely a pose is after the one before, in metres."""
    if before is None:
        return 0.1
    return min(0.1, hypot(pose[0] - before[0], pose[1] - before[1]) + 0.01 * abs(wrap(pose[2] - before[2])))


# --- what is remembered from image to image --------------------------------------------------------------------------


class World:
    def __init__(self) -> None:
        self.poses: dict[tuple[str, int], Pose] = {}
        self.seen: dict[tuple[str, int], float] = {}
        self.ball = Ball(0.0, 0.0)
        self.time = 0.0

    def update(self, t: float, robots: dict[tuple[str, int], Pose], balls: list[Patch]) -> None:
        for who, pose in robots.items():
            self.poses[who], self.seen[who] = pose, t
        for who in [who for who, seen in self.seen.items() if t - seen > FORGET]:
            del self.poses[who], self.seen[who]
        self.follow_ball(t - self.time, balls)
        self.time = t

    def follow_ball(self, passed: float, balls: list[Patch]) -> None:
        """Between what its motion foretells and what is seen: that smooths noise and bridges images without a ball."""
        old = self.ball
        guess = Ball(old.x + passed * old.vx, old.y + passed * old.vy, 0.98 * old.vx, 0.98 * old.vy)
        if not balls:
            # It is hidden by a robot that pushes it, or lies still: it will be about there.
            self.ball = Ball(guess.x, guess.y, 0.9 * guess.vx, 0.9 * guess.vy) if passed > 0.0 else old
            return
        seen = max(balls, key=lambda patch: patch.pixels)
        missed_x, missed_y = seen.x - guess.x, seen.y - guess.y
        if hypot(missed_x, missed_y) > 0.15 or passed <= 0.0:
            self.ball = Ball(seen.x, seen.y)  # somebody has put it there
            return
        gain = 0.4 / passed
        self.ball = Ball(
            guess.x + 0.8 * missed_x, guess.y + 0.8 * missed_y, guess.vx + gain * missed_x, guess.vy + gain * missed_y
        )


# --- the loop ------------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--team", choices=("blue", "yellow"), default="blue")
    parser.add_argument("--camera", default=CAMERA, help="where the camera is")
    parser.add_argument("--commands", type=address, default=("127.0.0.1", 20011), help="where commands are sent to")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="how long to play")
    options = parser.parse_args()

    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    world = World()
    end = time.monotonic() + options.seconds
    print(f"waiting for the camera at {options.camera}", flush=True)
    try:
        # A match may take a while to start: the first one on a machine compiles.
        watching = CameraClient(options.camera, timeout=min(120.0, options.seconds))
    except BotzError as error:
        raise SystemExit(str(error)) from None
    with watching as camera:
        print(f"playing {options.team}", flush=True)
        eyes = Eyes(camera)
        team = Team(options.team, *(camera.field[size] for size in ("length", "width", "goal_width")))
        while time.monotonic() < end:
            try:
                frame = camera.newest(timeout=1.0)  # not all of them: only the present matters
            except TimeoutError:
                continue  # paused, or images were lost
            except (CameraGone, KeyboardInterrupt):
                break  # the match is over
            patches = eyes.patches(frame.image)
            robots = eyes.robots(patches, world.poses)
            world.update(frame.time, robots, [patch for patch in patches if patch.colour == "orange"])
            ours = {number: pose for (colour, number), pose in world.poses.items() if colour == options.team}
            theirs = [(x, y) for (colour, _), (x, y, _) in world.poses.items() if colour != options.team]
            wheels = team.play(frame.time, ours, theirs, world.ball)
            out.sendto(command_packet(options.team, wheels), options.commands)


if __name__ == "__main__":
    main()
