"""The names of the chats that jobs send to."""

from collections.abc import Sequence

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.jobs import Target
from agent_core.state.people import delivery_targets, rooms
from agent_core.state.people.delivery_targets import Home
from gateway.chats import read_chat
from gateway.chats import ChatRef
from gateway.texts import jobs as job_texts
from gateway.texts.general import name_platform


def name_places(
    connection: Connection, person_id: PersonId, targets: Sequence[Target], here: Target | None
) -> list[str]:
    """Return the names of a job's target chats; `here` is the chat that shows them.

    Without `here`, the reader is not the job's person.
    """
    home = delivery_targets.find(connection, person_id=person_id)
    seen = [
        chat_ref
        for chat_ref in delivery_targets.list_seen(connection, person_id=person_id)
        if read_chat(chat_ref[1]).is_direct
    ]
    return [_name(connection, target, home, seen, here) for target in targets]


def _name(
    connection: Connection, target: Target, home: Home, seen: Sequence[ChatRef], here: Target | None
) -> str:
    is_own = here is not None
    if target == here:
        return job_texts.HERE()
    match target.kind:
        case "place":
            return _name_chat(connection, (target.platform, target.chat))
        case "home" if home.place:
            return job_texts.name_home(_name_chat(connection, home.place), is_own=is_own)
        case "home":
            return job_texts.name_latest(seen[0][0] if seen else "", is_own=is_own)
        case "account" if any(chat_ref[0] == target.platform for chat_ref in seen):
            return name_platform(target.platform)
        case "account":
            latest = job_texts.name_latest(seen[0][0] if seen else "", is_own=is_own)
            return job_texts.name_new_account(target.platform, latest, is_own=is_own)


def _name_chat(connection: Connection, chat_ref: ChatRef) -> str:
    address = read_chat(chat_ref[1])
    if address.is_direct:
        return name_platform(chat_ref[0])
    room = rooms.find(connection, platform=chat_ref[0], chat_id=address.chat_id)
    name = room.shown_name if room else ""
    return job_texts.name_group(name, chat_ref[0], is_thread=bool(address.thread_id))
