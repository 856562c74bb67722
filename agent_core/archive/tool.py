"""The `archive` tool: notes without a limit, which are looked up instead of always seen."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent_core.archive import keeping, telling
from agent_core.archive.entries import Content, read_name, read_tags, read_text
from agent_core.archive.finding import find
from agent_core.archive.keeping import UNKNOWN
from agent_core.archive.telling import PAGE
from agent_core.errors import ToolArgumentError
from agent_core.ids import ArchiveId, PersonId
from agent_core.recall.moments import read_moment
from agent_core.recall.query import read_query
from agent_core.state import archive, grounds, people
from agent_core.state.archive import Drawer
from agent_core.state.database import Connection, Database
from agent_core.state.ledger import Origin
from agent_core.tools.clock import local_time
from agent_core.tools.contract import Effect, ToolContext, ToolResult
from agent_core.transcript import ToolSpec

EVIDENCE_LIMIT = 500
"""Characters of the person's words that a ledger row keeps as its ground."""
_MOST_PAGES = 1000
_MOST_COUNTED = 100_000


def _write_spec(whose: str) -> ToolSpec:
    text = {"type": "string"}
    schema = {
        "type": "object",
        "properties": {
            "action": {"enum": ["insert", "search", "update", "delete", "tags"]},
            "text": text,
            "tags": {"type": "array", "items": text},
            "id": text,
            "query": text,
            "since": text,
            "until": text,
            "page": {"type": "integer", "minimum": 1, "maximum": _MOST_PAGES},
        },
        "required": ["action"],
        "additionalProperties": False,
    }
    return ToolSpec(
        name="archive",
        description=(
            f"{whose}, unlimited and out of your sight until searched: for what is long or seldom"
            " needed. search: by `query`, `tags` and time, newest without; whole by `id`."
        ),
        schema=json.dumps(schema, separators=(",", ":")),
    )


_SPEC = _write_spec("Notes on this person")
_ROOM_SPEC = _write_spec("Notes of this room, which everyone in it can see")
_VERBS = {"insert": "Kept as", "update": "Changed", "delete": "Deleted"}


_Work = Callable[[Connection, Origin], keeping.Done]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The arguments of a call, read; what an action does not need is empty."""

    text: str | None
    tags: tuple[str, ...] | None
    id: ArchiveId | None
    query: str
    since: str
    until: str
    page: int


class ArchiveTool:
    """The `archive` tool; in a room it knows the room's entries only.

    `changed` is told whose archive was changed. `zone` is the clock of people who have not set
    theirs.
    """

    spec = _SPEC
    effect: Effect = "idempotent"
    is_cheap = True

    def __init__(
        self,
        database: Database,
        changed: Callable[[PersonId], None],
        *,
        in_room: bool = False,
        zone: str = "UTC",
    ) -> None:
        self._database = database
        self._changed = changed
        self._in_room = in_room
        self._zone = zone
        if in_room:
            self.spec = _ROOM_SPEC

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Search or change the archive that this turn may change.

        Raises `ToolArgumentError` where an argument that the action needs is missing or can't
        be, and `StoreError`.
        """
        keeper = context.keeper
        if keeper is None or (keeper.kind == "room") != self._in_room:
            return ToolResult(text="There is no archive here.", is_error=True)
        action = str(arguments.get("action"))
        asked = _read(arguments, has_text=action in ("insert", "update"))
        person_id = keeper.person_id
        if action == "tags":
            return ToolResult(text=await self._database.read(lambda c: _list_tags(c, person_id)))
        if action == "search":
            text = await self._database.read(
                lambda c: _search(c, person_id, asked, _find_zone(c, context) or self._zone)
            )
            return ToolResult(text=text)
        work = _plan(action, asked, person_id)
        done = await self._database.write(
            f"archive.{action}", lambda c: work(c, _trace(c, context))
        )
        self._changed(person_id)
        return ToolResult(text=telling.tell_done(done, _VERBS[action]))


def _read(arguments: Mapping[str, object], *, has_text: bool) -> _Asked:
    words = {
        name: value
        for name in ("text", "id", "query", "since", "until")
        if isinstance(value := arguments.get(name), str)
    }
    tags, page = arguments.get("tags"), arguments.get("page", 1)
    archive_id = read_name(words["id"]) if words.get("id") else None
    if words.get("id") and archive_id is None:
        raise ToolArgumentError(UNKNOWN)
    return _Asked(
        text=read_text(words["text"]) if has_text and words.get("text") else None,
        tags=read_tags([str(tag) for tag in tags]) if isinstance(tags, list) else None,
        id=archive_id,
        query=words.get("query", ""),
        since=words.get("since", ""),
        until=words.get("until", ""),
        page=page if isinstance(page, int) else 1,
    )


def _plan(action: str, asked: _Asked, person_id: PersonId) -> _Work:
    """The change that is asked for. Raises `ToolArgumentError`."""
    text, tags, archive_id = asked.text, asked.tags, asked.id
    if action == "insert":
        if text is None:
            raise ToolArgumentError("insert needs `text`: what is to be kept")
        content = Content(text=text, tags=tags or ())
        return lambda connection, origin: keeping.insert(
            connection, person_id=person_id, content=content, origin=origin
        )
    if archive_id is None:
        raise ToolArgumentError(f"{action} needs `id`: `search` shows the ids")
    if action == "delete":
        return lambda connection, origin: keeping.delete(
            connection, person_id=person_id, archive_id=archive_id, origin=origin
        )
    if text is None and tags is None:
        raise ToolArgumentError("update needs `text`, `tags` or both: how it should be")
    return lambda connection, origin: keeping.update(
        connection,
        person_id=person_id,
        archive_id=archive_id,
        text=text,
        tags=tags,
        origin=origin,
    )


def _trace(connection: Connection, context: ToolContext) -> Origin:
    """Where a change comes from, for the ledger."""
    return Origin(
        actor=f"turn:{context.turn_id}",
        now=context.now,
        evidence=context.evidence[:EVIDENCE_LIMIT],
        call_key=f"{context.turn_id}:{context.call_id}",
        message_ids=grounds.list_said(connection, turn_id=context.turn_id),
    )


def _search(connection: Connection, person_id: PersonId, asked: _Asked, zone: str) -> str:
    if asked.id is not None:
        entry = archive.find(connection, person_id=person_id, archive_id=asked.id)
        if entry is None:
            raise ToolArgumentError(UNKNOWN)
        return telling.tell_entry(entry, zone)
    drawer = Drawer(
        person_id=person_id,
        tags=asked.tags or (),
        since=read_moment(asked.since, zone, name="since") if asked.since else None,
        until=read_moment(asked.until, zone, name="until", is_end=True) if asked.until else None,
    )
    query = read_query(asked.query)
    if query.asked:
        found = find(connection, drawer, query, lambda moment: local_time(moment, zone))
        return telling.tell_hits(query, found, asked.page, zone)
    newest = archive.list_holders(
        connection, drawer=drawer, limit=PAGE + 1, offset=(asked.page - 1) * PAGE
    )
    entries = archive.list_entries(connection, person_id=person_id, archive_ids=newest)
    return telling.tell_newest(entries, asked.page, zone)


def _list_tags(connection: Connection, person_id: PersonId) -> str:
    count = archive.count(connection, person_id=person_id, most=_MOST_COUNTED)
    tags = archive.list_tags(connection, person_id=person_id, newest=_MOST_COUNTED)
    told = "1 entry" if count == 1 else f"{count:,} entries"
    return telling.tell_tags(tags, told)


def _find_zone(connection: Connection, context: ToolContext) -> str | None:
    person = people.find(connection, person_id=context.person_id)
    return person.time_zone if person else None
