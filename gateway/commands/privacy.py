"""Commands about all that is somebody's: export, forget, erase."""

from collections.abc import Sequence

from agent_core.privacy.erasure.matcher import read_wanted
from agent_core.state.conversations import files
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import erase_person
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway import conversion
from gateway.commands.registry import Call, House, Reply, SlashCommand
from gateway.people import data_confirmations
from gateway.texts import privacy
from gateway.texts.rooms import ONLY_IN_DIRECT

_MOST_BYTES = 20_000_000
"""Bytes of one archive: as much is held in memory and in the database until it is sent."""
_MOST_PARTS = 10
_ME = "me"


async def _export(call: Call, house: House) -> Reply:
    if not call.message.address.is_direct:
        return Reply(text=ONLY_IN_DIRECT)
    most = min(house.belongings.find_file_limit(call.platform), _MOST_BYTES)
    if not most:
        return Reply(text=privacy.EXPORT_NO_FILES.format(slug=call.person.slug))
    try:
        parts = await house.belongings.export_for_chat(call.person, most)
    except OSError:
        return Reply(text=privacy.EXPORT_FAILED)
    if len(parts) > _MOST_PARTS or any(len(data) > most for _, data in parts):
        return Reply(text=privacy.EXPORT_TOO_LARGE.format(slug=call.person.slug))

    def effect(connection: Connection) -> tuple[str, Sequence[OutboxRow]]:
        return "", [_send(connection, call, number, parts) for number in range(len(parts))]

    return Reply(effect=effect)


def _send(
    connection: Connection, call: Call, number: int, parts: Sequence[tuple[str, bytes]]
) -> OutboxRow:
    """Owe one archive; it leaves the database again soon after it was sent."""
    name, data = parts[number]
    key = files.keep(connection, data=data, media_type="application/zip", now=call.now)
    outgoing = NewOutboxMessage(
        platform=call.platform,
        chat=conversion.name_chat(call.message.address),
        body=privacy.describe_export(len(parts)) if number == 0 else "",
        person_id=call.person.id,
        answers=call.message.message_id,
        is_silent=number > 0,
        file=(key, name),
    )
    return outbox.enqueue(connection, outgoing, now=call.now)


async def _forget(call: Call, house: House) -> Reply:
    if not call.message.address.is_direct:
        return Reply(text=ONLY_IN_DIRECT)
    wanted = read_wanted(call.argument)
    if wanted is None:
        return Reply(text=privacy.FORGET_USAGE)
    preview = await house.belongings.look(call.person, wanted)
    if not (preview.entries or preview.messages or preview.jobs):
        return Reply(text=privacy.FORGET_NOTHING)
    place = (call.platform, conversion.name_chat(call.message.address))
    question = data_confirmations.ask_to_forget(
        call.person, call.argument, preview, place=place, now=call.now
    )

    def effect(connection: Connection) -> tuple[str, Sequence[OutboxRow]]:
        return "", house.questions.pose(connection, question, call.now)

    return Reply(effect=effect)


async def _erase(call: Call, house: House) -> Reply:
    if not call.message.address.is_direct:
        return Reply(text=ONLY_IN_DIRECT)
    name = call.argument.casefold()
    if not name:
        return Reply(text=privacy.ERASE_USAGE)
    if name not in (_ME, call.person.slug) and not call.person.is_owner:
        return Reply(text=privacy.ERASE_OTHERS)
    place = (call.platform, conversion.name_chat(call.message.address))

    def effect(connection: Connection) -> tuple[str, Sequence[OutboxRow]]:
        whom = call.person if name == _ME else _find(connection, name)
        if whom is None:
            return privacy.ERASE_UNKNOWN, ()
        if not data_confirmations.may_erase(call.person, whom):
            return privacy.ERASE_OWNER, ()
        if whom.is_owner and not erase_person.has_other_owner(connection, person_id=whom.id):
            return privacy.ERASE_LAST_OWNER, ()
        question = data_confirmations.ask_to_erase(call.person, whom, place=place, now=call.now)
        return "", house.questions.pose(connection, question, call.now)

    return Reply(effect=effect)


def _find(connection: Connection, name: str) -> Person | None:
    """Somebody by the name of their folder."""
    return next((one for one in people.list_all(connection) if one.slug == name), None)


COMMANDS = (
    SlashCommand(name="export", summary="Everything that I hold of you, as a file", run=_export),
    SlashCommand(name="forget", summary="Let words be gone for good", run=_forget),
    SlashCommand(name="erase", summary="Let all that I hold of you be gone", run=_erase),
)
