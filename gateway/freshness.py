"""Whether what was read for a turn still holds when it begins."""

from agent_core.active import Prepared
from agent_core.state import people, sessions
from agent_core.state.database import Connection
from agent_core.state.turns import Asked
from gateway.translate import Pending, place_of


class OutOfDate(Exception):
    """A message is somebody else's by now, or belongs elsewhere: it has to be looked at again."""


def find_asked(connection: Connection, pending: Pending, prepared: Prepared) -> Asked:
    """Who asks, as the database has it in the transaction that begins their turn.

    Raises `OutOfDate` if two people became one in between, or one two, or the talk is not
    what it was when its prompt was made.
    """
    account = people.find_account(
        connection, platform=pending.platform, user_id=pending.message.sender.user_id
    )
    if account and account.person_id != pending.person.id:
        raise OutOfDate
    seen = prepared.session
    now = sessions.find_open(connection, conversation_id=prepared.scene.conversation.id)
    known = (seen.id, seen.prompt_hash) if seen else None
    if known != ((now.id, now.prompt_hash) if now else None):
        raise OutOfDate
    return Asked(
        person_id=pending.person.id,
        account_id=account.id if account else None,
        place=place_of((pending,)).fields,
    )
