"""Read a typed yes or no as the answer to a question with buttons.

It answers only what the chat shows last, because the words may mean anything above it. An answer to
a message in the app means that one.
"""

from collections.abc import Sequence

from agent_core.state.conversations.questions import Choice, Question
from agent_core.state.engine.database import Connection
from agent_core.state.queues import outbox
from gateway.outbound import question_views
from gateway.texts import general

REFUSALS = ("none", "no", "leave", "dismiss")
"""Keys of choices that change nothing."""
_YES = ("yes",)
"""Keys of choices that a yes means, even where others begin with one, too."""
_ASKS = "?？؟"
"""Marks of a question, after which a bare yes may answer that one."""


def read_note_answer(connection: Connection, question: Question, words: str) -> str | None:
    """Return the key of the choice about notes that words name, in the reader's language.

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


def read_bare_answer(
    connection: Connection, question: Question, words: str, quoted: str | None
) -> str | None:
    """Return the key of the choice that a bare yes or no stands for; None if that is unclear.

    `quoted` is the platform's id of the message that the words answer, if they answer one.
    """
    is_yes = general.read_yes_or_no(words)
    key = None if is_yes is None else find_meant(question.choices, is_yes=is_yes)
    if key is None:
        return None
    shown = outbox.find_shown(connection, chat=question.chat, message_id=quoted)
    return key if shown and shown.question_id == question.id else None


def find_meant(choices: Sequence[Choice], *, is_yes: bool) -> str | None:
    """Return the key of the one choice that a yes stands for, or a no; None if none or several do.

    Of two choices, it is also the one besides that for the opposite.
    """
    meant = _list_meant(choices, is_yes=is_yes)
    opposite = _list_meant(choices, is_yes=not is_yes)
    if not meant and len(choices) == 2 and len(opposite) == 1:
        meant = [choice for choice in choices if choice not in opposite]
    return meant[0].key if len(meant) == 1 else None


def _list_meant(choices: Sequence[Choice], *, is_yes: bool) -> list[Choice]:
    keyed = [one for one in choices if one.key in (_YES if is_yes else REFUSALS)]
    return keyed or [one for one in choices if general.starts_with_yes_or_no(one.label) is is_yes]
