"""Gives a talk its prompt: the one it has while that may stand, else one taken afresh."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from agent_core.agent.prompt.compose import PromptInputs, compose
from agent_core.agent.prompt.context import (
    PromptContext,
    ShownEntries,
    Visibility,
    VisibleMemory,
    is_still_allowed,
    load_shown,
    select_shared,
)
from agent_core.agent.prompt.context_files import read_context
from agent_core.agent.prompt.facts import MOST_CHARACTERS, find_news
from agent_core.agent.prompt.persona import ensure_soul
from agent_core.ids import PromptHash
from agent_core.memory.shared import SharedMemory
from agent_core.memory.soul.soul import SoulFile
from agent_core.state.conversations import sessions
from agent_core.state.conversations.messages import StoredMessage
from agent_core.state.conversations.sessions import Session
from agent_core.state.engine.database import Database
from agent_core.transcript import Message, ToolSpec

_MOST_PROMPTS = 1024
"""Frozen prompts kept in memory, of some 4 KB each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenPrompt:
    """A system text and tools exactly as they are sent, under the hash of their bytes."""

    hash: PromptHash
    system: str
    tools: tuple[ToolSpec, ...]
    shown: ShownEntries = frozenset()
    """What it shows of a room's memory and of what is lent to a room; see `prompt.visible`."""


def dump_tools(tools: tuple[ToolSpec, ...]) -> str:
    """Tools as JSON text; the same tools, the same bytes."""
    return json.dumps([asdict(spec) for spec in tools], ensure_ascii=False, separators=(",", ":"))


def load_tools(text: str) -> tuple[ToolSpec, ...]:
    """The reverse of `dump_tools`."""
    return tuple(ToolSpec(**fields) for fields in json.loads(text))


def freeze(
    system: str, tools: tuple[ToolSpec, ...], shown: ShownEntries = frozenset()
) -> FrozenPrompt:
    """A frozen prompt under the hash of its bytes."""
    digest = hashlib.sha256(f"{system}\0{dump_tools(tools)}".encode()).hexdigest()
    return FrozenPrompt(hash=PromptHash(digest), system=system, tools=tools, shown=shown)


class StoredPrompts:
    """The prompts of the database, the ones used last at hand."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[PromptHash, FrozenPrompt] = OrderedDict()

    async def read(self, prompt_hash: PromptHash) -> FrozenPrompt:
        """The prompt of this hash. Raises `StoreError`."""
        known = self._known.get(prompt_hash)
        if known is None:
            system, tools, shown = await self._database.read(
                lambda c: sessions.get_prompt(c, prompt_hash=prompt_hash)
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
        """Read prompts afresh: words may have been taken out of some."""
        self._known.clear()

    def remember(self, prompt: FrozenPrompt) -> None:
        """Keep a prompt at hand."""
        self._known[prompt.hash] = prompt
        self._known.move_to_end(prompt.hash)
        if len(self._known) > _MOST_PROMPTS:
            self._known.popitem(last=False)


_CACHE_LASTS = {"5m": 300_000, "1h": 3_600_000}
"""Milliseconds that a provider keeps a prompt after its last use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptConfig:
    """What all prompts of a house rest on. `cache_ttl` is how long a provider keeps one."""

    home: Path
    cache_ttl: str
    context_folder: Path | None
    context_files: tuple[str, ...]
    context_limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPrompt:
    """A talk's prompt, and lines for the facts of its next turn; see `prompt.news`."""

    prompt: FrozenPrompt
    news: tuple[str, ...] = ()


class PromptCache:
    """Makes prompts, and keeps the ones used last at hand."""

    def __init__(
        self,
        ground: PromptConfig,
        *,
        database: Database,
        memory: SharedMemory,
        now: Callable[[], int],
    ) -> None:
        self._ground = ground
        self._eyes = Visibility(database, memory)
        self._prompts = StoredPrompts(database)
        self._identity = SoulFile(database, ground.home)
        self._now = now

    async def read(self, prompt_hash: PromptHash) -> FrozenPrompt:
        """The prompt of this hash. Raises `StoreError`."""
        return await self._prompts.read(prompt_hash)

    def forget(self) -> None:
        """Keep no prompt at hand: words may have been taken out of some."""
        self._prompts.forget()

    async def give(
        self,
        context: PromptContext,
        session: Session | None,
        tools: tuple[ToolSpec, ...],
        transcript: Sequence[StoredMessage] = (),
    ) -> SessionPrompt:
        """The session's prompt if the provider may still have it and it may stand, else another.

        `transcript` is all of the talk so far. Raises `StoreError`.
        """
        warm = await self._find_warm(session, tools)
        kept = await self._keep(warm, context, transcript) if warm else None
        if kept:
            return kept
        visible = await self._eyes.look(context, self._now())
        fresh = await self._compose(context, visible, tools)
        return SessionPrompt(
            prompt=fresh, news=find_news(fresh.shown, visible.shared, _list_messages(transcript))
        )

    async def _keep(
        self, warm: FrozenPrompt, context: PromptContext, transcript: Sequence[StoredMessage]
    ) -> SessionPrompt | None:
        """The prompt that a talk has, if it may go on being used.

        In a direct talk only what others can change is looked at: its person's own memory may
        wait for the next fresh prompt.
        """
        now = self._now()
        if context.room is None:
            visible = VisibleMemory(shared=await self._eyes.look_at_shared(context, now))
            shown = select_shared(warm.shown)
        else:
            visible, shown = await self._eyes.look(context, now), warm.shown
        if not is_still_allowed(shown, visible.marks):
            return None
        news = find_news(shown, visible.shared, _list_messages(transcript))
        is_short = sum(map(len, news)) <= MOST_CHARACTERS
        return SessionPrompt(prompt=warm, news=news) if is_short else None

    async def _find_warm(
        self, session: Session | None, tools: tuple[ToolSpec, ...]
    ) -> FrozenPrompt | None:
        """The session's prompt if it was used lately, and the tools are the same."""
        if session is None or session.prompt_hash is None:
            return None
        if self._now() - session.last_at > _CACHE_LASTS[self._ground.cache_ttl]:
            return None
        prompt = await self._prompts.read(session.prompt_hash)
        return prompt if prompt.tools == tools else None

    async def _compose(
        self, context: PromptContext, visible: VisibleMemory, tools: tuple[ToolSpec, ...]
    ) -> FrozenPrompt:
        """A fresh prompt. What a room's other people may not see does not enter it."""
        ground = self._ground
        soul = await ensure_soul(ground.home)
        await self._identity.notice(self._now())
        context_files = (
            await read_context(ground.context_folder, ground.context_files, ground.context_limit)
            if ground.context_folder
            else ()
        )
        inputs = PromptInputs(
            soul=soul,
            snapshot=visible.own,
            room=visible.room,
            lent=visible.lent,
            shared=visible.shared,
            is_shared=context.is_shared,
            context=context_files,
            platform=context.platform,
            tools=tuple(spec.name for spec in tools),
        )
        prompt = freeze(compose(inputs), tools, visible.marks)
        self._prompts.remember(prompt)
        return prompt


def _list_messages(transcript: Sequence[StoredMessage]) -> Iterator[Message]:
    return (stored.message for stored in transcript)
