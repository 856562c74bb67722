"""Whether what was read for a turn still holds when it begins."""

from agent_core.agent.active_turn import PreparedTurn
from agent_core.state.conversations import messages, sessions
from agent_core.state.conversations.messages import START
from agent_core.state.conversations.turns import Asked
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import erase_person
from agent_core.state.people import people
from gateway.conversion import QueuedMessage, place_of


class StaleTurn(Exception):
    """A message is somebody else's by now, or belongs elsewhere: it has to be looked at again.

    So has the turn of a run of somebody's job that is gone by now.
    """


def find_asked(
    connection: Connection, pending: QueuedMessage, prepared: PreparedTurn, *, is_stopped: bool
) -> Asked:
    """Who asks, as the database has it in the transaction that begins their turn.

    Raises `StaleTurn` if two people became one in between, or one two or nobody, or the talk is
    not what it was when its prompt was made. A turn that is stopped already ends in the talk in
    which it was asked for, even if that was closed since.
    """
    account = people.find_account(
        connection, platform=pending.platform, user_id=pending.message.sender.user_id
    )
    if account and account.person_id != pending.person.id:
        raise StaleTurn
    if account is None and erase_person.is_erased(connection, person_id=pending.person.id):
        raise StaleTurn
    if not is_stopped and not _is_as_it_was(connection, prepared):
        raise StaleTurn
    return Asked(
        person_id=pending.person.id,
        account_id=account.id if account else None,
        place=place_of((pending,)).fields,
    )


def _is_as_it_was(connection: Connection, prepared: PreparedTurn) -> bool:
    """True if a talk has the session, the prompt and the last message that were seen."""
    talk, seen = prepared.context.conversation, prepared.session
    now = sessions.find_open(connection, conversation_id=talk.id)
    if seen is None or now is None:
        return seen is now
    last = prepared.history[-1].id if prepared.history else START
    newest = messages.find_newest(connection, session_id=now.id, person_id=talk.person_id)
    return (seen.id, seen.prompt_hash, last) == (now.id, now.prompt_hash, newest)
