"""Titles of the chat platforms, and the facts about each that a model gets.

The core knows no platform by itself: whoever assembles it introduces them, plug-ins too.
The console and the API are not among them: a job can't name them as its target.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformWords:
    """Words about a platform. `hint` tells a model how its words appear there."""

    title: str
    hint: str


_introduced: dict[str, PlatformWords] = {}


def introduce(words: Mapping[str, PlatformWords]) -> None:
    """Make platforms known to this process."""
    _introduced.update(words)


def list_introduced() -> list[str]:
    """Return the names of all platforms that this process knows."""
    return sorted(_introduced)


def find_words(platform: str) -> PlatformWords | None:
    """Return the words about a platform; None for one that nobody introduced."""
    return _introduced.get(platform)


def find_title(platform: str) -> str:
    """Return the title of a platform; "" for one that nobody introduced."""
    known = _introduced.get(platform)
    return known.title if known else ""
