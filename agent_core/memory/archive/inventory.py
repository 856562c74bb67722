"""Cached counts of what a conversation can search, for the facts of a turn.

The counts cover exactly what the search tools of that conversation can show: `recall` searches
messages within one scope, `archive` searches the entries of one memory owner.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.ids import MessageId, PersonId, TurnId
from agent_core.state.conversations.messages import START, StoredMessage
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import archive
from agent_core.state.search import message_index, passages
from agent_core.state.search.search_scope import SearchFilter

MOST_COUNTED = 100_000
"""The largest exact count; the model has no use for larger numbers."""
MOST_TAGGED = 2000
"""The number of newest entries whose tags are listed."""

_LASTS = 24 * 3_600_000
"""Milliseconds until a cached count of messages expires."""
_MOST_KEPT = 4096
"""The largest number of conversations in the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchableCounts:
    """Searchable messages and entries beyond those that the conversation already shows.

    `since` is the time of the oldest message in milliseconds since the epoch. `tags` are sorted
    by frequency. A count of `MOST_COUNTED` means that many or more.
    """

    messages: int
    since: int
    entries: int
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchScope:
    """A scope: the messages of `owner_id` in `scope`, as in `search.SearchFilter`.

    If `memory_owner_id` is set, that owner's archive belongs to it, too.
    """

    owner_id: PersonId
    scope: str
    memory_owner_id: PersonId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleMessages:
    """The messages that the prompt already contains.

    These are the messages after the compacted part of the session.
    """

    messages: Sequence[StoredMessage]
    summarized_to: MessageId = START


@dataclass(frozen=True, slots=True)
class _Said:
    messages: int
    since: int
    summarized_to: MessageId
    counted_at: int


@dataclass(frozen=True, slots=True)
class _Kept:
    entries: int
    tags: tuple[str, ...]


class Inventory:
    """Counts what conversations can search.

    A turn usually reads the cache. The database is queried when a session begins or is compacted,
    once a day, and after a change of the archive.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._said: dict[tuple[PersonId, str], _Said] = {}
        self._kept: dict[PersonId, _Kept] = {}
        self._changes = 0

    async def look_up(
        self, reach: SearchScope, view: VisibleMessages, *, now: int
    ) -> SearchableCounts:
        """Return the counts for a conversation. Raises `StoreError`."""
        said = self._said.get((reach.owner_id, reach.scope))
        if said and (
            not view.messages
            or view.summarized_to != said.summarized_to
            or now - said.counted_at > _LASTS
        ):
            said = None
        kept = self._find_kept(reach.memory_owner_id)
        if said is None or kept is None:
            said, kept = await self._count(reach, view, (said, kept), now)
        return SearchableCounts(
            messages=said.messages, since=said.since, entries=kept.entries, tags=kept.tags
        )

    def forget_archive(self, person_id: PersonId) -> None:
        """Invalidate the counts of one archive."""
        self._changes += 1
        self._kept.pop(person_id, None)

    def forget(self) -> None:
        """Invalidate all counts, after people were linked or words were redacted."""
        self._changes += 1
        self._said.clear()
        self._kept.clear()

    def _find_kept(self, memory_owner_id: PersonId | None) -> _Kept | None:
        return _Kept(0, ()) if memory_owner_id is None else self._kept.get(memory_owner_id)

    async def _count(
        self,
        reach: SearchScope,
        view: VisibleMessages,
        known: tuple[_Said | None, _Kept | None],
        now: int,
    ) -> tuple[_Said, _Kept]:
        def look(connection: Connection) -> tuple[_Said, _Kept]:
            said, kept = known
            said = said or _count_said(connection, reach, view, now)
            return said, kept or _count_kept(connection, reach.memory_owner_id)

        changes = self._changes
        said, kept = await self._database.read(look)
        if changes != self._changes:
            return said, kept  # the count may already be outdated
        if max(len(self._said), len(self._kept)) >= _MOST_KEPT:
            self.forget()
        self._said[reach.owner_id, reach.scope] = said
        if reach.memory_owner_id is not None:
            self._kept[reach.memory_owner_id] = kept
        return said, kept


def _count_said(
    connection: Connection, reach: SearchScope, view: VisibleMessages, now: int
) -> _Said:
    field = SearchFilter(person_id=reach.owner_id, scope=reach.scope, except_turn=TurnId(0))
    count = message_index.count_messages(connection, field=field, most=MOST_COUNTED)
    oldest = message_index.list_messages(connection, field=field, limit=1, oldest_first=True)
    first = passages.load_messages(connection, field=field, message_ids=oldest)
    seen = sum(
        one.id > view.summarized_to
        and one.message.role != "tool"
        and bool(one.message.text.strip())
        for one in view.messages
    )
    beyond = count if count == MOST_COUNTED else max(count - seen, 0)
    return _Said(beyond, first[0].said_at if first else 0, view.summarized_to, now)


def _count_kept(connection: Connection, memory_owner_id: PersonId | None) -> _Kept:
    if memory_owner_id is None:
        return _Kept(0, ())
    count = archive.count(connection, person_id=memory_owner_id, most=MOST_COUNTED)
    tags = archive.list_tags(connection, person_id=memory_owner_id, newest=MOST_TAGGED)
    return _Kept(count, tuple(tag for tag, _ in tags))
