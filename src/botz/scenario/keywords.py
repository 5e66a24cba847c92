"""Words that a scenario is found by beside its name and description, in English and Portuguese: its family's, and those
of what it is about."""

from __future__ import annotations

import re
import unicodedata

from botz.scenario.families import FAMILIES

WORDS = {
    r"rotor|copter|lophorina|hover": (
        "drone uav multicopter quadcopter propeller flight vant voo aeronave helicóptero quadricóptero "
        "quadrirrotor multirrotor hélice"
    ),
    r"\bwing|airplane|\bglide": "aircraft airplane flight wing avião planador voo asa",
    r"teleop": "remote teleoperation teleoperação remoto",
    r"\bwind\b": "gust turbulence vento rajada",
    r"ackermann|\bcar\b": "car parking carro automóvel estacionar",
    r"ramp|slope": "climb incline rampa subida",
    r"castor": "caster rodízio",
}
"""By what is in its name or description."""


def keywords(name: str, engine: str, description: str) -> str:
    family = FAMILIES.get(engine)
    text = f"{name} {description}".lower()
    words = [family.keywords if family else "", *(words for part, words in WORDS.items() if re.search(part, text))]
    return " ".join(filter(None, words))


def fits(text: str, search: str) -> bool:
    """Whether every word of a search is somewhere in a text, in any order, accents and capitals aside: as in the lists
    of the lab's page."""
    within = plain(text)
    return all(word in within for word in plain(search).split())


def plain(words: str) -> str:
    """Small letters without accents."""
    letters = unicodedata.normalize("NFD", words.lower())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
