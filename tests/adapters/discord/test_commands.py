"""Slash commands, where the bot is a member and where it is only user-installed."""

from dataclasses import replace

import pytest

from adapters.abilities import MenuEntry
from adapters.discord import interactions
from adapters.errors import ChatGone, RateLimited, Unsure
from adapters.messages import Button, OutboundFile
from tests.adapters.discord.rig import ANNA, direct, hears, presses, queued, room, running, until
from tests.emulators import discord_faults as faults
from tests.emulators.discord import DiscordEmulator
from tests.emulators.discord_rules import Refusal
from tests.emulators.discord_shapes import EPHEMERAL
from tests.fakes.inlet import FakeInlet

MENU = [
    MenuEntry(name="help", description="What I can do"),
    MenuEntry(name="stop", description="Stop the running turn"),
]


async def test_an_unchanged_menu_is_published_once(api: DiscordEmulator, inlet: FakeInlet) -> None:
    def puts() -> int:
        return sum(method == "PUT" and path.endswith("/commands") for method, path in api.calls)

    for _ in range(2):
        async with running(api, inlet) as adapter:
            await adapter.show_menu(MENU)
            await adapter.show_menu(MENU[::-1])
    assert puts() == 1
    assert {one["name"] for one in api.synced_commands()} == {"help", "stop"}
    async with running(api, inlet) as adapter:
        await adapter.show_menu([*MENU, MenuEntry(name="new", description="Start anew")])
    assert (puts(), len(api.synced_commands())) == (2, 3)


async def test_a_command_is_stored_and_then_deferred_ephemerally(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api, inlet) as adapter:
        answered: list[int] = []
        inlet.before = lambda: answered.append(sum(len(i.answers) for i in api.interactions))
        inlet.refusals = 1
        used = await api.commands(ANNA, "goal", channel=channel, options={"text": "tidy up"})
        heard = await hears(adapter, inlet)
        assert (heard.text, heard.address) == ("/goal tidy up", room(channel))
        assert set(answered) == {0}
        assert len(answered) >= 2
        await until(lambda: bool(api.interaction(used).answers))
        (answer,) = api.interaction(used).answers
        assert (answer.type, answer.flags & EPHEMERAL, answer.content) == (5, EPHEMERAL, None)
        await adapter.react(heard.address, heard.message_id, seen=True)
        assert heard.reply_address
        await adapter.send(queued(heard.reply_address, "done", reply_to=heard.message_id))
        await adapter.send(queued(heard.reply_address, "and more", "k2"))
        assert [one.content for one in api.ephemerals(ANNA)] == ["done", "and more"]
        assert api.texts(channel) == []
        await adapter.send(queued(heard.address, "the answer", "k3", reply_to=heard.message_id))
        assert api.texts(channel) == ["the answer"]


async def test_a_command_in_the_direct_chat_is_a_message_there(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet) as adapter:
        await api.commands(ANNA, "stop")
        heard = await hears(adapter, inlet)
        assert (heard.text, heard.address) == ("/stop", direct(api))
        assert heard.reply_address
        assert heard.reply_address.is_direct
        sent = await adapter.send(queued(heard.reply_address, "Stopped."))
        await adapter.send(queued(heard.reply_address, "Anything else?", "k2"))
        await adapter.edit(queued(heard.reply_address, "It's stopped."), sent)
        assert api.texts(api.dm(ANNA)) == ["It's stopped.", "Anything else?"]
        assert await adapter.find(queued(heard.reply_address, "It's stopped."), []) == sent


async def test_a_reply_that_comes_too_late_is_a_message_of_the_direct_chat(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet) as adapter:
        late = replace(direct(api), ticket=f"{1 << 22}:token")
        await adapter.send(queued(late, "Better late"))
        assert api.texts(api.dm(ANNA)) == ["Better late"]
        with pytest.raises(Unsure):
            await adapter.find(queued(late, "Better late"), [])


async def test_for_a_user_install_the_deferred_reply_becomes_the_answer(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet) as adapter:
        used = await api.commands(ANNA, "help", is_user_install=True)
        place = api.interaction(used).channel_id
        heard = await hears(adapter, inlet)
        assert heard.address.ticket
        assert await adapter.count_people(heard.address) is None
        await adapter.type(heard.address)
        await adapter.react(heard.address, heard.message_id, seen=True)
        first = await adapter.send(queued(heard.address, "One mo", reply_to=heard.message_id))
        await adapter.edit(queued(heard.address, "One moment"), first)
        second = await adapter.send(queued(heard.address, "And more", "k2"))
        assert [one.content for one in api.ephemerals(ANNA)] == ["One moment", "And more"]
        assert api.texts(place) == []
        assert api.interaction(used).answers[0].type == 5
        await adapter.delete(heard.address, second)
        await adapter.delete(heard.address, second)
        assert [one.content for one in api.ephemerals(ANNA)] == ["One moment"]
        assert api.message(int(first)).flags & 4


async def test_a_ticket_sends_files_and_buttons_and_returns_presses(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    file = OutboundFile(name="a.txt", media_type="text/plain", data=b"abc")
    async with running(api, inlet) as adapter:
        await api.commands(ANNA, "help", is_user_install=True)
        heard = await hears(adapter, inlet)
        asked = await adapter.send(
            queued(heard.address, "Sure?", file=file, buttons=(Button(key="yes", label="Yes"),))
        )
        assert [one["filename"] for one in api.message(int(asked)).attachments] == ["a.txt"]
        await api.presses(ANNA, int(asked), "t:yes")
        await inlet.receives(2)
        (press,) = presses(adapter, inlet)
        assert (press.key, press.message_id) == ("yes", asked)
        await adapter.edit(queued(press.address, "Yes."), asked)
        assert api.message(int(asked)).content == "Yes."
        assert api.message(int(asked)).components == []


@pytest.mark.parametrize("kind", [faults.LOSE, faults.DROP])
async def test_a_deferred_answer_with_unknown_delivery_is_shown_once(
    api: DiscordEmulator, inlet: FakeInlet, kind: faults.Kind
) -> None:
    async with running(api, inlet) as adapter:
        await api.commands(ANNA, "help", is_user_install=True)
        heard = await hears(adapter, inlet)
        message = queued(heard.address, "**Here** you are")
        api.fail("PATCH /webhooks/*/*/messages/*", kind=kind)
        with pytest.raises(Unsure):
            await adapter.send(message)
        found = await adapter.find(message, [])
        assert (found is None) == (kind is faults.DROP)
        if found is None:
            await adapter.send(message)
        assert [one.content for one in api.ephemerals(ANNA)] == ["**Here** you are"]


async def test_follow_ups_of_a_deferred_answer_cannot_be_found(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet) as adapter:
        await api.commands(ANNA, "help", is_user_install=True)
        heard = await hears(adapter, inlet)
        await adapter.send(queued(heard.address, "first"))
        api.fail(faults.FOLLOW_UP, kind=faults.LOSE)
        message = queued(heard.address, "second", "k2")
        with pytest.raises(Unsure):
            await adapter.send(message)
        with pytest.raises(Unsure, match="does not show"):
            await adapter.find(message, [])


async def test_follow_ups_are_shown_once_during_server_errors(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet) as adapter:
        await api.commands(ANNA, "help", is_user_install=True)
        heard = await hears(adapter, inlet)
        await adapter.send(queued(heard.address, "first"))

        async def fail(method: str, path: str) -> None:
            if method == "POST" and path.startswith("/webhooks/"):
                api.hook()
                raise Refusal(502, 0, "Bad Gateway")  # it was sent nevertheless

        api.hook(after=fail)
        with pytest.raises(Unsure, match="502"):
            await adapter.send(queued(heard.address, "second", "k2"))
        posts = [path for method, path in api.calls if method == "POST" and "/webhooks/" in path]
        assert len(posts) == 1


async def test_a_commands_token_is_not_logged(
    api: DiscordEmulator, inlet: FakeInlet, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(api, inlet) as adapter:
        await api.commands(ANNA, "help", is_user_install=True)
        heard = await hears(adapter, inlet)
        await adapter.send(queued(heard.address, "first"))
        api.fail(faults.FOLLOW_UP, kind=faults.LIMIT, retry_after=9)
        with pytest.raises(RateLimited):
            await adapter.send(queued(heard.address, "second", "k2"))
    assert heard.address.ticket
    assert heard.address.ticket.partition(":")[2] not in caplog.text


async def test_an_expired_ticket_is_an_unreachable_chat(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet) as adapter:
        address = direct(api)
        old = type(address)(chat_id="1", is_direct=False, ticket=f"{1 << 22}:token")
        with pytest.raises(ChatGone, match="15 minutes"):
            await adapter.send(queued(old, "too late"))
        unknown = type(address)(chat_id="1", is_direct=False, ticket=f"{api.dm(ANNA)}:token")
        assert interactions.names_no_message("i5")
        with pytest.raises(ChatGone):
            await adapter.send(queued(unknown, "who?"))


async def test_a_late_acknowledgement_does_no_harm(api: DiscordEmulator, inlet: FakeInlet) -> None:
    api.interaction_deadline = 0.0
    async with running(api, inlet) as adapter:
        await api.commands(ANNA, "stop")
        heard = await hears(adapter, inlet)
        await until(lambda: any(path.endswith("/callback") for _, path in api.calls))
        await adapter.send(queued(heard.address, "stopped"))
        await api.says(ANNA, "thanks")
        await inlet.receives(2)


async def test_a_quick_answer_waits_for_its_deferral(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    api.fail(faults.CALLBACK, kind=faults.SLOW, seconds=0.1)
    async with running(api, inlet) as adapter:
        await api.commands(ANNA, "help", is_user_install=True)
        heard = await hears(adapter, inlet)
        await adapter.send(queued(heard.address, "at once"))
        assert [one.content for one in api.ephemerals(ANNA)] == ["at once"]
