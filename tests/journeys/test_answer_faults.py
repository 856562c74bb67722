"""Faults in the middle of an answer, and odd answers of the model."""

import asyncio
import re

import pytest

from tests.emulators import telegram_faults as faults
from tests.emulators.pictures import make_png
from tests.emulators.streaming import Fault
from tests.emulators.telegram_cast import ANNA, BEN
from tests.emulators.telegram_media import photo
from tests.journeys.stage import Stage, call, calls, facts, heard, results, system_of
from tests.patience import PATIENCE
from tests.tables import await_each

TALE = " ".join(f"word{number}" + "." * (number % 5 == 4) for number in range(80))


def write_slowly(stage: Stage) -> None:
    stage.model.pace, stage.model.deltas = 0.03, 45
    stage.plan(TALE)


INVISIBLE = (
    *("\u200b", "![]()", "<!-- -->", "```\n```", "---", "\x00", "&nbsp;", "[](x)", "> ", "-", "**"),
)


async def test_an_invisible_answer_gets_a_notice(stage: Stage) -> None:
    async with stage.open() as harness:

        async def check(answer: str) -> None:
            stage.plan(answer)
            assert await harness.ask(ANNA, "say nothing")
            assert await harness.ask(ANNA, "hello") == "echo: hello"

        await await_each(INVISIBLE, check)


async def test_a_huge_answer_arrives_whole_and_in_order(stage: Stage) -> None:
    words = [f"word{number}" for number in range(10_000)]
    stage.plan(" ".join(words))
    async with stage.open() as harness:
        reported = await harness.ask(ANNA, "a book, please")
        assert reported.split() == words
        assert await harness.ask(BEN, "hello") == "echo: hello"


async def test_a_deleted_live_message_is_sent_again(stage: Stage) -> None:
    write_slowly(stage)
    async with stage.open(TALARIA_TELEGRAM__EDIT_INTERVAL="0.1") as harness:
        await stage.telegram.says(ANNA, "tell me a tale")
        first = await harness.sees(ANNA, "word0")
        stage.telegram.world.delete({"chat_id": ANNA, "message_id": first.message_id})
        await harness.at_rest()
        assert stage.telegram.texts(ANNA) == [TALE]


async def test_edits_that_fail_leave_one_whole_message(stage: Stage) -> None:
    write_slowly(stage)
    for fault in (faults.LOSE, faults.retry_after(1), faults.DROP):
        stage.telegram.fail("editMessageText", kind=fault)
    async with stage.open(TALARIA_TELEGRAM__EDIT_INTERVAL="0.1") as harness:
        await stage.telegram.says(ANNA, "tell me a tale")
        await harness.sees(ANNA, TALE)
        await harness.at_rest()
        assert stage.telegram.texts(ANNA) == [TALE]


async def test_messages_sent_together_get_one_answer(stage: Stage) -> None:
    async with stage.open() as harness:
        release = stage.hold()
        await stage.telegram.says(BEN, "hold the line")
        for words in ("I have", "three", "wishes"):
            await stage.telegram.says(ANNA, words)
        await harness.until(lambda: not stage.telegram.pending and harness.gateway.router.is_idle())
        release.set()
        await harness.at_rest()
        said = "\n".join(stage.telegram.texts(ANNA))
        assert said.count("three") == 1
        assert [heard(b) for b in stage.turns if "wishes" in heard(b)][-1] == [
            "I have",
            "three",
            "wishes",
        ]


async def test_stop_ends_a_wait_for_a_busy_provider(stage: Stage) -> None:
    stage.plan(Fault(status=529, error="overloaded_error", retry_after="50"))
    async with stage.open() as harness:
        await stage.telegram.says(ANNA, "hello?")
        await harness.until(lambda: len(stage.turns) == 1)
        assert await harness.ask(ANNA, "/stop") == "(Stopped.)"
        assert await harness.ask(ANNA, "hello") == "echo: hello"


async def test_a_conversation_gets_a_title(stage: Stage) -> None:
    async with stage.open() as harness:
        for words in ("one", "two", "three"):
            await harness.ask(ANNA, words)
    async with stage.open() as harness:
        await harness.until(lambda: any("tools" not in body for body in stage.model.requests))
        async with asyncio.timeout(PATIENCE):
            while "A talk" not in await harness.ask(ANNA, "/status"):
                pass
    (asked,) = [body for body in stage.model.requests if "tools" not in body]
    assert asked["model"] == "claude-haiku-5-5"


@pytest.mark.parametrize("spoil", ["lost", "garbage", "emptied", "a folder"])
async def test_a_corrupt_memory_file_stops_no_conversation(stage: Stage, spoil: str) -> None:
    path = stage.home / "memories" / "people" / "anna" / "USER.md"

    def ruin() -> None:
        path.unlink()
        match spoil:
            case "garbage":
                path.write_bytes(b"\xff\xfe\x00- \x80\x81\n" * 100)
            case "emptied":
                path.write_bytes(b"")
            case "a folder":
                path.mkdir()

    async with stage.open() as harness:
        stage.plan(calls(call("memory", action="add", target="user", text="Sings")), "Kept.")
        await harness.ask(ANNA, "I sing")
        await asyncio.to_thread(ruin)
        await harness.ask(ANNA, "/new")
        assert await harness.ask(ANNA, "hello") == "echo: hello"
        if spoil == "lost":
            assert "- Sings" in system_of(stage.turns[-1])
        stage.plan(calls(call("memory", action="add", target="user", text="Dances")), "Tried.")
        told = await harness.ask(ANNA, "I dance")
        assert told == ("Tried." if spoil == "a folder" else "Tried.\n\n📝 Remembered: Dances")
        (result,) = results(stage.turns[-1])
        assert ("Nothing was changed" in result) is (spoil == "a folder")


async def test_the_caption_and_pictures_of_an_album_get_one_answer(stage: Stage) -> None:
    async with stage.open() as harness:
        released = stage.hold()
        for number in range(3):
            stage.telegram.world.contents[f"p{number}-1280"] = make_png(fill=number)
            fields = photo(file_id=f"p{number}") | {"media_group_id": "7"}
            if number == 0:
                fields["caption"] = "my holidays"
            await harness.notes(stage.telegram.says(ANNA, None, **fields))
        await harness.until(harness.gateway.router.is_idle)
        released.set()
        await harness.at_rest()
        assert len(stage.telegram.texts(ANNA)) == 1
    messages = stage.turns[-1]["messages"]
    shown = [block["type"] for message in messages for block in message["content"]]
    assert shown.count("image") == 3
    assert "my holidays" in heard(stage.turns[-1])


async def test_missing_pictures_are_reported_and_their_caption_answered(
    stage: Stage,
) -> None:
    async with stage.open() as harness:
        said = await harness.ask(ANNA, None, caption="my holidays", **photo(file_id="gone"))
        assert "echo: my holidays" in said
        assert "can no longer be downloaded" in said


async def test_the_facts_have_the_time_in_the_persons_zone(stage: Stage) -> None:
    async with stage.open(TALARIA_PEOPLE__TIME_ZONE="Pacific/Auckland") as harness:
        await harness.ask(ANNA, "what day is it?")
        assert "Time zone: Auckland" in await harness.ask(ANNA, "/whoami")
    reported = facts(stage.turns[-1])
    assert re.search(
        r"Now: \w+day \d{4}-\d\d-\d\d \d\d:\d\d, Pacific/Auckland \(\+1[23]00\)", reported
    )
    assert 'From: "Anna", app language en' in reported
