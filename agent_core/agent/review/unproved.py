"""Find what the memory tool wrote in a turn although the person's messages there don't say it."""

from agent_core.agent.review.feed import LearnedEntry
from agent_core.ids import CallId, PersonId, TurnId
from agent_core.memory.explanations import ExplanationReader, find_basis
from agent_core.memory.numbering import load_change_index
from agent_core.shared_words import list_content
from agent_core.state.conversations import questions
from agent_core.state.engine.database import Connection
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.state.tokenizer import cut

_SAID = 0.5
"""The share of an entry's words that its messages must have."""


def list_unproved(connection: Connection, *, person_id: PersonId) -> list[LearnedEntry]:
    """List the present entries that a turn wrote without such words or a yes, newest first."""
    index = load_change_index(connection, person_id=person_id)
    found = [
        LearnedEntry(
            name=str(tracked.made_by.id),
            text=tracked.words,
            at=tracked.made_by.origin.now,
        )
        for history in index.histories.values()
        for tracked in history.current
        if tracked.words is not None
        and tracked.made_by is not None
        and not _is_proved(connection, tracked.made_by, tracked.words, person_id)
    ]
    return sorted(found, key=lambda one: one.at, reverse=True)


def _is_proved(connection: Connection, row: LedgerEntry, words: str, person_id: PersonId) -> bool:
    turn, _, call_id = (row.origin.call_key or "").partition("#")[0].partition(":")
    if row.origin.actor != f"turn:{turn}":
        return True
    turn_id, reader = TurnId(int(turn)), ExplanationReader(person_id=person_id)
    asked = questions.find_of_call(connection, turn_id=turn_id, call_id=CallId(call_id))
    if asked and asked.state == "answered":
        return True
    basis = find_basis(connection, row, reader)
    if basis.hidden:
        return True  # nobody can tell any more
    said = set(cut(" ".join(one.text for one in basis.source_messages)))
    wanted = set(cut(" ".join(list_content(words))))
    return len(wanted & said) >= _SAID * len(wanted)
