"""Catalogues of 500 skills: 60 that were written with a request each, and 440 like them.

`tuned.json` serves to tune the ranking. `held_out.json` was committed before the ranking was made,
`second_held_out.json` before it was changed. Both are read for published figures only.
`third_held_out.json` has requests for 60 skills drawn at random from the second catalogue, by an
author who saw neither the ranking nor other requests. It was read once, with the ranking final.
`fourth_held_out.json` is another such sample, committed before meaning was added to the ranking.
Since 2026-11-26, all five serve to tune.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

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
_BODY = "Do the work step by step, and check it.\n" * 40
Sample = Literal["tuned", "held_out", "second_held_out", "third_held_out", "fourth_held_out"]
_DRAWN: tuple[Sample, ...] = ("third_held_out", "fourth_held_out")
"""Samples for skills of the second catalogue."""

SAMPLES: tuple[Sample, ...] = get_args(Sample)


@dataclass(frozen=True, slots=True)
class WrittenSkill:
    """A skill to be written to a folder."""

    name: str
    description: str
    body: str = _BODY


@dataclass(frozen=True, slots=True)
class Request:
    """A message of a person, and the name of the skill that fits it."""

    text: str
    skill: str


def read_requests(sample: Sample) -> list[Request]:
    """Read the requests in their order."""
    if sample in _DRAWN:
        given = json.loads(_find(sample).read_text())
        return [Request(one["request"], *one["right"]) for one in given]
    return [Request(one[-1], one[0]) for one in _read(sample)]


def list_skills(sample: Sample) -> list[WrittenSkill]:
    """List the skills of a catalogue. Those of `tuned` have no text of their own."""
    catalogue: Sample = "second_held_out" if sample in _DRAWN else sample
    written = [WrittenSkill(*one[:-1]) for one in _read(catalogue)]
    others = [
        WrittenSkill(f"{subject}-{work}", text.format(subject))
        for subject in json.loads(_find("tuned").read_text())["subjects"]
        for work, text in _WORK
    ]
    return [*written, *others][:COUNT]


def write_skills(folder: Path, skills: Sequence[WrittenSkill], *, is_quoted: bool) -> None:
    """Write skills as folders; unless quoted, their descriptions have a colon that YAML refuses."""
    for one in skills:
        place = folder / one.name
        place.mkdir(parents=True)
        described = one.description
        text = f'"{described}"' if is_quoted else f"{described} Examples: one: two."
        front = f"---\nname: {one.name}\ndescription: {text}\n---\n"
        (place / "SKILL.md").write_text(front + one.body)


def _read(sample: Sample) -> list[list[str]]:
    found: list[list[str]] = json.loads(_find(sample).read_text())["written"]
    return found


def _find(sample: Sample) -> Path:
    return Path(__file__).with_name(f"{sample}.json")
