"""Shared memory: the team's list, and named blocks for selected people and rooms."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_core.ids import PersonId
from agent_core.memory.editing import AppliedEdit
from agent_core.memory.edits_within_limits import Edit, Refusal
from agent_core.memory.files import size
from agent_core.memory.store import MemoryLimits, MemoryStore, Stamp
from agent_core.memory.undo import UndoneChange, UndoRefused
from agent_core.state.engine.database import Database
from agent_core.state.memory import blocks, ledger
from agent_core.state.memory.blocks import TEAM, Block
from agent_core.state.memory.ledger import Origin
from agent_core.state.people.people import PersonKind

_MOST_KEPT = 4096
"""The largest number of lists in the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedList:
    """The team's list or a block. `target` is its name in the `memory` tool.

    `person_id` is its row in `people`, None for a team list that was never written. `limit` and
    `size` are in characters of its file. `block` is None for the team.
    """

    person_id: PersonId | None
    kind: PersonKind
    slug: str
    target: str
    limit: int
    entries: tuple[str, ...] = ()
    block: Block | None = None

    @property
    def size(self) -> int:
        """The size of its entries in characters."""
        return size(self.entries)

    @property
    def is_read_only(self) -> bool:
        """True for a block that the assistant must not change."""
        return self.block is not None and self.block.is_read_only


class SharedMemory:
    """Reads and changes shared lists. One per process and home.

    It runs before every turn, so an unchanged file is not read again, and a deployment without
    blocks needs no query.
    """

    def __init__(self, database: Database, store: MemoryStore) -> None:
        self._database = database
        self.store = store
        """The store of personal memories."""
        self._team: PersonId | None = None
        self._has_asked_for_team = False
        self._may_have_blocks: bool | None = None
        self._kept: dict[PersonId, tuple[Stamp, tuple[str, ...]]] = {}

    def expect_blocks(self) -> None:
        """Look for blocks from now on, because one is about to be created."""
        self._may_have_blocks = True

    async def look(self, reader: PersonId | None, now: int) -> tuple[SharedList, ...]:
        """Load every list that a reader sees: first the team's, then blocks by label.

        Without a reader, load the lists that everyone sees. Adopts hand edits. Raises `StoreError`.
        """
        found = [await self._load_team(now)]
        if await self._has_blocks():
            seen = await self._database.read(blocks.list_visible, person_id=reader)
            found += await self.open(seen, now)
        return tuple(found)

    async def open(self, found: Sequence[Block], now: int) -> list[SharedList]:
        """Load the entries of blocks. Raises `StoreError`."""
        return [await self._with_entries(_as_list(block), now) for block in found]

    async def change(
        self, shared: SharedList, edits: Sequence[Edit], origin: Origin
    ) -> tuple[AppliedEdit, ...] | Refusal:
        """Apply edits, all or none; see `MemoryStore.change_all`.

        The caller checks permission.
        """
        person_id = shared.person_id
        if person_id is None:
            person_id = await self._make_team(origin.now)
        memory = self.store.within(MemoryLimits(memory=shared.limit))
        try:
            return await memory.change_all(person_id, shared.slug, edits, origin, kind=shared.kind)
        finally:
            self._kept.pop(person_id, None)

    async def undo(
        self, shared: SharedList, origin: Origin
    ) -> tuple[UndoneChange, ...] | UndoRefused:
        """Undo the newest change set; see `MemoryStore.undo`.

        The caller checks permission.
        """
        if shared.person_id is None:
            return UndoRefused(fault="nothing")
        try:
            return await self.store.undo(
                shared.person_id, shared.slug, None, origin, kind=shared.kind
            )
        finally:
            self._kept.pop(shared.person_id, None)

    async def is_made(self, shared: SharedList, origin: Origin) -> bool:
        """True if an earlier attempt of the call has changed the list. Raises `StoreError`."""
        person_id, call_key = shared.person_id, origin.call_key
        if person_id is None or call_key is None:
            return False
        made = await self._database.read(ledger.find_call, person_id=person_id, call_key=call_key)
        return bool(made)

    async def _has_blocks(self) -> bool:
        if self._may_have_blocks is None:
            has_any = await self._database.read(blocks.exists)
            self._may_have_blocks = self._may_have_blocks or has_any
        return self._may_have_blocks

    async def _load_team(self, now: int) -> SharedList:
        if not self._has_asked_for_team:
            self._team = self._team or await self._database.read(blocks.find_team)
            self._has_asked_for_team = True
        if self._team is None and self.store.stamp("team", TEAM) is not None:
            await self._make_team(now)
        limit = self.store.limits.memory
        team = SharedList(person_id=self._team, kind="team", slug=TEAM, target="team", limit=limit)
        return await self._with_entries(team, now) if self._team is not None else team

    async def _make_team(self, now: int) -> PersonId:
        self._team = await self._database.write("memory.team", blocks.make_team, now=now)
        return self._team

    async def _with_entries(self, shared: SharedList, now: int) -> SharedList:
        """Return a list with its present entries."""
        assert shared.person_id is not None  # noqa: S101 - the caller has seen to that
        stamp = self.store.stamp(shared.kind, shared.slug)
        kept = self._kept.get(shared.person_id)
        if kept is None or kept[0] != stamp:
            snapshot = await self.store.snapshot(
                shared.person_id, shared.slug, now, kind=shared.kind
            )
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            # The stamp is older than the read. At worst, the file is read once more.
            kept = self._kept[shared.person_id] = (stamp, snapshot.memory)
        return replace(shared, entries=kept[1]) if kept[1] else shared


def _as_list(block: Block) -> SharedList:
    return SharedList(
        person_id=block.person_id,
        kind="block",
        slug=block.slug,
        target=f"block:{block.label}",
        limit=block.limit,
        block=block,
    )
