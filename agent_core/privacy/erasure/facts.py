"""Removal of words from the facts before messages; the words of their people stay."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from agent_core.ids import MessageId, PersonId
from agent_core.privacy.erasure import scrub
from agent_core.privacy.erasure.matcher import WordMatcher
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import person_data, redact
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.transcript import Part

Clean = Callable[[tuple[Part, ...], str], tuple[Part, ...]]
"""Takes words out of the facts among a message's parts, and puts a mark there."""


def find_told(
    connection: Connection, owner_ids: Sequence[PersonId], matcher: WordMatcher
) -> list[MessageId]:
    """Find the messages whose facts quote matching notes of these people or groups."""
    return [
        message_id
        for message_id, parts in person_data.walk_told(connection, owner_ids=owner_ids)
        if matcher.clean_notes(parts, FORGOTTEN) != parts
    ]


def clean_messages(connection: Connection, message_ids: Sequence[MessageId], clean: Clean) -> None:
    """Clean the facts of messages, and drop the summaries of their sessions."""
    scrub.enqueue_scrub(connection)
    for message_id in message_ids:
        found = redact.read_message(connection, message_id=message_id)
        if found:
            message, session_id = found
            cleaned = replace(message, parts=clean(message.parts, FORGOTTEN))
            redact.clean_facts(connection, message_id=message_id, cleaned=cleaned)
            # A summary may paraphrase the words.
            redact.delete_compactions(connection, session_id=session_id)
