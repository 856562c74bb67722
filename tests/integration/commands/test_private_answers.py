"""Commands that others must not read, and strangers' messages, which are not stored."""

from pathlib import Path

import pytest

from agent_core.state.conversations import approvals
from agent_core.state.conversations.approvals import NewApproval
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from gateway.commands.catalog import COMMANDS
from gateway.texts import approvals as approval_texts
from gateway.texts import general
from gateway.texts import rooms as room_texts
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, say
from tests.integration.harness import running
from tests.integration.shared_harness import shared_harness

SHAPE = '["run","command","default","echo"]'
PRIVATE = {"/status": "Model: ", "/usage": "Today", "/whoami": "ann", "/context": ""}


@pytest.mark.parametrize("command", PRIVATE)
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
        assert PRIVATE[command] in shown["ann"]


@pytest.mark.parametrize(
    "command", [one.name for one in COMMANDS if one.is_direct_only and not one.owner_only]
)
async def test_a_command_for_the_direct_chat_is_refused_in_a_room(
    tmp_path: Path, command: str
) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hello")
        count = len(here.harness.chat.shown)
        refused = await here.says("ann", f"/{command}", room="den")
        assert refused == room_texts.ONLY_IN_DIRECT()
        assert len(here.harness.chat.shown) == count + 1


async def test_a_private_command_in_a_room_takes_effect_and_shows_its_buttons(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path) as here:
        chat = here.harness.chat
        await here.says("ann", "hello")
        await here.harness.gateway.database.write("allow", allow_running)
        count = len(chat.shown)
        for command in ("/approvals", "/approvals revoke 1", "/approvals"):
            assert await here.says("ann", command, room="den") == room_texts.ANSWERED_IN_DIRECT()
        listed, revoked, emptied = [one for one in chat.shown[count:] if one.chat_id == "ann"]
        assert listed.labels == [approval_texts.REVOKE_NUMBER(number=1)]
        assert revoked.text == approval_texts.describe_revoked(SHAPE)
        assert emptied.text == approval_texts.NOTHING_ALLOWED()


def allow_running(connection: Connection) -> None:
    ann = people.find_by_account(connection, platform="fake", user_id="ann")
    assert ann
    approval = NewApproval(person_id=ann.id, decided_by=ann.id, scope="always", subject=SHAPE)
    approvals.insert(connection, approval, now=1)


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
            await chat.until(lambda count=number: len(chat.shown) > count)
        assert {one.ticket: one.text for one in chat.shown} == {
            "t0": general.describe_stranger(None, {}),
            "t1": general.STRANGER_AGAIN(),
            "t2": general.STRANGER_AGAIN(),
        }


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


async def test_a_switch_without_a_word_says_in_a_room_what_it_set(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", "hello")
        assert "Every step" in await here.says("ann", "/verbose", room="den")
        assert "Progress if it takes long" in await here.says("ann", "/verbose", room="den")
