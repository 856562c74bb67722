"""A catalogue of 500 skills: 60 that were written with a request each, and 440 like them.

The requests were written before any ranking was seen. Those at even places may serve to tune the
ranking, the ones at odd places are held out.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WORK = (
    ("archiver", "Files old {} in folders by year and topic, and finds them again."),
    ("tracker", "Keeps a list of {} with their state, and reminds of what is due."),
    ("template", "Makes a template for {}. Use when somebody often needs similar ones."),
    ("comparison", "Compares two or more {} side by side, and names the differences."),
    ("statistics", "Counts {} and shows how their number changes, as a table and a chart."),
    ("translator", "Converts {} to another language or format without loss."),
    ("checker", "Checks {} for mistakes and gaps before others see them."),
    ("explainer", "Explains {} in plain words to somebody who is new to them."),
    ("planner", "Plans work on {}: steps, dates, and who does it."),
    ("summary", "Summarises {} on one page with the most important points."),
)
COUNT = 500


@dataclass(frozen=True, slots=True)
class Request:
    """A message of a person, and the name of the skill that fits it."""

    text: str
    skill: str


def read_requests() -> list[Request]:
    """Read the requests in their order."""
    return [Request(text, name) for name, _, text in _read()]


def list_skills() -> list[tuple[str, str]]:
    """List the names and descriptions of the catalogue."""
    written = [(name, description) for name, description, _ in _read()]
    others = [
        (f"{subject}-{work}", text.format(subject))
        for subject in _read_file()["subjects"]
        for work, text in _WORK
    ]
    return [*written, *others][:COUNT]


def write_skills(folder: Path, skills: Sequence[tuple[str, str]], *, is_quoted: bool) -> None:
    """Write skills as folders; unless quoted, their descriptions have a colon that YAML refuses."""
    for name, description in skills:
        place = folder / name
        place.mkdir(parents=True)
        text = f'"{description}"' if is_quoted else f"{description} Examples: one: two."
        body = "Do the work step by step, and check it.\n" * 40
        (place / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {text}\n---\n{body}")


def _read() -> list[tuple[str, str, str]]:
    written = _read_file()["written"]
    return [(name, description, request) for name, description, request in written]


def _read_file() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(__file__).with_name("requests.json").read_text())
    return found
