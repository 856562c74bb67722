"""The choice among the skills of a folder: `python -m bench.skills.folder FOLDER REQUESTS`.

Each line of `REQUESTS` is a JSON object with a `request`, its `skill` and, if there are any, the
names in `also`, which are as right. The bundled skills are there, too, as in a home.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.tools.directory import SkillDirectory
from agent_core.state.engine.database import Database
from bench.figures import Figure, render
from bench.skills.catalogue import BUDGET

_FIRST = (1, 3, 5)


@dataclass(frozen=True, slots=True)
class Placed:
    """A request, its skill, and the places that a search gives the skills that are right.

    A place is 0 for the first skill; it is None if the search finds none.
    """

    request: str
    skill: str
    place: int | None
    best_place: int | None
    """The place of the first skill that is right, or as right."""
    is_suggested: bool


async def place_requests(folder: Path, lines: Sequence[str]) -> list[Placed]:
    """Search the skills of a folder with the request of each line."""
    with tempfile.TemporaryDirectory(prefix="talaria-skills-") as state:
        database = await Database.open(Path(state) / "state.db")
        try:
            directory = SkillDirectory(SkillCatalog(folder), database, BUDGET)
            await directory.describe()
        finally:
            await database.close()
    placed = []
    for line in lines:
        given = json.loads(line)
        text, skill = given["request"], given["skill"]
        found = [one.name for one in directory.search(text)]
        right = {skill, *given.get("also", ())}
        placed.append(
            Placed(
                request=text,
                skill=skill,
                place=found.index(skill) if skill in found else None,
                best_place=next((at for at, name in enumerate(found) if name in right), None),
                is_suggested=skill in directory.suggest(text),
            )
        )
    return placed


def summarize(placed: Sequence[Placed]) -> list[Figure]:
    """Return the shares of requests whose skill is among the first, in percent."""

    def share(name: str, found: int) -> Figure:
        goal = 90 if name == "suggested" else None
        return Figure(name=name, unit="%", value=100 * found / len(placed), at_least=goal)

    return [
        share("suggested", sum(one.is_suggested for one in placed)),
        *(
            share(f"among the first {count}", sum(_is_in(one.place, count) for one in placed))
            for count in _FIRST
        ),
        *(
            share(
                f"among the first {count}, others that are as right allowed",
                sum(_is_in(one.best_place, count) for one in placed),
            )
            for count in _FIRST
        ),
    ]


def _is_in(place: int | None, count: int) -> bool:
    return place is not None and place < count


def _report() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("requests", type=Path)
    given = parser.parse_args()
    placed = asyncio.run(place_requests(given.folder, given.requests.read_text().splitlines()))
    print(render(summarize(placed)))


if __name__ == "__main__":
    _report()
