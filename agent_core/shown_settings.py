"""Show the values of settings in the words of their reader."""

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
_CITIES = {
    "Europe/Vienna": Text("Vienna"),
    "Europe/Zurich": Text("Zurich"),
    "Europe/Lisbon": Text("Lisbon"),
    "America/Mexico_City": Text("Mexico City"),
}


def name_city(zone: str) -> str:
    """Return the city of an IANA zone in the reader's language."""
    return _CITIES[zone]() if zone in _CITIES else find_city(zone)
