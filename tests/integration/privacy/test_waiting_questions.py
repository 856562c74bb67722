"""Deletions, exports and unlinking while a turn in a group waits for its person."""

import asyncio
from pathlib import Path

import pytest

from agent_core.errors import LastOwner
from agent_core.localization import Text
from gateway.texts import people as people_texts
from gateway.texts import privacy
from tests.fakes.model import FakeModel, say
from tests.integration.accounts import ChatAccount, count, make_owner, two_accounts
from tests.integration.harness import Harness, running
from tests.integration.privacy.deletions import settled
from tests.integration.privacy.exports import unpack
from tests.integration.questions import QUESTION, ROOM, waiting

ASKED = "Which colour?"


async def wait_in_group(harness: Harness, account: ChatAccount) -> None:
    """Have a turn of a person wait for an answer in a group."""
    await harness.chat.says("paint", user=account.user, name=account.name, **ROOM)
    await waiting(harness, ASKED)


async def says(harness: Harness, account: ChatAccount, text: str, part: str) -> None:
    """Write in the direct chat while a turn waits, and return once `part` is shown there."""
    await harness.chat.says(text, user=account.user, name=account.name, chat=account.user)
    await harness.chat.sees_text(part)


async def presses(harness: Harness, account: ChatAccount, label: str) -> None:
    """Press a button in the direct chat, once it is there, while a turn waits."""

    def is_shown() -> bool:
        asked = account.asked()
        return asked is not None and label in [button.label for button in asked.keyboard]

    await harness.chat.until(is_shown)
    await harness.chat.press(label, user=account.user, name=account.name)


@pytest.mark.parametrize("choice", [privacy.FORGET_ENTRIES, privacy.FORGET_ALL])
async def test_a_waiting_question_is_asked_again_where_words_are_forgotten(
    tmp_path: Path, choice: Text
) -> None:
    async with running(tmp_path, FakeModel(say("Hot."), QUESTION, say("Blue it is."))) as harness:
        ana, _ = two_accounts(harness)
        await ana.says("my oven is hot")
        folder = tmp_path / "memories" / "people" / ana.name.lower()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "MEMORY.md").write_text("- Has an oven\n")
        await wait_in_group(harness, ana)
        await says(harness, ana, "/forget oven", "I found these words")
        await presses(harness, ana, choice())
        await harness.chat.sees_text(privacy.FORGET_AFTER_ANSWER(question=ASKED))
        assert privacy.FORGET_SOON() in [one.text for one in harness.chat.shown]
        await presses(harness, ana, "Blue")
        await settled(harness)
        assert harness.chat.shown[-1].text.startswith("Deleted:")
        is_left = await count(harness, "messages", "text LIKE '%oven%'")
        assert bool(is_left) == (choice is privacy.FORGET_ENTRIES)
        again = [one for one in harness.chat.shown if "First I need" in one.text]
        assert len(again) == 1


async def test_a_person_is_erased_although_a_question_waits(tmp_path: Path) -> None:
    model = FakeModel(say("Hello."), say("Hello."), QUESTION)
    async with running(tmp_path, model) as harness:
        ana, ben = two_accounts(harness)
        await ben.says("hello")
        await make_owner(harness, ben.user)
        await ana.says("hello")
        await wait_in_group(harness, ana)
        await says(harness, ana, "/erase me", privacy.ask_to_erase(None))
        await presses(harness, ana, privacy.ERASE_YES())
        await presses(harness, ana, privacy.ERASE_SURE())
        await harness.chat.sees_text("I'm deleting your data now.")
        await settled(harness)
        assert await ana.person() is None
        assert await count(harness, "questions", "state = 'open'") == 0


async def test_an_erasure_from_the_command_line_stops_what_waits(tmp_path: Path) -> None:
    model = FakeModel(say("Hello."), say("Hello."), QUESTION)
    async with running(tmp_path, model) as harness:
        ana, ben = two_accounts(harness)
        await ben.says("hello")
        await make_owner(harness, ben.user)
        await ana.says("hello")
        await wait_in_group(harness, ana)
        person = await ana.person()
        assert person
        await harness.gateway.data_requests.erasing.erase(person.id)
        assert await ana.person() is None


async def test_a_refused_erasure_stops_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Hello."), QUESTION, say("Blue."))) as harness:
        ana, _ = two_accounts(harness)
        await ana.says("hello")
        await make_owner(harness, ana.user)
        await wait_in_group(harness, ana)
        person = await ana.person()
        assert person
        with pytest.raises(LastOwner):
            await harness.gateway.data_requests.erasing.erase(person.id)
        assert await count(harness, "turns", "state = 'running'") == 1


async def test_an_export_waits_for_no_answer(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Hot."), QUESTION)) as harness:
        ana, _ = two_accounts(harness)
        await ana.says("my oven is hot")
        await wait_in_group(harness, ana)
        await says(harness, ana, "/export", privacy.describe_export(1))
        assert "oven" in "".join(unpack(harness, ana).values())


async def test_unlinking_asks_a_waiting_question_again(tmp_path: Path) -> None:
    model = FakeModel(say("Hello."), say("Hello."), QUESTION, say("Blue it is."))
    async with running(tmp_path, model) as harness:
        ana, ben = two_accounts(harness)
        await ana.says("hello")
        await ben.says("hello")
        await ana.joins(ben)
        await wait_in_group(harness, ana)
        await says(harness, ana, "/accounts keep", people_texts.MERGE_NOTHING())
        await says(harness, ana, "/unlink 2", people_texts.ANSWER_FIRST(question=ASKED))
        await harness.chat.until(lambda: harness.chat.shown[-1].text.startswith(ASKED))
        await presses(harness, ana, "Blue")
        await harness.at_rest()
        assert "separate person" in await ana.says("/unlink 2")


async def test_words_that_wait_for_other_work_are_explained_and_then_deleted(
    tmp_path: Path,
) -> None:
    stuck = asyncio.Event()
    async with running(tmp_path, FakeModel(say("Hot."), [stuck.wait], say("Done."))) as harness:
        ana, _ = two_accounts(harness)
        await ana.says("my oven is hot")
        await harness.chat.says("paint", user=ana.user, name=ana.name, **ROOM)
        await harness.until(lambda: len(harness.model.requests) == 2)
        await says(harness, ana, "/forget oven", "I found these words")
        await presses(harness, ana, privacy.FORGET_ALL())
        await harness.chat.sees_text(privacy.FORGET_AFTER_WORK())
        stuck.set()
        await settled(harness)
        assert any(one.text.startswith("Deleted:") for one in harness.chat.shown)
