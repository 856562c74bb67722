"""The end of a turn: its text in order, its files once, and nothing else."""

import asyncio
from pathlib import Path

import pytest

from adapters.errors import Unsure
from agent_core.errors import ModelRejected
from agent_core.state.engine.database import Connection
from gateway.texts import general
from tests.fakes.chat import FakeChat, NoFilesChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.accounts import count
from tests.integration.harness import Harness, running
from tests.integration.questions import QUESTION, ROOM, waiting
from tests.integration.shared_harness import shared_harness
from tests.patience import PATIENCE


def write(*names: str) -> FakeModel:
    """Make these files, then answer."""
    calls = [
        call("send_file", f'{{"name": "{name}", "text": "in {name}"}}', f"c{number}")
        for number, name in enumerate(names)
    ]
    return FakeModel(ask(*calls), say("Here they are."))


def seen(chat: FakeChat) -> list[tuple[str, str]]:
    """(text, what is in the file) of every message."""
    return [(one.text, one.file.data.decode() if one.file else "") for one in chat.shown]


async def until_sent(harness: Harness) -> None:
    """Return once nothing is left to send, including retries."""
    async with asyncio.timeout(PATIENCE):
        while await count(harness, "outbox", "state <> 'sent'"):
            await asyncio.sleep(0.002)


async def test_files_follow_the_answer_silently(tmp_path: Path) -> None:
    async with running(tmp_path, write("a.txt", "b.md")) as harness:
        await harness.chat.says("write it down")
        await harness.chat.sees(3)
        await harness.at_rest()
        assert seen(harness.chat) == [("Here they are.", ""), ("", "in a.txt"), ("", "in b.md")]
        assert [one.is_silent for one in harness.chat.shown] == [False, True, True]
        names = [one.file.name for one in harness.chat.shown if one.file]
        assert names == ["a.txt", "b.md"]


async def test_a_failed_turn_still_sends_its_files(tmp_path: Path) -> None:
    async def break_down() -> None:
        raise RuntimeError("a fault that nobody expected")

    model = write("a.txt")
    model.plays[1] = [break_down]
    async with running(tmp_path, model) as harness:
        await harness.chat.says("write it down")
        await harness.chat.sees(2)
        await harness.at_rest()
        assert seen(harness.chat)[1:] == [("", "in a.txt")]


async def test_files_follow_every_part_of_a_long_answer(tmp_path: Path) -> None:
    chat = FakeChat(limit=9)
    async with running(tmp_path, write("a.txt"), chat=chat) as harness:
        await chat.says("write it down")
        await chat.sees(3)
        await harness.at_rest()
        assert seen(chat) == [("Here they", ""), (" are.", ""), ("", "in a.txt")]


@pytest.mark.parametrize("lost", [True, False])
async def test_a_file_with_unknown_delivery_arrives_once(tmp_path: Path, lost: bool) -> None:
    async with running(tmp_path, write("a.txt")) as harness:
        harness.chat.mishaps.extend((None, (Unsure("no answer"), lost)))
        await harness.chat.says("write it down", id="from Ana")
        await harness.chat.sees(2)
        await until_sent(harness)
        assert seen(harness.chat) == [("Here they are.", ""), ("", "in a.txt")]


async def test_files_that_a_killed_process_queued_arrive_once(tmp_path: Path) -> None:
    chat = FakeChat()
    chat.gate = asyncio.Event()
    model = write("a.txt")
    async with running(tmp_path, model, chat=chat, TALARIA_TURNS__DRAIN_SECONDS="0") as harness:
        await chat.says("write it down", id="from Ana")
        await harness.until(lambda: not model.plays)
        await harness.until(harness.gateway.lanes.is_idle)
    assert chat.shown == []
    chat.inlet, chat.gate = None, None
    async with running(tmp_path, FakeModel(), chat=chat) as harness:
        await chat.sees(2)
        await until_sent(harness)
        assert seen(chat) == [("Here they are.", ""), ("", "in a.txt")]


async def test_a_resumed_turn_sends_its_files_once(tmp_path: Path) -> None:
    chat = FakeChat()
    stuck = asyncio.Event()
    model = FakeModel(ask(call("send_file", '{"name": "a.txt", "text": "in a.txt"}')), [stuck.wait])
    async with running(tmp_path, model, chat=chat, TALARIA_TURNS__DRAIN_SECONDS="0") as harness:
        await chat.says("write it down")
        await harness.until(lambda: len(model.requests) == 2)
    chat.inlet = None
    async with running(tmp_path, FakeModel(say("Here they are.")), chat=chat) as harness:
        await chat.sees(2)
        await until_sent(harness)
        assert seen(chat) == [("Here they are.", ""), ("", "in a.txt")]


async def test_without_file_support_the_files_are_named(tmp_path: Path) -> None:
    chat = NoFilesChat()
    async with running(tmp_path, write("a.txt", "b.md"), chat=chat) as harness:
        await chat.says("write it down")
        await chat.sees(2)
        await harness.at_rest()
        assert chat.shown[1].text == general.describe_unsent_files(["a.txt", "b.md"])
        assert chat.shown[1].is_silent


async def test_a_too_large_file_is_reported(tmp_path: Path) -> None:
    chat = FakeChat(most_file_bytes=3)
    async with running(tmp_path, write("a.txt"), chat=chat) as harness:
        await chat.says("write it down")
        await chat.sees_text(general.describe_dead())
        await harness.at_rest()
        assert [one.file for one in chat.shown] == [None, None]


async def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    chat = FakeChat()
    chat.gate = asyncio.Event()
    model = write("a.txt")
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.says("write it down")
        await harness.until(lambda: not model.plays)
        await harness.until(harness.gateway.lanes.is_idle)

        def vanish(connection: Connection) -> None:
            connection.execute("PRAGMA defer_foreign_keys = ON")
            connection.execute("UPDATE outbox SET file_key = NULL")
            connection.execute("DELETE FROM turn_files")
            connection.execute("DELETE FROM files")

        async with asyncio.timeout(PATIENCE):
            while not await count(harness, "outbox", "file_key IS NOT NULL"):
                await asyncio.sleep(0.002)
        await harness.gateway.database.write("vanish", vanish)
        chat.gate.set()
        await chat.sees_text(general.describe_dead())
        await harness.at_rest()
        assert [one.file for one in chat.shown] == [None, None]


async def test_a_stopped_turn_still_sends_its_files(tmp_path: Path) -> None:
    stuck = asyncio.Event()
    model = FakeModel(ask(call("send_file", '{"name": "a.txt", "text": "in a.txt"}')), [stuck.wait])
    async with running(tmp_path, model) as harness:
        await harness.chat.says("write it down")
        await harness.until(lambda: len(model.requests) == 2)
        await harness.chat.says("/stop")
        await harness.chat.sees(2)
        await harness.at_rest()
        assert harness.chat.shown[0].text == general.describe_stop("", ["send_file"])
        assert seen(harness.chat)[1] == ("", "in a.txt")


@pytest.mark.parametrize("word", ["/stop", "/new"])
@pytest.mark.parametrize("done", [[], ["recall"]])
async def test_a_stop_names_only_what_took_effect(
    tmp_path: Path, word: str, done: list[str]
) -> None:
    plays = [ask(call(name, '{"query": "boat"}', "done")) for name in done]
    async with running(tmp_path, FakeModel(*plays, QUESTION)) as harness:
        await harness.chat.says("paint my boat", **ROOM)
        await waiting(harness)
        await harness.chat.says(word, **ROOM)
        await harness.chat.sees_text(general.describe_stop("", done))
        await harness.at_rest()


@pytest.mark.parametrize(
    ("who", "room", "is_told"), [("ann", "", True), ("ann", "den", False), ("bob", "", False)]
)
async def test_the_words_of_a_provider_are_for_an_owner_in_private(
    tmp_path: Path, who: str, room: str, is_told: bool
) -> None:
    model = FakeModel(*[say("Hi.")] * 2)
    async with shared_harness(tmp_path, model) as here:
        for name in ("ann", "bob"):
            await here.says(name, "hello")
        await here.make_owner("ann")
        model.plays = [[ModelRejected("account 4711 may not")] for _ in range(6)]
        told = await here.says(who, "and now?", room=room)
        assert ("account 4711" in told) == is_told
        assert "/retry" in told
