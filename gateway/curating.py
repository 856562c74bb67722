"""The curator of the home's skills: what it would do, and does, about those nobody uses."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent_core.errors import SkillMissing
from agent_core.skills.curator import CuratorRules, Round, Step, View, hash_fault, judge
from agent_core.skills.moving import put_away
from agent_core.skills.shelf import SkillShelf
from agent_core.skills.usage import UsageFile
from agent_core.state import audit, skills
from agent_core.state.audit import Deed
from agent_core.state.database import Connection, Database
from agent_core.state.outbox import OutboxRow
from gateway import wording_skills
from gateway.home import SKILLS
from gateway.notices import Notices
from gateway.setting_tables import SkillSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRoom:
    """The skills of a house, what is known of their use, and the curator's rules."""

    database: Database
    shelf: SkillShelf
    usage: UsageFile
    rules: CuratorRules


def make_skill_room(home: Path, settings: SkillSettings, database: Database) -> SkillRoom:
    """The skills of a home."""
    folder = home / SKILLS
    rules = CuratorRules(stale_days=settings.stale_days, archive_days=settings.archive_days)
    return SkillRoom(
        database=database,
        shelf=SkillShelf(folder),
        usage=UsageFile(database, folder),
        rules=rules,
    )


async def look_over(room: SkillRoom, now: int) -> Round:
    """What the curator would do, without doing it. Raises `SkillBroken`, `StoreError`."""
    shelf = room.shelf
    if not await asyncio.to_thread(shelf.is_there):
        return Round(count=0, has_folder=False, steps=())
    everything = await asyncio.to_thread(shelf.list_all)
    away = await asyncio.to_thread(shelf.list_away)

    def look(connection: Connection) -> View:
        return View(
            own=[one for one in everything if one.origin == "home"],
            others={one.name for one in everything if one.origin == "bundled"},
            away=away,
            known={row.name: row for row in skills.list_all(connection)},
            wanted=skills.list_wanted(connection),
        )

    view = await room.database.read(look)
    return Round(count=len(view.own), has_folder=True, steps=judge(view, room.rules, now))


def note_move(connection: Connection, action: str, detail: str, now: int) -> None:
    """A skill was put away, or taken back: that stays known."""
    deed = Deed(person_id=None, actor="house", action=action, detail=detail, created_at=now)
    audit.note(connection, deed)


class Curator:
    """Looks the home's skills over; tells owners of broken ones, once of each fault."""

    def __init__(
        self,
        room: SkillRoom,
        notices: Notices,
        *,
        owe: Callable[[Sequence[OutboxRow]], None],
        now: Callable[[], int],
    ) -> None:
        self._room = room
        self._notices = notices
        self._owe = owe
        self._now = now

    async def work(self) -> str:
        """Do what is to be done, and say what that was.

        Raises `SkillBroken`, `StoreError`, and `OSError` if the file of uses can't be written.
        """
        now = self._now()
        found = await look_over(self._room, now)
        done = await self._move(found)

        def work(connection: Connection) -> list[OutboxRow]:
            for step in done.steps:
                _write_down(connection, step, now)
            faults = [step.fault for step in done.steps if step.kind == "tell"]
            words = wording_skills.tell_broken(faults) if faults else ""
            return self._notices.owe_all(connection, words, now) if words else []

        if done.steps:
            self._owe(await self._room.database.write("skills.curate", work))
        await self._room.usage.write()
        return wording_skills.describe_round(done)

    async def _move(self, found: Round) -> Round:
        """Put away what is to be; what can't be moved stays, and is tried again next time."""
        steps: list[Step] = []
        stuck: list[tuple[str, str]] = []
        for step in found.steps:
            if step.kind != "archive":
                steps.append(step)
                continue
            folder = self._room.shelf.folder
            try:
                kept = await asyncio.to_thread(put_away, folder, step.name)
            except SkillMissing:
                continue  # somebody was faster
            except OSError as error:
                stuck.append((step.name, error.strerror or str(error)))
            else:
                steps.append(replace(step, kept=kept))
        return replace(found, steps=steps, stuck=stuck)


def _write_down(connection: Connection, step: Step, now: int) -> None:
    name = step.name
    match step.kind:
        case "see":
            skills.see(connection, name=name, now=now)
        case "tell":
            skills.note_told(connection, name=name, fault=hash_fault(step.fault))
        case "mended":
            skills.note_told(connection, name=name, fault="")
        case "stale":
            skills.set_state(connection, name=name, state="stale")
        case "fresh":
            skills.set_state(connection, name=name, state="active")
        case "archive" | "archived":
            skills.set_state(connection, name=name, state="archived")
            note_move(connection, "skill.archive", step.kept or name, now)
        case "returned":
            skills.take_back(connection, name=name, now=now)
            note_move(connection, "skill.restore", name, now)
        case "forget":
            skills.forget(connection, name=name)
