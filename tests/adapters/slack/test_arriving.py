"""Actions in Slack are stored once, in order, before they are acknowledged."""

import pytest

from adapters.abilities import MenuEntry
from adapters.errors import ChatGone, RateLimited, Rejected, Unsure
from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import Button, EmojiReaction, OutboundMessage, Presence
from tests.adapters.slack.rig import ANNA, BERT, Rig, read, read_press, running, to
from tests.emulators import slack_faults as faults
from tests.emulators.slack import SlackEmulator
from tests.fakes.inlet import FakeInlet
from tests.patience import until

YES = Button(key="yes", label="Yes")


async def test_a_mention_is_one_event_although_slack_sends_two(slack: SlackEmulator) -> None:
    room = slack.channel("general", members=(ANNA,))
    async with running(slack) as rig:
        await slack.says(ANNA, "hello", channel=room, mention=True)
        await rig.inlet.is_offered(2)
        (event,) = await rig.inlet.receives(1)
        assert (read(event).text, read(event).is_addressed) == ("hello", True)


async def test_events_repeated_under_other_ids_are_recognised(rig: Rig) -> None:
    for text in ("one", "two"):
        await rig.slack.says(ANNA, text)
    await rig.inlet.receives(2)
    for with_new_event_id in (False, True):
        await rig.slack.redeliver(with_new_event_id=with_new_event_id)
    await rig.inlet.is_offered(6)
    await until(lambda: not rig.slack.unacked())
    assert len(rig.inlet.taken) == 2


async def test_nothing_is_acknowledged_before_it_is_stored(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    acks: list[int] = []
    inlet.before = lambda: acks.append(len(slack.acks))
    async with running(slack, inlet):
        inlet.refusals = 1
        await slack.says(ANNA, "one")
        await slack.wait_for(lambda: slack.acks)
        assert acks == [0, 0]


@pytest.mark.slow
async def test_an_event_not_stored_in_time_is_requested_again(slack: SlackEmulator) -> None:
    slack.redelivers_unacked = False
    async with running(slack) as rig:
        rig.inlet.refusals = 7
        await slack.says(ANNA, "keep me")
        (event,) = await rig.inlet.receives(1)
        assert read(event).text == "keep me"
        assert len(slack.unacked()) == 1
        assert slack.called("conversations.history")
        assert event.position == read(event).message_id
        await slack.says(ANNA, "and me")
        await rig.inlet.receives(2)


async def test_ignored_events_are_acknowledged_too(slack: SlackEmulator) -> None:
    room = slack.channel("general", members=(ANNA,))
    async with running(slack) as rig:
        said = await slack.says(ANNA, "hello", channel=room)
        await slack.reacts(ANNA, room, said, "tada")
        await rig.adapter.send(to(room, "our own words"))
        await slack.deletes(room, said)
        slack.invites_bot(room)
        await rig.inlet.receives(2)
        await slack.wait_for(lambda: not slack.unacked() and len(slack.acks) >= 5)
        assert len(rig.inlet.taken) == 2, "a message between people, and who reacted"


async def test_order_is_kept_over_several_sockets(slack: SlackEmulator) -> None:
    async with running(slack, sockets=3) as rig:
        for number in range(60):
            await slack.says(ANNA, f"number {number}")
        events = await rig.inlet.receives(60)
        assert [read(event).text for event in events] == [f"number {n}" for n in range(60)]


async def test_people_have_their_display_names(slack: SlackEmulator) -> None:
    slack.user(ANNA, "anna", locale="de-DE", real_name="Anna Lee")
    slack.user(BERT, "bert")
    room = slack.channel("general", members=(ANNA, BERT))
    async with running(slack) as rig:
        await slack.says(BERT, "I am here", channel=room)
        await rig.inlet.receives(1)
        await slack.says(ANNA, f"ask <@{slack.user(BERT)}>", channel=room, mention=True)
        found = read((await rig.inlet.receives(2))[1])
        assert (found.sender.display_name, found.sender.username) == ("anna", "anna")
        assert found.sender.language == "de-DE"
        assert (found.text, found.room_title) == ("ask @bert", "general")
        await slack.says(ANNA, "again", channel=room)
        await rig.inlet.receives(3)
        assert len(slack.called("users.info")) == 2


async def test_a_missing_name_delays_little(slack: SlackEmulator) -> None:
    slack.fail("users.info", kind=faults.SLOW, seconds=600)
    async with running(slack) as rig:
        await slack.says(ANNA, "hello")
        (event,) = await rig.inlet.receives(1)
        assert read(event).sender.display_name == f"user {slack.user(ANNA)}"
        await slack.says(ANNA, "and nothing after it")
        await rig.inlet.receives(2)
        assert len(slack.called("users.info")) == 1


async def test_the_words_of_a_command_line_may_be_a_command(slack: SlackEmulator) -> None:
    async with running(slack, sockets=1) as rig:
        menu = [
            MenuEntry(name="new", description="Begin anew"),
            MenuEntry(name="retry", description="Try again", is_transient=True),
        ]
        await rig.adapter.show_menu(menu)
        for text in ("new topic", "retry", "what is new?", ""):
            await slack.commands(ANNA, text)
        found = [read(event) for event in await rig.inlet.receives(4)]
        assert [one.text for one in found] == ["new topic", "retry", "what is new?", "/help"]
        assert all(one.is_command_line for one in found)
        assert [one.reply_address is not None for one in found] == [False, True, False, False]
        assert found[0].address == Address(chat_id=slack.dm(ANNA), is_direct=True)
        await until(lambda: not slack.unacked())


@pytest.mark.parametrize("is_member", [True, False])
async def test_a_command_is_answered_to_the_person_alone(
    slack: SlackEmulator, is_member: bool
) -> None:
    room = slack.channel("elsewhere", members=(ANNA,))
    if not is_member:
        slack.removes_bot(room)
    async with running(slack) as rig:
        await slack.commands(ANNA, "what is up?", channel=room)
        (event,) = await rig.inlet.receives(1)
        address = read(event).address
        assert address.ticket
        assert not address.is_direct
        queued = OutboundMessage(address=address, text="Not", key="k1", is_live=True)
        sent = await rig.adapter.send(queued)
        assert slack.ephemerals(ANNA) == []
        for _ in range(2):
            await rig.adapter.edit(
                OutboundMessage(address=address, text="Not much.", key="k1", buttons=(YES,)), sent
            )
        assert [m.shown for m in slack.ephemerals(ANNA)] == ["Not much."]
        for number in range(4):
            await rig.adapter.send(OutboundMessage(address=address, text="More", key=f"m{number}"))
        with pytest.raises(ChatGone, match="30 minutes"):
            await rig.adapter.send(OutboundMessage(address=address, text="Too much", key="m5"))
        assert slack.called("chat.postMessage") == []
        with pytest.raises(Unsure):
            await rig.adapter.find(queued, [])
        await rig.adapter.type(address)
        await rig.adapter.react(address, sent, seen=True)
        await rig.adapter.delete(address, sent)
        assert await rig.adapter.count_people(address) is None


async def test_a_rate_limited_ephemeral_message_is_not_lost(slack: SlackEmulator) -> None:
    room = slack.channel("elsewhere", members=(ANNA,))
    slack.removes_bot(room)
    async with running(slack) as rig:
        await slack.commands(ANNA, "what is up?", channel=room)
        (event,) = await rig.inlet.receives(1)
        message = to(room, "Not much.", address=read(event).address)
        slack.fail("response_url", kind=faults.LIMIT, retry_after=7)
        with pytest.raises(RateLimited) as reported:
            await rig.adapter.send(message)
        assert reported.value.retry_after == 7
        slack.fail("response_url", kind=faults.ERROR, code="invalid_blocks")
        with pytest.raises(Rejected):
            await rig.adapter.send(message)
        await rig.adapter.send(message)
        assert [m.shown for m in slack.ephemerals(ANNA)] == ["Not much."]


async def test_a_press_on_an_ephemeral_message_is_no_direct_message(slack: SlackEmulator) -> None:
    room = slack.channel("elsewhere", members=(ANNA,))
    slack.removes_bot(room)
    async with running(slack) as rig:
        await slack.commands(ANNA, "ask me", channel=room)
        (event,) = await rig.inlet.receives(1)
        await rig.adapter.send(to(room, "Sure?", address=read(event).address, buttons=(YES,)))
        (whisper,) = slack.ephemerals(ANNA)
        await slack.presses(ANNA, room, whisper.ts, "t:yes")
        pressed = read_press((await rig.inlet.receives(2))[1])
        assert (pressed.key, pressed.address.is_direct) == ("yes", False)
        assert pressed.address.ticket


async def test_the_shortcut_has_its_message(slack: SlackEmulator) -> None:
    room = slack.channel("general", members=(ANNA, BERT))
    async with running(slack) as rig:
        said = await slack.says(BERT, "the old saw", channel=room)
        await rig.inlet.receives(1)
        await slack.shortcut(ANNA, room, said)
        found = read((await rig.inlet.receives(2))[1])
        assert found.quote is not None
        assert (found.quote.text, found.is_addressed) == ("the old saw", True)
        assert found.address.thread_id == said


async def test_an_opened_home_tab_gets_a_replaceable_page(rig: Rig) -> None:
    await rig.slack.opens_home(ANNA)
    (event,) = await rig.inlet.receives(1)
    found = read(event)
    assert found.text == "/home"
    sent = await rig.adapter.send(to("", "# Status\n\nAll well.", address=found.address))
    queued = to("", "# Status\n\nBusy.", address=found.address, buttons=(YES,))
    assert await rig.adapter.find(queued, [sent]) is None
    await rig.adapter.edit(queued, sent)
    home = rig.slack.home(ANNA)
    assert home is not None
    kinds = [block["type"] for block in home["blocks"]]
    assert kinds == ["header", "section", "actions"]
    assert home["blocks"][1]["text"]["text"] == "Busy."
    await rig.slack.presses_home(ANNA, "t:yes")
    pressed = read_press((await rig.inlet.receives(2))[1])
    assert (pressed.address, pressed.message_id) == (found.address, sent)
    await rig.adapter.type(found.address)
    await rig.adapter.delete(found.address, sent)
    assert await rig.adapter.count_people(found.address) == 1


async def test_slacks_own_stop_says_stop(rig: Rig) -> None:
    said = await rig.slack.says(ANNA, "think hard")
    await rig.inlet.receives(1)
    await rig.slack.stops_session(ANNA, rig.slack.dm(ANNA), said)
    first, second = await rig.inlet.receives(2)
    assert read(second).text == "/stop"
    assert read(second).address == read(first).address


async def test_reactions_to_the_bots_words_by_other_names_show_who_is_there(
    slack: SlackEmulator,
) -> None:
    channel = slack.channel("mine", members=(ANNA, BERT), kind="group")
    async with running(slack) as rig:
        said = await slack.says(ANNA, "hello", channel=channel, mention=True)
        (event,) = await rig.inlet.receives(1)
        sent = await rig.adapter.send(
            OutboundMessage(
                address=read(event).address, text="hi", reply_to=PlatformMessageId(said)
            )
        )
        await slack.reacts(BERT, channel, sent, "partyparrot")
        await slack.reacts(BERT, channel, sent, "+1::skin-tone-4")
        _, picture, thumb = await rig.inlet.receives(3)
        bert, address = PlatformUserId(slack.user(BERT)), Address(chat_id=channel, is_direct=False)
        assert rig.adapter.receive(picture) == Presence(address=address, user_ids=(bert,))
        assert rig.adapter.receive(thumb) == EmojiReaction(
            address=address, message_id=sent, user_id=bert, added=("👍",)
        )


async def test_who_joins_or_reacts_in_a_channel_is_noticed_once(slack: SlackEmulator) -> None:
    channel = slack.channel("mine", members=(ANNA,), kind="group")
    async with running(slack) as rig:
        said = await slack.says(ANNA, "hello", channel=channel, mention=True)
        await slack.joins(BERT, channel)
        for _ in range(2):
            await slack.reacts(BERT, channel, said, "tada")
        _, event = await rig.inlet.receives(2)
        await until(lambda: not slack.unacked())
        assert rig.adapter.receive(event) == Presence(
            address=Address(chat_id=channel, is_direct=False),
            user_ids=(PlatformUserId(slack.user(BERT)),),
        )
        assert len(rig.inlet.taken) == 2
