"""The questions before something is forgotten or erased, and what their answers set off."""

import json
from collections.abc import Mapping

from agent_core.ids import PersonId
from agent_core.privacy.erasure.words import Preview
from agent_core.state.conversations.questions import Choice, Kind, NewQuestion, Question
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import erase_person
from agent_core.state.people import people
from agent_core.state.people.people import Person
from gateway.outbound.questions import Answerer, Outcome, make_secret
from gateway.people.data_requests import DataRequests, Wish
from gateway.texts import privacy

LASTS = 600_000
"""Milliseconds that such a question may be answered."""
_ENTRIES, _ALL, _NONE = "entries", "all", "none"
_YES, _NO = "yes", "no"


class DataConfirmations:
    """What to do with the answers; every function works in its caller's transaction."""

    def __init__(self, data_requests: DataRequests) -> None:
        self._belongings = data_requests

    def answerers(self) -> Mapping[Kind, Answerer]:
        """By the kinds of the questions."""
        return {"forget": self.answer_forget, "erase": self.answer_erase}

    def answer_forget(
        self, connection: Connection, question: Question, key: str, person: Person, now: int
    ) -> Outcome:
        """They have said what is to be forgotten; the lines that were shown are taken away."""
        if key == _NONE:
            return Outcome(words=privacy.FORGET_KEPT(), is_alone=True)
        wish = Wish(
            person_id=person.id,
            words=json.loads(question.payload)["words"],
            has_messages=key == _ALL,
            question_id=question.id,
            place=(question.platform, question.chat),
        )
        self._belongings.wish(connection, wish, f"q{question.id}")
        return Outcome(words=privacy.FORGET_BEGUN(), is_alone=True)

    def answer_erase(
        self, connection: Connection, question: Question, key: str, person: Person, now: int
    ) -> Outcome:
        """They have said yes or no to the first question, or to the second."""
        asked = json.loads(question.payload)
        whom = people.find(connection, person_id=PersonId(asked["person"]))
        if key != _YES:
            return Outcome(words=privacy.ERASE_KEPT(), is_alone=True)
        if whom is None or erase_person.is_erased(connection, person_id=whom.id):
            return Outcome(words=privacy.GONE_ALREADY(), is_alone=True)
        if not may_erase(person, whom):
            return Outcome(words=privacy.ERASE_OTHERS(), is_alone=True)
        if not asked["is_sure"]:
            place = (question.platform, question.chat)
            again = ask_to_erase(person, whom, place=place, now=now, is_sure=True)
            return Outcome(words=privacy.ERASE_YES(), is_alone=True, asks=[again])
        is_own = whom.id == person.id
        wish = Wish(person_id=whom.id, place=None if is_own else (question.platform, question.chat))
        self._belongings.wish(connection, wish, str(whom.id))
        words = privacy.ERASE_BEGUN() if is_own else privacy.ERASE_BEGUN_OTHER()
        return Outcome(words=words, is_alone=True)


def may_erase(person: Person, whom: Person) -> bool:
    """Everybody themselves, and owners everybody but other owners."""
    return whom.id == person.id or (person.is_owner and not whom.is_owner)


def ask_to_forget(
    person: Person, words: str, preview: Preview, *, place: tuple[str, str], now: int
) -> NewQuestion:
    """What of it is to be forgotten."""
    return NewQuestion(
        person_id=person.id,
        kind="forget",
        text=privacy.ask_to_forget(preview.entries, preview.messages, preview.jobs, preview.lines),
        choices=(
            Choice(key=_ENTRIES, label=privacy.FORGET_ENTRIES()),
            Choice(key=_ALL, label=privacy.FORGET_ALL(), style="danger"),
            Choice(key=_NONE, label=privacy.FORGET_NONE()),
        ),
        secret=make_secret(),
        place=place,
        expires_at=now + LASTS,
        payload=json.dumps({"words": words}, ensure_ascii=False),
    )


def ask_to_erase(
    person: Person, whom: Person, *, place: tuple[str, str], now: int, is_sure: bool = False
) -> NewQuestion:
    """Whether somebody is to be erased; with `is_sure`, for the second time."""
    name = None if whom.id == person.id else whom.name
    return NewQuestion(
        person_id=person.id,
        kind="erase",
        text=privacy.ask_again(name) if is_sure else privacy.ask_to_erase(name),
        choices=(
            Choice(
                key=_YES, label=privacy.ERASE_SURE() if is_sure else privacy.ERASE_YES(), style="danger"
            ),
            Choice(key=_NO, label=privacy.ERASE_NO()),
        ),
        secret=make_secret(),
        place=place,
        expires_at=now + LASTS,
        payload=json.dumps({"person": whom.id, "is_sure": is_sure}),
    )
