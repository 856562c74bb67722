"""Operations that import the memory and jobs of another assistant."""

import hashlib
from collections.abc import Mapping
from typing import Any

from agent_core.agent.prompt.soul_file import SOUL_LIMIT
from agent_core.errors import ToolArgumentError
from agent_core.ids import PersonId
from agent_core.memory.archive.entries import ArchiveContent
from agent_core.memory.archive.writes import insert_entry
from agent_core.memory.edits_within_limits import Edit, Refusal
from agent_core.memory.files import find_flaw
from agent_core.memory.soul_store import SoulFile
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.tools.secret_scan import find_secret
from agent_core.transcript import make_source
from gateway.errors import Declined
from gateway.operations.contract import Operation, OperationContext, find_person
from gateway.operations.import_types import (
    FindHeir,
    Heir,
    Imported,
    ImportJob,
    ImportLine,
    Target,
)
from gateway.operations.job_types import AddJob, ListJobs
from gateway.operations.jobs import add, list_jobs
from gateway.operations.wire import load, typed

_TAG = "imported"


async def find_heir(context: OperationContext, asked: FindHeir) -> Heir:
    """Return the person who gets the import: the one asked for, or the owner. Raises `Declined`."""
    return Heir(person=(await _find(context, asked.person)).slug)


async def import_line(context: OperationContext, asked: ImportLine) -> Imported:
    """Import one entry, once.

    Entries that MEMORY.md or USER.md has no room for go to the archive. Raises `Declined`.
    """
    person, text = await _find(context, asked.person), asked.text
    target, source = asked.target, asked.origin
    if flaw := find_flaw(text):
        return _leave(flaw)
    if secret := find_secret(text):
        return _leave(f"it contains {secret}")
    origin = Origin(
        actor="house",
        now=context.now(),
        evidence=f"imported from {source}",
        call_key=_make_key(person, target, text),
        sources=(make_source("file", source),),
    )
    if target == "soul":
        return await _import_soul(context, text, origin)
    if target in ("memory", "user"):
        outcome = await context.memory.change(
            person.id,
            person.slug,
            Edit(action="add", target=target, text=text),
            origin,
        )
        context.forget_known()
        if not isinstance(outcome, Refusal):
            is_new = all(row.origin.now == origin.now for row in outcome.rows)
            return _report(is_new=is_new, place=target)
        if outcome.fault == "known":
            return _report(is_new=False, place=target)
        if outcome.fault != "full":
            return _leave(outcome.detail)
    return await _archive(context, person.id, text, origin)


async def _import_soul(context: OperationContext, text: str, origin: Origin) -> Imported:
    if len(text) > SOUL_LIMIT:
        return _leave(f"it has more than {SOUL_LIMIT:,} characters")
    soul = SoulFile(context.database, context.erasing.home)
    base = await soul.read()
    if base.text == text or await soul.is_made(origin.call_key or ""):
        return _report(is_new=False, place="soul")
    if not await soul.change(base, text, origin):
        return _leave("SOUL.md has just changed; import again")
    return _report(is_new=True, place="soul")


async def _archive(
    context: OperationContext, person_id: PersonId, text: str, origin: Origin
) -> Imported:
    content = ArchiveContent(text=text, tags=(_TAG,))

    def work(connection: Any) -> bool:
        before = connection.total_changes
        insert_entry(connection, person_id=person_id, content=content, origin=origin)
        return bool(connection.total_changes > before)

    try:
        is_new = await context.database.write("imports.archive", work)
    except ToolArgumentError as error:
        return _leave(str(error))
    return _report(is_new=is_new, place="archive")


async def import_job(context: OperationContext, asked: ImportJob) -> Imported:
    """Import one job, once. Raises `Declined`."""
    person = await _find(context, asked.person)
    key = _make_key(person, "job", asked.origin)
    listed = await list_jobs(context, ListJobs(person=person.slug))
    before = {job.id for job in listed.jobs}
    try:
        wish = load(AddJob, {**asked.options, "person": person.slug, "key": key})
        made = await add(context, wish)
    except Declined as error:
        return _leave(str(error))
    return _report(is_new=made.id not in before)


def _report(*, is_new: bool, place: Target | None = None) -> Imported:
    return Imported(state="new" if is_new else "known", place=place)


def _leave(reason: str) -> Imported:
    return Imported(state="left", reason=reason)


def _make_key(person: Person, target: str, text: str) -> str:
    digest = hashlib.sha256(f"{target}\0{text}".encode()).hexdigest()
    return f"import:{person.id}:{digest[:32]}"


async def _find(context: OperationContext, name: str | None) -> Person:
    if name:
        return await context.database.read(find_person, name)
    owner = await context.database.read(people.find_owner)
    if owner is None:
        raise Declined("Nobody owns this home yet; say hello to Talaria first, or run setup.")
    return owner


OPERATIONS: Mapping[str, Operation] = {
    "imports.heir": typed(find_heir),
    "imports.line": typed(import_line),
    "imports.job": typed(import_job),
}
