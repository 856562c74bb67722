"""Notice that a skill performs badly, and return it to its last good text, in a transaction.

The outcomes of a text's uses go through a cumulative sum: E. S. Page, "Continuous Inspection
Schemes", Biometrika 41 (1954). It decides as soon as the uses suffice, and forgets earlier success,
so that it notices a later decline as soon as an early one. Its points were found by an exact search
for the fewest false alarms in 200 uses of which 20 % go badly, while 60 % are noticed after 20 uses
on average, within 40 in 95 of 100 cases, and six bad uses in a row at once
(`bench/skills/rollbacks.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.skills.catalog import SKILL_FILE, SkillCatalog
from agent_core.skills.changes import plan
from agent_core.skills.intents import SkillChange, write_planned
from agent_core.skills.ledger_sync import note_loaded
from agent_core.skills.snapshots import is_whole, read_snapshot
from agent_core.skills.states import is_by_agent, is_version, read_states
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, ledger, skill_changes, skill_uses, skills
from agent_core.state.memory.ledger import LedgerEntry, Origin

BAD_USE, GOOD_USE = 4, 3
"""Points of a bad use, and those that a good one takes away; a sum never falls below 0."""
BAD_AT = 24
"""Points at which a text is bad."""
GOOD_AT = 18
"""Points at which a text is good, if good uses give and bad ones take: six in a row are enough."""
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
    harm = proof = 0
    trend: Trend = "open"
    for went_well in uses:
        harm = max(0, harm - GOOD_USE if went_well else harm + BAD_USE)
        proof = max(0, proof + GOOD_USE if went_well else proof - BAD_USE)
        if harm >= BAD_AT:
            return "bad"
        if proof >= GOOD_AT:
            trend = "good"
    return trend


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
    text_row = skill_changes.find_version_row(connection, person_id=team, skill_id=row.id)
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
    texts = [one for one in reversed(rows) if is_version(one)]
    number = next((at for at, one in enumerate(texts, 1) if one.id == row.good_row), 0)
    text = texts[number - 1].change.after if number else None
    present = read_snapshot(catalog.folder / name)
    if text and text != present and is_whole(text) and present and is_whole(present):
        evidence = f"rolled back to version {number}: {why}"
        back = Origin(actor=origin.actor, now=origin.now, evidence=evidence)
        change = SkillChange(name=name, path=SKILL_FILE, before=present, after=text)
        if plan(connection, catalog.folder, change, back) is not None:
            made = skill_changes.find_text_row(connection, person_id=team, skill_id=row.id)
            found = ledger.find_row(connection, entry_id=made or 0)
            assert found is not None  # noqa: S101 - it was written just now
            return found[1], number
    skills.set_good_row(connection, name=name, row_id=None)
    made_row = skill_changes.set_state(connection, name=name, state="draft", why=why, origin=origin)
    return made_row or rows[0], 0
