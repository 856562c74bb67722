"""Show the values of settings in the words of their reader."""

from typing import Literal

from agent_core.localization import Text
from agent_core.time_zones import name_city as find_city

VERBOSITIES = {
    "quiet": Text("Answers only"),
    "normal": Text("Progress if it takes long"),
    "verbose": Text("Every step"),
}
"""What a person sees of the work, by the value of the setting."""
SPEECH = {"off": Text("off"), "voice": Text("to voice messages"), "always": Text("always")}
"""When answers are spoken, by the value of the setting."""
LEARNING_MODES: dict[Literal["off", "ask", "quiet", "tell"], Text] = {
    "off": Text("Don't learn"),
    "ask": Text("Ask first"),
    "quiet": Text("Tell me silently"),
    "tell": Text("Tell me with a sound"),
}
"""How a person learns what was learned, by the value of the setting."""
SUMMARIES: dict[Literal["daily", "weekly"], Text] = {
    "daily": Text("Daily summary"),
    "weekly": Text("Weekly summary"),
}
"""How often a summary tells it instead, by the second value of the setting."""
_CITIES = {
    "Europe/Vienna": Text("Vienna"),
    "Europe/Zurich": Text("Zurich"),
    "Europe/Lisbon": Text("Lisbon"),
    "America/Mexico_City": Text("Mexico City"),
}


def describe_learning(value: str) -> str:
    """Say what a stored value of the setting means: a mode, and perhaps a summary."""
    known = dict[str, Text]((*LEARNING_MODES.items(), *SUMMARIES.items()))
    return ", ".join(known[word]() if word in known else word for word in value.split())


def name_city(zone: str) -> str:
    """Return the city of an IANA zone in the reader's language."""
    return _CITIES[zone]() if zone in _CITIES else find_city(zone)
