"""/why and /undo: an entry's evidence, and its undo, in private and in rooms."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.models.contract import ModelRequest, TextDelta
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.state.people import people, rooms
from agent_core.transcript import TextPart
from gateway.texts import memory, privacy
from gateway.texts import rooms as rooms_texts
from gateway.texts.undo import BRING_BACK
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, finish
from tests.integration.accounts import ChatAccount
from tests.integration.harness import running
from tests.integration.memory.noter import Noter
from tests.integration.shared_harness import SharedHarness, shared_harness
from tests.tables import await_each


def note(text: str, **fields: str) -> str:
    """Return a text that makes the model note something."""
    return "Mind this: " + json.dumps({"action": "add", "target": "memory", "text": text} | fields)


def reword(old: str, text: str) -> str:
    return note(text, action="replace", old=old)


async def rows(here: SharedHarness, who: str = "ann") -> list[LedgerEntry]:
    def look(connection: Connection) -> list[LedgerEntry]:
        person = people.find_by_account(connection, platform="fake", user_id=who)
        assert person
        return ledger.find_entries(connection, person_id=person.id, target="memory")

    return await here.harness.read(look)


def memory_of(home: Path, who: str = "ann") -> str:
    path = home / "memories" / "people" / who / "MEMORY.md"
    return path.read_text() if path.exists() else ""


async def test_why_shows_the_message_and_all_that_was_changed(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a cat"))
        await here.says("ann", reword("cat", "Has a cat called Tom"))
        here.remember("ann", "Has an old cat called Tom")
        await here.says("ann", "/memory")
        said = (await here.says("ann", "/why 4")).splitlines()
        assert said[0] == "**4:** Has an old cat called Tom"
        assert said[2:4] == ["Where it comes from:", "- by hand in the file, without a message"]
        assert [re.sub(r"(today|yesterday), \d{1,2}:\d\d", "then", line) for line in said[6:]] == [
            "- 2: then, by me: saved `Has a cat`",
            "- 3: then, by me: changed to `Has a cat called Tom`",
            "- 4: then, by hand in the file: changed to `Has an old cat called Tom`",
        ]


async def test_why_names_who_said_it_and_when(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a cat"))
        said = await here.says("ann", "/why 2")
        assert re.search(r"- You, \w+, \d{1,2}:\d\d, fake: `Mind this: ", said)
        assert "based it on" not in said, "what the message says is not quoted again"


async def test_undo_reverts_a_numbered_change_and_names_the_dependent_ones(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a cat"))
        await here.says("ann", note("Has a dog"))
        await here.says("ann", reword("cat", "Has a cat called Tom"))
        assert (await here.says("ann", "/undo 2")).splitlines() == [
            "↩ Taken back. Removed: Has a cat called Tom",
            "This also removed:",
            "- 4: Has a cat called Tom",
        ]
        assert memory_of(tmp_path) == "- Has a dog\n"
        assert (await here.says("ann", "/undo 5")).splitlines() == [
            "Restored: Has a cat called Tom",
            "This also restored:",
            "- 4: Has a cat called Tom",
        ]
        assert memory_of(tmp_path) == "- Has a cat called Tom\n- Has a dog\n"


async def test_an_undo_of_undos_says_once_what_it_removes_or_restores(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a cat"))
        for number, result in enumerate(("↩ Taken back. Removed", "Restored") * 3, start=2):
            assert await here.says("ann", f"/undo {number}") == f"{result}: Has a cat"


async def test_undo_alone_reverts_changes_from_the_newest_on(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a cat"))
        await here.says("ann", reword("cat", "Has a dog"))
        assert "It now says: Has a cat" in await here.says("ann", "/undo")
        assert "Removed: Has a cat" in await here.says("ann", "/undo")
        assert await here.says("ann", "/undo") == "There's nothing to undo."
        assert memory_of(tmp_path) == ""


async def test_the_next_answer_knows_what_an_undo_or_an_edit_by_hand_removed(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note('the key is "with" Ada'))
        await here.says("ann", "/undo")
        assert news_in(await here.asks("ann", "hi")) == [
            'Gone from memory: ["the key is \\"with\\" Ada"]'
        ]
        assert news_in(await here.asks("ann", "hi again")) == []
        here.remember("ann", "likes tea", "is tall")
        await here.says("ann", "/new")
        assert news_in(await here.asks("ann", "hi")) == []
        here.remember("ann", "likes tea", "is small")
        assert news_in(await here.asks("ann", "hi")) == [
            'New in memory: ["is small"]',
            'Gone from memory: ["is tall"]',
        ]
        here.remember("ann", "likes tea", "is tall")
        assert news_in(await here.asks("ann", "hi")) == [
            'New in memory: ["is tall"]',
            'Gone from memory: ["is small"]',
        ]
        here.remember("ann", "is tall", "likes tea")  # nothing is gone: the order is another one
        assert news_in(await here.asks("ann", "hi")) == []
        here.remember("ann", "is tall", "likes tea", "is tall")
        assert news_in(await here.asks("ann", "hi")) == []
        here.remember("ann", "likes tea", "is tall")
        assert news_in(await here.asks("ann", "hi")) == []
        await here.says("ann", note("", action="remove", old="likes tea"))
        await here.says("ann", "/undo")
        assert news_in(await here.asks("ann", "hi")) == ['New in memory: ["likes tea"]']


async def begin_at_second_attempt(
    here: SharedHarness, text: str, caplog: pytest.LogCaptureFixture, count: int
) -> list[ModelRequest]:
    """Let Ann write a text whose turn begins at its second attempt; return so many requests."""

    def refuse(connection: Connection) -> None:
        connection.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON turns BEGIN SELECT RAISE(ABORT, 'no'); END"
        )

    def allow(connection: Connection) -> None:
        connection.execute("DROP TRIGGER refuse")

    write, requests = here.harness.gateway.database.write, here.model.requests
    before = len(requests)
    await write("refuse", refuse)
    await here.harness.chat.says(text, user="ann", name="ann", chat="ann")
    await here.harness.until(lambda: "a turn waits for the store" in caplog.text)
    await write("allow", allow)
    await here.harness.chat.sees_text("Noted.")
    await here.harness.until(lambda: len(requests) == before + count)
    return requests[before:]


async def test_a_turn_that_begins_at_its_second_attempt_still_knows_what_is_gone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a cat"))
        await here.says("ann", "/undo")
        requests = await begin_at_second_attempt(here, note("Has a dog"), caplog, 3)
        for request in requests[:2]:
            assert news_in([request]) == ['Gone from memory: ["Has a cat"]']


async def test_a_turn_that_begins_at_its_second_attempt_still_shows_long_news(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", "I have a cat")
        boats = [f"Boat {number} is called {'Lina ' * 12}".strip() for number in range(24)]
        here.remember("ann", *boats)
        requests = await begin_at_second_attempt(here, note("Has a dog"), caplog, 3)
        for request in (*requests, *await here.asks("ann", "hi")):
            assert all(one in request.system for one in boats)


async def test_what_was_told_counts_less_than_what_the_conversation_does_later(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a cat"))
        here.remember("ann", "Has a cat", "Has a boat")
        assert news_in(await here.asks("ann", "hi")) == ['New in memory: ["Has a boat"]']
        await here.says("ann", note("", action="remove", old="Has a boat"))
        assert news_in(await here.asks("ann", "hi")) == [], "the conversation removed it itself"
        await here.says("ann", "/undo")
        assert news_in(await here.asks("ann", "hi")) == ['New in memory: ["Has a boat"]']
        await here.says("ann", reword("Has a boat", "Has a red boat"))
        await here.says("ann", "/undo")
        assert news_in(await here.asks("ann", "hi")) == [
            'New in memory: ["Has a boat"]',
            'Gone from memory: ["Has a red boat"]',
        ]
        assert news_in(await here.asks("ann", "hi")) == []


async def test_what_was_forgotten_is_not_reported_as_gone(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a falcon"))
        await here.says("ann", note("Has a dog"))
        await here.says("ann", "/forget falcon")
        await here.harness.chat.press(privacy.FORGET_ALL(), user="ann", name="ann", chat="ann")
        await here.harness.chat.sees_text("Deleted:")
        await here.says("ann", f"/memory forget {await here.number_of('ann', 'Has a dog')}")
        assert news_in(await here.asks("ann", "hi")) == ['Gone from memory: ["Has a dog"]']


def news_in(requests: list[ModelRequest]) -> list[str]:
    """Return what the facts of the newest message report about the person's own memory."""
    (request,) = requests
    (facts, *_) = (part.text for part in request.messages[-1].parts if isinstance(part, TextPart))
    return [
        line for line in facts.splitlines() if re.match(r"(Gone from|New in) (memory|user)", line)
    ]


async def test_undo_twice_is_refused_with_a_sentence(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a cat"))
        await here.says("ann", "/undo 2")
        assert await here.says("ann", "/undo 2") == "Change 2 is already undone."
        assert len(await rows(here)) == 2


async def test_a_dropped_entry_can_be_restored(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a cat"))
        await here.says("ann", "/memory forget 2")
        assert "Restored: Has a cat" in await here.says("ann", "/undo")


async def test_a_dropped_entry_is_explained_and_has_no_undo_button(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a cat"))
        await here.says("ann", "/memory forget 2")
        assert (await here.says("ann", "/why 2")).startswith("**That's no longer in memory.**")
        assert here.harness.chat.shown[-1].labels == []


async def test_an_unclear_request_changes_nothing(tmp_path: Path) -> None:
    rows = [
        ("/why", memory.WHY_USAGE()),
        ("/why it", memory.WHY_USAGE()),
        ("/why -1", memory.WHY_USAGE()),
        ("/why 0", memory.NUMBER_UNKNOWN(number=0)),
        ("/why 99", memory.NUMBER_UNKNOWN(number=99)),
        ("/undo them", memory.UNDO_USAGE()),
        ("/undo 99", memory.NUMBER_UNKNOWN(number=99)),
        ("/undo " + "9" * 40, memory.UNDO_USAGE()),
    ]
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a cat"))

        async def check(row: tuple[str, str]) -> None:
            assert await here.says("ann", row[0]) == row[1]
            assert memory_of(tmp_path) == "- Has a cat\n"

        await await_each(rows, check)


async def test_nobody_explains_or_undoes_another_persons_entry(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a canary"))
        for text in ("/why 2", "/undo 2", "/undo", "/memory"):
            assert "canary" not in await here.says("bob", text)
            assert "canary" not in await here.says("bob", text, room="den")
            assert "canary" not in await here.says("ann", text, room="den")
        assert memory_of(tmp_path) == "- Has a canary\n"


async def test_a_button_below_the_answer_undoes_a_memory(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, Noter()) as harness:
        ann = ChatAccount(harness, "ann", "ann")
        assert await ann.says(note("Has a cat")) == "Noted.\n\n📝 Remembered: Has a cat"
        assert harness.chat.shown[-1].labels == ["Undo"]
        await ann.says("just so")
        assert harness.chat.shown[-1].labels == []
        await ann.presses("Undo")
        assert memory_of(tmp_path) == ""
        assert harness.chat.shown[0].text.startswith("Noted."), "the answer can still be read"
        assert "Removed: Has a cat" in harness.chat.shown[-1].text


async def test_the_button_is_below_a_streamed_answer(tmp_path: Path) -> None:
    chat = FakeChat()
    seen = FakeModel(
        ask(call("memory", '{"action": "add", "target": "memory", "text": "Has a cat"}')),
        [
            TextDelta(text="How nice, "),
            lambda: chat.sees_text("How nice,"),
            TextDelta(text="of course."),
            finish(TextPart(text="How nice, of course.")),
        ],
    )
    async with running(tmp_path, seen, chat=chat) as harness:
        await chat.says("I have a cat")
        answer = await chat.sees_text("How nice, of course.")
        await harness.until(lambda: answer.labels == ["Undo"])
        assert len(answer.texts) > 1


async def test_the_buttons_undo_and_undo_that(tmp_path: Path) -> None:
    async with running(tmp_path, Noter()) as harness:
        ann = ChatAccount(harness, "ann", "ann")
        await ann.says(note("Has a cat"))
        await ann.says("/why 2")
        asked = ann.asked()
        assert asked
        assert asked.labels == [memory.UNDO()]
        await ann.presses(memory.UNDO())
        assert asked.text == "↩ Taken back. Removed: Has a cat"
        assert memory_of(tmp_path) == ""
        await ann.presses(BRING_BACK())
        assert "Restored: Has a cat" in asked.text
        assert "also restored" not in asked.text
        assert asked.labels == [memory.UNDO()]
        assert memory_of(tmp_path) == "- Has a cat\n"


async def test_an_undo_repeated_after_a_crash_happens_once(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a cat"))
        await here.says("ann", note("Has a dog"))
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
    async with shared_harness(tmp_path, Noter(), chat) as here:
        await here.harness.chat.until(lambda: len(chat.shown) == 1)
        assert chat.shown[0].text == first
        assert memory_of(tmp_path) == "- Has a cat\n"


DEN = {"text": "Rent is due"}


async def den_says(here: SharedHarness, who: str, text: str) -> str:
    return await here.says(who, text, room="den")


async def test_a_room_s_memory_is_explained_by_the_names_of_those_who_spoke(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await den_says(here, "ann", "Mind this: " + json.dumps({"action": "add", **DEN}))
        assert "- 2: Rent is due" in await den_says(here, "bob", "/memory")
        said = await den_says(here, "bob", "/why 2")
        assert re.search(r"- “ann”, \w+, \d{1,2}:\d\d, fake: `Mind this: ", said)


async def test_in_a_room_only_the_asker_and_owners_undo_a_change(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("cleo", "hello")
        await here.make_owner("cleo")
        noted = "Mind this: " + json.dumps({"action": "add", **DEN})
        await den_says(here, "ann", noted)
        for text in ("/undo 2", "/undo", "/memory forget 2"):
            assert await den_says(here, "bob", text) == memory.NOT_YOUR_CHANGE()
        assert "Removed: Rent is due" in await den_says(here, "ann", "/undo")
        assert "Restored: Rent is due" in await den_says(here, "ann", "/undo 3")
        assert "Removed: Rent is due" in await den_says(here, "ann", "/undo 2")
        assert await den_says(here, "bob", "/undo 5") == memory.NOT_YOUR_CHANGE()
        assert "Restored: Rent is due" in await den_says(here, "ann", "/undo 5")
        asked = await den_says(here, "cleo", "/undo")
        assert asked.startswith("You've changed nothing here that I can take back.")
        assert "Rent is due\nShall I take that one back?" in asked
        assert "Removed: Rent is due" in await den_says(here, "cleo", "/undo 6")
        path = tmp_path / "memories" / "rooms" / "den" / "MEMORY.md"
        assert path.read_text() == ""


async def test_a_room_without_memory_points_to_the_direct_chat(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a canary"))
        assert await den_says(here, "ann", "/memory") == rooms_texts.MEMORY_EMPTY_HERE()
        assert await den_says(here, "ann", "/undo") == "There's nothing to undo."
        assert "for this group" in await den_says(here, "ann", "/forget")
        assert await den_says(here, "ann", "/memory forget") == memory.ROOM_USAGE()


async def test_private_evidence_is_not_shown_in_a_room(tmp_path: Path) -> None:
    """A room's entry that rests on a private message shows neither it nor its text."""
    async with shared_harness(tmp_path, Noter()) as here:
        await here.says("ann", note("Has a canary"))
        await den_says(here, "ann", "hello")
        (row,) = await rows(here)

        def plant(connection: Connection) -> None:
            den = rooms.find(connection, platform="fake", chat_id="den")
            assert den
            origin = replace(row.origin, call_key=None)
            ledger.record(
                connection,
                person_id=den.person_id,
                target="memory",
                change=replace(row.change, after="Somebody has a pet"),
                origin=origin,
            )

        await here.harness.gateway.database.write("plant", plant)
        said = await den_says(here, "ann", "/why 3")
        assert "Somebody has a pet" in said
        assert "1 message that I don't show here" in said
        assert "canary" not in said
