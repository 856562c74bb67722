"""Operations on people: list them, let them in, switch their tools, export or erase their data."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_core.errors import LastOwner, WorkInProgress
from agent_core.privacy.export.run_export import ExportBroken
from agent_core.privacy.progress import report_to_nobody
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.selection.built_in import BUILT_IN
from gateway.errors import Declined, suggest
from gateway.operations.contract import (
    Answer,
    Operation,
    OperationContext,
    find_person,
    read_text,
)
from gateway.people import admission
from gateway.people.admission import new_claim_code
from gateway.texts import general, privacy

_LONGEST_NAME = 80


async def list_people(context: OperationContext, _: Answer) -> Answer:
    """List everyone who may talk, with their accounts."""

    def look(connection: Connection) -> list[dict[str, Any]]:
        return [
            {
                "name": person.name,
                "role": person.role,
                "folder": person.slug,
                "accounts": [
                    f"{account.platform}:{account.user_id}"
                    for account in people.list_accounts(connection, person_id=person.id)
                ],
            }
            for person in people.list_all(connection)
        ]

    return {"people": await context.database.read(look)}


async def make_claim_code(context: OperationContext, _: Answer) -> Answer:
    """Make a new claim code, which replaces earlier codes."""
    now = context.now()
    code = await context.database.write("people.code", new_claim_code, now=now)
    return {"code": code}


def clean_name(words: str) -> str:
    """Return a name without surplus spaces. Raises `Declined` if it is none."""
    name = " ".join(words.split())
    if not name.isprintable() or not 0 < len(name) <= _LONGEST_NAME:
        raise Declined(f"A name has 1 to {_LONGEST_NAME} printable characters.")
    return name


async def name_owner(context: OperationContext, asked: Answer) -> Answer:
    """Name the owner; the first account of an owner will belong to this person.

    Raises `Declined`.
    """
    name, now = clean_name(read_text(asked, "name")), context.now()

    def work(connection: Connection) -> None:
        owner = people.find_owner(connection)
        if owner is None:
            people.insert(connection, slug="owner", name=name, role="owner", now=now)
        else:
            people.rename(connection, person_id=owner.id, name=name)

    await context.database.write("people.name_owner", work)
    context.forget_known()
    return {"name": name}


async def approve(context: OperationContext, asked: Answer) -> Answer:
    """Admit the person with this pairing code, and welcome them. Raises `Declined`."""
    code, now = read_text(asked, "code"), context.now()

    def work(connection: Connection) -> tuple[str, OutboxRow] | None:
        approved = admission.approve(connection, code, "", now)
        if approved is None:
            return None
        return approved.name, outbox.enqueue(connection, approved.greeting, now=now)

    done = await context.database.write("people.approve", work)
    if done is None:
        raise Declined(general.CODE_INVALID())
    name, welcome = done
    context.forget_known()
    context.enqueue([welcome])
    return {"name": name}


async def export(context: OperationContext, asked: Answer) -> Answer:
    """Write a person's data to a new archive at an absolute path.

    Raises `Declined`, and `StoreError`.
    """
    target = Path(read_text(asked, "target"))
    person = await _find(context, asked)
    if not target.is_absolute():
        raise Declined(f"{target} is not an absolute path.")
    try:
        await context.exports.write(person, target, report_to_nobody)
    except FileExistsError as error:
        raise Declined(f"{target} exists already; name another file.") from error
    except OSError as error:
        raise Declined(f"{target} can't be written: {error.strerror or error}.") from error
    except ExportBroken as error:
        raise Declined(f"{target} can't be written: {error}. The log has the reason.") from error
    return {"target": str(target)}


async def look_before_erasing(context: OperationContext, asked: Answer) -> Answer:
    """Describe the person to erase, and the backups that still contain them. Raises `Declined`."""
    person = await _find(context, asked)
    backups = await context.erasing.list_backups(person.id)
    return {"name": person.name, "role": person.role, "folder": person.slug, "backups": backups}


async def erase(context: OperationContext, asked: Answer) -> Answer:
    """Erase a person.

    Answer once the person is removed from the database and the freed pages are scrubbed. The answer
    names backups and external memories that may still hold data.

    Raises `Declined` and `StoreError`.
    """
    person = await _find(context, asked)
    erasing = context.erasing
    backups = await erasing.list_backups(person.id)
    try:
        await erasing.erase(person.id)
    except WorkInProgress as error:
        raise Declined(privacy.ERASE_BUSY()) from error
    except LastOwner as error:
        raise Declined(privacy.LAST_OWNER()) from error
    except OSError as error:
        raise Declined(f"A folder of theirs can't be deleted: {error}.") from error
    return {
        "name": person.name,
        "backups": backups,
        "outside": await erasing.list_external(),
    }


async def list_tools(context: OperationContext, _: Answer) -> Answer:
    """List the names of Talaria's tools, and the tools that each person has switched off."""
    everybody = await context.database.read(people.list_all)
    return {
        "tools": sorted(BUILT_IN),
        "people": [{"folder": one.slug, "off": list(one.tools_off)} for one in everybody],
    }


async def switch_tool(context: OperationContext, asked: Answer) -> Answer:
    """Switch a person's tool on or off. Raises `Declined`.

    Accepts unknown names with two underscores: tools of MCP servers and plug-ins come and go. Also
    accepts names that are already off.
    """
    person, name = await _find(context, asked), read_text(asked, "tool")
    if name not in {*BUILT_IN, *person.tools_off} and "__" not in name:
        raise Declined(f"There is no tool {name}; {suggest(name, BUILT_IN)}")
    is_on = asked.get("is_on") is True

    def work(connection: Connection) -> None:
        fresh = people.find(connection, person_id=person.id) or person
        off = set(fresh.tools_off) - {name} if is_on else {*fresh.tools_off, name}
        people.switch_tools_off(connection, person_id=person.id, names=off)

    await context.database.write("people.tools", work)
    context.forget_known()
    return {"tool": name, "folder": person.slug}


async def _find(context: OperationContext, asked: Answer) -> Person:
    """Return the person with a folder name. Raises `Declined`."""
    slug = read_text(asked, "slug")
    return await context.database.read(find_person, slug)


OPERATIONS: Mapping[str, Operation] = {
    "people.list": list_people,
    "people.claim": make_claim_code,
    "people.name_owner": name_owner,
    "people.approve": approve,
    "people.export": export,
    "people.look": look_before_erasing,
    "people.erase": erase,
    "tools.list": list_tools,
    "tools.switch": switch_tool,
}
"""The operations, by their names on the control socket."""
