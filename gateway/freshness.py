"""Whether what was read for a turn still holds when it begins."""

from agent_core.active import Prepared
from agent_core.state import erasing, messages, people, sessions
from agent_core.state.database import Connection
from agent_core.state.messages import START
from agent_core.state.turns import Asked
from gateway.translate import Pending, place_of


class OutOfDate(Exception):
    """A message is somebody else's by now, or belongs elsewhere: it has to be looked at again.

    So has the turn of a run of somebody's job that is gone by now.
    """


def find_asked(
    connection: Connection, pending: Pending, prepared: Prepared, *, is_stopped: bool
) -> Asked:
    """Who asks, as the database has it in the transaction that begins their turn.

    Raises `OutOfDate` if two people became one in between, or one two or nobody, or the talk is
    not what it was when its prompt was made. A turn that is stopped already ends in the talk in
    which it was asked for, even if that was closed since.
    """
    account = people.find_account(
        connection, platform=pending.platform, user_id=pending.message.sender.user_id
    )
    if account and account.person_id != pending.person.id:
        raise OutOfDate
    if account is None and erasing.is_erased(connection, person_id=pending.person.id):
        raise OutOfDate
    if not is_stopped and not _is_as_it_was(connection, prepared):
        raise OutOfDate
    return Asked(
        person_id=pending.person.id,
        account_id=account.id if account else None,
        place=place_of((pending,)).fields,
    )


def _is_as_it_was(connection: Connection, prepared: Prepared) -> bool:
    """True if a talk has the session, the prompt and the last message that were seen."""
    talk, seen = prepared.scene.conversation, prepared.session
    now = sessions.find_open(connection, conversation_id=talk.id)
    if seen is None or now is None:
        return seen is now
    last = prepared.history[-1].id if prepared.history else START
    newest = messages.find_newest(connection, session_id=now.id, person_id=talk.person_id)
    return (seen.id, seen.prompt_hash, last) == (now.id, now.prompt_hash, newest)
