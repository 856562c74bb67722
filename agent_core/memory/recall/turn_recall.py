"""Find past messages for a turn that refers to the past, before its first step.

Most turns don't refer to the past. For them, only `find_past_sentences` runs, without a search.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from agent_core.ids import MessageId
from agent_core.memory.recall.formatting import View, format_hit
from agent_core.memory.recall.message_search import search_messages
from agent_core.memory.recall.query import FRAME, read_query
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection, Database
from agent_core.state.search.passages import FoundMessage
from agent_core.state.search.search_scope import SearchFilter
from agent_core.state.tokenizer import normalize
from agent_core.tools.clock import local_time

CHARACTERS_A_TOKEN = 4
_MOST_HITS = 12
"""The most hits of one turn, even if its budget would allow more."""
_SHORT = 400
"""A message of at most this many characters is used as a query as a whole. Of a longer message,
only the sentences that refer to the past are used, because the rest may be a text to work on.
"""
_LIKELY = 0.6
"""The share of the best score that a hit needs at least; see docs/measurements.md."""

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_REMINDER = re.compile(
    r"\b(?:(?:do|did|can|don'?t|if) you (?:still |even )?(?:remember|recall)"
    r"|remember (?:when|how|what|where|who|the|my|our)\b(?!.{0,40}\bto\b)"
    r"|last time (?:i|we|you)|the other day|back then"
    r"|(?:you|we)(?:'ve| have| had)? (?:already |just |once |both )?"
    r"(?:said|told|mentioned|talked|discussed|agreed|decided|recommended|spoke)"
    r"|did (?:i|we|you)|have (?:i|we|you) (?:ever|already)|i (?:told|asked) you"
    r"|as (?:we |i )?(?:discussed|mentioned|agreed)"
    r"|(?:earlier|previous|past|other) (?:conversations?|chats?|sessions?|discussions?)"
    r"|weisst du noch|erinnerst du dich|(?:letztes|voriges) mal|neulich|damals"
    r"|(?:habe|hatte|hast) (?:ich|du)\b.{0,60}"
    r"(?:gesagt|erzahlt|erwahnt|empfohlen|vorgeschlagen)"
    r"|(?:wir|du) (?:hatten?|haben|hast)\b.{0,40}"
    r"(?:besprochen|gesagt|geredet|ausgemacht|vereinbart|empfohlen|vorgeschlagen))\b"
)
"""Phrases about what was said or done before."""
_OPENING = r"^(?:(?:and|so|but|hmm|hey|okay|ok|also|oh|hi|well|und|aber),? )*"
_ASKS = re.compile(
    _OPENING + r"(?:what|when|where|which|who|whom|whose|why|how|have|has|had|did|was|were|is|are"
    r"|am|do|does|wann|wo|wer|wen|wem|welche\w*|warum|wieso|wie|woher|wohin|habe|hatte|hat|war"
    r"|waren|ist)\b"
)
_IN_THE_PAST = re.compile(
    r"\b(?:did|was(?! (?:ist|sind|bedeutet|heisst|macht|tut)\b)|were|had|have (?:i|we)"
    r"|(?:i|we)(?:'ve| have)|(?:have|has) (?:my|our)|hatten?"
    r"|war(?:en)?|wurden?|hab(?:e)? ich|haben wir|hat mein\w*"
    r"|bin ich .*(?:gegangen|gefahren|geflogen|gewesen|gezogen))\b"
)
_OF_THEIRS = re.compile(
    _OPENING + r"(?:what|when|where|which|who|whose|how (?:many|much|long|old|far|often|tall|big"
    r"|does|is|are)|wann|wo|was|wer|welche\w*|wie)\b"
    r"(?=.*\b(?:i|my|mine|our|we|mein\w*|unser\w*)\b)"
)
"""A question about a fact of the person's own life."""
_WANTS_ADVICE = re.compile(
    r"\b(?:can|could|would|will|should|please|shall|might|kann|konnte\w*|soll(?:te\w*)?"
    r"|how (?:do|does) (?:i|we)|if i|wenn ich|how long does"
    r"|(?:good|best|better|right|some) (?:ways?|tips|ideas|options?|advice|approach|strateg\w+))\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledMessages:
    """Past messages as lines, best first, each with its date and its words as one JSON string.

    `is_untrusted` is true if the session of one of them has read words of others.
    """

    lines: tuple[str, ...] = ()
    message_ids: tuple[MessageId, ...] = ()
    is_untrusted: bool = False


class TurnRecall:
    """Finds messages that a turn refers to. `tokens` is the budget of one turn; 0 finds nothing."""

    def __init__(self, database: Database, tokens: int) -> None:
        self._database = database
        self._most = tokens * CHARACTERS_A_TOKEN

    async def find(
        self, request: str, field: SearchFilter, seen: Collection[MessageId], view: View
    ) -> RecalledMessages:
        """Search once, if the request refers to the past. Raises `StoreError`.

        `field` covers the messages that the conversation's `recall` tool may find. `seen` are the
        messages that the prompt contains already.
        """
        past = find_past_sentences(request) if self._most else ()
        if not past:
            return RecalledMessages()
        asked = request if len(request) <= _SHORT else " ".join(past)
        return await self._database.read(recall_messages, asked, field, seen, view, self._most)


def find_past_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a request that refer to the past, or ask for a fact about the person.

    Pure. Requests for advice ("how should I ...") don't count, even if they mention the past.
    """
    return tuple(one for one in _SENTENCE_END.split(text) if _refers_to_past(one))


def _refers_to_past(sentence: str) -> bool:
    folded = normalize(sentence).strip()[:_SHORT]
    if _REMINDER.search(folded) or FRAME.search(folded):
        return True
    if not _ASKS.match(folded) or _WANTS_ADVICE.search(folded):
        return False
    return bool(_IN_THE_PAST.search(folded) or _OF_THEIRS.match(folded))


def recall_messages(
    connection: Connection,
    asked: str,
    field: SearchFilter,
    seen: Collection[MessageId],
    view: View,
    most: int,
) -> RecalledMessages:
    """Find the best messages for a question that fit into `most` characters."""
    query = read_query(asked)
    if not query.terms:
        return RecalledMessages()
    found = search_messages(
        connection,
        field,
        query,
        limit=_MOST_HITS + len(seen),
        clock=lambda moment: local_time(moment, view.zone),
    )
    least = _LIKELY * found.hits[0].score if found.hits else 0.0
    lines: list[str] = []
    shown: list[FoundMessage] = []
    left = most
    for hit in found.hits:
        if hit.message.id in seen or hit.score < least:
            continue
        line = format_hit(query, hit, view)
        left -= len(line) + 1
        if left < 0 or len(lines) == _MOST_HITS:
            break
        lines.append(line)
        shown.append(hit.message)
    session_ids = list({one.session_id for one in shown})
    return RecalledMessages(
        lines=tuple(lines),
        message_ids=tuple(one.id for one in shown),
        is_untrusted=turns.has_untrusted(connection, session_ids=session_ids),
    )
