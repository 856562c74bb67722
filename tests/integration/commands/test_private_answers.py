"""Private commands are answered in the direct chat, and strangers' messages are not stored."""

from pathlib import Path

import pytest

from agent_core.state.engine.database import Connection
from gateway.texts import general
from gateway.texts import rooms as room_texts
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, say
from tests.integration.harness import running
from tests.integration.shared_harness import shared_harness

COMMANDS = {"/status": "Model: ", "/usage": "Today", "/whoami": "ann", "/context": ""}


@pytest.mark.parametrize("command", COMMANDS)
async def test_a_private_command_in_a_room_is_answered_in_the_direct_chat(
    tmp_path: Path, command: str
) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hello")
        await here.says("ann", "hello all", room="den")
        count = len(here.harness.chat.shown)
        await here.says("ann", command, room="den")
        await here.harness.chat.until(lambda: len(here.harness.chat.shown) >= count + 2)
        shown = {one.chat_id: one.text for one in here.harness.chat.shown[count:]}
        assert shown.keys() == {"den", "ann"}
        assert shown["den"] == room_texts.ANSWERED_IN_DIRECT()
        assert COMMANDS[command] in shown["ann"]


async def test_without_a_direct_chat_the_room_only_learns_that(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        assert await here.says("ann", "/status", room="den") == room_texts.ONLY_IN_DIRECT()


async def test_an_ephemeral_answer_needs_no_direct_chat(tmp_path: Path) -> None:
    chat = FakeChat()
    async with shared_harness(tmp_path, chat=chat) as here:
        fields = {"user": "ann", "name": "ann", "chat": "den", "direct": False, "reply": "t1"}
        await chat.says("/whoami", **fields)
        await chat.until(lambda: bool(chat.shown))
        await here.harness.at_rest()
        assert [(one.chat_id, one.ticket) for one in chat.shown] == [("den", "t1")]
        assert "ann" in chat.shown[0].text


async def test_a_slash_command_without_text_is_answered(
    tmp_path: Path,
) -> None:
    chat = FakeChat()
    async with shared_harness(tmp_path, chat=chat) as here:
        await here.says("ann", "hello")
        fields = {"user": "ann", "name": "ann", "chat": "ann", "reply": "t1"}
        await chat.says("/retry", **fields)
        await chat.until(lambda: len(chat.shown) == 3)
        replies = [one.text for one in chat.shown if one.ticket]
        assert replies == [general.COMMAND_TAKEN()]


async def test_a_strangers_slash_command_is_answered_like_a_message(tmp_path: Path) -> None:
    chat = FakeChat()
    async with running(tmp_path, FakeModel(), chat=chat, TALARIA_ACCESS__ALLOW="fake:ann"):
        for number, place in enumerate(("eve", "den", "den")):
            fields = {"chat": place, "direct": place == "eve", "reply": f"t{number}"}
            await chat.says("/status", user="eve", **fields)
        await chat.until(lambda: len(chat.shown) == 3)
        assert [one.ticket for one in chat.shown] == ["t0", "t1", "t2"]
        first, *later = (one.text for one in chat.shown)
        assert first == general.describe_stranger(None, {})
        assert later == [general.STRANGER_AGAIN()] * 2


def list_payloads(connection: Connection) -> list[str]:
    rows = connection.execute("SELECT payload FROM inbox").fetchall()
    return [row[0] for row in rows]


def list_strangers(connection: Connection) -> list[tuple[str, int]]:
    return connection.execute("SELECT user_id, messages FROM strangers").fetchall()


async def test_messages_of_strangers_and_to_others_are_not_stored(tmp_path: Path) -> None:
    chat, model = FakeChat(), FakeModel(say("Hi."), say("A title."))
    async with running(tmp_path, model, chat=chat, TALARIA_ACCESS__ALLOW="fake:ann") as harness:
        for text in ("my canary", "/claim canary", "/link canary"):
            await chat.says(text, user="eve", chat="eve")
        await chat.says("the canary sings", user="eve", chat="den", direct=False)
        await chat.says("my canary, Ben", user="ann", chat="den", direct=False, addressed=False)
        await chat.says("hello", user="ann", chat="ann")
        await chat.sees_text("Hi.")
        await harness.at_rest()
        assert not any("canary" in payload for payload in await harness.read(list_payloads))
        assert await harness.read(list_strangers) == [("eve", 2)]
