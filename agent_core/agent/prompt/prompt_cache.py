"""Keep a conversation's prompt while it is valid, and build a new one otherwise."""

import hashlib
import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent_core.agent.prompt.compose import PromptInputs, compose, find_prompt_sources
from agent_core.agent.prompt.context_files import ContextFolder, read_context
from agent_core.agent.prompt.message_facts import UNTRUSTED_BEFORE
from agent_core.agent.prompt.soul_file import ensure_soul
from agent_core.agent.prompt.visibility import (
    MOST_CHARACTERS,
    OwnList,
    PromptContext,
    Reported,
    ShownEntries,
    Untold,
    Visibility,
    VisibleMemory,
    count_forgotten,
    dump_shown,
    find_forgotten_news,
    find_news,
    find_own_news,
    find_replaced,
    find_untold,
    is_still_allowed,
    list_turns,
    load_shown,
    read_reported,
    select_shared,
)
from agent_core.errors import SkillBroken, StoreDamaged
from agent_core.ids import PromptHash, SessionId
from agent_core.memory.shared import SharedMemory
from agent_core.memory.soul_store import SoulFile
from agent_core.memory.store import Stamp
from agent_core.state.conversations import messages, sessions, turns
from agent_core.state.conversations.sessions import Session
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory.ledger import find_entries
from agent_core.tools.selection.built_in import SKILL_TOOL
from agent_core.transcript import Message, ToolSpec, UntrustedSource

if TYPE_CHECKING:
    from agent_core.skills.tools.directory import SkillDirectory

_log = logging.getLogger(__name__)

_NOTHING: Reported = {}
_MOST_PROMPTS = 1024
"""Prompts kept in memory, about 4 KB each."""


@dataclass(frozen=True, kw_only=True)
class FrozenPrompt:
    """A system prompt and tools exactly as they are sent, identified by their hash."""

    hash: PromptHash
    system: str
    tools: tuple[ToolSpec, ...]
    shown: ShownEntries = frozenset()
    """Entries of room and shared memory that the prompt shows."""

    @cached_property
    def sources(self) -> tuple[UntrustedSource, ...]:
        """The sources of the words of others in the prompt. Found once, because every turn needs
        them.
        """
        return find_prompt_sources(self.system)


def dump_tools(tools: tuple[ToolSpec, ...]) -> str:
    """Serialize tools to JSON; equal tools give equal bytes."""
    return json.dumps([asdict(spec) for spec in tools], ensure_ascii=False, separators=(",", ":"))


def load_tools(text: str) -> tuple[ToolSpec, ...]:
    """Parse the output of `dump_tools`."""
    return tuple(ToolSpec(**fields) for fields in json.loads(text))


def freeze(
    system: str, tools: tuple[ToolSpec, ...], shown: ShownEntries = frozenset()
) -> FrozenPrompt:
    """Build a prompt and hash its bytes."""
    digest = hashlib.sha256(f"{system}\0{dump_tools(tools)}".encode()).hexdigest()
    return FrozenPrompt(hash=PromptHash(digest), system=system, tools=tools, shown=shown)


def store_prompt(prompt: FrozenPrompt, now: int, connection: Connection) -> None:
    """Store a prompt, in place of a damaged or redacted row of its hash."""
    sessions.insert_prompt(
        connection,
        prompt_hash=prompt.hash,
        system=prompt.system,
        tools=dump_tools(prompt.tools),
        shown=dump_shown(prompt.shown),
        now=now,
    )


class StoredPrompts:
    """The stored prompts, with a cache of recent ones."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[PromptHash, FrozenPrompt] = OrderedDict()

    async def read(self, prompt_hash: PromptHash) -> FrozenPrompt:
        """Return the prompt with this hash. Raises `StoreError`, and `StoreDamaged` if it was
        altered.
        """
        known = self._known.get(prompt_hash)
        if known is None:
            system, tools, shown = await self._database.read(
                sessions.get_prompt, prompt_hash=prompt_hash
            )
            known = FrozenPrompt(
                hash=prompt_hash,
                system=system,
                tools=load_tools(tools),
                shown=load_shown(shown),
            )
        self.remember(known)
        return known

    def forget(self) -> None:
        """Drop the cache, because stored prompts may have been redacted."""
        self._known.clear()

    def remember(self, prompt: FrozenPrompt) -> None:
        """Cache a prompt."""
        self._known[prompt.hash] = prompt
        self._known.move_to_end(prompt.hash)
        if len(self._known) > _MOST_PROMPTS:
            self._known.popitem(last=False)


_CACHE_LASTS = {"5m": 300_000, "1h": 3_600_000}
"""Milliseconds that a provider keeps a prompt after its last use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPrompt:
    """A conversation's prompt, and lines for the facts of its next turn."""

    prompt: FrozenPrompt
    news: tuple[str, ...] = ()


class PromptCache:
    """Finds or builds the prompt of a conversation."""

    def __init__(
        self,
        *,
        home: Path,
        cache_ttl: str,
        files: ContextFolder | None,
        skills: "SkillDirectory | None" = None,
        database: Database,
        memory: SharedMemory,
        now: Callable[[], int],
    ) -> None:
        """`cache_ttl` is how long a provider caches a prompt, "5m" or "1h". `files` are those of
        the working folder. `skills` are the skills that conversations may use.
        """
        self._home = home
        self._lasts = _CACHE_LASTS[cache_ttl]
        self._files = files
        self._skills = skills
        self._database = database
        self._visibility = Visibility(database, memory)
        self._prompts = StoredPrompts(database)
        self._soul = SoulFile(database, home)
        self._now = now
        self._compared: dict[SessionId, tuple[Stamp, ...]] = {}
        """By session, the person's memory files when it last had no change to learn of."""

    async def read(self, prompt_hash: PromptHash) -> FrozenPrompt:
        """The prompt with this hash. Raises `StoreError`."""
        return await self._prompts.read(prompt_hash)

    def forget(self) -> None:
        """Drop cached prompts, because stored ones may have been redacted."""
        self._prompts.forget()

    async def find_with_news(
        self,
        context: PromptContext,
        session: Session | None,
        warm: Session | None,
        tools: tuple[ToolSpec, ...],
        reported: Reported,
        still_offers: Callable[[tuple[ToolSpec, ...]], bool],
    ) -> SessionPrompt:
        """Find or build a prompt, with all lines for the facts on what the session does not know.

        `warm` is the session if its prompt may be used. Long news make a new prompt, which shows
        what they are about. Raises `StoreError`.
        """
        given = await self.find_or_build(context, warm, tools, reported, still_offers)
        own = await self._find_own_news(context, session, given.prompt, reported)
        if sum(map(len, own)) > MOST_CHARACTERS:
            given = await self.find_or_build(context, None, tools, reported)
            own = await self._find_own_news(context, session, given.prompt, reported)
        lost = await self._find_lost_sources(session, given.prompt)
        return SessionPrompt(prompt=given.prompt, news=(*given.news, *lost, *own))

    async def find_or_build(
        self,
        context: PromptContext,
        session: Session | None,
        tools: tuple[ToolSpec, ...],
        reported: Reported = _NOTHING,
        still_offers: Callable[[tuple[ToolSpec, ...]], bool] | None = None,
    ) -> SessionPrompt:
        """Return the session's prompt if it is valid and may still be cached, else a new one.

        `reported` is what the session was told so far. `still_offers` tells whether a prompt with
        other tools may still be used. Raises `StoreError`.
        """
        is_damaged = False
        try:
            warm = await self._find_warm(session, still_offers or tools.__eq__)
        except StoreDamaged as error:
            _log.error("%s; its conversation gets a new prompt", error)
            warm, is_damaged = None, True
        kept = await self._reuse(warm, context, reported) if warm else None
        if kept:
            return kept
        visible = await self._visibility.read_visible(context, self._now())
        fresh = await self._compose(context, visible, tools)
        if is_damaged:
            # Only this rewrites the damaged row if the new prompt has the same hash.
            await self._database.write("prompt.repair", partial(store_prompt, fresh, self._now()))
        return SessionPrompt(prompt=fresh, news=find_news(fresh.shown, visible.shared, reported))

    async def _reuse(
        self, warm: FrozenPrompt, context: PromptContext, reported: Reported
    ) -> SessionPrompt | None:
        """The session's present prompt, if it may still be used.

        In a direct conversation only shared memory is checked: `find_with_news` reports what came
        or went in the person's own memory.
        """
        now = self._now()
        if context.room is None:
            visible = VisibleMemory(shared=await self._visibility.read_shared(context, now))
            shown = select_shared(warm.shown)
        else:
            visible, shown = await self._visibility.read_visible(context, now), warm.shown
        if not is_still_allowed(shown, visible.shown):
            return None
        news = find_news(shown, visible.shared, reported)
        is_short = sum(map(len, news)) <= MOST_CHARACTERS
        return SessionPrompt(prompt=warm, news=news) if is_short else None

    async def _find_warm(
        self, session: Session | None, still_offers: Callable[[tuple[ToolSpec, ...]], bool]
    ) -> FrozenPrompt | None:
        """Return the session's prompt if it was used recently and its tools are still allowed.

        Raises `StoreDamaged`.
        """
        if session is None or session.prompt_hash is None:
            return None
        if self._now() - session.last_at > self._lasts:
            return None
        prompt = await self._prompts.read(session.prompt_hash)
        return prompt if still_offers(prompt.tools) else None

    async def _compose(
        self, context: PromptContext, visible: VisibleMemory, tools: tuple[ToolSpec, ...]
    ) -> FrozenPrompt:
        """Build a new prompt. Leaves out what others in the room may not see."""
        soul = context.agent.soul if context.agent else await ensure_soul(self._home)
        await self._soul.notice(self._now())
        context_files = await read_context(self._files) if self._files else ()
        can_read = any(spec.name == SKILL_TOOL for spec in tools)
        inputs = PromptInputs(
            soul=soul,
            snapshot=visible.own,
            room=visible.room,
            borrowed=visible.borrowed,
            shared=visible.shared,
            is_shared=context.is_shared,
            context=context_files,
            platform=context.platform,
            tools=tuple(spec.name for spec in tools),
            skills=await self._list_skills() if can_read else "",
        )
        prompt = freeze(compose(inputs), tools, visible.shown)
        self._prompts.remember(prompt)
        return prompt

    async def _find_lost_sources(
        self, session: Session | None, prompt: FrozenPrompt
    ) -> tuple[str, ...]:
        """Return the line for the facts if a session's new prompt has lost words of others.

        The session's answers may still repeat them. Raises `StoreError`.
        """
        if session is None or session.prompt_hash in (None, prompt.hash):
            return ()
        try:
            before = await self._prompts.read(session.prompt_hash)
        except StoreDamaged:  # logged when the prompt was looked up
            return (UNTRUSTED_BEFORE,)
        lost = {*before.sources} - {*prompt.sources}
        return (UNTRUSTED_BEFORE,) if lost else ()

    async def _find_own_news(
        self,
        context: PromptContext,
        session: Session | None,
        prompt: FrozenPrompt,
        reported: Reported,
    ) -> tuple[str, ...]:
        """Return the lines for the facts on the own entries that are new, gone, or back.

        In a room, these are its notes. A command, a page, an edit by hand or another conversation
        added them, or removed some that the session knows from its prompt or its messages. What its
        turns changed stands in the messages. Raises `StoreError`.
        """
        owner = context.memory_owner
        if session is None or owner is None:
            return ()
        stamps = self._visibility.stamp_own(owner)
        if self._compared.get(session.id) == stamps:
            return ()

        def work(
            connection: Connection, own: Sequence[OwnList]
        ) -> tuple[Untold, int, list[Message]]:
            untold: dict[str, dict[str, bool]] = {}
            forgotten = 0
            for one in own:
                rows = find_entries(connection, person_id=owner.person_id, target=one.target)
                rows = [row for row in rows if row.origin.now >= session.started_at]
                forgotten += count_forgotten(rows)
                made = turns.select_of_session(
                    connection, session_id=session.id, turn_ids=list_turns(rows)
                )
                if found := find_untold(rows, one, made, reported, prompt.system):
                    untold[one.target] = found
            is_any_gone = any(not is_there for of in untold.values() for is_there in of.values())
            owner_id = context.conversation.person_id
            # Also messages that are no longer shown may have told the model of an entry.
            whole = (
                messages.list_session(connection, session_id=session.id, person_id=owner_id)
                if is_any_gone or forgotten
                else []
            )
            return untold, forgotten, [stored.message for stored in whole]

        try:
            own = await self._visibility.read_own(owner, context.person, self._now())
            untold, forgotten, said = await self._database.read(partial(work, own=own))
        except StoreDamaged as error:
            _log.error("%s; the conversation does not learn of its changes", error)
            return ()
        news = find_own_news(untold, said, prompt.system)
        news += find_forgotten_news(forgotten, said) if forgotten else ()
        # Else the turn may fail to begin, and its next attempt has to report or show them.
        if not news and session.prompt_hash == prompt.hash:
            if len(self._compared) >= _MOST_PROMPTS:
                self._compared.clear()
            self._compared[session.id] = stamps
        return news

    async def find_block_news(
        self, context: PromptContext, prompt: FrozenPrompt, told: Reported, said: Sequence[Message]
    ) -> tuple[str, ...]:
        """Return lines for the facts on blocks that changed while a turn runs.

        `said` are the turn's messages, and `told` is what the session was told. Raises
        `StoreError`.
        """
        seen = await self._visibility.read_shared(context, self._now())
        shared = [one for one in seen if one.block]
        if not shared:
            return ()
        news = find_news(prompt.shown, shared, read_reported(said, told))
        return (*news, *find_replaced(prompt.shown, shared, said))

    def suggest_skills(self, prompt: FrozenPrompt, request: str) -> tuple[str, ...]:
        """Return the line for the facts that names the skills that fit a request.

        Empty if the prompt lists all skills, or has no tool to read one.
        """
        source = self._skills
        can_read = any(spec.name == SKILL_TOOL for spec in prompt.tools)
        names = source.suggest(request) if source and can_read else ()
        return (f"Skills that may fit: {', '.join(names)}",) if names else ()

    async def _list_skills(self) -> str:
        """List the skills. If their folder can't be read, logs that and returns none."""
        if self._skills is None:
            return ""
        try:
            return await self._skills.describe()
        except SkillBroken as error:
            _log.warning("a prompt lists no skills: %s", error)
            return ""
