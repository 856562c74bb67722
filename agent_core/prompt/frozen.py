"""The part of a request that stays byte for byte the same while the cache is warm."""

import hashlib
import json
from collections import OrderedDict
from dataclasses import asdict, dataclass

from agent_core.ids import PromptHash
from agent_core.prompt.sight import Marks, load_marks
from agent_core.state import sessions
from agent_core.state.database import Database
from agent_core.transcript import ToolSpec

_MOST_PROMPTS = 1024
"""Frozen prompts kept in memory, of some 4 KB each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenPrompt:
    """A system text and tools exactly as they are sent, under the hash of their bytes."""

    hash: PromptHash
    system: str
    tools: tuple[ToolSpec, ...]
    shown: Marks = frozenset()
    """What it shows of a room's memory and of what is lent to a room; see `prompt.sight`."""


def dump_tools(tools: tuple[ToolSpec, ...]) -> str:
    """Tools as JSON text; the same tools, the same bytes."""
    return json.dumps([asdict(spec) for spec in tools], ensure_ascii=False, separators=(",", ":"))


def load_tools(text: str) -> tuple[ToolSpec, ...]:
    """The reverse of `dump_tools`."""
    return tuple(ToolSpec(**fields) for fields in json.loads(text))


def freeze(system: str, tools: tuple[ToolSpec, ...], shown: Marks = frozenset()) -> FrozenPrompt:
    """A frozen prompt under the hash of its bytes."""
    digest = hashlib.sha256(f"{system}\0{dump_tools(tools)}".encode()).hexdigest()
    return FrozenPrompt(hash=PromptHash(digest), system=system, tools=tools, shown=shown)


class FrozenPrompts:
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
                shown=load_marks(shown),
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
