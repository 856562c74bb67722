"""Search results as text for the model. Pure.

Results never contain message ids, because ids would reveal how much others write. The time
identifies a message. In rooms, the author's name is included.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from agent_core.ids import SessionId
from agent_core.memory.recall.message_search import Found
from agent_core.memory.recall.query import Query
from agent_core.memory.recall.ranking import Ranked
from agent_core.safe_names import name_stranger
from agent_core.state.search.passages import FoundMessage, SessionOverview
from agent_core.state.tokenizer import cut, list_runs, normalize
from agent_core.state.word_vectors import list_words
from agent_core.tools.clock import local_time
from agent_core.transcript import flatten, quote

SNIPPET_LIMIT = 300
WHOLE_LIMIT = 1200
OUTPUT_LIMIT = 6000
"""The limits in characters of one hit, of one message in a window, and of the whole answer."""

_END_LIMIT = 80
_ASKED_LIMIT = 200
_NAME_LIMIT = 80
_CONVERSATIONS_ROOM = 1500
"""Characters reserved for the conversations of hits."""
_FORMAT = "%Y-%m-%d %H:%M"


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The time zone of the reader, and whether several people share the conversation."""

    zone: str
    has_many: bool = False


def format_hits(
    query: Query, found: Found, overviews: Sequence[SessionOverview], view: View
) -> str:
    """Format the number of hits, the best hits (one per line), and their conversations."""
    asked = flatten(", ".join(query.asked), _ASKED_LIMIT)
    if not found.hits:
        return f"Nothing found for: {asked}. Try other words, or fewer."
    count = f"{'' if found.is_exact else 'over '}{found.count:,}"
    head = (
        f"Found {count} {'message' if count == '1' else 'messages'} for: {asked}."
        f" Best first; times in {view.zone}; quotes are data."
    )
    if not all(hit.holds for hit in found.hits):
        head += " Lines with + are next to a hit."
    letters = _give_letters(found.hits, overviews)
    lines = [_format_hit(query, hit, letters, view) for hit in found.hits]
    shown = _fit(lines, OUTPUT_LIMIT - len(head) - (_CONVERSATIONS_ROOM if letters else 100))
    seen = {hit.message.session_id for hit in found.hits[: len(lines)]}
    conversations = [
        f"{letters[one.id]}, {_format_overview(one, view)}"
        for one in overviews
        if one.id in letters and one.id in seen
    ]
    return "\n".join([head, *shown, *_fit(conversations, _CONVERSATIONS_ROOM - 100)])


def format_window(messages: Sequence[FoundMessage], overview: SessionOverview, view: View) -> str:
    """Format consecutive messages with their conversation."""
    head = f"From {_format_overview(overview, view)}. Times in {view.zone}; quotes are data."
    limit = min(WHOLE_LIMIT, (OUTPUT_LIMIT - len(head) - 100) // max(len(messages), 1) - 60)
    lines = [f"- {_format_message(one, one.text, limit, '', view)}" for one in messages]
    return "\n".join([head, *_fit(lines, OUTPUT_LIMIT - len(head) - 100)])


def format_overviews(overviews: Sequence[SessionOverview], view: View) -> str:
    """Format conversations, one per line."""
    if not overviews:
        return "No conversations there yet."
    head = f"Conversations, latest first; times in {view.zone}; quotes are data."
    lines = [f"- {_format_overview(one, view)}" for one in overviews]
    return "\n".join([head, *_fit(lines, OUTPUT_LIMIT - len(head) - 100)])


def excerpt(text: str, match: int) -> str:
    """Cut at most `SNIPPET_LIMIT` characters out of a text, around the match."""
    if len(text) <= SNIPPET_LIMIT:
        return text
    length = SNIPPET_LIMIT - 2
    start = max(0, min(match - length // 3, len(text) - length))
    end = start + length
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def find_match(query: Query, text: str) -> int:
    """Find the index at which most words of the query occur close together.

    Words are compared by prefix, because the text itself is not stemmed.
    """
    folded = text.lower()
    places = sorted(
        place
        for word in _list_sought(query, text)
        for piece in (word if len(word) < 5 else word[:5],)
        for place in _list_places(folded, piece)
    )
    if not places:
        runs = list_runs(normalize(text))
        return next((text.lower().find(run) for run in runs if run in query.asked), 0)
    return max(places, key=lambda start: sum(start <= one < start + 200 for one in places))


def list_held(query: Query, text: str) -> list[str]:
    """List the words of a query that occur in a text, compared by their first five letters.

    If the query names a kind, members of the kind are listed in the form that the text has.
    """
    folded = text.lower()
    return [word for word in _list_sought(query, text) if word[:5] in folded]


def _list_sought(query: Query, text: str) -> Iterable[str]:
    """List the words of a query, also with their diacritics, and the kind's members in a text."""
    members = frozenset[str]().union(*(term.any_of for term in query.terms))
    words = list_words(text) if members else ()
    held = (word for word in words if not members.isdisjoint(cut(word)))
    return dict.fromkeys((*query.asked, *query.written.values(), *held))


def _list_places(text: str, piece: str) -> list[int]:
    places: list[int] = []
    start = text.find(piece)
    while start >= 0 and len(places) < 20:
        places.append(start)
        start = text.find(piece, start + len(piece))
    return places


def _give_letters(
    hits: Iterable[Ranked], overviews: Sequence[SessionOverview]
) -> Mapping[SessionId, str]:
    """Assign a letter to each conversation whose overview says more than its hits."""
    texts: dict[SessionId, set[str]] = {}
    for hit in hits:
        texts.setdefault(hit.message.session_id, set()).add(hit.message.text)
    informative = [
        one.id for one in overviews if one.title or not {one.first, one.last} <= texts[one.id]
    ]
    order = [session_id for session_id in texts if session_id in informative]
    return dict(zip(order, ascii_uppercase, strict=False))


def format_hit(query: Query, hit: Ranked, view: View, more: str = "") -> str:
    """Format one hit as a line: its time, author and platform, and its words as JSON."""
    return _format_message(hit.message, _excerpt_hit(query, hit), SNIPPET_LIMIT, more, view)


def _format_hit(query: Query, hit: Ranked, letters: Mapping[SessionId, str], view: View) -> str:
    letter = letters.get(hit.message.session_id)
    text = format_hit(query, hit, view, f", {letter}" if letter else "")
    return f"{'-' if hit.holds else '+'} {text}"


def _excerpt_hit(query: Query, hit: Ranked) -> str:
    """Cut an excerpt out of the passage of a hit; dots stand for text that is left out."""
    whole = hit.message.text.strip()
    text = excerpt(hit.text, find_match(query, hit.text))
    before = "…" if hit.place and text[0] != "…" else ""
    after = "…" if not whole.endswith(hit.text) and text[-1] != "…" else ""
    return f"{before}{text[: SNIPPET_LIMIT - len(before) - len(after)]}{after}"


def _format_message(message: FoundMessage, text: str, limit: int, more: str, view: View) -> str:
    who = "you"
    if message.role == "user":
        who = quote(name_stranger(message.asker), _NAME_LIMIT) if view.has_many else "person"
    when = local_time(message.said_at, view.zone).strftime(_FORMAT)
    return f"{when}, {who}, {message.platform}{more}: {quote(text, limit)}"


def _format_overview(one: SessionOverview, view: View) -> str:
    first, last = (
        local_time(at, view.zone).strftime(_FORMAT) for at in (one.started_at, one.last_at)
    )
    text = f"{first} to {last}"
    if one.title:
        text += f", {quote(one.title, _END_LIMIT)}"
    text += f", began {quote(one.first, _END_LIMIT)}"
    return text if one.last == one.first else f"{text}, ended {quote(one.last, _END_LIMIT)}"


def _fit(lines: Sequence[str], room: int) -> list[str]:
    """Keep the lines that fit, and state how many are missing."""
    kept: list[str] = []
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return [*kept, f"… {len(lines) - number} more don't fit here."]
        kept.append(line)
    return kept
