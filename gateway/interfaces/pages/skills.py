"""Skills: the list with uses and success rates; one skill with tests, history and versions."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from itertools import islice
from typing import Any

from agent_core.agent.quotas.balance import day_of
from agent_core.errors import SkillBroken
from agent_core.localization import format_date
from agent_core.skills.evaluation.cases import may_test, read_cases
from agent_core.skills.evaluation.record import CaseRun, EvalRecord, load_record
from agent_core.skills.evaluation.sequential import MOST_PAIRS
from agent_core.skills.states import read_states
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, skill_changes, skill_uses, skills
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.state.memory.skill_uses import Period
from agent_core.state.queues import skill_tests
from agent_core.tools.clock import local_time
from gateway.errors import Declined
from gateway.interfaces.pages import charts
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.operations.skill_types import ListSkills, PickSkill, SkillVersion
from gateway.operations.skills import list_skills, list_versions_of, show_skill
from gateway.texts import forms, states
from gateway.texts import pages as page_texts
from gateway.texts import skills as texts

_MOST, _MOST_CHANGES = 20, 50
"""Most versions, and most changes of state, on a page; the page counts the others."""
_HEAD = 2
"""The first lines of a difference, which name the two files."""
_ROWS = 500
"""The newest rows of the ledger that are searched for changes of state."""
_WEEKS = 12
_WEEK = 7 * 86_400_000
_ROLLED_BACK = re.compile(r"rolled back to version (\d+)(?:: (.*))?", re.DOTALL)


async def show_list(look: Look) -> Fields:
    """Read all skills. Raises `Declined` if their folder can't be read."""
    found = await list_skills(look.context, ListSkills())
    return {"skills": found.skills, "kept": look.flash.get("kept"), "f": forms}


async def show(look: Look) -> Fields:
    """Read one skill. Raises `Missing`, and `Declined` if it is broken."""
    context = look.context
    asked = PickSkill(name=look.request.path_params["skill"])
    listed = await list_skills(context, ListSkills())
    if asked.name not in [one.name for one in listed.skills]:
        raise Missing
    skill = await show_skill(context, asked)
    is_own = skill.origin == "home"
    found = (await list_versions_of(context, asked)).versions if is_own else ()
    name = asked.name
    end = day_of(look.gateway.now(), look.viewer.zone).end

    def work(connection: Connection) -> dict[str, Any]:
        row, team = skills.find(connection, name=name), blocks.find_team(connection)
        if row is None:
            return {"uses": {}, "history": [], "more_changes": 0, "test": None}
        since = end - _WEEKS * _WEEK
        uses = skill_uses.count_by_period(connection, skill_id=row.id, since=since, period=_WEEK)
        changes: list[LedgerEntry] = []
        text_row = 0
        if team is not None:
            changes = skill_changes.list_of_skill(
                connection, person_id=team, skill_id=row.id, limit=_ROWS
            )
            text_row = (
                skill_changes.find_version_row(connection, person_id=team, skill_id=row.id) or 0
            )
        tests = skill_tests.list_of_text(connection, skill_id=row.id, text_row=text_row)
        test = _describe_test(load_record(tests[0])) if tests else None
        told = [row for row in changes if read_states(row) or _ROLLED_BACK.fullmatch(_why(row))]
        return {
            "uses": uses,
            "history": list(_list_history(told[:_MOST_CHANGES])),
            "more_changes": len(told) - _MOST_CHANGES,
            "test": test,
        }

    shown = await look.gateway.database.read(work)
    folder = look.gateway.home_skills.catalog.folder
    counts = not is_own or await look.gateway.database.read(may_test, folder, name)
    return {
        **shown,
        "more_versions": len(found) - _MOST,
        "skill": skill,
        "s": texts,
        "f": forms,
        "undo": look.flash.get("undo"),
        "versions": _compare(found)[::-1],
        "cases": await asyncio.to_thread(_count_cases, look, name, counts=counts),
        "weeks": _WEEKS,
        **_describe_uses(shown["uses"], end, look.viewer.zone),
    }


def _count_cases(look: Look, name: str, *, counts: bool) -> int:
    """Count the cases that a skill brings. Raises `Declined` if they can't be read."""
    place = look.gateway.home_skills.catalog.find(name).place
    try:
        return len(read_cases(place)) if place and counts else 0
    except SkillBroken as error:
        raise Declined(str(error)) from error


def _describe_test(record: EvalRecord) -> dict[str, Any]:
    """Describe a test by its cases, without their texts, which may come from one person."""
    both = [[run for run in record.runs if run.arm == arm] for arm in ("without", "with")]
    cases = [
        (case, *(_describe_runs([run for run in side if run.case == case]) for side in both))
        for case in record.cases or ()
    ]
    return {
        "result": texts.name_result(record.result) if record.result else "",
        "done": len(record.runs),
        "most": 2 * MOST_PAIRS,
        "cases": [*cases, (texts.SUM(), *map(_add_up, both))] if cases else [],
    }


def _add_up(runs: Sequence[CaseRun]) -> tuple[str, int, int]:
    """Return the share of right runs, and the sums of their steps and tokens."""
    judged = [run.passed for run in runs if run.passed is not None]
    right = texts.RIGHT_OF(done=judged.count(True), count=len(judged))
    return right, sum(run.steps for run in runs), sum(run.tokens for run in runs)


def _describe_runs(runs: Sequence[CaseRun]) -> tuple[str, int, int]:
    """Return the result of a case, the steps of its runs and their tokens."""
    right, steps, tokens = _add_up(runs)
    if not runs:
        return texts.NOT_YET(), steps, tokens
    if all(run.passed is None for run in runs):
        return texts.NOT_REPEATED(), steps, tokens
    return right, steps, tokens


def _list_history(rows: Sequence[LedgerEntry]) -> Iterator[tuple[LedgerEntry, str, str]]:
    """List changes of a skill's state and returns to an older version, each with its reason."""
    for row in rows:
        changed, back = read_states(row), _ROLLED_BACK.fullmatch(_why(row))
        if changed is not None:
            old, new = (states.SKILLS[state]() for state in changed)
            yield row, texts.FROM_TO(old=old, new=new), _why(row).partition(": ")[2]
        elif back is not None:
            yield row, texts.BACK_TO_VERSION(number=int(back[1])), back[2] or ""


def _why(row: LedgerEntry) -> str:
    return row.origin.evidence


def _describe_uses(found: Mapping[int, Period], end: int, zone: str) -> dict[str, Any]:
    """Describe the uses per week, as a chart and as a table of the same numbers."""
    weeks = [found.get(number, Period()) for number in range(_WEEKS)]
    starts = [local_time(end - (_WEEKS - number) * _WEEK, zone) for number in range(_WEEKS)]
    labels = [format_date(start) for start in starts]
    series = [
        (page_texts.SUCCESSES(), [week.successes for week in weeks]),
        (page_texts.FAILURES(), [week.failures for week in weeks]),
        (texts.NO_VERDICT(), [week.others for week in weeks]),
    ]
    return {
        "chart": charts.draw(labels, series) if found else None,
        "rows": list(zip(labels, weeks, strict=True))[::-1],
    }


def _compare(versions: Sequence[SkillVersion]) -> list[tuple[SkillVersion, list[str]]]:
    """Pair each of the newest versions with its difference from the version before."""
    texts = ["", *(one.text for one in versions)]
    return [
        (one, list(islice(_differ(old, one.text), _HEAD, None)))
        for old, one in list(zip(texts, versions, strict=False))[-_MOST:]
    ]


def _differ(old: str, new: str) -> Iterator[str]:
    return unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)
