"""A chat-completions server with slots, each of which remembers the beginning of its last request.

It counts what a slot remembers as a server with llama.cpp's slots does: token by token, over the
text that a template makes of the request, with the tools behind the system message.

Two requests at once get each other's answers: what a real server with two slots was once seen to
do. So whoever sends it one request at a time is safe, and nobody else.
"""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from tests.emulators.openai import OpenAIEmulator, echo
from tests.emulators.streaming import Answer, Json, Reply

_BYTES_A_TOKEN = 4


@dataclass(slots=True)
class Slot:
    """A slot and what it has read."""

    held: str = ""
    body: Json | None = field(default=None, repr=False)
    """The request that it works on; None if it is free."""


class SlotServer(OpenAIEmulator):
    """The server. `most` is how many requests it has worked on at once."""

    def __init__(self, *, slots: int = 1, takes: float = 0.0, **options: Any) -> None:
        """`takes` is how long it works on a request, in seconds."""
        super().__init__(**options)
        self.slots = [Slot() for _ in range(slots)]
        self.takes = takes
        self.most = 0
        self.answer = self._answer
        self.before = self._work
        self._freed = asyncio.Condition()
        self._shares: dict[int, int] = {}

    async def _work(self, body: Json) -> None:
        """Take the slot that remembers the most of a request, and read the rest."""
        async with self._freed:
            await self._freed.wait_for(lambda: any(slot.body is None for slot in self.slots))
            text = render(body)
            free = [slot for slot in self.slots if slot.body is None]
            slot = max(free, key=lambda one: count_same(one.held, text))
            self._shares[id(body)] = count_same(slot.held, text) // _BYTES_A_TOKEN
            slot.held, slot.body = text, body
            self.most = max(self.most, sum(one.body is not None for one in self.slots))
        try:
            await asyncio.sleep(self.takes)
        except BaseException:
            await self._free(slot)
            raise

    def _answer(self, body: Json) -> Reply:
        """Answer the request of another slot, if one works at the same time."""
        others = [one.body for one in self.slots if one.body is not None and one.body is not body]
        return echo(others[0] if others else body)

    async def _free(self, slot: Slot) -> None:
        async with self._freed:
            slot.body = None
            self._freed.notify_all()

    def _count(self, body: Json, answer: Answer) -> Json:
        said = super()._count(body, answer)
        cached = self._shares.pop(id(body), 0)
        whole = len(render(body)) // _BYTES_A_TOKEN
        slot = next(one for one in self.slots if one.body is body)
        slot.body = None
        asyncio.get_running_loop().create_task(self._tell())
        details = {"cached_tokens": min(cached, whole)}
        return {**said, "prompt_tokens": whole, "prompt_tokens_details": details}

    async def _tell(self) -> None:
        async with self._freed:
            self._freed.notify_all()


def render(body: Json) -> str:
    """Make a request's text as the template of Qwen does: the tools behind the system message."""
    system, *others = (
        body["messages"] if body["messages"][0]["role"] == "system" else [{}, *body["messages"]]
    )
    head = f"{system.get('content', '')}\n# Tools\n{json.dumps(body.get('tools', []))}\n"
    return head + "\n".join(f"{one['role']}: {one.get('content')}" for one in others)


def count_same(one: str, other: str) -> int:
    """Return how many letters two texts share at their beginning."""
    place = 0
    while place < min(len(one), len(other)) and one[place] == other[place]:
        place += 1
    return place
