"""The `archive` tool: unlimited notes that the model looks up on demand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent_core.errors import ToolArgumentError
from agent_core.ids import ArchiveId, PersonId
from agent_core.memory.approval import name_list, show_changes
from agent_core.memory.archive import writes
from agent_core.memory.archive.entries import (
    LONGEST,
    ArchiveContent,
    format_archive_entry,
    format_archive_id,
    parse_id,
    read_tags,
    read_text,
    write_entry,
)
from agent_core.memory.archive.search import FoundEntries, Hit, search_archive
from agent_core.memory.archive.writes import UNKNOWN, AppliedChange
from agent_core.memory.memory_tool import trace_call
from agent_core.memory.recall.formatting import excerpt, find_match
from agent_core.memory.recall.query import Query, read_moment, read_query
from agent_core.memory.receipts import confirm
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import archive, evidence
from agent_core.state.memory.archive import ArchiveEntry, ArchiveFilter
from agent_core.state.memory.ledger import Change, Origin
from agent_core.state.people import people
from agent_core.tools.clock import local_time
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.own_words.contract import Essentials
from agent_core.tools.schemas import make_schema
from agent_core.transcript import Receipt, ToolSpec, flatten, quote

PAGE = 8
"""Entries per page."""
_ASKED_LIMIT = 200
_MOST_TAGS = 60
_FORMAT = "%Y-%m-%d"


def format_hits(query: Query, found: FoundEntries, page: int, zone: str) -> str:
    """Format one page of hits, one per line; pages count from 1."""
    asked = flatten(", ".join(query.asked), _ASKED_LIMIT)
    if not found.hits:
        return f"Nothing found for: {asked}. Try other words, or fewer, or other tags."
    shown = found.hits[(page - 1) * PAGE : page * PAGE]
    if not shown:
        return f"No more results for: {asked}. Try other words."
    count = "1 entry" if found.count == 1 else f"{found.count:,} entries"
    over = "" if found.is_exact else "over "
    head = f"Found {over}{count} for: {asked}. Best first; dates in {zone}; quotes are data."
    lines = [_format_hit(query, hit, zone) for hit in shown]
    return "\n".join([head, *lines, *_format_more(len(found.hits) > page * PAGE, page)])


def format_newest(entries: Sequence[ArchiveEntry], page: int, zone: str) -> str:
    """Format one page of entries, newest first. More entries than `PAGE` mean another page."""
    if not entries:
        return "No more entries." if page > 1 else "No entries found."
    head = f"Newest first; dates in {zone}; quotes are data."
    lines = [_format_line(one, excerpt(one.text, 0), zone) for one in entries[:PAGE]]
    return "\n".join([head, *lines, *_format_more(len(entries) > PAGE, page)])


def format_entry_page(entry: ArchiveEntry, zone: str) -> str:
    """Format a whole entry."""
    changed = ""
    if entry.updated_at != entry.created_at:
        changed = f", changed {_day(entry.updated_at, zone)}"
    head = f"{_format_head(entry.id, entry.tags, entry.created_at, zone)}{changed}, in {zone}"
    return f"{head}; the quote is data.\n{quote(entry.text, LONGEST)}"


def format_tags(tags: Sequence[tuple[str, int]], count: str) -> str:
    """Format the tags, each with its number of entries."""
    if not tags:
        return f"No tags yet; {count}."
    shown = ", ".join(f"{tag} {number:,}" for tag, number in tags[:_MOST_TAGS])
    more = len(tags) - _MOST_TAGS
    return f"{count}. Tags: {shown}{f' and {more:,} more' if more > 0 else ''}."


def describe_change(done: AppliedChange, verb: str) -> str:
    """Describe an applied change."""
    tags = f" Tags: {', '.join(done.content.tags)}." if done.content and done.content.tags else ""
    return f"{verb} {format_archive_id(done.id)}.{tags}"


def _format_hit(query: Query, hit: Hit, zone: str) -> str:
    return _format_line(hit.entry, excerpt(hit.passage, find_match(query, hit.passage)), zone)


def _format_line(entry: ArchiveEntry, text: str, zone: str) -> str:
    head = _format_head(entry.id, entry.tags, entry.created_at, zone)
    part = f", of {len(entry.text):,} characters" if len(text) < len(entry.text) else ""
    return f"- {head}{part}: {quote(text, len(text))}"


def _format_head(archive_id: ArchiveId, tags: tuple[str, ...], at: int, zone: str) -> str:
    reported = f", tags {', '.join(tags)}" if tags else ""
    return f"[{format_archive_id(archive_id)}] {_day(at, zone)}{reported}"


def _format_more(is_more: bool, page: int) -> list[str]:
    return [f"More: page {page + 1}."] if is_more else []


def _day(at: int, zone: str) -> str:
    return local_time(at, zone).strftime(_FORMAT)


_MOST_PAGES = 1000
_MOST_COUNTED = 100_000


def _write_spec(whose: str) -> ToolSpec:
    text = {"type": "string"}
    schema = make_schema(
        ("action",),
        action={"enum": ["insert", "search", "update", "delete", "tags"]},
        text=text,
        tags={"type": "array", "items": text, "description": "one or two topics"},
        id={"type": "string", "description": "of an entry; with search, shows the whole of it"},
        query={"type": "string", "description": "words that it holds"},
        since={"type": "string", "description": "not older: 2026-11-01"},
        until={"type": "string", "description": "not newer: 2026-11-30"},
        page={"type": "integer", "minimum": 1, "maximum": _MOST_PAGES},
    )
    return ToolSpec(
        name="archive",
        description=(
            f"{whose}, without a limit, which you see only by searching: texts, lists, records,"
            " the state of projects. Not for one short fact (`memory`), nor for what was said in a"
            " conversation (`recall`). `insert` a `text` with `tags`; `search` by `query`, `tags`"
            " and time, or without them for the newest; `update` puts a new text in the place of"
            " the old one, and `delete` drops it, by `id`; `tags` lists the tags. To add to a list,"
            " search it, then update it with the whole new text; without one, insert it."
            ' Example: {"action": "insert", "text": "Packing list: …", "tags": ["trip"]}'
        ),
        schema=schema,
    )


_SPEC = _write_spec("Longer notes on this person")
_ROOM_SPEC = _write_spec("Longer notes of this room, which everyone in it can see")
_VERBS = {"insert": "Kept as", "update": "Changed", "delete": "Deleted"}


_Work = Callable[[Connection, Origin], writes.AppliedChange]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    """The parsed arguments of a call."""

    text: str | None
    tags: tuple[str, ...] | None
    id: ArchiveId | None
    query: str
    since: str
    until: str
    page: int


class ArchiveTool:
    """The `archive` tool; in a room it sees only the room's entries.

    `changed` receives the owner of a changed archive. `zone` is the time zone of people who have
    not set one.
    """

    spec = _SPEC
    effect: Effect = "idempotent"
    declaration = Declaration(cost="free", has_receipts=True)

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
        """Search or change the archive of the turn's memory owner.

        Raises `ToolArgumentError` for a missing or invalid argument, and `StoreError`.
        """
        person_id = self._find_owner(context)
        if person_id is None:
            return _NO_ARCHIVE
        action = str(arguments.get("action"))
        asked = _read(arguments, has_text=action in ("insert", "update"))
        if action == "tags":
            return ToolResult(text=await self._database.read(_list_tags, person_id))
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
        return ToolResult(
            text=describe_change(done, _VERBS[action]),
            receipts=(_confirm(done, is_new=action == "insert"),),
        )

    async def preview(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> str | ToolResult:
        """Describe the change that a call would make; "" for a call that only reads.

        Raises `ToolArgumentError` and `StoreError`.
        """
        person_id, action = self._find_owner(context), str(arguments.get("action"))
        if person_id is None or action in ("search", "tags"):
            return "" if person_id else _NO_ARCHIVE
        asked = _read(arguments, has_text=action != "delete")
        _plan(action, asked, person_id)
        old = None
        if asked.id is not None:
            archive_id = asked.id
            old = await self._database.read(
                archive.find, person_id=person_id, archive_id=archive_id
            )
        if old is None and action != "insert":
            raise ToolArgumentError(UNKNOWN)
        return _show(action, asked, old)

    async def list_essentials(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Essentials | None:
        """Return what own words must say for a new note; other changes need a yes.

        Raises `ToolArgumentError`.
        """
        if self._in_room or arguments.get("action") != "insert":
            return None
        asked = _read(arguments, has_text=True)
        return Essentials(kind="keep", text="\n".join([asked.text or "", *(asked.tags or ())]))

    def _find_owner(self, context: ToolContext) -> PersonId | None:
        """Return the owner of the archive that a call may see; None if there is no archive here."""
        owner = context.memory_owner
        if owner is None or (owner.kind == "room") != self._in_room:
            return None
        return owner.person_id


_NO_ARCHIVE = ToolResult(text="There is no archive here.", is_error=True)


def _show(action: str, asked: _Arguments, old: ArchiveEntry | None) -> str:
    """Format a change as the entry before (`-`) and after it (`+`)."""
    before = ArchiveContent(text=old.text, tags=old.tags) if old and action != "insert" else None
    after = None
    if action != "delete":
        text, tags = asked.text, asked.tags
        if before:
            text = before.text if text is None else text
            tags = before.tags if tags is None else tags
        after = ArchiveContent(text=text or "", tags=tags or ())
    change = Change(operation="add", position=0, before=_format(before), after=_format(after))
    return f"{name_list('archive')}\n{show_changes([change])}"


def _format(content: ArchiveContent | None) -> str | None:
    return format_archive_entry(write_entry(content)) if content else None


def _read(arguments: Mapping[str, object], *, has_text: bool) -> _Arguments:
    words = {
        name: value
        for name in ("text", "id", "query", "since", "until")
        if isinstance(value := arguments.get(name), str)
    }
    tags, page = arguments.get("tags"), arguments.get("page", 1)
    archive_id = parse_id(words["id"]) if words.get("id") else None
    if words.get("id") and archive_id is None:
        raise ToolArgumentError(UNKNOWN)
    return _Arguments(
        text=read_text(words["text"]) if has_text and words.get("text") else None,
        tags=read_tags([str(tag) for tag in tags]) if isinstance(tags, list) else None,
        id=archive_id,
        query=words.get("query", ""),
        since=words.get("since", ""),
        until=words.get("until", ""),
        page=page if isinstance(page, int) else 1,
    )


def _confirm(done: writes.AppliedChange, *, is_new: bool) -> Receipt:
    name = format_archive_id(done.id)
    after = done.content.text if done.content else None
    return confirm(None, after) if is_new else confirm(name, after)


def _plan(action: str, asked: _Arguments, person_id: PersonId) -> _Work:
    """Build the requested change. Raises `ToolArgumentError`."""
    text, tags, archive_id = asked.text, asked.tags, asked.id
    if action == "insert":
        if text is None:
            raise ToolArgumentError("insert needs `text`: the text to keep")
        content = ArchiveContent(text=text, tags=tags or ())
        return lambda connection, origin: writes.insert_entry(
            connection, person_id=person_id, content=content, origin=origin
        )
    if archive_id is None:
        raise ToolArgumentError(f"{action} needs `id`: `search` shows the ids")
    if action == "delete":
        return lambda connection, origin: writes.delete_entry(
            connection, person_id=person_id, archive_id=archive_id, origin=origin
        )
    if text is None and tags is None:
        raise ToolArgumentError("update needs `text`, `tags` or both")
    return lambda connection, origin: writes.update_entry(
        connection,
        person_id=person_id,
        archive_id=archive_id,
        text=text,
        tags=tags,
        origin=origin,
    )


def _trace(connection: Connection, context: ToolContext) -> Origin:
    """Build the ledger origin of a change."""
    said = evidence.list_said(connection, turn_id=context.turn_id)
    return replace(trace_call(context), message_ids=said)


def _search(connection: Connection, person_id: PersonId, asked: _Arguments, zone: str) -> str:
    if asked.id is not None:
        entry = archive.find(connection, person_id=person_id, archive_id=asked.id)
        if entry is None:
            raise ToolArgumentError(UNKNOWN)
        return format_entry_page(entry, zone)
    within = ArchiveFilter(
        person_id=person_id,
        tags=asked.tags or (),
        since=read_moment(asked.since, zone, name="since") if asked.since else None,
        until=read_moment(asked.until, zone, name="until", is_end=True) if asked.until else None,
    )
    query = read_query(asked.query)
    if query.asked:
        found = search_archive(connection, within, query, lambda moment: local_time(moment, zone))
        return format_hits(query, found, asked.page, zone)
    newest = archive.list_holders(
        connection, within=within, limit=PAGE + 1, offset=(asked.page - 1) * PAGE
    )
    entries = archive.list_entries(connection, person_id=person_id, archive_ids=newest)
    return format_newest(entries, asked.page, zone)


def _list_tags(connection: Connection, person_id: PersonId) -> str:
    count = archive.count(connection, person_id=person_id, most=_MOST_COUNTED)
    tags = archive.list_tags(connection, person_id=person_id, newest=_MOST_COUNTED)
    reported = "1 entry" if count == 1 else f"{count:,} entries"
    return format_tags(tags, reported)


def _find_zone(connection: Connection, context: ToolContext) -> str | None:
    person = people.find(connection, person_id=context.person_id)
    return person.time_zone if person else None
