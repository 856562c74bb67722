"""Requests in a room contain nothing that the room may not see, not even a number."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.texts import blocks, rooms
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, Gate, say
from tests.integration.shared_harness import Searcher, SharedHarness, see, shared_harness

PEOPLE = 20
ROOMS = ("kitchen", "garden", "attic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What Ann keeps private: entries around the one she shares, messages, and a block.

    `block` is its name, its description and its entries; others than the den and Bob see it.
    """

    before: tuple[str, ...] = ("Has a canary",)
    after: tuple[str, ...] = ("Owes Bob money",)
    said: tuple[str, ...] = ("my canary sings", "the cage is old")
    block: tuple[str, ...] = ("hidden", "a canary in the room", "Feed the canary")


async def live(home: Path, secrets: Secrets) -> list[tuple[object, ...]]:
    """Return all requests of rooms, and the first of Bob's own, with these secrets."""
    model = Searcher("canary cage room")
    async with shared_harness(home, model) as here:
        await here.says("ann", "hello")
        await here.make_owner("ann")
        here.remember("ann", *secrets.before, "Speaks German", *secrets.after)
        for text in secrets.said:
            await here.says("ann", text)
        await here.says("ann", f"/share {await here.number_of('ann', 'Speaks German')}")
        here.remember("ann", *secrets.before, "Speaks German", *secrets.after)
        if secrets.block:
            await make_block(here, *secrets.block)
        count = len(model.requests)
        for who in ("ann", "bob"):
            await here.says(who, "the room has a canary", room="den")
            await here.says(who, "and a cage, a canary cage, in the room", room="den")
        await here.says("ann", "/room room", room="den")
        for who in ("ann", "bob", "ann"):
            await here.says(who, "the room has a canary", room="den")
        await here.says("bob", "tell me about the canary")
    return [see(request) for request in model.requests[count:-1]]


async def make_block(here: SharedHarness, label: str, description: str, *entries: str) -> None:
    """Let Ann make a block and share it with Cleo and another room."""
    await here.says("cleo", "hello")
    await here.says("ann", f"/block new {label} 2000 {description}")
    await here.says("ann", f"/block share {label} cleo")
    await here.says("ann", f"/block share {label} here", room="attic")
    remember_block(here, label, *entries)


def remember_block(here: SharedHarness, slug: str, *entries: str) -> None:
    """Write a block's file by hand."""
    folder = here.home / "memories" / "blocks" / slug
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath("MEMORY.md").write_text("".join(f"- {entry}\n" for entry in entries))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    return asyncio.run(live(tmp_path_factory.mktemp("plain"), Secrets()))


@pytest.mark.parametrize(
    "secrets",
    [
        pytest.param(Secrets(before=("Has a falcon",), after=("Owes Eve",)), id="other entries"),
        pytest.param(Secrets(before=("Owes Bob money",), after=("Has a canary",)), id="order"),
        pytest.param(Secrets(before=(), after=()), id="no entries"),
        pytest.param(
            Secrets(before=tuple(f"Canary {n} room cage" for n in range(20))), id="many entries"
        ),
        pytest.param(Secrets(said=("the falcon", "sings")), id="other messages"),
        pytest.param(Secrets(said=("the cage is old", "my canary sings")), id="other order"),
        pytest.param(Secrets(said=()), id="no messages"),
        pytest.param(Secrets(said=("canary canary", "room room") * 6), id="many messages"),
        pytest.param(Secrets(block=()), id="no block"),
        pytest.param(
            Secrets(block=("other", "the room", *(f"Cage {n}" for n in range(20)))),
            id="another block",
        ),
    ],
)
async def test_secrets_change_no_request_of_rooms_or_others(
    tmp_path: Path, plain: list[tuple[object, ...]], secrets: Secrets
) -> None:
    assert await live(tmp_path, secrets) == plain


async def test_a_shared_entry_changes_requests(
    tmp_path: Path, plain: list[tuple[object, ...]]
) -> None:
    """A check of the comparison above."""
    assert len(plain) == 2 * (4 + 3) + 1
    shows = ["Speaks German" in str(request[0]) for request in plain]
    assert shows == [True] * 4 + [False] * 11, "Ann's own talk in the room, and nobody else's"
    assert "canary" in str(plain[2][2]), "the room's own words are found"
    for request in plain[:14]:
        assert "sings" not in str(request)
        assert "Owes" not in str(request)


@pytest.mark.thorough
async def test_rooms_find_nothing_of_direct_conversations(tmp_path: Path) -> None:
    model = Searcher()
    async with shared_harness(tmp_path, model) as here:
        people = [f"person{number}" for number in range(PEOPLE)]
        for who in people:
            await here.says(who, f"a canary in private, {who}")
        count = len(model.requests)
        for room in ROOMS:
            for who in people:
                await here.says(who, f"a canary in the {room}, {who}", room=room)
                await here.says(who, "where is it?", room=room)
        for request in model.requests[count:]:
            assert "in private" not in str(request)
        *_, (room, who, last) = [
            (room, who, request)
            for request in model.requests[count:]
            for room in ROOMS
            for who in people
            if f"a canary in the {room}, {who}" in request.messages[0].text
        ]
        found = str(last.messages[-1])
        assert f"a canary in the {room}, {who}" in found
        assert found.count("a canary in the") == 1


async def test_sharing_shows_one_entry_and_unsharing_hides_it(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hello")
        here.remember("ann", "Has a canary", "Has a debt")

        async def look(room: str = "den", who: str = "ann") -> str:
            return (await here.asks(who, "hi", room=room))[0].system

        before, of_bob, elsewhere = await look(), await look(who="bob"), await look("attic")
        number = await here.number_of("ann", "Has a canary")
        said = await here.says("ann", f"/share {number}", room="den")
        assert said == f"Everyone here can now see your note {number}."
        shared = await look()
        (line,) = (
            set(shared.splitlines())
            - set(before.splitlines())
            - {"# What this person lets everyone here know: notes, not orders"}
        )
        assert line == "- Has a canary"
        assert await look(who="bob") == of_bob
        assert await look("attic") == elsewhere

        said = await here.says("ann", f"/share {number} private", room="den")
        assert "canary" not in said
        assert await look() == before

        await here.says("ann", f"/share {number} everyone")
        assert "Has a canary" in await look()
        assert "Has a canary" in await look("attic")
        assert await look(who="bob") == of_bob
        here.remember("ann", "Has a canary and a secret", "Has a debt")
        assert await look() == before, "other words are another entry, and that is private"
        assert await look("attic") == elsewhere


async def test_a_block_is_in_a_room_s_prompt_only_while_it_is_shared_with_it(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path) as here:
        for who in ("ann", "bob", "cleo"):
            await here.says(who, "hello")
        await here.says("ann", "/block new hidden 2000 of Ann")
        remember_block(here, "hidden", "Feed the canary")

        async def look() -> dict[tuple[str, str], bool]:
            places = [(who, room) for who in ("ann", "bob") for room in ("", "den", "attic")]
            seen = {}
            for who, room in places:
                request, *_ = await here.asks(who, "hi", room=room)
                seen[who, room] = "Feed the canary" in str(request)
                assert ("hidden" in request.system) == seen[who, room]
            return seen

        hers = {("ann", "")}
        assert {place for place, is_seen in (await look()).items() if is_seen} == hers
        await here.says("ann", "/block share hidden here", room="den")
        den = {("ann", "den"), ("bob", "den")}
        assert {place for place, is_seen in (await look()).items() if is_seen} == hers | den
        await here.says("ann", "/block unshare hidden here", room="den")
        assert {place for place, is_seen in (await look()).items() if is_seen} == hers
        await here.make_owner("ann")
        await here.says("ann", "/block share hidden with everyone")
        assert all((await look()).values())
        await here.says("ann", "/block delete hidden yes")
        assert not any((await look()).values())


async def test_commands_in_a_room_hide_invisible_blocks(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "/block new hidden 2000 of Ann")
        remember_block(here, "hidden", "Feed the canary")
        assert await here.says("ann", "/block", room="den") == blocks.list_blocks(())
        for word in ("hidden", "Hidden"):
            said = await here.says("ann", f"/block {word}", room="den")
            assert said == blocks.UNKNOWN(name="“hidden”")
        for words in ("drop hidden", "share hidden bob", "limit hidden 300", "unshare hidden bob"):
            said = await here.says("ann", f"/block {words}", room="den")
            assert said == blocks.ONLY_IN_DIRECT()
        await here.says("ann", "/block share hidden here", room="den")
        said = await here.says("bob", "/block hidden", room="den")
        assert said.startswith("**hidden** [18/2,000 characters]: of Ann\n- Feed the canary")
        assert "shared with" not in said


async def agree(here: SharedHarness) -> None:
    """Let Ann, an owner alone in the den, consent to her direct conversation there."""
    await here.says("ann", "/status")
    await here.make_owner("ann")
    await here.says("ann", "/room full", room="den")
    await here.harness.chat.press(rooms.FULL_YES(), user="ann", direct=False)
    await here.harness.chat.sees_text(rooms.FULL_OPENED())
    await here.harness.at_rest()


async def test_a_room_with_a_second_person_is_not_private_at_the_next_turn(
    tmp_path: Path,
) -> None:
    chat = FakeChat(people=1)
    async with shared_harness(tmp_path, chat=chat) as here:
        await here.says("ann", "my canary sings")
        here.remember("ann", "Has a canary")
        await here.says("ann", "/new")
        await agree(here)
        first, second = await here.asks("ann", "That's private", room="den")
        assert "Has a canary" in first.system
        assert "my canary sings" in str(second.messages[-1]), "all of Ann's talk is found there"
        (again, *_) = await here.asks("ann", "and here")
        assert "That's private" in str(again.messages), "it is one talk, whatever the door"
        chat.people = 2
        for request in await here.asks("ann", "not alone", room="den"):
            assert "canary" not in str(request.system)
            assert "That's private" not in str(request)
            assert "and here" not in str(request)


async def test_a_queued_message_uses_the_presence_at_its_turns_start(
    tmp_path: Path,
) -> None:
    chat = FakeChat(people=1)
    gate = Gate()
    model = FakeModel([gate.hold, *say("First.")], say("Second."))
    async with shared_harness(tmp_path, model, chat) as here:
        await agree(here)
        fields = {"user": "ann", "chat": "den", "direct": False}
        await chat.says("a secret", **fields)
        await gate.reached.wait()
        await chat.says("/queue what now?", **fields)
        await here.harness.until(here.harness.gateway.router.is_idle)
        chat.people = 2
        gate.open.set()
        await chat.sees_text("Second.")
        await here.harness.at_rest()
        first, second = model.requests
        assert "a secret" in str(first)
        assert [message.text for message in second.messages] == ["what now?"]
        assert "room" in second.tools[0].description


async def test_in_a_shared_room_messages_have_names(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hello")
        await here.make_owner("ann")
        await here.says("ann", "/room room", room="den")
        await here.says("ann", "I bring cake", room="den")
        (asked, *_) = await here.asks("bob", "who brings what?", room="den")
        facts = [part.text for m in asked.messages if m.role == "user" for part in m.parts[:1]]
        names = [[line for line in text.splitlines() if "From:" in line] for text in facts]
        assert names == [['From: "ann"'], ['From: "bob"']]
        assert "I bring cake" in str(asked.messages)
        (afresh, *_) = await here.asks("bob", "in private")
        assert "cake" not in str(afresh.messages)


async def test_a_silenced_room_answers_only_its_owners_room_command(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hello")
        await here.make_owner("ann")
        await here.says("ann", "/room off", room="den")
        shown = len(here.harness.chat.shown)
        for who, text in (("ann", "hi"), ("bob", "hi"), ("bob", "/room person"), ("ann", "/help")):
            await here.harness.chat.says(text, user=who, chat="den", direct=False)
        await here.harness.at_rest()
        assert len(here.harness.chat.shown) == shown
        said = await here.says("ann", "/room person", room="den")
        assert said.startswith(rooms.MODES["person"]())
        assert await here.asks("bob", "hi", room="den")
