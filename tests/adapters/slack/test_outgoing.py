"""Outbox messages are shown once, without previews, and found if delivery is unknown."""

import pytest

from adapters.errors import MessageGone, Unreachable, Unsure
from adapters.ids import Address, PlatformMessageId
from adapters.messages import OutboundFile
from adapters.slack.adapter import SlackAdapter
from adapters.slack.render import TEXT_LIMIT
from tests.adapters.slack.rig import (
    ANNA,
    BERT,
    Rig,
    read,
    running,
    settings_for,
    to,
)
from tests.emulators import slack_faults as faults
from tests.emulators.slack import SlackEmulator
from tests.fakes.inlet import FakeInlet
from tests.patience import until

TABLE = OutboundFile(name="table.csv", media_type="text/csv", data=b"a;b\n1;2\n")


async def test_no_link_is_unfurled_in_posts_and_edits(rig: Rig) -> None:
    sent = await rig.adapter.send(to(rig.slack.dm(ANNA), "https://evil.example/?q=secret"))
    await rig.adapter.edit(to(rig.slack.dm(ANNA), "https://evil.example/?q=more"), sent)
    for method in ("chat.postMessage", "chat.update"):
        (call,) = rig.slack.called(method)
        assert (call["unfurl_links"], call["unfurl_media"]) == (False, False)
        assert call["metadata"]["event_payload"] == {"key": "key 1"}


async def test_the_longest_part_is_taken_as_a_post_and_as_an_edit(rig: Rig) -> None:
    text = "word " * (TEXT_LIMIT // 5)
    (part,) = rig.adapter.split(text)
    sent = await rig.adapter.send(to(rig.slack.dm(ANNA), part))
    await rig.adapter.edit(to(rig.slack.dm(ANNA), part), sent)
    assert len(rig.adapter.split(text + "more")) == 2


async def test_an_edit_of_a_deleted_message_says_so(rig: Rig) -> None:
    sent = await rig.adapter.send(to(rig.slack.dm(ANNA), "hello"))
    await rig.adapter.delete(to(rig.slack.dm(ANNA), "").address, sent)
    for gone in (sent, PlatformMessageId("no ts")):
        with pytest.raises(MessageGone):
            await rig.adapter.edit(to(rig.slack.dm(ANNA), "bye"), gone)


@pytest.mark.parametrize("in_thread", [True, False])
async def test_a_message_with_unknown_delivery_is_found_on_any_page(
    slack: SlackEmulator, in_thread: bool
) -> None:
    dialogue = slack.dm(ANNA)
    async with running(slack, sockets=1) as rig:
        root = await slack.says(ANNA, "begin")
        thread = root if in_thread else None
        slack.fail("chat.postMessage", kind=faults.LOSE)
        with pytest.raises(Unsure):
            await rig.adapter.send(to(dialogue, "in doubt", thread=thread, key="k1"))
        for number in range(250):
            await slack.says(ANNA, f"number {number}", thread_ts=thread)
        found = await rig.adapter.find(
            to(dialogue, "in doubt", thread=thread, key="k1"), [PlatformMessageId(root)]
        )
        (ours,) = [m for m in slack.messages(dialogue) if m.bot]
        assert found == ours.ts
        other = to(dialogue, "in doubt", thread=thread, key="k2")
        assert await rig.adapter.find(other, [PlatformMessageId(root)]) is None


async def test_messages_before_the_anchor_are_ignored(rig: Rig) -> None:
    first = await rig.adapter.send(to(rig.slack.dm(ANNA), "twice", key="k1"))
    assert await rig.adapter.find(to(rig.slack.dm(ANNA), "twice", key="k1"), [first]) is None


async def test_a_failed_search_says_so(rig: Rig) -> None:
    rig.slack.fail("conversations.history", kind=faults.ERROR, code="missing_scope")
    with pytest.raises(Unsure, match="permission"):
        await rig.adapter.find(to(rig.slack.dm(ANNA), "x"), [])


async def test_a_file_of_an_earlier_process_is_found_by_its_name_and_size(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    queued = to(slack.dm(ANNA), "Here", file=TABLE, key="k1")
    async with running(slack, inlet) as rig:
        before = await rig.adapter.send(to(slack.dm(ANNA), "before"))
        slack.fail("files.completeUploadExternal", kind=faults.LOSE)
        with pytest.raises(Unsure):
            await rig.adapter.send(queued)
    async with running(slack, inlet) as rig:
        found = await rig.adapter.find(queued, [before])
        shown = slack.messages(slack.dm(ANNA))[-1]
        assert (found, shown.text) == (shown.ts, "Here")


async def test_an_earlier_equal_file_is_not_taken_for_the_new_one(rig: Rig) -> None:
    root = await rig.adapter.send(to(rig.slack.dm(ANNA), "", file=TABLE, key="k1"))
    queued = to(rig.slack.dm(ANNA), "", thread=root, file=TABLE, key="k2")
    rig.slack.fail("files.completeUploadExternal", kind=faults.DROP)
    with pytest.raises(Unsure):
        await rig.adapter.send(queued)
    assert await rig.adapter.find(queued, [root]) is None


async def test_a_file_goes_into_its_thread(slack: SlackEmulator) -> None:
    room = slack.channel("general", members=(ANNA,))
    async with running(slack) as rig:
        await slack.says(ANNA, "send it", channel=room, mention=True)
        address = read((await rig.inlet.receives(1))[0]).address
        sent = await rig.adapter.send(to("", "", address=address, file=TABLE))
        shown = slack.messages(room)[-1]
        assert (shown.ts, shown.thread_ts) == (sent, address.thread_id)
        assert [file["name"] for file in shown.files] == ["table.csv"]


async def test_members_are_counted_in_every_kind_of_room(slack: SlackEmulator) -> None:
    room = slack.channel("general", members=(ANNA, BERT))
    group = slack.channel("mpdm", members=(ANNA, BERT), kind="mpim")
    alone = slack.channel("mine", members=(ANNA,), kind="group")
    async with running(slack) as rig:
        counts = [
            await rig.adapter.count_people(Address(chat_id=channel, is_direct=False))
            for channel in (room, group, alone, "C0NOWHERE", room)
        ]
        assert counts == [2, 2, 1, None, 2]
        assert len(slack.called("conversations.info")) == 4
        assert [call["channel"] for call in slack.called("conversations.members")] == [group]


async def test_a_public_channel_is_never_private(slack: SlackEmulator) -> None:
    public = slack.channel("mine-alone", members=(ANNA,))
    async with running(slack) as rig:
        assert await rig.adapter.count_people(Address(chat_id=public, is_direct=False)) is None


async def test_a_join_counts_at_once_and_a_leave_later(slack: SlackEmulator) -> None:
    channel = slack.channel("mine", members=(ANNA,), kind="group")
    address = Address(chat_id=channel, is_direct=False)
    async with running(slack) as rig:
        assert await rig.adapter.count_people(address) == 1
        slack.world.channels[channel].members.append(slack.user(BERT))
        assert await rig.adapter.count_people(address) == 2
        slack.world.channels[channel].members.remove(slack.user(BERT))
        assert await rig.adapter.count_people(address) == 2


async def test_the_creator_of_a_channel_is_known(slack: SlackEmulator) -> None:
    channel = slack.channel("mine", members=(ANNA, BERT), kind="group")
    async with running(slack) as rig:
        address = Address(chat_id=channel, is_direct=False)
        assert await rig.adapter.find_creator(address) == slack.user(ANNA)


async def test_without_a_connection_no_message_counts_as_missing(
    slack: SlackEmulator,
) -> None:
    adapter = SlackAdapter(settings_for(slack))
    with pytest.raises(Unreachable):
        await adapter.find(to(slack.dm(ANNA), "in doubt"), [])


async def test_the_newest_message_of_a_channel_is_known_from_both_sides(rig: Rig) -> None:
    address = to(rig.slack.dm(ANNA), "").address
    assert rig.adapter.newest(address) is None
    said = await rig.slack.says(ANNA, "hello")
    await rig.inlet.receives(1)
    assert rig.adapter.newest(address) == said
    sent = await rig.adapter.send(to(rig.slack.dm(ANNA), "hello", thread=said))
    await until(lambda: rig.adapter.newest(address) == sent)
