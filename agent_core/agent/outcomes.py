"""Judge how the skills of a turn went, in the transaction that ends it.

The turn's own end decides first. The person's next message may revise that: it corrects the answer,
asks the same again, or is a thumb. A reaction to the answer counts as a thumb, too.
"""

import re
from collections.abc import Mapping, Sequence

from agent_core.agent.review.triggers import is_correction
from agent_core.agent.turn import ActiveTurn
from agent_core.ids import PersonId, TurnId
from agent_core.state.conversations import messages
from agent_core.state.conversations.turns import TurnState
from agent_core.state.engine.database import Connection
from agent_core.state.memory import skill_uses
from agent_core.state.memory.skill_uses import Outcome
from agent_core.state.queues import skill_tests

_OWN_LIMITS = frozenset(("steps", "tokens", "time", "money", "no_progress"))
"""Limits that say something about a skill, because the work itself reached them. A spent quota, or
a model that fails or refuses, says nothing about it.
"""
_LIKED = frozenset("👍❤♥🙏👏💯🔥🎉🥰😍🤩🏆👌")
_DISLIKED = frozenset("👎💩😡🤬😠🤮😤")
_MODIFIERS = re.compile("[\ufe0e\ufe0f\u200d\U0001f3fb-\U0001f3ff\\s]")
"""Variation selectors, joiners and skin tones, which do not change a sign's meaning."""


def read_thumb(text: str) -> Outcome | None:
    """Return the verdict of a message or reaction that consists only of thumbs or the like."""
    signs = set(_MODIFIERS.sub("", text[:20]))
    if not signs or len(text) > 20:
        return None
    if signs <= _LIKED:
        return "liked"
    return "disliked" if signs <= _DISLIKED else None


def note_outcomes(
    connection: Connection, turn: ActiveTurn, state: TurnState, reason: str, now: int
) -> None:
    """Record the outcome of the turn's skill uses, and revise the outcomes of the turn before."""
    outcome = _judge(state, reason)
    begun_at = skill_uses.end(connection, turn_id=turn.id, outcome=outcome, now=now)
    if begun_at is not None:  # a person may react while the answer still grows
        early = skill_uses.list_reactions(connection, turn_id=turn.id, person_id=turn.person.id)
        if early:
            _count_reactions(connection, turn.id, early, now)
    revised = _revise(connection, turn, begun_at if outcome == "done" else None, now)
    changed = [*([turn.id] if begun_at is not None else []), *revised]
    for turn_id in dict.fromkeys(changed):
        skill_tests.enqueue_checks(connection, turn_id=turn_id, person_id=turn.person.id, now=now)
    if begun_at is not None and outcome == "done":
        skill_tests.enqueue_for_turn(connection, turn_id=turn.id, person_id=turn.person.id, now=now)


def note_reaction(
    connection: Connection,
    turn_id: TurnId,
    person_id: PersonId,
    signs: Mapping[tuple[str, str], bool],
    now: int,
) -> None:
    """Revise outcomes after reactions of the turn's person to its messages.

    `signs` maps (message, emoji) to whether it was added or removed. Of the signs that judge the
    answer, the newest that is still there counts.
    """
    standing = skill_uses.list_reactions(connection, turn_id=turn_id, person_id=person_id)
    left = list(standing)
    for (message_id, sign), is_added in signs.items():
        one = (message_id, _MODIFIERS.sub("", sign))
        if not is_added and one in left:
            left.remove(one)
        elif is_added and read_thumb(sign) and one not in left:
            left.append(one)
    if left != standing:
        _count_reactions(connection, turn_id, left, now)
        skill_tests.enqueue_checks(connection, turn_id=turn_id, person_id=person_id, now=now)


def _count_reactions(
    connection: Connection, turn_id: TurnId, reactions: Sequence[tuple[str, str]], now: int
) -> None:
    verdict = read_thumb(reactions[-1][1]) if reactions else None
    skill_uses.set_reactions(
        connection, turn_id=turn_id, reactions=reactions, verdict=verdict, now=now
    )


def _revise(
    connection: Connection, turn: ActiveTurn, begun_at: int | None, now: int
) -> list[TurnId]:
    """Revise outcomes after the person's words; return the turns whose outcomes changed.

    `begun_at` is the time of the turn's first use of a skill; None if no use counts as done.
    """
    if turn.job_turn or turn.parent:
        return []  # no person speaks in these turns
    owner_id, person_id = turn.conversation.person_id, turn.person.id
    changed: list[TurnId] = []

    def revise(turn_id: TurnId, outcome: Outcome) -> None:
        if skill_uses.revise(
            connection, turn_id=turn_id, person_id=person_id, outcome=outcome, now=now
        ):
            changed.append(turn_id)

    if begun_at is not None:
        added = messages.list_said_since(
            connection, turn_id=turn.id, person_id=owner_id, since=begun_at
        )
        if any(is_correction(text) for text in added):
            revise(turn.id, "corrected")
    before = skill_uses.find_before(
        connection,
        conversation_id=turn.conversation.id,
        person_id=person_id,
        turn_id=turn.id,
    )
    if before is not None:
        asked = messages.request_of_turn(connection, turn_id=before, person_id=owner_id)
        if verdict := _read_verdict(turn.request, asked):
            revise(before, verdict)
    return changed


def _read_verdict(said: str, asked: str) -> Outcome | None:
    """Return what a message says about the answer to the request before it."""
    if thumb := read_thumb(said):
        return thumb
    if is_correction(said):
        return "corrected"
    return "retried" if _normalise(asked) == _normalise(said) != "" else None


def _judge(state: TurnState, reason: str) -> Outcome:
    """Return what the end of a turn says about the skills that it used."""
    if state == "answered":
        return "done"
    if state == "stopped":
        return "stopped"
    return "failed" if state == "exhausted" and reason in _OWN_LIMITS else "void"


def _normalise(text: str) -> str:
    return " ".join(text.casefold().split())
