"""The `recall` tool: searches past messages, as far as its conversation may search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent_core.errors import ToolArgumentError
from agent_core.ids import SessionId
from agent_core.memory.recall.formatting import View, format_hits, format_overviews, format_window
from agent_core.memory.recall.message_search import Found, search_messages
from agent_core.memory.recall.query import Query, read_moment, read_query
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.search import message_index, passages
from agent_core.state.search.search_scope import SearchFilter
from agent_core.tools.clock import local_time
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.schemas import make_schema
from agent_core.transcript import ToolSpec, make_source

DEFAULT_HITS = 10
_DAY_MS = 24 * 3_600_000
_MONTH_MS = 31 * _DAY_MS
"""The range of a search around a moment, in milliseconds."""

_SPEC = ToolSpec(
    name="recall",
    description=(
        "Search what this person and you said in earlier conversations, on every platform. For"
        ' "what did I say about …?", "when did we …?", and before you say that you don\'t know'
        " something of theirs. Not for what is in this conversation or in your memory lists."
        " Without `query` and `around`, it lists the latest conversations. Example:"
        ' {"query": "boiler"}'
    ),
    schema=make_schema(
        query={
            "type": "string",
            "description": "names and rare words, in the language they were said in",
        },
        around={
            "type": "string",
            "description": "the time of a hit, to read what was said before and after it",
        },
        since={"type": "string", "description": "not older: 2026-11-01"},
        until={"type": "string", "description": "not newer: 2026-11-30"},
        platform={"type": "string", "description": "only there, a chat app in lower case"},
        role={"enum": ["person", "you"], "description": "only what this person, or you, said"},
        limit={"type": "integer", "minimum": 1, "maximum": 20},
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SearchResult:
    """A query with its filter, its hits and their view."""

    query: Query
    field: SearchFilter
    found: Found
    view: View


class RecallTool:
    """The `recall` tool: search by words, messages around a time, or the latest conversations.

    `zone` is the time zone of people who have not set one.
    """

    spec = _SPEC
    effect: Effect = "read"
    declaration = Declaration(cost="free")

    def __init__(self, database: Database, zone: str = "UTC") -> None:
        self._database = database
        self._zone = zone

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Find messages. Raises `ToolArgumentError` for an empty query or an invalid time, and
        `StoreError`.
        """
        words = {
            name: value
            for name in ("query", "around", "since", "until", "platform", "role")
            if isinstance(value := arguments.get(name), str)
        }
        limit = arguments.get("limit", DEFAULT_HITS)
        if not isinstance(limit, int):
            raise ToolArgumentError("`limit` must be an integer")
        return await self._database.read(_answer, words, limit, context, self._zone)


def _answer(
    connection: Connection, words: dict[str, str], limit: int, context: ToolContext, zone: str
) -> ToolResult:
    if "query" in words and ("around" not in words or words["query"].strip()):
        return _format(connection, _find(connection, words, limit, context, zone))
    view = _view(connection, context, zone)
    field = _read_field(words, context, view.zone)
    if "around" in words:
        moment = read_moment(words["around"], view.zone, name="around")
        return _format_around(connection, field, moment, limit, view)
    session_ids = passages.list_latest(connection, field=field, limit=limit + 1)
    overviews = passages.load_overviews(connection, field=field, session_ids=session_ids)
    return _make_result(connection, format_overviews(overviews[:limit], view), session_ids)


def _make_result(connection: Connection, text: str, session_ids: Sequence[SessionId]) -> ToolResult:
    """Build a result; mark it as untrusted if one of its sessions has read words of others.

    An earlier answer may repeat such words. They must not return as the assistant's own words.
    """
    is_untrusted = turns.has_untrusted(connection, session_ids=session_ids)
    return ToolResult(text=text, sources=(make_source("earlier"),) if is_untrusted else ())


def _view(connection: Connection, context: ToolContext, zone: str) -> View:
    person = people.find(connection, person_id=context.person_id)
    return View(
        zone=(person.time_zone if person else None) or zone,
        has_many=context.owner_id != context.person_id,
    )


def _read_field(words: Mapping[str, str], context: ToolContext, zone: str) -> SearchFilter:
    since, until = words.get("since"), words.get("until")
    end = context.now + _DAY_MS if since else None
    role = words.get("role")
    return SearchFilter(
        person_id=context.owner_id,
        scope=context.scope,
        except_turn=context.turn_id,
        since=read_moment(since, zone, name="since") if since else None,
        until=read_moment(until, zone, name="until", is_end=True) if until else end,
        role=None if role is None else "assistant" if role == "you" else "user",
        platform=words.get("platform", "").strip().lower() or None,
    )


def _find(
    connection: Connection, words: dict[str, str], limit: int, context: ToolContext, zone: str
) -> _SearchResult:
    query = read_query(words["query"])
    if not query.asked:
        raise ToolArgumentError("`query` is empty: give at least one word")
    view = _view(connection, context, zone)
    field = _read_field(words, context, view.zone)
    found = search_messages(
        connection, field, query, limit=limit, clock=lambda moment: local_time(moment, view.zone)
    )
    return _SearchResult(query=query, field=field, found=found, view=view)


def _format(connection: Connection, result: _SearchResult) -> ToolResult:
    hits = result.found.hits
    session_ids = list(dict.fromkeys(hit.message.session_id for hit in hits))
    overviews = passages.load_overviews(connection, field=result.field, session_ids=session_ids)
    text = format_hits(result.query, result.found, overviews, result.view)
    return _make_result(connection, text, session_ids)


def _format_around(
    connection: Connection, field: SearchFilter, moment: int, limit: int, view: View
) -> ToolResult:
    """Format the messages around the first one after a moment, or else the last one before it."""
    wide = replace(field, role=None, platform=None)
    after = replace(wide, since=moment, until=moment + _MONTH_MS)
    before = replace(wide, since=moment - _MONTH_MS, until=moment)
    nearest = message_index.list_messages(
        connection, field=after, limit=1, oldest_first=True
    ) or message_index.list_messages(connection, field=before, limit=1)
    found = passages.load_messages(connection, field=wide, message_ids=nearest)
    if not found:
        return ToolResult(text="No messages around that time.")
    session_id = found[0].session_id
    around = passages.list_around(
        connection, field=wide, session_id=session_id, message_id=found[0].id, reach=limit // 2
    )
    damaged = passages.list_damaged(connection, message_ids=[one.id for one in around])
    shown = [one for one in around if one.is_within and one.id not in damaged]
    overviews = passages.load_overviews(connection, field=wide, session_ids=[session_id])
    text = "".join(format_window(shown, overview, view) for overview in overviews)
    return _make_result(connection, text, [session_id])
