"""The states of skills, within a transaction: each change is a row of the ledger with its reason.

A text that the agent wrote is a draft until its tests pass. If the skill had a proved text before,
the new text is on trial instead. A text that a person wrote is active at once.
"""

import re
from collections.abc import Sequence
from typing import get_args

from agent_core.ids import PersonId, TurnId
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, skill_changes, skills
from agent_core.state.memory.ledger import LedgerEntry, Origin
from agent_core.state.memory.skills import SkillRow, SkillState
from agent_core.state.people import people
from agent_core.state.queues import skill_tests

CURATOR = "curator"
"""The actor of the curator's own changes; a text that it writes has to prove itself, too."""
_ADDS = "adds "
_AGENT = re.compile(r"turn:(\d+)|review:\d+:(\d+)")
_STATE = re.compile(r"state (\w+) -> (\w+): .*", re.DOTALL)
_MOST_ROWS = 1_000


def judge_text(connection: Connection, *, name: str, entry: LedgerEntry) -> None:
    """Give a skill the state that its new text allows; queue a test if the agent wrote the text."""
    row, text = skills.find(connection, name=name), entry.change.after
    if row is None or text is None or row.state in ("archived", "gone"):
        return
    if known := _find_state_of(_list_rows(connection, row), text, entry):
        skills.set_state(connection, name=name, state=known)
        return
    if _is_proved(connection, row, text, entry):
        skills.set_good_row(connection, name=name, row_id=entry.id)
        if row.state in ("draft", "trial"):
            _change(connection, row, "active", entry, "this text is proved")
        return
    good_row = row.good_row
    if good_row is None and entry.change.before is not None and row.state in ("active", "stale"):
        good_row = _find_text_before(connection, row, entry)
        skills.set_good_row(connection, name=name, row_id=good_row)
    state: SkillState = "trial" if good_row is not None else "draft"
    if state != row.state:
        _change(connection, row, state, entry, "the agent wrote this text, and no test has passed")
    author, team = find_author(connection, entry.origin), blocks.find_team(connection)
    version = team and skill_changes.find_version_row(connection, person_id=team, skill_id=row.id)
    if author and version:
        skill_tests.enqueue(
            connection,
            skill=(row.id, name, version),
            person_id=author,
            cause="0",
            now=entry.origin.now,
        )


def read_states(row: LedgerEntry) -> tuple[SkillState, SkillState] | None:
    """Return the states before and after a row that changes only the state."""
    found = _STATE.fullmatch(row.origin.evidence)
    if found is None or row.change.before != row.change.after:
        return None
    known: dict[str, SkillState] = {one: one for one in get_args(SkillState)}
    before, after = known.get(found[1]), known.get(found[2])
    return (before, after) if before and after else None


def is_version(row: LedgerEntry) -> bool:
    """Return whether a row made a version of a skill.

    A row about the state, or about a file that the agent added beside the text, made none.
    `skill_changes.count_versions` says the same in SQL.
    """
    if row.change.before == row.change.after:
        return not (read_states(row) or row.origin.evidence.startswith(_ADDS))
    return row.change.after is not None


def describe_added(path: str, evidence: str) -> str:
    """Return the evidence of a row that adds a file beside the text of a skill."""
    return f"{_ADDS}{path}; {evidence}"


def has_added(connection: Connection, name: str, folder: str) -> bool:
    """Return whether the agent itself has ever added a file to a folder of a skill."""
    row = skills.find(connection, name=name)
    return row is not None and any(
        is_agents(one.origin) and one.origin.evidence.startswith(f"{_ADDS}{folder}/")
        for one in _list_rows(connection, row)
    )


def is_agents(origin: Origin) -> bool:
    """Return whether the agent itself made a change."""
    return origin.actor == CURATOR or _AGENT.fullmatch(origin.actor) is not None


def is_by_agent(rows: Sequence[LedgerEntry], text_row: int) -> bool:
    """Return whether the agent was the first to write the text of the row `text_row`.

    `rows` are the skill's changes, newest first.
    """
    text = next((one.change.after for one in rows if one.id == text_row), None)
    first = next((one for one in reversed(rows) if one.change.after == text), None)
    return first is not None and is_agents(first.origin)


def list_made(connection: Connection) -> frozenset[str]:
    """Return the names of the skills whose present text the agent wrote.

    Raises `StoreDamaged` on a damaged row.
    """
    known = skills.list_present(connection)
    return frozenset(row.name for row in known if _is_made(connection, row))


def find_text_actor(connection: Connection, row: SkillRow) -> str:
    """Return the actor of the newest row that changed a skill's text; "" for none."""
    rows = _list_rows(connection, row)
    found = next((one for one in rows if one.change.before != one.change.after), None)
    return found.origin.actor if found else ""


def _is_made(connection: Connection, row: SkillRow) -> bool:
    rows = _list_rows(connection, row)
    text_row = next((one.id for one in rows if one.change.before != one.change.after), 0)
    return is_by_agent(rows, text_row)


def find_author(connection: Connection, origin: Origin) -> PersonId | None:
    """Return the person in whose turn the agent made a change."""
    found = _AGENT.fullmatch(origin.actor)
    if found is None:
        return None
    turn = turns.find(connection, turn_id=TurnId(int(found[1] or found[2])))
    return turn.person_id if turn else None


def request_test(connection: Connection, name: str, cause: str, now: int) -> bool:
    """Queue the test of a known skill that a person asks for; False if nobody can pay for it."""
    row, team = skills.find(connection, name=name), blocks.find_team(connection)
    assert row is not None  # noqa: S101 - the caller has noted it
    payer = _find_payer(connection, row.id)
    version = team and skill_changes.find_version_row(connection, person_id=team, skill_id=row.id)
    if payer is None:
        return False
    skill_tests.enqueue(
        connection,
        skill=(row.id, name, version or 0),
        person_id=payer,
        cause=cause,
        now=now,
        is_asked=True,
    )
    return True


def _find_payer(connection: Connection, skill_id: int) -> PersonId | None:
    """Return who pays for the test of a skill: the person whose turn wrote it, or an owner."""
    team = blocks.find_team(connection)
    rows = (
        skill_changes.list_of_skill(connection, person_id=team, skill_id=skill_id, limit=_MOST_ROWS)
        if team
        else []
    )
    authors = (find_author(connection, row.origin) for row in rows)
    author = next((one for one in authors if one), None)
    owner = people.find_owner(connection)
    return author or (owner.id if owner else None)


def _change(
    connection: Connection, row: SkillRow, state: SkillState, entry: LedgerEntry, why: str
) -> None:
    """Set the state that follows from a text. A new or restored text needs no extra ledger row."""
    if entry.change.before is None:
        skills.set_state(connection, name=row.name, state=state)
        return
    skill_changes.set_state(connection, name=row.name, state=state, why=why, origin=entry.origin)


def _find_state_of(rows: Sequence[LedgerEntry], text: str, entry: LedgerEntry) -> SkillState | None:
    """Return the state that a text had when it went to the archive, if it comes back unchanged.

    `rows` are the skill's changes, newest first; `entry` is the newest of them. None if another
    text stood there, or if the skill had its first state.
    """
    if entry.change.before is not None:
        return None
    for one in rows:
        if one.change.after not in (text, None):
            return None
        if states := read_states(one):
            return "active" if states[1] == "stale" else states[1]
    return None


def _is_proved(connection: Connection, row: SkillRow, text: str, entry: LedgerEntry) -> bool:
    """Return whether a person was the first to write this text, or it was proved before."""
    rows = _list_rows(connection, row)
    if any(one.id == row.good_row and one.change.after == text for one in rows):
        return True
    first = next((one for one in reversed(rows) if one.change.after == text), entry)
    return not is_agents(first.origin)


def _find_text_before(connection: Connection, row: SkillRow, entry: LedgerEntry) -> int | None:
    """Return the newest row before `entry` that changed the text."""
    rows = (one for one in _list_rows(connection, row) if one.id < entry.id)
    return next((one.id for one in rows if one.change.before != one.change.after), None)


def _list_rows(connection: Connection, row: SkillRow) -> list[LedgerEntry]:
    """List the rows of a skill, newest first."""
    team = blocks.find_team(connection)
    if team is None:
        return []
    return skill_changes.list_of_skill(
        connection, person_id=team, skill_id=row.id, limit=_MOST_ROWS
    )
