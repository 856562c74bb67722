"""Slash commands, where the bot is a member and where it is only user-installed."""

from dataclasses import replace

import pytest

from adapters.abilities import MenuEntry
from adapters.discord import interactions
from adapters.errors import ChatGone, RateLimited, Unsure
from adapters.messages import Button, OutboundFile
from tests.adapters.discord.rig import ANNA, Rig, direct, queued, room, running
from tests.emulators import discord_faults as faults
from tests.emulators.discord import DiscordEmulator
from tests.emulators.discord_rules import Refusal
from tests.emulators.discord_shapes import EPHEMERAL
from tests.fakes.inlet import FakeInlet
from tests.patience import until

MENU = [
    MenuEntry(name="help", description="What I can do"),
    MenuEntry(name="stop", description="Stop the running turn"),
]


async def test_an_unchanged_menu_is_published_once(api: DiscordEmulator, inlet: FakeInlet) -> None:
    def puts() -> int:
        return sum(method == "PUT" and path.endswith("/commands") for method, path in api.calls)

    for _ in range(2):
        async with running(api, inlet) as rig:
            await rig.adapter.show_menu(MENU)
            await rig.adapter.show_menu(MENU[::-1])
    assert puts() == 1
    assert {one["name"] for one in api.synced_commands()} == {"help", "stop"}
    async with running(api, inlet) as rig:
        await rig.adapter.show_menu([*MENU, MenuEntry(name="new", description="Start anew")])
    assert (puts(), len(api.synced_commands())) == (2, 3)


async def test_a_command_is_stored_and_then_deferred_ephemerally(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api) as rig:
        answered: list[int] = []
        rig.inlet.before = lambda: answered.append(sum(len(i.answers) for i in api.interactions))
        rig.inlet.refusals = 1
        used = await api.commands(ANNA, "goal", channel=channel, options={"text": "tidy up"})
        heard = await rig.hears()
        assert (heard.text, heard.address) == ("/goal tidy up", room(channel))
        assert set(answered) == {0}
        assert len(answered) >= 2
        await until(lambda: bool(api.interaction(used).answers))
        (answer,) = api.interaction(used).answers
        assert (answer.type, answer.flags & EPHEMERAL, answer.content) == (5, EPHEMERAL, None)
        await rig.adapter.react(heard.address, heard.message_id, seen=True)
        assert heard.reply_address
        await rig.adapter.send(queued(heard.reply_address, "done", reply_to=heard.message_id))
        await rig.adapter.send(queued(heard.reply_address, "and more", "k2"))
        assert [one.content for one in api.ephemerals(ANNA)] == ["done", "and more"]
        assert api.texts(channel) == []
        await rig.adapter.send(queued(heard.address, "the answer", "k3", reply_to=heard.message_id))
        assert api.texts(channel) == ["the answer"]


async def test_a_command_in_the_direct_chat_is_a_message_there(rig: Rig) -> None:
    await rig.api.commands(ANNA, "stop")
    heard = await rig.hears()
    assert (heard.text, heard.address) == ("/stop", direct(rig.api))
    assert heard.reply_address
    assert heard.reply_address.is_direct
    sent = await rig.adapter.send(queued(heard.reply_address, "Stopped."))
    await rig.adapter.send(queued(heard.reply_address, "Anything else?", "k2"))
    await rig.adapter.edit(queued(heard.reply_address, "It's stopped."), sent)
    assert rig.api.texts(rig.api.dm(ANNA)) == ["It's stopped.", "Anything else?"]
    assert await rig.adapter.find(queued(heard.reply_address, "It's stopped."), []) == sent


async def test_a_reply_that_comes_too_late_is_a_message_of_the_direct_chat(rig: Rig) -> None:
    late = replace(direct(rig.api), ticket=f"{1 << 22}:token")
    await rig.adapter.send(queued(late, "Better late"))
    assert rig.api.texts(rig.api.dm(ANNA)) == ["Better late"]
    with pytest.raises(Unsure):
        await rig.adapter.find(queued(late, "Better late"), [])


async def test_for_a_user_install_the_deferred_reply_becomes_the_answer(rig: Rig) -> None:
    used = await rig.api.commands(ANNA, "help", is_user_install=True)
    place = rig.api.interaction(used).channel_id
    heard = await rig.hears()
    assert heard.address.ticket
    assert await rig.adapter.count_people(heard.address) is None
    await rig.adapter.type(heard.address)
    await rig.adapter.react(heard.address, heard.message_id, seen=True)
    first = await rig.adapter.send(queued(heard.address, "One mo", reply_to=heard.message_id))
    await rig.adapter.edit(queued(heard.address, "One moment"), first)
    second = await rig.adapter.send(queued(heard.address, "And more", "k2"))
    assert [one.content for one in rig.api.ephemerals(ANNA)] == ["One moment", "And more"]
    assert rig.api.texts(place) == []
    assert rig.api.interaction(used).answers[0].type == 5
    await rig.adapter.delete(heard.address, second)
    await rig.adapter.delete(heard.address, second)
    assert [one.content for one in rig.api.ephemerals(ANNA)] == ["One moment"]
    assert rig.api.message(int(first)).flags & 4


async def test_a_ticket_sends_files_and_buttons_and_returns_presses(api: DiscordEmulator) -> None:
    file = OutboundFile(name="a.txt", media_type="text/plain", data=b"abc")
    async with running(api) as rig:
        await api.commands(ANNA, "help", is_user_install=True)
        heard = await rig.hears()
        asked = await rig.adapter.send(
            queued(heard.address, "Sure?", file=file, buttons=(Button(key="yes", label="Yes"),))
        )
        assert [one["filename"] for one in api.message(int(asked)).attachments] == ["a.txt"]
        await api.presses(ANNA, int(asked), "t:yes")
        await rig.inlet.receives(2)
        (press,) = rig.presses()
        assert (press.key, press.message_id) == ("yes", asked)
        await rig.adapter.edit(queued(press.address, "Yes."), asked)
        assert api.message(int(asked)).content == "Yes."
        assert api.message(int(asked)).components == []


@pytest.mark.parametrize("kind", [faults.LOSE, faults.DROP])
async def test_a_deferred_answer_with_unknown_delivery_is_shown_once(
    rig: Rig, kind: faults.Kind
) -> None:
    await rig.api.commands(ANNA, "help", is_user_install=True)
    heard = await rig.hears()
    message = queued(heard.address, "**Here** you are")
    rig.api.fail("PATCH /webhooks/*/*/messages/*", kind=kind)
    with pytest.raises(Unsure):
        await rig.adapter.send(message)
    found = await rig.adapter.find(message, [])
    assert (found is None) == (kind is faults.DROP)
    if found is None:
        await rig.adapter.send(message)
    assert [one.content for one in rig.api.ephemerals(ANNA)] == ["**Here** you are"]


async def test_follow_ups_of_a_deferred_answer_cannot_be_found(rig: Rig) -> None:
    await rig.api.commands(ANNA, "help", is_user_install=True)
    heard = await rig.hears()
    await rig.adapter.send(queued(heard.address, "first"))
    rig.api.fail(faults.FOLLOW_UP, kind=faults.LOSE)
    message = queued(heard.address, "second", "k2")
    with pytest.raises(Unsure):
        await rig.adapter.send(message)
    with pytest.raises(Unsure, match="does not show"):
        await rig.adapter.find(message, [])


async def test_follow_ups_are_shown_once_during_server_errors(rig: Rig) -> None:
    await rig.api.commands(ANNA, "help", is_user_install=True)
    heard = await rig.hears()
    await rig.adapter.send(queued(heard.address, "first"))

    async def fail(method: str, path: str) -> None:
        if method == "POST" and path.startswith("/webhooks/"):
            rig.api.hook()
            raise Refusal(502, 0, "Bad Gateway")  # it was sent nevertheless

    rig.api.hook(after=fail)
    with pytest.raises(Unsure, match="502"):
        await rig.adapter.send(queued(heard.address, "second", "k2"))
    posts = [path for method, path in rig.api.calls if method == "POST" and "/webhooks/" in path]
    assert len(posts) == 1


async def test_a_commands_token_is_not_logged(
    api: DiscordEmulator, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(api) as rig:
        await api.commands(ANNA, "help", is_user_install=True)
        heard = await rig.hears()
        await rig.adapter.send(queued(heard.address, "first"))
        api.fail(faults.FOLLOW_UP, kind=faults.LIMIT, retry_after=9)
        with pytest.raises(RateLimited):
            await rig.adapter.send(queued(heard.address, "second", "k2"))
    assert heard.address.ticket
    assert heard.address.ticket.partition(":")[2] not in caplog.text


async def test_an_expired_ticket_is_an_unreachable_chat(rig: Rig) -> None:
    address = direct(rig.api)
    old = type(address)(chat_id="1", is_direct=False, ticket=f"{1 << 22}:token")
    with pytest.raises(ChatGone, match="15 minutes"):
        await rig.adapter.send(queued(old, "too late"))
    unknown = type(address)(chat_id="1", is_direct=False, ticket=f"{rig.api.dm(ANNA)}:token")
    assert interactions.names_no_message("i5")
    with pytest.raises(ChatGone):
        await rig.adapter.send(queued(unknown, "who?"))


async def test_a_late_acknowledgement_does_no_harm(api: DiscordEmulator) -> None:
    api.interaction_deadline = 0.0
    async with running(api) as rig:
        await api.commands(ANNA, "stop")
        heard = await rig.hears()
        await until(lambda: any(path.endswith("/callback") for _, path in api.calls))
        await rig.adapter.send(queued(heard.address, "stopped"))
        await api.says(ANNA, "thanks")
        await rig.inlet.receives(2)


async def test_a_quick_answer_waits_for_its_deferral(api: DiscordEmulator) -> None:
    api.fail(faults.CALLBACK, kind=faults.SLOW, seconds=0.1)
    async with running(api) as rig:
        await api.commands(ANNA, "help", is_user_install=True)
        heard = await rig.hears()
        await rig.adapter.send(queued(heard.address, "at once"))
        assert [one.content for one in api.ephemerals(ANNA)] == ["at once"]
