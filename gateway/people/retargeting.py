"""Retarget jobs and deferred messages: after a merge or split of accounts, or out of a room."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from agent_core.chats import Chat
from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import Target
from agent_core.state.people import delivery_targets
from agent_core.state.people.rooms import Room
from agent_core.state.queues import deferred_messages
from agent_core.state.queues.deferred_messages import DeferredMessage
from gateway.chats import is_chat, read_chat

_HOME = Target(kind="home")


def retarget_jobs(connection: Connection, person_id: PersonId) -> None:
    """Restrict a person's jobs to their own direct chats, after an account was added or removed.

    A home chat that is no longer theirs is unset, and a job that sends there sends to the home
    chat. Deferred messages go to their latest direct chat, if any.
    """
    asked = delivery_targets.list_asked(connection, person_id=person_id)

    def is_own(spot: Chat) -> bool:
        is_strange = is_chat(spot.address) and read_chat(spot.address).is_direct
        return spot in asked or not is_strange

    home = delivery_targets.find(connection, person_id=person_id).chat
    if home and not is_own(home):
        delivery_targets.set_home(connection, person_id=person_id, chat=None)
    for job in jobs.list_of_person(connection, person_id=person_id):
        targets = tuple(dict.fromkeys(_redirect_target(target, is_own) for target in job.targets))
        if job.is_whole and targets != job.targets:
            jobs.change(connection, replace(job, targets=targets))
    astray = _list_astray(connection, person_id, is_own)
    seen = delivery_targets.list_seen(connection, person_id=person_id) if astray else []
    last = next((spot for spot in seen if read_chat(spot.address).is_direct), None)
    _redirect(connection, astray, last)


def leave_room(connection: Connection, person_id: PersonId, room: Room, chat: Chat | None) -> None:
    """Let a person's own jobs and deferred messages send to no thread of a room any more.

    Jobs of the room itself stay. Deferred messages go to
    `chat`, the person's direct chat, if any.
    """

    def is_elsewhere(spot: Chat) -> bool:
        is_here = spot.platform == room.platform and is_chat(spot.address)
        return not (is_here and read_chat(spot.address).chat_id == room.chat_id)

    home = delivery_targets.find(connection, person_id=person_id).chat
    if home and not is_elsewhere(home):
        delivery_targets.set_home(connection, person_id=person_id, chat=None)
    for job in jobs.list_of_person(connection, person_id=person_id):
        targets = tuple(dict.fromkeys(_redirect_target(one, is_elsewhere) for one in job.targets))
        if job.room_id is None and job.is_whole and targets != job.targets:
            jobs.change(connection, replace(job, targets=targets))
    _redirect(connection, _list_astray(connection, person_id, is_elsewhere), chat)


def _redirect_target(target: Target, is_own: Callable[[Chat], bool]) -> Target:
    is_strange = target.kind == "place" and not is_own(target.place)
    return _HOME if is_strange else target


def _list_astray(
    connection: Connection, person_id: PersonId, is_own: Callable[[Chat], bool]
) -> list[DeferredMessage]:
    return [
        one
        for one in deferred_messages.list_of_person(connection, person_id=person_id)
        if not is_own(one.chat)
    ]


def _redirect(connection: Connection, astray: Sequence[DeferredMessage], chat: Chat | None) -> None:
    if chat is None:
        deferred_messages.drop(connection, ids=[one.id for one in astray])
        return
    for one in astray:
        deferred_messages.redirect(connection, deferred_id=one.id, chat=chat)
