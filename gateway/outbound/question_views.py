"""Renders questions as messages with buttons, and matches typed answers."""

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
from gateway.texts.excerpts import PAGE_BREAK

_KEY = re.compile(r"q(?P<id>[0-9]{1,15}):(?P<choice>[a-z0-9_]{1,12}):(?P<secret>[0-9a-f]{8})")
_OUTCOME = "\n\n" + "outcome " * 50
"""A sample as long as a question's closing words, to check that they will fit into its message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceKey:
    """The content of a button's key."""

    question_id: QuestionId
    choice: str
    secret: str

    def opens(self, question: Question) -> bool:
        """Return whether the key was made for this question."""
        is_meant = self.question_id == question.id
        return is_meant and secrets.compare_digest(question.secret, self.secret)


def read_key(key: str) -> ChoiceKey | None:
    """Parse a button's key; None if no question made it."""
    found = _KEY.fullmatch(key)
    if found is None:
        return None
    return ChoiceKey(
        question_id=QuestionId(int(found["id"])), choice=found["choice"], secret=found["secret"]
    )


def shows_buttons(question: Question, adapter: ChatAdapter | None) -> bool:
    """Return whether the choices are buttons; otherwise they are a numbered list."""
    most = adapter.most_buttons if isinstance(adapter, CanAsk) else 0
    return len(question.choices) <= most


def compose(
    question: Question, adapter: ChatAdapter | None, *, is_silent: bool
) -> list[NewOutboxMessage]:
    """Build the messages of a question. The last one carries the buttons.

    A question that exceeds one message is preceded by silent parts.
    """
    pages = question.text.split(PAGE_BREAK)
    *before, last = [part for one in pages for part in (adapter.split(one) if adapter else (one,))]
    if adapter and len(adapter.split(_body(question, adapter, last) + _OUTCOME)) > 1:
        before, last = [*before, last], general.QUESTION_ABOVE()
    asking = NewOutboxMessage(
        chat=question.chat,
        body=_body(question, adapter, last),
        person_id=question.person_id,
        turn_id=question.turn_id,
        is_silent=is_silent,
        buttons=list_buttons(question) if shows_buttons(question, adapter) else (),
        question_id=question.id,
    )
    reported = [
        replace(asking, body=part, is_silent=True, buttons=(), question_id=None) for part in before
    ]
    return [*reported, asking]


def fits_below(question: Question, adapter: ChatAdapter, answer: str) -> bool:
    """Return whether an answer and a question with buttons fit into one message."""
    whole = f"{join(question, answer)}{_OUTCOME}"
    is_whole = PAGE_BREAK not in question.text and len(adapter.split(whole)) == 1
    return is_whole and shows_buttons(question, adapter)


def join(question: Question, answer: str) -> str:
    """Return an answer with a question below it."""
    return "\n\n".join(filter(None, (answer, question.text)))


def close(question: Question, row: OutboxRow, words: str) -> str:
    """Build the text of the question's message after it is closed."""
    asked = row.body.removesuffix(general.list_choices("", _labels(question)))
    return general.close_question(asked, words)


def show_choices(
    question: Question, adapter: ChatAdapter | None, body: str
) -> tuple[str, tuple[Choice, ...]]:
    """Return the text and the buttons of a question whose message has this body."""
    buttons = list_buttons(question) if shows_buttons(question, adapter) else ()
    return _body(question, adapter, body), buttons


def choice_of(question: Question, key: str | None) -> Choice | None:
    """Return the choice with this key, if any."""
    return next((choice for choice in question.choices if choice.key == key), None)


def match(
    question: Question, words: str, *, has_buttons: bool, is_by_name: bool = False
) -> str | None:
    """Return the key of the choice that the words name, if they name nothing else.

    In a numbered list a number means its line, even if it is the label of another choice. With
    `is_by_name`, numbers and keys name nothing, since untrusted words may ask for them.
    """
    said = _plain(words)
    if not said:
        return None
    by_label = {_plain(choice.label): choice.key for choice in question.choices}
    if is_by_name:
        return by_label.get(said)
    by_key = {choice.key: choice.key for choice in question.choices}
    by_number = {str(n): choice.key for n, choice in enumerate(question.choices, start=1)}
    names = (by_label, by_number) if has_buttons else (by_number, by_label)
    return next((names[said] for names in (*names, by_key) if said in names), None)


def _plain(words: str) -> str:
    return " ".join(words.casefold().replace(",", " ").split()).strip(".!")


def _body(question: Question, adapter: ChatAdapter | None, text: str) -> str:
    has_buttons = shows_buttons(question, adapter)
    return text if has_buttons else general.list_choices(text, _labels(question))


def _labels(question: Question) -> Sequence[str]:
    return [choice.label for choice in question.choices]


def list_buttons(question: Question) -> tuple[Choice, ...]:
    """Return the buttons of a question's choices."""
    return tuple(
        replace(choice, key=f"q{question.id}:{choice.key}:{question.secret}")
        for choice in question.choices
    )
