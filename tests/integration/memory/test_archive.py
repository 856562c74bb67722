"""Archived notes are found only where allowed, and elsewhere only counted there."""

import json
import re
from collections.abc import AsyncGenerator
from pathlib import Path

from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.transcript import TextPart, ToolResultPart
from gateway.texts import memory
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, finish, say
from tests.integration.accounts import ChatAccount
from tests.integration.harness import running
from tests.integration.shared_harness import SharedHarness, see, shared_harness

KEEP = "keep "
CALL = "call "


class Archivist(FakeModel):
    """Archives on request, and searches the archive for everything else."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        if request.system.startswith("Name the conversation"):
            yield finish(TextPart(text="A title"))
            return
        last = request.messages[-1]
        if last.role == "user":
            words = last.text.split("\n")[-1]
            arguments: dict[str, object] = {"action": "search", "query": words}
            if words.startswith(CALL):
                arguments = json.loads(words.removeprefix(CALL))
            elif words.startswith(KEEP):
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


async def test_a_new_session_knows_the_archives_size_and_finds_notes(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Archivist()) as here:
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
    """Return all requests in a room and to Bob, while Ann archives something private."""
    model = Archivist()
    async with shared_harness(home, model) as here:
        await here.says("ann", "hello")
        await here.make_owner("ann")
        for text in kept:
            await here.says("ann", f"{KEEP}{text}")
        count = len(model.requests)
        await dialogue_in_room(here)
        await here.says("bob", "canary")
        return [see(request) for request in model.requests[count:]]


async def dialogue_in_room(here: SharedHarness) -> None:
    for who in ("ann", "bob"):
        await here.says(who, "canary", room="den")
    await here.says("ann", "/room room", room="den")
    for who in ("ann", "bob", "ann"):
        await here.says(who, "canary", room="den")


async def test_private_notes_change_no_request_of_rooms_or_others(
    tmp_path: Path,
) -> None:
    plain = await live(tmp_path / "plain")
    assert await live(tmp_path / "kept", "my canary sings", "canary food") == plain
    assert len(plain) == 2 * 6


async def test_a_room_finds_its_own_notes(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Archivist()) as here:
        await here.says("ann", "hello")
        await here.make_owner("ann")
        await here.says("ann", "keep the canary of the den is yellow", room="den")
        _, then = await here.asks("bob", "canary", room="den")
        assert "the canary of the den is yellow" in found(then)
        _, mine = await here.asks("ann", "canary")
        assert "Nothing found" in found(mine)


def name_in(text: str) -> str:
    """The first name of the archive that is listed."""
    found = re.search(r"^- ([0-9a-z]{8}): ", text, re.MULTILINE)
    assert found, text
    return found[1]


async def test_memory_lists_and_finds_archived_notes(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Archivist()) as here:
        assert await here.says("ann", "/memory archive") == memory.ARCHIVE_EMPTY()
        for words in ("my canary sings", "the car is old", "tea at five", "rent on Monday"):
            await here.says("ann", f"{KEEP}{words}")
        said = await here.says("ann", "/memory")
        assert "**Archive: 4 notes**" in said
        assert "rent on Monday (pets)" in said
        assert "canary" not in said, "only the newest are named"
        said = await here.says("ann", "/memory archive")
        assert said.startswith("**Archive: 4 notes**")
        assert "my canary sings (pets)" in said
        found = await here.says("ann", "/memory archive canary")
        assert found.startswith("**Archive: 1 note**")
        assert "my canary sings" in found
        assert await here.says("ann", "/memory archive zebra") == memory.ARCHIVE_NO_HIT()
        assert "canary" not in await here.says("bob", "/memory archive")


async def test_why_and_undo_know_a_note_of_the_archive_by_its_name(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Archivist()) as here:
        await here.says("ann", "keep my canary sings")
        name = name_in(await here.says("ann", "/memory"))
        change = json.dumps({"action": "update", "id": name, "text": "my canary is silent"})
        await here.says("ann", f"{CALL}{change}")
        said = (await here.says("ann", f"/why {name}")).splitlines()
        assert said[0] == f"**{name}:** my canary is silent (pets)"
        assert re.fullmatch(r"- You, .*, fake: `call .*my canary is silent.*`", said[3])
        assert said[6].startswith("- 2: ")
        assert said[6].endswith("by me: saved `my canary sings (pets)`")
        assert said[7].endswith("by me: changed to `my canary is silent (pets)`")
        assert (await here.says("ann", f"/undo {name}")).splitlines() == [
            "↩ Taken back. It said: my canary is silent (pets)",
            "It now says: my canary sings (pets)",
        ]
        refused = memory.explain_refusal("undone", 3)
        assert await here.says("ann", f"/undo {name}-2") == refused, "a button of earlier versions"
        assert await here.says("ann", "/undo 3") == refused
        assert "saved `my canary sings" in await here.says("ann", "/why 3")
        assert "Removed:" in await here.says("ann", "/undo 2")
        assert "saved `my canary sings" in await here.says("ann", f"/why {name}")
        nothing = memory.NAME_UNKNOWN(name=name)
        for text in ("/why 2", "/undo 2"):
            assert await here.says("bob", text) == memory.NUMBER_UNKNOWN(number=2)
            assert await here.says("ann", text, room="den") == memory.NUMBER_UNKNOWN(number=2)
        for text in (f"/why {name}", f"/undo {name}", f"/memory forget {name}"):
            assert await here.says("bob", text) == nothing
            assert await here.says("ann", text, room="den") == nothing


async def test_undo_reverts_the_newest_change_of_memory_or_archive(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path, Archivist()) as here:
        await here.says("ann", "keep my canary sings")
        here.remember("ann", "Has a cat")
        await here.says("ann", "/memory")
        await here.says("ann", "keep the car is old")
        said = [await here.says("ann", "/undo") for _ in range(3)]
        assert said[:2] == [
            "↩ Taken back. Removed: the car is old (pets)",
            "↩ Taken back. Removed: my canary sings (pets)",
        ]
        # What was written by hand into the file is named first.
        assert "by hand in the file): Memory: Has a cat" in said[2]
        await here.harness.chat.press("Undo", user="ann")
        await here.harness.chat.sees_text("Removed: Has a cat")
        assert await here.says("ann", "/undo") == "There's nothing to undo."
        assert await here.says("ann", "/memory archive") == memory.ARCHIVE_EMPTY()


async def test_a_button_undoes_a_note_and_the_conversation_knows_it(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, Archivist()) as harness:
        ann = ChatAccount(harness, "ann", "ann")
        await ann.says("keep my canary sings")
        assert harness.chat.shown[-1].labels == ["Undo"]
        await ann.presses("Undo")
        await ann.says("hello")
        assert stock(harness.model.requests[-1]) == []
        await ann.says("/undo")
        assert await ann.says("/undo") == "There's nothing to undo."


async def test_a_note_is_dropped_by_name_and_restored_by_the_button(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, Archivist()) as harness:
        ann = ChatAccount(harness, "ann", "ann")
        await ann.says("keep my canary sings")
        name = name_in(await ann.says("/memory"))
        said = await ann.says(f"/memory forget {name}")
        assert said == "Deleted: my canary sings (pets)"
        assert await ann.says(f"/memory forget {name}") == memory.NAME_UNKNOWN(name=name)
        await ann.presses(memory.UNDO())
        assert "my canary sings" in await ann.says("/memory archive")
        assert name_in(await ann.says("/memory archive")) == name


async def test_an_archive_undo_repeated_after_a_crash_happens_once(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path, Archivist()) as here:
        await here.says("ann", "keep my canary sings")
        await here.says("ann", "keep the car is old")
        first = await here.says("ann", "/undo")
        await here.harness.gateway.database.write(
            "crash",
            lambda c: (
                c.execute(
                    "UPDATE inbox SET state = 'received' WHERE id = (SELECT MAX(id) FROM inbox)"
                ).rowcount
            ),
        )
    chat = FakeChat()
    async with shared_harness(tmp_path, Archivist(), chat) as here:
        await here.harness.chat.until(lambda: len(chat.shown) == 1)
        assert chat.shown[0].text == first
        left = await here.harness.read(
            lambda c: c.execute("SELECT text FROM archive").fetchall()  # of Ann alone
        )
        assert left == [("my canary sings",)]


async def test_in_a_room_only_its_author_and_owners_undo_a_note(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Archivist()) as here:
        await here.says("cleo", "hello")
        await here.make_owner("cleo")
        await here.says("ann", "keep the canary of the den is yellow", room="den")
        name = name_in(await here.says("bob", "/memory", room="den"))
        for text in (f"/undo {name}", "/undo", f"/memory forget {name}"):
            assert await here.says("bob", text, room="den") == memory.NOT_YOUR_CHANGE()
        said = await here.says("bob", f"/why {name}", room="den")
        assert "- “ann”, " in said
        assert "Removed" in await here.says("ann", f"/undo {name}", room="den")
        assert "Restored" in await here.says("cleo", f"/undo {name}", room="den")
