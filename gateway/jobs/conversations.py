"""In which talk the runs of a job are held, and who may read it there."""

from collections.abc import Iterable

from agent_core.ids import PersonId, RoomId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.jobs import Job
from agent_core.state.people import rooms
from agent_core.state.people.people import Person
from gateway import conversion

ChatRef = tuple[str, str]
"""A platform, and a chat on it."""


class UnknownRoom(Exception):
    """Nobody ever talked to us in a room that a job goes to."""


def name_job_conversation(job: Job, room_id: RoomId | None) -> str:
    """The key of the conversation that a job's turns are held in."""
    private = f"job:{job.id}:{job.person_id}"
    return private if room_id is None else f"{private}:{room_id}"


def rename_conversation_key(key: str, *, old: PersonId, new: PersonId) -> str:
    """The key that a talk of one person has once it is somebody else's.

    It ends in the person's id, see `translate.name_conversation`; that of a job's talk in a room
    ends in the room's. Of those some from before 2026-11-22 end in both.
    """
    words = key.split(":")
    if words[0] == "job" and words[2] == str(old):
        return ":".join((*words[:2], str(new), *words[3:]))
    return f"{key.removesuffix(f':{old}')}:{new}"


def find_room(
    connection: Connection, job: Job, person: Person, spots: Iterable[ChatRef]
) -> RoomId | None:
    """The room whose talk a run is: the job's own, or one where others may read what it says.

    In a room that is `full` an owner trusts everybody with what is private. Raises `UnknownRoom`.
    """
    if job.room_id is not None:
        return job.room_id
    for platform, chat in spots:
        address = conversion.read_chat(chat)
        if address.is_direct:
            continue
        room = rooms.find(connection, platform=platform, chat_id=address.chat_id)
        if room is None:
            raise UnknownRoom
        if room.mode != "full" or not person.is_owner:
            return room.id
    return None
