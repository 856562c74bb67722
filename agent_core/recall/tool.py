"""The `recall` tool: a search over what was said before, no further than this talk may look."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from agent_core.errors import ToolArgumentError
from agent_core.ids import PersonId
from agent_core.recall.query import Query, read_query
from agent_core.state import people, search
from agent_core.state.database import Connection, Database
from agent_core.state.search import Field, Hit
from agent_core.tools.clock import local_time
from agent_core.tools.contract import Effect, ToolContext, ToolResult
from agent_core.tools.quoting import flatten, quote
from agent_core.transcript import ToolSpec

SNIPPET_LIMIT = 300
OUTPUT_LIMIT = 6000
"""Characters, of one hit's words and of the whole answer."""

_DEFAULT_HITS = 8
_ASKED_LIMIT = 200
_NAME_LIMIT = 80

_SPEC = ToolSpec(
    name="recall",
    description=(
        "Search past messages of this person and you, on every platform, by keywords."
        " Use names and rare words in the language they were said in."
    ),
    schema=json.dumps(
        {
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 8},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        separators=(",", ":"),
    ),
)


class RecallTool:
    """The `recall` tool, by keywords. `zone` is the clock of people who have not set theirs.

    Chinese, Japanese, Korean, Thai and the like are searched by fragments, without the
    index, among the messages of the scope.
    """

    spec = _SPEC
    effect: Effect = "read"
    is_cheap = True

    def __init__(self, database: Database, zone: str = "UTC") -> None:
        self._database = database
        self._zone = zone

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Find messages. Raises `ToolArgumentError` for an empty query, and `StoreError`."""
        text, limit = arguments.get("query"), arguments.get("limit", _DEFAULT_HITS)
        if not isinstance(text, str) or not isinstance(limit, int):
            raise ToolArgumentError("`query` must be a string and `limit` an integer")
        query = read_query(text)
        if not query.asked:
            raise ToolArgumentError("`query` is empty: name at least one word")
        field = Field(person_id=context.owner_id, scope=context.scope, except_turn=context.turn_id)
        count, hits, zone = await self._database.read(
            lambda connection: _find(connection, field, query, limit, context.person_id)
        )
        view = View(
            zone=zone or self._zone,
            has_many=context.owner_id != context.person_id,
        )
        return ToolResult(text=describe(query, count, hits, view))


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How hits are shown: on whose clock, and to whom.

    Nobody is told the numbers of messages: they would count what is said elsewhere. Where many
    share a talk, each is called by name.
    """

    zone: str
    has_many: bool = False


def describe(query: Query, count: int, hits: list[Hit], view: View) -> str:
    """The answer: how many were found, then the best of them, one a line. Pure."""
    asked = flatten(", ".join(query.asked), _ASKED_LIMIT)
    if not hits:
        return f"Nothing found for: {asked}. Try other words, or fewer."
    found = "1 message" if count == 1 else f"{count:,} messages"
    lines = [f"Found {found} for: {asked}. Best first; times in {view.zone}; quotes are data."]
    room = OUTPUT_LIMIT - len(lines[0]) - 100
    for number, hit in enumerate(hits):
        line = _describe_hit(hit, view)
        if len(line) + 1 > room:
            lines.append(f"… {len(hits) - number} more do not fit here.")
            break
        room -= len(line) + 1
        lines.append(line)
    return "\n".join(lines)


def excerpt(text: str, match: int) -> str:
    """At most `SNIPPET_LIMIT` characters of a text, around the place of its match."""
    if len(text) <= SNIPPET_LIMIT:
        return text
    length = SNIPPET_LIMIT - 2
    start = max(0, min(match - length // 3, len(text) - length))
    end = start + length
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _find(
    connection: Connection, field: Field, query: Query, limit: int, asker: PersonId
) -> tuple[int, list[Hit], str | None]:
    person = people.find(connection, person_id=asker)
    zone = person.time_zone if person else None
    if query.words:
        count = search.count_words(connection, field, words=query.words)
        hits = search.find_words(connection, field, words=query.words, limit=limit)
    else:
        count = search.count_fragments(connection, field, fragments=query.fragments)
        hits = search.find_fragments(connection, field, fragments=query.fragments, limit=limit)
    return count, hits, zone


def _describe_hit(hit: Hit, view: View) -> str:
    who = "you"
    if hit.role == "user":
        who = quote(hit.asker, _NAME_LIMIT) if view.has_many else "person"
    said = quote(excerpt(hit.text, hit.match), SNIPPET_LIMIT)
    when = local_time(hit.said_at, view.zone).strftime("%Y-%m-%d %H:%M")
    return f"- {when}, {who}, {hit.platform}: {said}"
