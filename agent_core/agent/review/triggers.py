"""Decide when a person's turns are due for a review."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.agent.review.claim_check import keep_own_words
from agent_core.agent.review.record import ReviewRecord, dump_record
from agent_core.ids import PersonId, TurnId
from agent_core.plain_statements import split_sentences
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.queues import reviews

_CORRECTION = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|h+m+|thanks?|thank you|sorry|well|actually|ah|oh|wait|stop|but|danke|ja"
    r"|moment|halt|aber|merci|mais|gracias|perdón|pero)\W+){0,3}"
    r"(?:no,? (?:i|that|it|not)\b|nope\b|wrong\b|i (?:meant|said)\b"
    r"|that(?:'s|’s| is) (?:not|wrong)|not what i\b|you (?:got|have) (?:it|that|this) wrong"
    r"|nein,? (?:ich|das|es|nicht)\b|falsch\b|ich meinte\b"
    r"|das (?:ist falsch|stimmt nicht)|nicht so\b"
    r"|no,? (?:quise|quería|me|eso|es)\b|eso (?:no es|está mal)|me refería|incorrecto\b"
    r"|non,? (?:je|ce|c['’]est)\b|c['’]est faux|ce n['’]est pas|je voulais dire"
    r"|no,? (?:intendevo|volevo|non)\b|sbagliato\b|intendevo\b"
    r"|não,? (?:eu|isso|é)\b|errado\b|eu quis dizer"
    r"|nee,? (?:ik|dat|het)\b|fout\b|ik bedoel(?:de)?\b|dat klopt niet"
    r"|nie,? (?:chodziło|to)\b|chodziło mi|нет,? (?:я|это|не)\b|я имел[аи]? в виду"
    r"|不是|不对|いいえ|違います)",
    re.IGNORECASE,
)
"""The beginning of a sentence that corrects, in the languages that many people write."""
_FIRST_SENTENCES = 4
"""The sentences of a message that may correct the answer before it; a story goes on longer."""
_LEAST_TURNS = 3
"""The fewest answered turns before a long piece of work makes a review due early."""
SILENCE = 4 * 3_600_000
"""Milliseconds of silence after which the turns so far are reviewed."""
_LONG = 8
"""Tool calls from which on a turn's success is reviewed at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRules:
    """Numbers of answered turns and of tool calls after which a review is due; 0 for never."""

    turns: int = 10
    steps: int = 10

    @property
    def are_off(self) -> bool:
        """True if no review is ever due."""
        return not (self.turns or self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedTurn:
    """An answered turn of a person's own conversation, with what they said and the tools called."""

    id: TurnId
    person_id: PersonId
    said: str
    tools: Sequence[str] = ()


def find_correction(said: str) -> str:
    """Return the sentence of a message that corrects the answer before it; "" if none does."""
    sentences = split_sentences(keep_own_words(said))[:_FIRST_SENTENCES]
    return next((one for one in sentences if _CORRECTION.search(one)), "")


def enqueue_due(connection: Connection, rules: ReviewRules, turn: EndedTurn, now: int) -> bool:
    """Queue a review if one is due after this turn; return whether it is.

    Runs in the transaction that ends the turn. A correction makes a review due at once; a long
    success, or a success after a failure, makes it due earlier.
    """
    after = reviews.find_newest(connection, person_id=turn.person_id)
    if not _is_due(connection, rules, turn, after):
        return False
    _enqueue(connection, turn.person_id, after, turn.id, now)
    return True


def find_silent(connection: Connection, rules: ReviewRules, now: int) -> list[PersonId]:
    """List the people who fell silent with turns that no review has read."""
    if rules.are_off:
        return []
    learners = (one.id for one in people.list_all(connection) if one.learning != "off")
    return [
        person_id
        for person_id in learners
        if reviews.is_silent(
            connection,
            person_id=person_id,
            after=reviews.find_newest(connection, person_id=person_id),
            since=now - SILENCE,
        )
    ]


def enqueue_now(connection: Connection, person_id: PersonId, now: int) -> bool:
    """Queue a review of the answered turns since the last one; return False if there are none."""
    after = reviews.find_newest(connection, person_id=person_id)
    until = reviews.find_last_turn(connection, person_id=person_id, after=after)
    if until is not None:
        _enqueue(connection, person_id, after, until, now)
    return until is not None


def _enqueue(
    connection: Connection, person_id: PersonId, after: TurnId, until: TurnId, now: int
) -> None:
    record = dump_record(ReviewRecord(after=after, until=until))
    reviews.enqueue(connection, person_id=person_id, until=until, payload=record, now=now)


def _is_due(connection: Connection, rules: ReviewRules, turn: EndedTurn, after: TurnId) -> bool:
    if rules.are_off:
        return False
    if find_correction(turn.said):
        return True
    forward = len(turn.tools) >= _LONG
    if not forward and len(turn.tools) > len(set(turn.tools)):
        forward = _has_overcome(connection, turn)
    if forward:
        least = min(_LEAST_TURNS, rules.turns or _LEAST_TURNS)
        return (
            reviews.count_turns(connection, person_id=turn.person_id, after=after, most=least)
            >= least
        )
    counted = [(rules.turns, reviews.count_turns)]
    if turn.tools:  # a turn without tool calls adds no steps
        counted.append((rules.steps, reviews.count_steps))
    return any(
        most and count(connection, person_id=turn.person_id, after=after, most=most) >= most
        for most, count in counted
    )


def _has_overcome(connection: Connection, turn: EndedTurn) -> bool:
    """Return whether a tool succeeded after it had failed."""
    failed: set[str] = set()
    for step in turns.list_steps(connection, turn_id=turn.id):
        if step.is_error:
            failed.add(step.name)
        elif step.name in failed:
            return True
    return False
