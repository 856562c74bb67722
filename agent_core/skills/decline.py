"""Notice that a skill performs badly, and return it to its last good text, in a transaction.

The outcomes of a text's uses go through a sequential probability ratio test: A. Wald, "Sequential
Tests of Statistical Hypotheses", Annals of Mathematical Statistics 16 (1945). The test decides as
soon as the uses suffice. It begins again after each good verdict, so that it notices a later
decline, too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.skills.catalog import SKILL_FILE, SkillCatalog
from agent_core.skills.changes import SkillChange, plan, write_planned
from agent_core.skills.ledger_sync import note_loaded
from agent_core.skills.snapshots import is_whole, read_snapshot
from agent_core.skills.states import is_by_agent, read_states
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, ledger, skill_changes, skill_uses, skills
from agent_core.state.memory.ledger import LedgerEntry, Origin

GOOD_RATE = 0.1
"""Share of bad uses of a skill that is worth keeping. It is not 0, because people also change their
minds.
"""
BAD_RATE = 0.4
"""Share of bad uses of a skill that does harm."""
FALSE_ALARM = 0.01
"""Chance that a skill with `GOOD_RATE` is found bad before it is found good."""
MISSED = 0.1
"""Chance that a skill with `BAD_RATE` is found good before it is found bad."""
_BAD_USE = math.log(BAD_RATE / GOOD_RATE)
_GOOD_USE = math.log((1 - BAD_RATE) / (1 - GOOD_RATE))
_BAD_AT = math.log((1 - MISSED) / FALSE_ALARM)
_GOOD_AT = math.log(MISSED / (1 - FALSE_ALARM))
_MOST_ROWS = 1_000

Trend = Literal["good", "bad", "open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decline:
    """The replacement of a skill's text that performed badly. `row` is for undo.

    `version` is the text that the skill returned to; 0 if it had no good text and is a draft now.
    """

    name: str
    row: LedgerEntry
    version: int
    good: int
    bad: int


def judge_uses(uses: Sequence[bool]) -> Trend:
    """Judge a text by its uses, oldest first; each tells whether it went well. Pure."""
    score, trend = 0.0, "open"
    for went_well in uses:
        score += _GOOD_USE if went_well else _BAD_USE
        if score >= _BAD_AT:
            return "bad"
        if score <= _GOOD_AT:
            score, trend = 0.0, "good"
    return "good" if trend == "good" else "open"


def check_uses(
    connection: Connection, catalog: SkillCatalog, name: str, origin: Origin
) -> Decline | None:
    """Prove a skill on trial by its uses, or return a bad one to its last good text.

    Only texts that the agent wrote are changed. `write_planned` makes the change. Raises
    `SkillBroken` if the folder is unreadable.
    """
    write_planned(connection, catalog.folder)
    hand = Origin(actor="hand", now=origin.now, evidence="found when it was judged")
    note_loaded(connection, catalog.folder, name, hand)
    row, team = skills.find(connection, name=name), blocks.find_team(connection)
    if row is None or team is None or row.state not in ("trial", "active", "stale"):
        return None
    text_row = skill_changes.find_text_row(connection, person_id=team, skill_id=row.id)
    rows = skill_changes.list_of_skill(
        connection, person_id=team, skill_id=row.id, limit=_MOST_ROWS
    )
    if text_row is None or not is_by_agent(rows, text_row):
        return None
    since = next((one.origin.now for one in rows if read_states(one)), 0)
    uses = skill_uses.list_judged(connection, skill_id=row.id, text_row=text_row, since=since)
    trend, bad = judge_uses(uses), uses.count(False)
    if trend == "good" and row.state == "trial":
        why = f"{len(uses) - bad} of {len(uses)} uses went well"
        skill_changes.set_state(connection, name=name, state="active", why=why, origin=origin)
        skills.set_good_row(connection, name=name, row_id=text_row)
    if trend != "bad":
        return None
    why = f"{bad} of {len(uses)} uses went badly"
    done = roll_back(connection, catalog, name, why, origin)
    return Decline(name=name, row=done[0], version=done[1], good=len(uses) - bad, bad=bad)


def roll_back(
    connection: Connection, catalog: SkillCatalog, name: str, why: str, origin: Origin
) -> tuple[LedgerEntry, int]:
    """Return a skill to its last good text, or make it a draft if it has none.

    Returns the row of the ledger, for undo, and the number of the version, 0 for a draft. Files and
    ledger must be in sync.
    """
    row, team = skills.find(connection, name=name), blocks.make_team(connection, now=origin.now)
    assert row is not None  # noqa: S101 - the caller has found it
    rows = skill_changes.list_of_skill(
        connection, person_id=team, skill_id=row.id, limit=_MOST_ROWS
    )
    texts = [one for one in reversed(rows) if one.change.after is not None]
    number = next((at for at, one in enumerate(texts, 1) if one.id == row.good_row), 0)
    text = texts[number - 1].change.after if number else None
    present = read_snapshot(catalog.folder / name)
    if text and text != present and is_whole(text) and present and is_whole(present):
        evidence = f"rolled back to version {number}: {why}"
        back = Origin(actor=origin.actor, now=origin.now, evidence=evidence)
        change = SkillChange(name=name, path=SKILL_FILE, before=present, after=text)
        if plan(connection, catalog, change, back) is not None:
            made = skill_changes.find_text_row(connection, person_id=team, skill_id=row.id)
            found = ledger.find_row(connection, entry_id=made or 0)
            assert found is not None  # noqa: S101 - it was written just now
            return found[1], number
    skills.set_good_row(connection, name=name, row_id=None)
    made_row = skill_changes.set_state(connection, name=name, state="draft", why=why, origin=origin)
    return made_row or rows[0], 0
