"""Judge how the skills of a turn went, in the transaction that ends it.

What the turn did decides first: a failed script of a skill is a failed use. Only then do words
count: the person's next message finds the answer wrong, asks the same again, or is a thumb. A
reaction to the answer counts as a thumb, too. A changed mind, a stop or a limit says nothing.
"""

import re
from collections.abc import Mapping, Sequence

from agent_core.agent.review.triggers import find_correction
from agent_core.agent.turn import ActiveTurn
from agent_core.ids import PersonId, TurnId
from agent_core.state.conversations import messages
from agent_core.state.conversations.turns import TurnState
from agent_core.state.engine.database import Connection
from agent_core.state.memory import skill_uses
from agent_core.state.memory.skill_uses import Outcome
from agent_core.state.queues import skill_tests
from agent_core.tools.workspace.script_failures import list_script_failures

_FOUND_WRONG = re.compile(
    r"\b(?:wrong|incorrect|false|not (?:right|correct|true|what i)|isn['’]t (?:right|correct)"
    r"|falsch|stimmt (?:so )?nicht|nicht (?:richtig|korrekt|was ich)"
    r"|incorrecto|está mal|no es (?:correcto|lo que)|faux|pas (?:ça|juste|correct|ce que)"
    r"|sbagliato|errado|fout|klopt niet|неверно|неправильно)\b|不对|違います",
    re.IGNORECASE,
)
"""Words of a correction that are about the answer, not about another wish."""
_LIKED = frozenset("👍❤♥🙏👏💯🔥🎉🥰😍🤩🏆👌")
_DISLIKED = frozenset("👎💩😡🤬😠🤮😤")
_MODIFIERS = re.compile("[\ufe0e\ufe0f\u200d\U0001f3fb-\U0001f3ff\\s]")
"""Variation selectors, joiners and skin tones, which do not change a sign's meaning."""

_WHOLE = ""
"""Stands for the message of a reaction that is to the whole answer."""


def read_thumb(text: str) -> Outcome | None:
    """Return the verdict of a message or reaction that consists only of thumbs or the like."""
    signs = set(_MODIFIERS.sub("", text[:20]))
    if not signs or len(text) > 20:
        return None
    if signs <= _LIKED:
        return "liked"
    return "disliked" if signs <= _DISLIKED else None


def note_outcomes(connection: Connection, turn: ActiveTurn, state: TurnState, now: int) -> None:
    """Record the outcome of the turn's skill uses, and revise the outcomes of the turn before."""
    outcome = _judge(state)
    begun_at = skill_uses.end(
        connection,
        turn_id=turn.id,
        outcome=outcome,
        failed=_list_failed(connection, turn),
        now=now,
    )
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


def judge(
    connection: Connection, turn_id: TurnId, person_id: PersonId, sign: str, now: int
) -> None:
    """Let a sign stand for the person's reactions to a turn, wherever they were; "" takes all back.

    It is a reaction to the whole answer, so it is on no message.
    """
    standing = skill_uses.list_reactions(connection, turn_id=turn_id, person_id=person_id)
    signs = dict.fromkeys(standing, False)
    if sign:
        signs[_WHOLE, sign] = True
    note_reaction(connection, turn_id, person_id, signs, now)


def find_verdict(connection: Connection, turn_id: TurnId, person_id: PersonId) -> Outcome | None:
    """Return what the person's standing reactions to a turn say; None without any."""
    return _read_newest(skill_uses.list_reactions(connection, turn_id=turn_id, person_id=person_id))


def _list_failed(connection: Connection, turn: ActiveTurn) -> set[str]:
    """Return the names of the skills that the turn used and whose own script failed."""
    used = skill_uses.list_names(connection, turn_id=turn.id)
    if not used:
        return set()
    owner_id = turn.conversation.person_id
    done = messages.list_of_turn(connection, turn_id=turn.id, person_id=owner_id)
    return {one.skill for one in list_script_failures([row.message for row in done], used)}


def _count_reactions(
    connection: Connection, turn_id: TurnId, reactions: Sequence[tuple[str, str]], now: int
) -> None:
    verdict = _read_newest(reactions)
    skill_uses.set_reactions(
        connection, turn_id=turn_id, reactions=reactions, verdict=verdict, now=now
    )


def _read_newest(reactions: Sequence[tuple[str, str]]) -> Outcome | None:
    return read_thumb(reactions[-1][1]) if reactions else None


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
        corrections = [one for text in added if (one := _read_correction(text, ""))]
        if corrections:
            revise(turn.id, "corrected" if "corrected" in corrections else "void")
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
    if correction := _read_correction(said, asked):
        return correction
    return "retried" if _normalise(asked) == _normalise(said) != "" else None


def _read_correction(said: str, asked: str) -> Outcome | None:
    """Return what a correction says about the answer before it; None if it is none.

    "No, I meant the attic" says only what the person wants now. Saying such a thing twice in a row
    means that the answer to the first one missed it.
    """
    correction = find_correction(said)
    if not correction:
        return None
    is_wrong = _FOUND_WRONG.search(correction)
    return "corrected" if is_wrong or find_correction(asked) else "void"


def _judge(state: TurnState) -> Outcome:
    """Return what the end of a turn says about the skills that it used."""
    ends: dict[TurnState, Outcome] = {"answered": "done", "stopped": "stopped"}
    return ends.get(state, "void")


def _normalise(text: str) -> str:
    return " ".join(text.casefold().split())
