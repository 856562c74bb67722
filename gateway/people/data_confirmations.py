"""Confirmation questions before words are forgotten or a person is erased."""

import json
from collections.abc import Mapping
from pathlib import Path

from agent_core.chats import Chat
from agent_core.ids import PersonId
from agent_core.privacy.erasure.groups import GroupNotes
from agent_core.privacy.erasure.words import Preview
from agent_core.state.conversations import questions
from agent_core.state.conversations.questions import Choice, NewQuestion, Question, QuestionKind
from agent_core.state.engine.database import Connection
from agent_core.state.memory import external_sync
from agent_core.state.people import people
from agent_core.state.people.people import Person
from gateway.errors import Declined
from gateway.outbound.questions import Answerer, AnswerOutcome, make_secret
from gateway.people.data_erase import check_erase, find_traces, list_backups
from gateway.people.data_requests import DataRequest, RequestQueue
from gateway.texts import privacy

LASTS = 600_000
"""Milliseconds during which a confirmation may be answered."""
_ENTRIES, _ALL, _NONE = "entries", "all", "none"
_YES, _NO = "yes", "no"


class DataConfirmations:
    """Handles the answers; every method works in its caller's transaction."""

    def __init__(self, queue: RequestQueue, home: Path) -> None:
        self._queue = queue
        self._home = home

    def answerers(self) -> Mapping[QuestionKind, Answerer]:
        """Return the handlers by question kind."""
        return {"forget": self.answer_forget, "erase": self.answer_erase}

    def answer_forget(
        self, connection: Connection, question: Question, key: str, person: Person, now: int
    ) -> AnswerOutcome:
        """Store the request, and replace the question, which quotes the person's lines."""
        if key == _NONE:
            return AnswerOutcome(words=privacy.FORGET_KEPT(), is_alone=True)
        request = DataRequest(
            person_id=person.id,
            words=json.loads(question.payload)["words"],
            has_messages=key == _ALL,
            question_id=question.id,
            chat=question.chat,
            group_id=json.loads(question.payload).get("group", 0),
        )
        self._queue.put(connection, request, f"q{question.id}")
        is_late = bool(questions.list_awaited(connection, person_id=person.id))
        words = privacy.FORGET_SOON if is_late else privacy.FORGET_BEGUN
        return AnswerOutcome(words=words(), is_alone=True, says_more=is_late)

    def answer_erase(
        self, connection: Connection, question: Question, key: str, person: Person, now: int
    ) -> AnswerOutcome:
        """Ask a second time after the first yes, and store the request after the second."""
        asked = json.loads(question.payload)
        target = people.find(connection, person_id=PersonId(asked["person"]))
        if key != _YES:
            return AnswerOutcome(words=privacy.ERASE_KEPT(), is_alone=True)
        if target is None:
            return AnswerOutcome(words=privacy.GONE_ALREADY(), is_alone=True)
        try:
            check_erase(connection, person, target)
        except Declined as error:
            return AnswerOutcome(words=str(error), is_alone=True)
        if not asked["is_sure"]:
            again = ask_to_erase(person, target, chat=question.chat, now=now, is_sure=True)
            said = privacy.ERASE_YES()
            return AnswerOutcome(words=said, is_alone=True, says_more=False, asks=[again])
        is_own = target.id == person.id
        request = DataRequest(
            person_id=target.id,
            chat=None if is_own else question.chat,
        )
        self._queue.put(connection, request, str(target.id))
        words = privacy.ERASE_BEGUN_OTHER()
        if is_own:
            # The report can't be sent once the person is unknown, so it comes first.
            backups = list_backups(self._home, find_traces(connection, target.id))
            external = [one.provider for one in external_sync.count_all(connection)]
            words = privacy.describe_erase_begun(backups, external)
        return AnswerOutcome(words=words, is_alone=True)


def ask_to_forget(
    person: Person, words: str, preview: Preview, *, chat: Chat, now: int
) -> NewQuestion:
    """Return the question which of the matches to forget; it offers only what was found."""
    entries = Choice(key=_ENTRIES, label=privacy.FORGET_ENTRIES())
    return NewQuestion(
        person_id=person.id,
        kind="forget",
        text=privacy.ask_to_forget(
            (preview.entries, preview.messages, preview.jobs, preview.blocks),
            preview.lines,
            [(one.name, one.lines, one.past) for one in preview.groups],
            quotes=preview.quotes,
            has_past=preview.has_past,
        ),
        choices=(
            *([entries] if preview.has_notes else []),
            Choice(key=_ALL, label=privacy.FORGET_ALL(), style="danger"),
            Choice(key=_NONE, label=privacy.FORGET_NONE()),
        ),
        secret=make_secret(),
        chat=chat,
        expires_at=now + LASTS,
        payload=json.dumps({"words": words}, ensure_ascii=False),
    )


def ask_to_forget_here(
    person: Person, words: str, found: GroupNotes, *, chat: Chat, now: int
) -> NewQuestion:
    """Return the question whether to forget these notes of a group."""
    return NewQuestion(
        person_id=person.id,
        kind="forget",
        text=privacy.ask_to_forget_here(found.lines, has_past=found.past > 0 or found.has_deeds),
        choices=(
            Choice(key=_ENTRIES, label=privacy.ERASE_YES(), style="danger"),
            Choice(key=_NONE, label=privacy.FORGET_NONE()),
        ),
        secret=make_secret(),
        chat=chat,
        expires_at=now + LASTS,
        payload=json.dumps({"words": words, "group": found.group_id}, ensure_ascii=False),
    )


def ask_to_erase(
    person: Person, target: Person, *, chat: Chat, now: int, is_sure: bool = False
) -> NewQuestion:
    """Return the question whether to erase a person; `is_sure` marks the second one."""
    name = None if target.id == person.id else target.name
    return NewQuestion(
        person_id=person.id,
        kind="erase",
        text=privacy.ask_again(name) if is_sure else privacy.ask_to_erase(name),
        choices=(
            Choice(
                key=_YES,
                label=privacy.ERASE_SURE() if is_sure else privacy.ERASE_YES(),
                style="danger",
            ),
            Choice(key=_NO, label=privacy.ERASE_NO()),
        ),
        secret=make_secret(),
        chat=chat,
        expires_at=now + LASTS,
        payload=json.dumps({"person": target.id, "is_sure": is_sure}),
    )
