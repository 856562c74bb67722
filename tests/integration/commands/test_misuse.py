"""Messages, presses and commands used against somebody else, and faults around linking."""

import asyncio
from pathlib import Path

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import NewAccount
from agent_core.state.queues import tasks
from gateway.texts import general
from gateway.texts import people as people_texts
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, say
from tests.integration.accounts import LATER, ChatAccount, code_in, count
from tests.integration.harness import Harness, running


def two(harness: Harness) -> tuple[ChatAccount, ChatAccount]:
    return ChatAccount(harness, "1", "Ana"), ChatAccount(harness, "2", "Ana at work")


def find_ana(connection: Connection) -> PersonId:
    """Return the person of user 1."""
    account = people.find_account(connection, platform="fake", user_id="1")
    assert account
    return account.person_id


async def test_a_pending_write_of_a_linked_person_overwrites_no_memory(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        await home.says("/help")
        await work.says("/help")
        for slug, note in (("ana", "Drinks tea"), ("ana-at-work", "Has a desk")):
            folder = tmp_path / "memories" / "people" / slug
            folder.mkdir(parents=True)
            folder.joinpath("MEMORY.md").write_text(f"- {note}\n")
        other = await work.person()
        assert other

        def enqueue(connection: Connection) -> None:
            tasks.enqueue(
                connection,
                kind="memory",
                key="of an unlinking a moment ago",
                person_id=other.id,
                payload=other.slug,
                now=LATER,
            )

        await harness.gateway.database.write("owe", enqueue)
        await home.joins(work)
        await harness.gateway.database.write(
            "due", lambda c: c.execute("UPDATE tasks SET due_at = 0").rowcount
        )
    async with running(tmp_path, FakeModel()) as harness:
        home, _ = two(harness)
        while await count(harness, "tasks", "state <> 'done'"):
            pass
        listed = await home.says("/memory", id="later")
        assert "Drinks tea" in listed
        assert "Has a desk" in listed


async def test_a_forwarded_message_is_no_command_and_no_answer(tmp_path: Path) -> None:
    model = FakeModel(say("That is a code."), say("Somebody agrees."))
    async with running(tmp_path, model) as harness:
        mallory, ana = ChatAccount(harness, "66", "Mallory"), ChatAccount(harness, "1", "Ana")
        code = await mallory.makes_code()
        assert await ana.says(f"/link {code}", forwarded="Mallory") == "That is a code."
        assert mallory.asked() is None
        await mallory.says(f"/link {await ana.makes_code()}")
        assert await ana.says("yes, link them", forwarded="Mallory") == "Somebody agrees."
        assert await mallory.person() != await ana.person()


async def test_a_code_forwarded_to_a_room_is_revoked(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        ana, work = two(harness)
        code = await ana.makes_code()
        room = {"chat": "den", "direct": False, "forwarded": "Ana"}
        assert await work.says(f"/link {code}", **room) == people_texts.LINK_IN_GROUP()
        assert await work.says(f"/link {code}") == general.CODE_INVALID()


async def test_a_forged_press_edits_no_message_without_that_button(tmp_path: Path) -> None:
    chat = FakeChat()
    async with running(tmp_path, FakeModel(say("The answer.")), chat=chat) as harness:
        ana = ChatAccount(harness, "1", "Ana")
        room = {"chat": "den", "direct": False}
        assert await ana.says("hello", **room) == "The answer."
        answer = next(shown for shown in chat.shown if shown.text == "The answer.")
        await chat.press_key("c:whoami", answer.id, user="66", name="Mallory", **room)
        await harness.at_rest()
        assert answer.texts == ["The answer."]


async def test_whoami_in_a_room_names_no_other_account(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        home, work = two(harness)
        await home.says("/help")
        await home.joins(work)
        reported = await home.says("/whoami", chat="den", direct=False)
        assert "Ana at work" not in reported
        assert "“Ana at work” on fake" in await home.says("/whoami")


async def test_nobody_can_move_another_persons_answer(tmp_path: Path) -> None:
    """In a room's shared conversation, to a place that only they can read."""
    released = asyncio.Event()
    model = FakeModel([released.wait, *say("For all of you.")])
    async with running(tmp_path, model) as harness:
        ana = ChatAccount(harness, "1", "Ana")
        await ana.says("/help")
        await harness.gateway.database.write(
            "owner", lambda c: people.make_owner(c, person_id=find_ana(c))
        )
        harness.gateway.forget_known()
        room: dict[str, object] = {"chat": "den", "direct": False}
        await ana.says("/room room", **room)
        await harness.chat.says("a long one", user="1", name="Ana", **room)
        await harness.until(lambda: model.streaming == 1)
        await harness.chat.says("/here", user="2", name="Bob", ticket="for Bob alone", **room)
        refused = await harness.chat.sees_text(general.MOVE_NOT_YOURS())
        assert refused.ticket == "for Bob alone"
        released.set()
        answer = await harness.chat.sees_text("For all of you.")
        assert answer.ticket is None


async def test_an_account_linked_elsewhere_is_not_called_back(
    tmp_path: Path,
) -> None:
    """Two accounts of Ana were linked to Kim; one was unlinked and is now linked to Zoe."""
    async with running(tmp_path, FakeModel()) as harness:
        kim, zoe = ChatAccount(harness, "10", "Kim"), ChatAccount(harness, "11", "Zoe")
        first, second = two(harness)
        for sender in (kim, zoe, first):
            await sender.says("/help")
        ana = await first.person()
        assert ana
        account = NewAccount(platform="fake", user_id="2", display_name="Ana", admitted_by="list")
        await harness.gateway.database.write(
            "attach", lambda c: people.attach_account(c, account, person_id=ana.id, now=0)
        )
        await kim.joins(first)
        await kim.says("/unlink fake:1")
        assert await first.person() == ana
        await zoe.joins(first)
        await kim.says("/unlink fake:2")
        other = await second.person()
        assert other
        assert other.id != ana.id
        assert await first.person() == await zoe.person()
        assert await count(harness, "people", "joined_to IS NOT NULL") == 1


async def test_a_strangers_name_is_no_markdown_for_the_owner(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(), TALARIA_ACCESS__ALLOW="fake:1") as harness:
        ana = ChatAccount(harness, "1", "Ana")
        await ana.says("/help")
        await harness.gateway.database.write(
            "owner", lambda c: people.make_owner(c, person_id=find_ana(c))
        )
        harness.gateway.forget_known()
        mallory = ChatAccount(harness, "66", "[your code](https://evil.example)")
        code = code_in(await mallory.says("hello"))
        reported = await ana.says(f"/approve {code}")
        assert reported.startswith("`[your code](https://evil.example)`")
