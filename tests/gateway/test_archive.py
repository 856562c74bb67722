"""What is kept in the archive is found where it may be, and told of as a number there only."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path

from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.transcript import TextPart, ToolResultPart
from tests.fakes.model import FakeModel, ask, call, finish, say
from tests.gateway.roommates import Street, see, street

KEEP = "keep "


class Archivist(FakeModel):
    """Keeps what it is told to keep, and searches the archive for all else."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        if request.system.startswith("Name the conversation"):
            yield finish(TextPart(text="A title"))
            return
        last = request.messages[-1]
        if last.role == "user":
            words = last.text.split("\n")[-1]
            arguments = {"action": "search", "query": words}
            if words.startswith(KEEP):
                arguments = {"action": "insert", "text": words.removeprefix(KEEP), "tags": ["pets"]}
            self.plays.append(ask(call("archive", json.dumps(arguments))))
        else:
            self.plays.append(say("Done."))
        async for piece in super().stream(request):
            yield piece


def facts(request: ModelRequest) -> list[str]:
    """The lines of the newest facts."""
    said = [message for message in request.messages if message.role == "user"][-1]
    block = next(part for part in said.parts if isinstance(part, TextPart) and part.is_fact)
    return block.text.split("\n")


def found(request: ModelRequest) -> str:
    """What the archive answered."""
    (result,) = (one for one in request.messages[-1].parts if isinstance(one, ToolResultPart))
    return result.text


def stock(request: ModelRequest) -> list[str]:
    return [line for line in facts(request) if line.startswith("You can search")]


async def test_a_new_talk_is_told_how_much_there_is_and_finds_it(tmp_path: Path) -> None:
    async with street(tmp_path, Archivist()) as here:
        await here.says("ann", "hello")
        await here.make_owner("ann")
        first, _ = await here.asks("ann", "keep my canary sings at dawn")
        assert stock(first) == []
        again, then = await here.asks("ann", "canary")
        assert stock(again) == ["You can search: archive: 1 entry (tags: pets)"]
        assert "my canary sings at dawn" in found(then)
        await here.says("ann", "/new")
        fresh, _ = await here.asks("ann", "anything")
        (line,) = stock(fresh)
        assert line.startswith("You can search: 6 messages since 20")
        assert line.endswith("; archive: 1 entry (tags: pets)")
        assert facts(fresh)[-1] == "</facts>"


async def live(home: Path, *kept: str) -> list[tuple[object, ...]]:
    """All requests that are made in a room, and to Bob, while Ann keeps something to herself."""
    model = Archivist()
    async with street(home, model) as here:
        await here.says("ann", "hello")
        await here.make_owner("ann")
        for text in kept:
            await here.says("ann", f"{KEEP}{text}")
        count = len(model.requests)
        await talk_in_room(here)
        await here.says("bob", "canary")
        return [see(request) for request in model.requests[count:]]


async def talk_in_room(here: Street) -> None:
    for who in ("ann", "bob"):
        await here.says(who, "canary", room="den")
    await here.says("ann", "/room room", room="den")
    for who in ("ann", "bob", "ann"):
        await here.says(who, "canary", room="den")


async def test_no_private_entry_changes_a_byte_of_what_is_asked_in_a_room_or_by_another(
    tmp_path: Path,
) -> None:
    plain = await live(tmp_path / "plain")
    assert await live(tmp_path / "kept", "my canary sings", "canary food") == plain
    assert len(plain) == 2 * 6


async def test_a_room_finds_what_it_keeps_itself(tmp_path: Path) -> None:
    async with street(tmp_path, Archivist()) as here:
        await here.says("ann", "hello")
        await here.make_owner("ann")
        await here.says("ann", "keep the canary of the den is yellow", room="den")
        _, then = await here.asks("bob", "canary", room="den")
        assert "the canary of the den is yellow" in found(then)
        _, mine = await here.asks("ann", "canary")
        assert "Nothing found" in found(mine)
