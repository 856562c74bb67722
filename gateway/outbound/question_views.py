"""How a question reads: its messages, its buttons, and what people say to answer it."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adapters.abilities import CanAsk
from adapters.contract import ChatAdapter
from agent_core.ids import QuestionId
from agent_core.state.conversations.questions import Choice, Question
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.texts import general

_KEY = re.compile(r"q(?P<id>[0-9]{1,15}):(?P<choice>[a-z0-9_]{1,12}):(?P<secret>[0-9a-f]{8})")
_OUTCOME = "\n\n" + "outcome " * 50
"""As long as what is written below a question that is over; it has to fit in its message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What the key of a button says."""

    question_id: QuestionId
    choice: str
    secret: str

    def opens(self, question: Question) -> bool:
        """True if the key was made for this question."""
        is_meant = self.question_id == question.id
        return is_meant and secrets.compare_digest(question.secret, self.secret)


def read_key(key: str) -> Key | None:
    """What a button's key says, or None if no question has made it."""
    found = _KEY.fullmatch(key)
    if found is None:
        return None
    return Key(
        question_id=QuestionId(int(found["id"])), choice=found["choice"], secret=found["secret"]
    )


def shows_buttons(question: Question, adapter: ChatAdapter | None) -> bool:
    """True where a question's choices are buttons, else they are numbers in a list."""
    most = adapter.most_buttons if isinstance(adapter, CanAsk) else 0
    return len(question.choices) <= most


def compose(
    question: Question, adapter: ChatAdapter | None, *, is_silent: bool
) -> list[NewOutboxMessage]:
    """The messages that ask a question. The last one stands for it, and has the buttons.

    A question that is longer than a message goes before it in parts that do not ring.
    """
    *before, last = adapter.split(question.text) if adapter else (question.text,)
    if adapter and len(adapter.split(_body(question, adapter, last) + _OUTCOME)) > 1:
        before, last = [*before, last], general.QUESTION_ABOVE()
    asking = NewOutboxMessage(
        platform=question.platform,
        chat=question.chat,
        body=_body(question, adapter, last),
        person_id=question.person_id,
        turn_id=question.turn_id,
        is_silent=is_silent,
        buttons=_buttons(question) if shows_buttons(question, adapter) else (),
        question_id=question.id,
    )
    told = [
        replace(asking, body=part, is_silent=True, buttons=(), question_id=None) for part in before
    ]
    return [*told, asking]


def close(question: Question, row: OutboxRow, words: str) -> str:
    """What the message that asked a question says once the question is over."""
    asked = row.body.removesuffix(general.list_choices("", _labels(question)))
    return general.close_question(asked, words)


def choice_of(question: Question, key: str | None) -> Choice | None:
    """The choice of this key, if there is one."""
    return next((choice for choice in question.choices if choice.key == key), None)


def match(question: Question, words: str, *, has_buttons: bool) -> str | None:
    """The key of the choice that words name, if they are nothing but that.

    Where the choices are a numbered list a number means its line, even if it is the label of
    another choice.
    """
    said = _plain(words)
    if not said:
        return None
    by_label = {_plain(choice.label): choice.key for choice in question.choices}
    by_key = {choice.key: choice.key for choice in question.choices}
    by_number = {str(n): choice.key for n, choice in enumerate(question.choices, start=1)}
    names = (by_label, by_number) if has_buttons else (by_number, by_label)
    return next((names[said] for names in (*names, by_key) if said in names), None)


def _plain(words: str) -> str:
    return " ".join(words.casefold().split()).strip(".!")


def _body(question: Question, adapter: ChatAdapter | None, text: str) -> str:
    has_buttons = shows_buttons(question, adapter)
    return text if has_buttons else general.list_choices(text, _labels(question))


def _labels(question: Question) -> Sequence[str]:
    return [choice.label for choice in question.choices]


def _buttons(question: Question) -> tuple[Choice, ...]:
    return tuple(
        replace(choice, key=f"q{question.id}:{choice.key}:{question.secret}")
        for choice in question.choices
    )
