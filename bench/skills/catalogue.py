"""The list of 500 skills in a prompt, the choice among them, and the time to load 1,000."""

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.tools.directory import SkillDirectory
from agent_core.state.engine.database import Database
from bench.figures import Figure
from bench.skills.corpus import (
    SAMPLES,
    Request,
    Sample,
    WrittenSkill,
    list_skills,
    read_requests,
    write_skills,
)

BUDGET = 350
"""Tokens of the list; the default of `skills.prompt_tokens`."""
_LETTERS_PER_TOKEN = 4
_FIRST = 3
_ROUNDS = 9
_LOADED = 1_000


async def measure_choice() -> list[Figure]:
    """Measure the list in a prompt, and the share of requests whose skill is among the first."""
    return [figure for sample in SAMPLES for figure in await _measure_sample(sample)]


async def _measure_sample(sample: Sample) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="talaria-skills-") as folder:
        home = Path(folder)
        write_skills(home / "skills", list_skills(sample), is_quoted=True)
        database = await Database.open(home / "state.db")
        try:
            directory = SkillDirectory(SkillCatalog(home / "skills"), database, BUDGET)
            listed = await directory.describe()
        finally:
            await database.close()
        lines = [line for line in listed.splitlines() if line.startswith("- ")]
        requests, label = read_requests(sample), sample.replace("_", " ")
        return [
            Figure(
                name=f"list of 500 skills, {label}",
                unit="tokens",
                value=sum(map(len, lines)) / _LETTERS_PER_TOKEN,
                at_most=BUDGET,
            ),
            Figure(
                name=f"among the first three, {label}",
                unit="%",
                value=_share(directory, requests),
                at_least=90,
            ),
            Figure(
                name=f"suggesting for a message, {label}",
                unit="ms",
                value=_time(directory, requests),
            ),
        ]


async def measure_loading() -> list[Figure]:
    """Measure the first listing of 1,000 skills, and the next ones without a change."""
    figures = []
    for is_quoted, label in ((True, "plain"), (False, "unquoted colons")):
        skills = [
            WrittenSkill(f"skill-{number}", f"Does the work {number}.") for number in range(_LOADED)
        ]
        with tempfile.TemporaryDirectory(prefix="talaria-skills-") as folder:
            write_skills(Path(folder), skills, is_quoted=is_quoted)
            first: list[float] = []
            again: list[float] = []
            for _ in range(_ROUNDS):
                catalog = SkillCatalog(Path(folder))
                for taken in (first, again):
                    started = time.process_time()
                    found = catalog.list_all()
                    taken.append(time.process_time() - started)
                assert all(one.skill for one in found)
        median = statistics.median(first)
        name = f"first listing of 1,000 skills, {label}"
        figures.append(Figure(name=name, unit="s of CPU", value=median, at_most=0.5))
        name = f"next listing without a change, {label}"
        figures.append(Figure(name=name, unit="ms of CPU", value=1_000 * statistics.median(again)))
    return figures


def _share(directory: SkillDirectory, requests: Sequence[Request]) -> float:
    """Return the share of requests whose skill is among the first, in percent."""
    found = sum(one.skill in directory.suggest(one.text)[:_FIRST] for one in requests)
    return 100 * found / len(requests)


def _time(directory: SkillDirectory, requests: Sequence[Request]) -> float:
    """Return the median time of a suggestion, in milliseconds."""
    taken = []
    for one in requests:
        started = time.perf_counter()
        directory.suggest(one.text)
        taken.append(time.perf_counter() - started)
    return 1_000 * statistics.median(taken)
