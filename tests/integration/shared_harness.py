"""Several people in a gateway with rooms, and a model that searches on every request."""

import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.transcript import TextPart, dump_parts
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, finish, say
from tests.integration.accounts import make_owner
from tests.integration.harness import Harness, quick, running

_TIMES = re.compile(r"(?:[A-Z][a-z]+day )?\d{4}-\d\d-\d\d \d\d:\d\d")


class Searcher(FakeModel):
    """Answers every message by searching for `words`; gives no titles."""

    def __init__(self, words: str = "canary") -> None:
        super().__init__()
        self.words = words

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        if request.system.startswith("Name the conversation"):
            yield finish(TextPart(text="A title"))
            return
        if request.messages[-1].role == "user":
            self.plays.append(ask(call("recall", f'{{"query": "{self.words}"}}')))
        else:
            self.plays.append(say("Done."))
        async for piece in super().stream(request):
            yield piece


def see(request: ModelRequest) -> tuple[object, ...]:
    """Return a request as bytes, without the clock's facts."""
    tools = tuple((tool.name, tool.description, tool.schema) for tool in request.tools)
    messages = tuple(
        (message.role, _TIMES.sub("then", dump_parts(message.parts)))
        for message in request.messages
    )
    return request.system, tools, messages


@dataclass
class SharedHarness:
    """A gateway and the people who write to it. `model` searches as told."""

    harness: Harness
    model: FakeModel
    home: Path

    async def says(self, who: str, text: str, *, room: str = "", thread: str | None = None) -> str:
        """Write in private or in a room; return the newest answer once all is at rest."""
        chat = self.harness.chat
        count = len(chat.shown)
        await chat.says(
            text,
            user=who,
            name=who,
            chat=room or who,
            direct=not room,
            thread=thread,
            room_title=room.title() or None,
        )
        await chat.until(lambda: len(chat.shown) > count)
        await self.harness.at_rest()
        return chat.shown[-1].text

    async def asks(self, who: str, text: str, *, room: str = "") -> list[ModelRequest]:
        """Write; return the resulting requests."""
        count = len(self.model.requests)
        await self.says(who, text, room=room)
        return self.model.requests[count:]

    async def make_owner(self, who: str) -> None:
        await make_owner(self.harness, who)

    def remember(self, who: str, *entries: str) -> None:
        """Write somebody's MEMORY.md by hand."""
        folder = self.home / "memories" / "people" / who
        folder.mkdir(parents=True, exist_ok=True)
        folder.joinpath("MEMORY.md").write_text("".join(f"- {entry}\n" for entry in entries))

    async def number_of(self, who: str, entry: str) -> int:
        """The number that /memory shows for an entry."""
        found = re.search(rf"- (\d+): {re.escape(entry)} \(", await self.says(who, "/memory"))
        assert found, entry
        return int(found[1])


@asynccontextmanager
async def shared_harness(
    home: Path, model: FakeModel | None = None, chat: FakeChat | None = None, **environ: str
) -> AsyncIterator[SharedHarness]:
    """Open a gateway in which nobody has written yet."""
    # A `Searcher` answers every task, too; any other model has its plays for turns only.
    timings = quick() if model else replace(quick(), task_poll=0.05)
    model = model or Searcher()
    async with running(home, model, chat=chat, timings=timings, **environ) as harness:
        yield SharedHarness(harness=harness, model=model, home=home)
