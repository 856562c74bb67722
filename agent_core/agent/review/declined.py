"""Find what a person has dismissed, removed or not decided, so that it does not return by itself.

A dismissed note is asked about again once the person has said it in new words twice. A note that
they undid or removed returns only with their yes.
"""

import json
from typing import Literal

from agent_core.agent.review.claim_check import Claim
from agent_core.agent.review.record import load_record
from agent_core.ids import PersonId
from agent_core.memory.archive.entries import read_entry
from agent_core.memory.line_dates import drop_dates
from agent_core.shared_words import list_content
from agent_core.state.conversations import questions
from agent_core.state.conversations.questions import Question
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger
from agent_core.state.queues import reviews, tasks
from agent_core.state.tokenizer import cut

Decline = Literal["dismissed", "waiting", "undone", "again"]
"""Why a claim does not count by itself: the person dismissed it; it waits for their yes already;
they undid or removed it; or they dismissed it, and said it in new words twice since.
"""
_LIKENESS = 0.6
"""The share of common words from which on two notes say the same."""
_TIMES = 2
"""How often a dismissed note must be said again."""
_MOST = 200
"""Earlier notes that share a word with a claim."""
_MOST_REVIEWS = 200
_PIECES = 3
_PIECE = slice(1, 5)
"""The letters of a word that a search compares: neither its case nor its ending matters."""


def check_declined(connection: Connection, *, person_id: PersonId, claim: Claim) -> Decline | None:
    """Return why a claim does not count by itself, and count that it was said again.

    A repeated call with the same claim counts once.
    """
    pieces = _list_pieces(claim.text)
    if _waits(connection, person_id, claim):
        return "waiting"
    for question in questions.list_refused(
        connection, person_id=person_id, pieces=pieces, limit=_MOST
    ):
        if _says_same(claim.text, _read_text(question)):
            return _count(connection, question, claim)
    return "undone" if was_undone(connection, person_id=person_id, text=claim.text) else None


def was_undone(connection: Connection, *, person_id: PersonId, text: str) -> bool:
    """Return whether a person undid or removed an entry that says the same."""
    pieces = _list_pieces(text)
    removed = ledger.list_removed_like(connection, person_id=person_id, pieces=pieces, limit=_MOST)
    return any(_says_same(text, _strip(one)) for one in removed)


def _list_pieces(text: str) -> list[str]:
    """List the middles of the longest words, which a search compares."""
    words = sorted(set(list_content(text)), key=len, reverse=True)[:_PIECES]
    return [word[_PIECE] for word in words if len(word) > 1]


def _waits(connection: Connection, person_id: PersonId, claim: Claim) -> bool:
    found = tasks.list_finished(
        connection, kind=reviews.KIND, person_id=person_id, limit=_MOST_REVIEWS
    )
    texts = (held.claim.text for _, payload in found for held in load_record(payload).held)
    if any(_says_same(claim.text, one) for one in texts):
        return True
    asked = questions.find_open(connection, person_id=person_id)
    return any(one.kind == "proposal" and _says_same(claim.text, _read_text(one)) for one in asked)


def _count(connection: Connection, question: Question, claim: Claim) -> Decline:
    """Count new words for a dismissed note; those of its own question are not new."""
    asked = json.loads(question.payload)
    said: list[str] = asked.get("said", [])
    if claim.quote and claim.quote not in question.text and claim.quote not in said:
        said.append(claim.quote)
        payload = json.dumps({**asked, "said": said}, ensure_ascii=False)
        questions.set_payload(
            connection, person_id=question.person_id, question_id=question.id, payload=payload
        )
    return "again" if len(said) >= _TIMES else "dismissed"


def _read_text(question: Question) -> str:
    asked = json.loads(question.payload)
    return str(json.loads(asked["arguments"]).get("text") or "")


def _strip(written: str) -> str:
    content = read_entry(written)
    return content.text if content else written


def _says_same(text: str, other: str) -> bool:
    words, others = frozenset(cut(drop_dates(text))), frozenset(cut(drop_dates(other)))
    if not words or not others:
        return text.casefold() == other.casefold()
    return _share(words, others) >= _LIKENESS


def _share(words: frozenset[str], others: frozenset[str]) -> float:
    is_part = words <= others or others <= words
    return 1.0 if is_part else len(words & others) / len(words | others)
