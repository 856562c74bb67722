"""The conversation of a job's runs, and who may read it."""

from collections.abc import Iterable

from agent_core.chats import Chat
from agent_core.ids import RoomId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.jobs import Job
from agent_core.state.people import rooms
from gateway.chats import read_chat


class UnknownRoom(Exception):
    """A job sends to a room from which no message ever came."""


def name_job_conversation(job: Job, room_id: RoomId | None) -> str:
    """Return the key of the conversation of a job's turns."""
    private = f"job:{job.id}:{job.person_id}"
    return private if room_id is None else f"{private}:{room_id}"


def find_room(connection: Connection, job: Job, chats: Iterable[Chat]) -> RoomId | None:
    """Return the room of a run's conversation: the job's own, or a room that receives its result.

    A job never uses a person's direct conversation in a room, because nobody counts who reads along
    when it runs. Raises `UnknownRoom`.
    """
    if job.room_id is not None:
        return job.room_id
    for chat in chats:
        address = read_chat(chat.address)
        if address.is_direct:
            continue
        room = rooms.find(connection, platform=chat.platform, chat_id=address.chat_id)
        if room is None:
            raise UnknownRoom
        return room.id
    return None
