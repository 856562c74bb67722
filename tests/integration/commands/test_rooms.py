"""/room, /memory and /share: what they show, who may use them, and what they record."""

from pathlib import Path

from agent_core.state.engine.database import Connection
from agent_core.state.memory import shares
from agent_core.state.memory.shares import Share
from agent_core.state.people import audit, people, rooms
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.rooms import Mode
from gateway.texts import general
from gateway.texts import rooms as rooms_texts
from tests.fakes.chat import FakeChat
from tests.integration.shared_harness import SharedHarness, shared_harness
from tests.tables import await_each


async def list_audited(here: SharedHarness, who: str) -> list[AuditEntry]:
    """Return the audit rows of a person, or of a room of this name, oldest first."""

    def look(connection: Connection) -> list[AuditEntry]:
        person = people.find_by_account(connection, platform="fake", user_id=who)
        room = rooms.find(connection, platform="fake", chat_id=who)
        about = person.id if person else room.person_id if room else None
        assert about
        listed = audit.list_of(connection, person_id=about, limit=20)[::-1]
        return [one for one in listed if not one.action.startswith("deed")]

    return await here.harness.read(look)


async def shared(here: SharedHarness, who: str) -> list[Share]:
    def look(connection: Connection) -> list[Share]:
        person = people.find_by_account(connection, platform="fake", user_id=who)
        assert person
        return shares.list_of(connection, person_id=person.id)

    return await here.harness.read(look)


async def test_room_shows_settings_that_only_owners_change(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        said = await here.says("ann", "/room", room="den")
        assert said.startswith("Everyone has a separate conversation with me here (/room person)")
        assert "To change this" not in said
        assert await here.says("ann", "/room off", room="den") == rooms_texts.ONLY_OWNER_SETS()
        said = await here.says("ann", "/room full", room="den")
        assert said == rooms_texts.ONLY_OWNER_OR_CREATOR()
        assert await here.says("ann", "/room") == rooms_texts.ONLY_IN_ROOMS()

        await here.make_owner("ann")
        assert "To change this" in await here.says("ann", "/room", room="den")
        assert await here.says("ann", "/room loud", room="den") == rooms_texts.MODE_UNKNOWN()
        modes: tuple[Mode, ...] = ("room", "off", "person")
        for mode in modes:
            said = await here.says("ann", f"/room {mode.upper()}", room="den")
            assert said == rooms_texts.MODES[mode]()
            assert f"/room {mode}" in await here.says("ann", "/room", room="den")
        done = await list_audited(here, "den")
        assert [(deed.actor, deed.action) for deed in done] == [
            ("account:fake:ann", "room.mode")
        ] * 3
        assert [deed.detail for deed in done] == [
            "person -> room",
            "room -> off",
            "off -> person",
        ]


async def test_room_full_asks_and_another_choice_withdraws_the_question(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path, chat=FakeChat(people=1)) as here:
        await here.says("ann", "hello")
        await here.make_owner("ann")
        assert await here.says("ann", "/room full", room="den") == rooms_texts.FULL_QUESTION()
        await here.says("ann", "/room person", room="den")
        question = await here.harness.chat.sees_text(rooms_texts.FULL_QUESTION())
        await here.harness.chat.until(lambda: not question.keyboard)
        assert general.QUESTION_OVER() in question.text
        await here.says("ann", "/room full", room="den")
        await here.harness.chat.press(rooms_texts.FULL_YES(), user="ann", direct=False)
        await here.harness.chat.sees_text(rooms_texts.FULL_OPENED())
        assert "/room full" in await here.says("ann", "/room", room="den")
        await here.says("ann", "/room person", room="den")
        assert [deed.detail for deed in await list_audited(here, "den")] == [
            "person -> person",
            "person -> full",
            "full -> person",
        ]


async def test_memory_shows_both_lists_with_their_visibility(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        assert await here.says("ann", "/memory") == rooms_texts.MEMORY_EMPTY()
        here.remember("ann", "Has a cat", "Has a dog", "Has a debt")
        await here.says("ann", "/memory")
        await here.says("ann", "/share 2")
        await here.says("ann", "/share 3", room="den")
        said = await here.says("ann", "/memory")
        assert said.splitlines()[:4] == [
            "**Notes**",
            "- 2: Has a cat (everyone)",
            "- 3: Has a dog (“Den”)",
            "- 4: Has a debt (private)",
        ]
        assert await here.says("ann", "/memory", room="den") == rooms_texts.MEMORY_EMPTY_HERE()
        assert await here.says("bob", "/memory") == rooms_texts.MEMORY_EMPTY()


async def test_forget_drops_only_the_numbered_entry(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hello")
        here.remember("ann", "Has a cat", "Has a dog")
        await here.says("ann", "/memory")
        assert await here.says("ann", "/memory forget 2") == "Deleted: Has a cat"
        unknown = rooms_texts.NUMBER_UNKNOWN(number=2)
        assert await here.says("ann", "/memory forget 2") == unknown
        assert await here.says("ann", "/memory forget") == rooms_texts.MEMORY_USAGE()
        path = tmp_path / "memories" / "people" / "ann" / "MEMORY.md"
        assert path.read_text() == "- Has a dog\n"


async def test_share_in_a_room_does_not_print_the_entry(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hello")
        here.remember("ann", "Has a canary")
        for text in ("/share 2", "/share 2 here", "/share 2 private", "/share 8", "/share 2 loud"):
            assert "canary" not in await here.says("ann", text, room="den")
        assert await shared(here, "ann") == []
        assert [deed.action for deed in await list_audited(here, "ann")] == [
            "memory.share",
            "memory.share",
            "memory.hide",
        ]


async def test_an_unclear_choice_shares_nothing(tmp_path: Path) -> None:
    rows = [
        ("/share", "", rooms_texts.NUMBER_MISSING()),
        ("/share it", "", rooms_texts.NUMBER_MISSING()),
        ("/share -1", "", rooms_texts.NUMBER_MISSING()),
        ("/share 99", "", rooms_texts.NUMBER_UNKNOWN(number=99)),
        ("/share 1 kitchen", "", rooms_texts.AUDIENCE_UNKNOWN(number=1)),
        ("/share 1 everyone", "den", rooms_texts.AUDIENCE_UNKNOWN(number=1)),
    ]
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hello")
        here.remember("ann", "Has a cat")

        async def check(row: tuple[str, str, str]) -> None:
            text, room, said = row
            assert await here.says("ann", text, room=room) == said
            assert await shared(here, "ann") == []

        await await_each(rows, check)


async def test_nobody_shares_another_persons_entry(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hello")
        here.remember("ann", "Has a cat")
        await here.says("ann", "/memory")
        said = await here.says("bob", "/share 1", room="den")
        assert said == rooms_texts.NUMBER_UNKNOWN(number=1)
        assert await shared(here, "ann") == await shared(here, "bob") == []


async def test_retry_and_status_use_the_rooms_conversation(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hello")
        await here.make_owner("ann")
        await here.says("ann", "/room room", room="den")
        await here.says("bob", "one", room="den")
        await here.says("ann", "/status", room="den")
        assert (await here.harness.chat.sees_text("Messages: 2")).chat_id == "ann"
        assert await here.says("ann", "/retry", room="den") == general.RETRY_NOTHING()
        (asked, *_) = await here.asks("bob", "/retry", room="den")
        assert [m.text for m in asked.messages if m.role == "user"] == ["one", "one"]
