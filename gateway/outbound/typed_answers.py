"""Read a typed yes or no as the answer to a question with buttons.

It answers only what the chat shows last, because the words may mean anything above it.
"""

from agent_core.state.conversations.questions import Question
from agent_core.state.engine.database import Connection
from agent_core.state.queues import outbox
from gateway.outbound import question_views
from gateway.texts import general

REFUSALS = ("none", "no", "leave", "dismiss")
"""Keys of choices that change nothing."""
_ASKS = "?？؟"
"""Marks of a question, after which a bare yes may answer that one."""


def read_answer(connection: Connection, question: Question, words: str) -> str | None:
    """Return the key of the choice that words name, in the reader's language; None if unclear.

    The label of a choice names it. A bare yes stands for the first choice, and a bare no for the
    second one, unless the message above the question asks something, too.
    """
    key = question_views.match(question, words, has_buttons=True, is_by_name=True)
    is_yes = general.read_yes_or_no(words)
    if key is None and is_yes is None:
        return None  # most messages need no look into the store
    shown = outbox.list_newest_shown(connection, chat=question.chat, limit=2)
    if not shown or shown[0].question_id != question.id:
        return None
    if key or any(mark in above.body for above in shown[1:] for mark in _ASKS):
        return key
    return question.choices[0 if is_yes else 1].key


def read_refusal(connection: Connection, question: Question, words: str) -> str | None:
    """Return the key of the choice that changes nothing, if a no or a "never mind" means it."""
    key = next((one.key for one in question.choices if one.key in REFUSALS), None)
    is_no = general.is_refusal(words) or general.read_yes_or_no(words) is False
    if key is None or not is_no:
        return None
    shown = outbox.list_newest_shown(connection, chat=question.chat, limit=1)
    return key if shown and shown[0].question_id == question.id else None
