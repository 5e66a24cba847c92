"""Words that a scenario is found by beside its name and description, in English and Portuguese."""

from __future__ import annotations

import re

WORDS = {
    "engine": {
        "soccer": "football ball match vsss futebol bola jogo robô",
        "arm": "robot arm manipulator joint gripper braço manipulador junta garra",
        "vehicle": "car rover terrain suspension wheel carro veículo terreno suspensão roda",
        "kinematics": "wheel mobile robot roda robô móvel cinemática",
        "multibody": "body joint corpo junta",
    },
    "pattern": {
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
    },
}


def keywords(name: str, engine: str, description: str) -> str:
    found = [WORDS["engine"].get(engine, "")]
    text = f"{name} {description}".lower()
    found += [words for pattern, words in WORDS["pattern"].items() if re.search(pattern, text)]
    return " ".join(word for word in found if word)
