"""Operations on skills: list and show them, and archive, restore, undo or pin them."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from agent_core.errors import SkillBroken, SkillConflict, SkillMissing
from agent_core.skills.catalog import CatalogEntry
from agent_core.skills.changes import (
    archive_planned,
    check_create,
    check_file,
    check_rewrite,
    plan,
    restore_planned,
)
from agent_core.skills.curator import count_idle
from agent_core.skills.evaluation.record import CaseRun, load_record
from agent_core.skills.install.contract import StagedSkill
from agent_core.skills.install.installs import list_versions, plan_install, plan_rollback
from agent_core.skills.intents import SkillChange, has_written_all, write_planned
from agent_core.skills.ledger_sync import note_loaded
from agent_core.skills.parser import is_name
from agent_core.skills.states import request_test
from agent_core.skills.undo import undo_skill_change
from agent_core.skills.usage import SkillRecord, list_records
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import blocks, ledger, skill_changes, skills
from agent_core.state.memory.ledger import LedgerEntry, Origin
from agent_core.state.queues import skill_tests
from gateway.errors import Declined
from gateway.operations.contract import Operation, OperationContext, check_limit
from gateway.operations.skill_types import (
    ChangedSkill,
    EvaluatedCase,
    EvaluateSkill,
    InstallSkill,
    ListSkills,
    PickSkill,
    RollBack,
    RolledBack,
    ShowSkillLog,
    SkillChangeRow,
    SkillDetail,
    SkillFact,
    SkillLine,
    SkillList,
    SkillLog,
    SkillTest,
    SkillVersion,
    SkillVersions,
    UndoneSkill,
    UndoSkillChange,
    WriteSkill,
    WrittenSkill,
)
from gateway.operations.wire import typed
from gateway.texts import skills as texts

T = TypeVar("T")

_FOUND = "found so at the command line"


async def list_skills(context: OperationContext, _: ListSkills) -> SkillList:
    """List every skill, including broken and archived ones. Raises `Declined`."""
    found = await _read_files(context.skills.catalog.list_all)
    away = await _read_files(context.skills.catalog.list_away)
    rows, wanted = await context.database.read(lambda c: (_known(c), skills.list_needed(c)))
    now = context.now()
    return SkillList(
        skills=tuple(SkillLine(**_outline(one, rows.get(one.name), now)) for one in found),
        wanted=tuple(sorted(wanted)),
        away=tuple(away),
    )


async def show_skill(context: OperationContext, asked: PickSkill) -> SkillDetail:
    """Show one skill in full. Raises `Declined`, for instance if the skill is broken."""
    name = asked.name
    one = await _read_files(lambda: context.skills.catalog.find(name))
    skill = one.skill
    if skill is None:
        raise Declined(one.fault)
    rows, wanted = await context.database.read(lambda c: (_known(c), skills.list_needed(c)))
    return SkillDetail(
        **_outline(one, rows.get(name), context.now()),
        body=skill.body,
        license=skill.license,
        compatibility=skill.compatibility,
        metadata=tuple(SkillFact(name=key, value=value) for key, value in skill.metadata.items()),
        allowed_tools=tuple(skill.allowed_tools),
        is_wanted=name in wanted,
    )


async def write(context: OperationContext, asked: WriteSkill) -> WrittenSkill:
    """Create a skill, or replace the text of one in the home. Raises `Declined`."""
    catalog, name, now = context.skills.catalog, asked.name.strip(), context.now()
    # JSON is YAML, and needs no thought about quotes.
    described = json.dumps(asked.description.strip(), ensure_ascii=False)
    whole = f"---\nname: {name}\ndescription: {described}\n---\n{asked.instructions.strip()}\n"

    def check() -> SkillChange:
        if asked.is_new:
            return check_create(catalog, name, asked.text or whole)
        return check_rewrite(catalog, name, asked.text)

    change = await _read_files(check)
    origin = Origin(actor=context.actor, now=now)
    version = await _do(context, lambda c: plan(c, catalog.folder, change, origin))
    if version is None:
        raise Declined(texts.CHANGED_MEANWHILE(name=name))
    await _write_all(context)
    return WrittenSkill(name=name, version=version)


async def add_file(context: OperationContext, name: str, path: str, text: str) -> None:
    """Add a file to a skill of the home. Raises `Declined`."""
    catalog = context.skills.catalog
    change = await _read_files(lambda: check_file(catalog, name, path, text))
    origin = Origin(actor=context.actor, now=context.now())
    if await _do(context, lambda c: plan(c, catalog.folder, change, origin)) is None:
        raise Declined(texts.CHANGED_MEANWHILE(name=name))
    await _write_all(context)


async def archive(context: OperationContext, asked: PickSkill) -> ChangedSkill:
    """Archive a skill of the home directory. Raises `Declined` if a job needs it."""
    name, now = asked.name, context.now()
    await _find_own(context, name)
    await _write_all(context)
    folder, origin = context.skills.catalog.folder, Origin(actor="house", now=now)
    kept = await _do(context, lambda c: archive_planned(c, folder, name, origin))
    await _write_all(context)
    return ChangedSkill(name=name, kept=kept)


async def restore(context: OperationContext, asked: PickSkill) -> ChangedSkill:
    """Restore an archived skill. Raises `Declined`."""
    kept, now = asked.name, context.now()
    await _write_all(context)
    folder, origin = context.skills.catalog.folder, Origin(actor="house", now=now)
    name = await _do(context, lambda c: restore_planned(c, folder, kept, origin))
    await _write_all(context)
    return ChangedSkill(name=name)


async def show_log(context: OperationContext, asked: ShowSkillLog) -> SkillLog:
    """List the newest changes of all skills or of one, newest first. Raises `Declined`."""
    limit, name = check_limit(asked.limit), asked.name
    now = context.now()

    def work(connection: Connection) -> list[LedgerEntry] | None:
        context.skills.record_manual_changes(connection, now, _FOUND)
        team = blocks.find_team(connection)
        row = skills.find(connection, name=name) if name else None
        if name and row is None:
            return None
        if team is None:
            return []
        if row is None:
            return skill_changes.list_recent(connection, person_id=team, limit=limit)
        return skill_changes.list_of_skill(connection, person_id=team, skill_id=row.id, limit=limit)

    rows = await _do(context, work)
    if rows is None:
        raise Declined(texts.NO_SKILL(name=name))
    names = await context.database.read(_name_all)
    return SkillLog(changes=tuple(_describe_change(row, names) for row in rows))


async def undo(context: OperationContext, asked: UndoSkillChange) -> UndoneSkill:
    """Undo a change to a skill by its ledger row. Raises `Declined`."""
    row_id, now = asked.row, context.now()
    if row_id < 1:
        raise Declined(texts.NO_CHANGE(number=row_id))
    # Manual changes are recorded even if the undo is refused.
    await _do(context, lambda c: context.skills.record_manual_changes(c, now, _FOUND))
    folder = context.skills.catalog.folder
    origin = Origin(actor="house", now=now)
    done = await _do(context, lambda c: undo_skill_change(c, folder, row_id, origin))
    await _write_all(context)
    names = {done.undone.change.position: done.name}
    return UndoneSkill(
        name=done.name,
        undone=_describe_change(done.undone, names),
        row=_describe_change(done.row, names),
        derived=tuple(_describe_change(row, names) for row in done.derived),
        is_text_only=done.is_text_only,
    )


def ask_for_test(connection: Connection, name: str, cause: str, now: int) -> bool:
    """Have a skill tested soon; False if nobody can pay for it. `cause` names the request."""
    return request_test(connection, name, cause, now)


async def undo_newest(
    database: Database, folder: Path, name: str, origin: Origin
) -> LedgerEntry | None:
    """Undo the newest change of a skill's text; None if there is none. Raises `Declined`.

    A repeat with a call's key undoes it once.
    """
    try:
        made = await database.write("skills.undo", _undo_newest, folder, name, origin)
        await database.write("skills.write_planned", write_planned, folder)
    except (SkillConflict, FileExistsError) as error:
        raise Declined(str(error)) from error
    except OSError as error:
        raise Declined(error.strerror or str(error)) from error
    return made


def _undo_newest(
    connection: Connection, folder: Path, name: str, origin: Origin
) -> LedgerEntry | None:
    team = blocks.find_team(connection)
    row = skills.find(connection, name=name)
    if team is None or row is None:
        return None
    if made := ledger.find_call(connection, person_id=team, call_key=origin.call_key or ""):
        return made[0]  # by an earlier process
    write_planned(connection, folder)
    if os.path.lexists(folder / name):
        hand = Origin(actor="hand", now=origin.now, evidence="found before a change was undone")
        note_loaded(connection, folder, name, hand)
    newest = skill_changes.find_text_row(connection, person_id=team, skill_id=row.id)
    if newest is None:
        return None
    return undo_skill_change(connection, folder, newest, origin).row


async def install(context: OperationContext, asked: InstallSkill) -> ChangedSkill:
    """Install a staged skill that the user has agreed to. Raises `Declined`."""
    staged = StagedSkill(
        name=asked.name,
        token=asked.token,
        address=asked.address,
        commit=asked.commit,
        tree=asked.tree,
    )
    if not is_name(staged.name) or not staged.token.isalnum():
        raise Declined("There is no such copy of a skill; install it again.")
    await _read_files(lambda: context.skills.catalog.check_name(staged.name))
    now, folder = context.now(), context.skills.catalog.folder
    await _do(context, lambda c: context.skills.record_manual_changes(c, now, _FOUND))
    await _do(context, lambda c: plan_install(c, folder, staged, now, agrees=asked.agrees))
    await _write_all(context)
    return ChangedSkill(name=staged.name)


async def list_versions_of(context: OperationContext, asked: PickSkill) -> SkillVersions:
    """List the versions of a skill in the home, oldest first. Raises `Declined`."""
    name, now = asked.name, context.now()
    await _find_own(context, name)
    folder = context.skills.catalog.folder

    def work(connection: Connection) -> tuple[SkillVersion, ...]:
        context.skills.record_manual_changes(connection, now, _FOUND)
        found = list_versions(connection, folder, name)
        return tuple(
            SkillVersion(
                number=one.number,
                at=one.row.origin.now,
                actor=one.row.origin.shown_actor,
                evidence=one.row.origin.evidence,
                text=one.row.change.after or "",
                is_current=one.is_current,
                kept=one.kept,
            )
            for one in found
        )

    return SkillVersions(versions=await _do(context, work))


async def rollback(context: OperationContext, asked: RollBack) -> RolledBack:
    """Return a skill to an earlier version. Raises `Declined`."""
    name, now, number = asked.name, context.now(), asked.to
    await _find_own(context, name)
    await _do(context, lambda c: context.skills.record_manual_changes(c, now, _FOUND))
    catalog = context.skills.catalog
    chosen = await _do(context, lambda c: plan_rollback(c, catalog, name, number, now))
    await _write_all(context)
    return RolledBack(name=name, number=chosen.number, kept=chosen.kept)


async def pin(context: OperationContext, asked: PickSkill) -> ChangedSkill:
    """Pin a skill, so that the curator never archives it. Raises `Declined`."""
    return await _pin(context, asked.name, is_pinned=True)


async def unpin(context: OperationContext, asked: PickSkill) -> ChangedSkill:
    """Unpin a skill. Raises `Declined`."""
    return await _pin(context, asked.name, is_pinned=False)


async def test(context: OperationContext, asked: EvaluateSkill) -> SkillTest:
    """Queue a test of a skill; with `cause`, show the progress of that test. Raises `Declined`."""
    name, now, cause = asked.name, context.now(), asked.cause
    entry = await _read_files(lambda: context.skills.catalog.find(name))
    if entry.skill is None:
        raise Declined(entry.fault)

    def work(connection: Connection) -> SkillTest:
        context.skills.record_manual_changes(connection, now, _FOUND)
        skills.note_seen(connection, name=name, now=now)
        row, team = skills.find(connection, name=name), blocks.find_team(connection)
        assert row is not None  # noqa: S101 - it was noted just now
        text_row = team and skill_changes.find_version_row(
            connection, person_id=team, skill_id=row.id
        )
        chosen = str(cause or f"asked-{now}")
        if cause is None and not ask_for_test(connection, name, chosen, now):
            raise Declined(texts.NOBODY_PAYS())
        found = skill_tests.find(connection, skill_id=row.id, text_row=text_row or 0, cause=chosen)
        if found is None:
            raise Declined(texts.CHANGED_SINCE_TEST(name=name))
        record = load_record(found[2])
        return SkillTest(
            name=record.name,
            is_asked=record.is_asked,
            cause=chosen,
            state=found[0],
            why=found[1],
            runs=tuple(map(_describe_run, record.runs)),
            result=record.result,
            reason=record.reason,
        )

    return await _do(context, work)


OPERATIONS: Mapping[str, Operation] = {
    "skills.list": typed(list_skills),
    "skills.show": typed(show_skill),
    "skills.write": typed(write),
    "skills.archive": typed(archive),
    "skills.restore": typed(restore),
    "skills.log": typed(show_log),
    "skills.undo": typed(undo),
    "skills.pin": typed(pin),
    "skills.unpin": typed(unpin),
    "skills.eval": typed(test),
    "skills.install": typed(install),
    "skills.versions": typed(list_versions_of),
    "skills.rollback": typed(rollback),
}
"""The operations, by their names on the control socket."""


async def _pin(context: OperationContext, name: str, *, is_pinned: bool) -> ChangedSkill:
    now = context.now()
    await _find_own(context, name)

    def work(connection: Connection) -> None:
        skills.note_seen(connection, name=name, now=now)
        skills.pin(connection, name=name, is_pinned=is_pinned)

    await context.database.write("skills.pin", work)
    return ChangedSkill(name=name)


async def _write_all(context: OperationContext) -> None:
    """Write the files of recorded changes. Raises `Declined` if some can't be written yet."""
    folder = context.skills.catalog.folder

    def work(connection: Connection) -> bool:
        write_planned(connection, folder)
        return has_written_all(connection)

    if not await _do(context, work):
        raise Declined(texts.WRITTEN_LATER())


async def _find_own(context: OperationContext, name: str) -> None:
    """Check that the home directory has a skill with this name. Raises `Declined`."""
    found = await _read_files(context.skills.catalog.list_all)
    one = next((one for one in found if one.name == name), None)
    if one is None:
        raise Declined(texts.NO_SKILL(name=name))
    if one.origin == "bundled":
        raise Declined(texts.IS_BUNDLED(name=name))
    if one.origin == "project":
        raise Declined(texts.IS_OF_PROJECT(name=name))


async def _read_files(read: Callable[[], T]) -> T:
    """Read files on a thread. Raises `Declined` with the name of a file that can't be read."""
    try:
        return await asyncio.to_thread(read)
    except (SkillMissing, SkillBroken, SkillConflict) as error:
        raise Declined(str(error)) from error


async def _do(context: OperationContext, work: Callable[[Connection], T]) -> T:
    """Make a change in one transaction. Raises `Declined` with the reason if it is refused."""
    try:
        return await context.database.write("skills.change", work)
    except (SkillMissing, SkillBroken, SkillConflict, FileExistsError) as error:
        raise Declined(str(error)) from error
    except OSError as error:
        raise Declined(texts.UNWRITABLE(reason=error.strerror or error)) from error


def _known(connection: Connection) -> dict[str, SkillRecord]:
    return {one.row.name: one for one in list_records(connection)}


def _name_all(connection: Connection) -> dict[int, str]:
    return {row.id: row.name for row in skills.list_all(connection)}


def _describe_run(run: CaseRun) -> EvaluatedCase:
    """Return a run without its answer, which holds a person's own words."""
    return EvaluatedCase(
        case=run.case,
        arm=run.arm,
        passed=run.passed,
        steps=run.steps,
        tokens=run.tokens,
        why=run.why,
    )


def _describe_change(row: LedgerEntry, names: Mapping[int, str]) -> SkillChangeRow:
    return SkillChangeRow(
        row=row.id,
        name=names[row.change.position],
        at=row.origin.now,
        actor=row.origin.shown_actor,
        before=row.change.before,
        after=row.change.after,
        undoes=row.origin.undoes,
        evidence=row.origin.evidence,
    )


def _outline(one: CatalogEntry, known: SkillRecord | None, now: int) -> dict[str, Any]:
    skill, row = one.skill, known.row if known else None
    is_idle = row is not None and one.origin == "home" and row.state == "stale"
    return {
        "name": one.name,
        "origin": one.origin,
        "description": skill.description if skill else "",
        "unknown": tuple(skill.unknown) if skill else (),
        "fault": one.fault,
        "state": row.state if row and one.origin == "home" else "active",
        "uses": row.uses if row else 0,
        "successes": known.tally.successes if known else 0,
        "failures": known.tally.failures if known else 0,
        "last_used_at": row.last_used_at if row else None,
        "idle_days": count_idle(row, now) if row and is_idle else 0,
        "is_pinned": bool(row and row.is_pinned),
    }
