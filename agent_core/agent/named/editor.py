"""Make, change and archive named agents and teams: one deed, recorded with its author."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, get_args

from agent_core.agent.id_allocator import IdAllocator
from agent_core.agent.named.agent_files import AgentChange, AgentFiles
from agent_core.agent.named.past_conversation import PastConversation, finish_imports, stage
from agent_core.agent.named.teams import TeamChange, TeamFolder
from agent_core.errors import AgentRefused
from agent_core.execution.subprocesses.spawning import finish
from agent_core.ids import PersonId, SessionId
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import blocks
from agent_core.state.people import agent_uses, audit
from agent_core.state.people.audit import AuditEntry

Deed = Literal[
    "create",
    "change",
    "archive",
    "restore",
    "create_team",
    "change_team",
    "archive_team",
    "restore_team",
    "move",
]
DEEDS: Sequence[Deed] = get_args(Deed)
_DRAFT = "agent_draft:"
"""Precedes an agent's name in the key whose value is the folder that will be its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """The owner who changes an agent; None for the command line. `actor` is for the audit."""

    person_id: PersonId | None = None
    actor: str = "house"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Says what a deed makes of an agent or a team; a move is from `source` to `target`."""

    agent: AgentChange = field(default_factory=AgentChange)
    team: TeamChange = field(default_factory=TeamChange)
    source: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEditor:
    """Changes agents and teams, one change at a time.

    The caller has asked an owner. Each method raises `AgentRefused` with a clause, and changes
    nothing then, and `StoreError`. A repetition of a finished change changes nothing.
    """

    database: Database
    files: AgentFiles
    teams: TeamFolder
    now: Callable[[], int]
    load_ids: Callable[[], Awaitable[IdAllocator]]
    """Returns what numbers the turns and sessions, also those of running chats."""
    forget_known: Callable[[], None] = lambda: None
    """Drops cached people and conversations: an archived agent answers none of them any more."""
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def do(self, deed: Deed, name: str, wanted: Wanted, author: Author) -> None:
        """Do a deed to an agent or a team, and record its author.

        Raises `AgentRefused` and `AgentBroken` with a clause, and changes nothing then, and
        `StoreError`.
        """
        name = name.strip()
        works: Mapping[Deed, Callable[[Author], Awaitable[None]]] = {
            "create": partial(self._create, name, wanted.agent),
            "change": partial(self._change, name, wanted.agent),
            "archive": partial(self._archive, name),
            "restore": partial(self._restore, name),
            "create_team": partial(self._create_team, name, wanted.team),
            "change_team": partial(self._change_team, name, wanted.team),
            "archive_team": partial(self._archive_team, name),
            "restore_team": partial(self._restore_team, name),
            "move": partial(self._move, name, wanted.source, wanted.target),
        }
        await works[deed](author)

    async def _create(self, name: str, change: AgentChange, author: Author) -> None:
        """Make an agent. It does not go on in the conversations of an earlier one of its name."""
        await self._check_blocks(change.blocks or ())
        if not await asyncio.to_thread((self.files.agents.place / name).exists):
            await self.database.write(
                "agents.begin", agent_uses.end_sessions, agent=name, now=self.now()
            )
        await self._write(lambda: self.files.create(name, change))
        await self._record(author, "agent.create", name)

    async def bring(
        self,
        name: str,
        change: AgentChange,
        carry: Callable[[Connection, SessionId | None], None],
        past: PastConversation | None,
        author: Author,
    ) -> None:
        """Make an agent together with a conversation and rows that `carry` writes: all, or nothing.

        `carry` gets the session of the conversation, and publishes it. The commit of these rows
        decides; what a crash leaves after it, `finish_earlier` finishes.
        """
        await finish(self._bring(name, change, carry, past, author))
        self.forget_known()

    async def _bring(
        self,
        name: str,
        change: AgentChange,
        carry: Callable[[Connection, SessionId | None], None],
        past: PastConversation | None,
        author: Author,
    ) -> None:
        async with self._lock:
            await self._finish()
            draft = await asyncio.to_thread(self.files.prepare, name, change)
            try:
                ids, staged = await self.load_ids(), None
                if past:
                    staged = await stage(self.database, ids, past, self.now())

                def work(connection: Connection) -> None:
                    agent_uses.end_sessions(connection, agent=name, now=self.now())
                    carry(connection, staged)
                    audit.record(connection, self._make_entry(author, "agent.import", name))
                    meta.put(connection, key=f"{_DRAFT}{name}", value=draft.name)

                await self.database.write("agents.bring", work)
            finally:
                await self._finish()

    async def _change(self, name: str, change: AgentChange, author: Author) -> None:
        """Change an agent."""
        if change.is_empty:
            raise AgentRefused("nothing is to be changed; name what the agent shall be")
        await self._check_blocks(change.blocks or ())
        await self._write(lambda: self.files.change(name, change))
        await self._record(author, "agent.change", name)

    async def finish_earlier(self) -> None:
        """Finish what an earlier process began to write."""
        await self._write(self.files.finish_changes)

    async def _finish(self) -> None:
        """Put the agents in their place whose rows were written; end what did not get so far."""
        waiting = await self.database.read(meta.list_under, prefix=_DRAFT)
        for key, draft in waiting.items():
            await asyncio.to_thread(self.files.publish, key.removeprefix(_DRAFT), draft)
            await self.database.write("agents.brought", meta.drop, key=key)
        await asyncio.to_thread(self.files.remove_drafts)
        await finish_imports(self.database)

    async def _archive(self, name: str, author: Author) -> None:
        """Archive an agent, unless a team or a job needs it. Chats get the assistant back."""
        teams = [one.name for one in await asyncio.to_thread(self.teams.list_of, name)]
        if teams:
            raise AgentRefused(
                f"the agent {name} belongs to the team {teams[0]}; take it out there first"
            )
        jobs = await self.database.read(agent_uses.count_jobs, agent=name)
        if jobs:
            listed = "1 reminder or job" if jobs == 1 else f"{jobs} reminders or jobs"
            raise AgentRefused(
                f"{listed} would lose it; give them to another first (/agents job NUMBER default)"
            )
        await self._write(lambda: self.files.archive(name))

        def work(connection: Connection) -> None:
            agent_uses.unbind(connection, agent=name)
            audit.record(connection, self._make_entry(author, "agent.archive", name))

        await self.database.write("agents.archive", work)
        self.forget_known()

    async def _restore(self, name: str, author: Author) -> None:
        """Bring an archived agent back."""
        await self._write(lambda: self.files.restore(name))
        await self._record(author, "agent.restore", name)

    async def _create_team(self, name: str, change: TeamChange, author: Author) -> None:
        """Make a team."""
        await self._check_blocks(change.blocks or ())
        await self._write(lambda: self.teams.create(name, change))
        await self._record(author, "team.create", name)

    async def _change_team(self, name: str, change: TeamChange, author: Author) -> None:
        """Change a team."""
        if change == TeamChange():
            raise AgentRefused("nothing is to be changed; name what the team shall be")
        await self._check_blocks(change.blocks or ())
        await self._write(lambda: self.teams.change(name, change))
        await self._record(author, "team.change", name)

    async def _move(self, agent: str, source: str, target: str, author: Author) -> None:
        """Move an agent from one team to another; it keeps its memory and its conversations."""
        await self._write(lambda: self.teams.move(agent, source, target))
        await self._record(author, "team.move", f"{agent}: {source} to {target}")

    async def _archive_team(self, name: str, author: Author) -> None:
        """Archive a team; its agents stay."""
        await self._write(lambda: self.teams.archive(name))
        await self._record(author, "team.archive", name)

    async def _restore_team(self, name: str, author: Author) -> None:
        """Bring an archived team back."""
        await self._write(lambda: self.teams.restore(name))
        await self._record(author, "team.restore", name)

    async def _write(self, work: Callable[[], object]) -> None:
        async with self._lock:
            await self._finish()
            await asyncio.to_thread(work)

    async def _check_blocks(self, labels: Sequence[str]) -> None:
        """Raise `AgentRefused` for a memory block that does not exist."""
        known = await self.database.read(blocks.list_all)
        missing = set(labels) - {one.label for one in known}
        if missing:
            label = min(missing)
            raise AgentRefused(
                f"there is no memory block {label}; make it with /block new {label} first"
            )

    async def _record(self, author: Author, action: str, detail: str) -> None:
        entry = self._make_entry(author, action, detail)
        await self.database.write("agents.record", lambda c: audit.record(c, entry))

    def _make_entry(self, author: Author, action: str, detail: str) -> AuditEntry:
        return AuditEntry(
            person_id=author.person_id,
            actor=author.actor,
            action=action,
            detail=detail,
            created_at=self.now(),
        )
