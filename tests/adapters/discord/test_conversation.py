"""Messages to the bot are handed over in order, and others are not."""

from dataclasses import replace

from adapters.discord.ingest.catchup import NOISE
from adapters.discord.ingest.unmarked import REST
from adapters.ids import PlatformUserId
from adapters.messages import EmojiReaction, InboundMessage, OutboundMessage, Presence
from tests.adapters.discord.rig import (
    ANNA,
    BEN,
    Rig,
    direct,
    queued,
    room,
    running,
)
from tests.emulators.discord import DiscordEmulator
from tests.fakes.inlet import FakeInlet


async def test_only_messages_to_the_bot_are_handed_over(api: DiscordEmulator) -> None:
    guild = api.guild("House", [ANNA, BEN])
    channel = api.channel(guild)
    api.other_bot(9)
    async with running(api) as rig:
        ours = int(await rig.adapter.send(queued(room(channel), "hello all")))
        await api.says(ANNA, "nothing for you", channel=channel)
        await api.says(ANNA, "@everyone dinner", channel=channel)
        await api.says(ANNA, "named", channel=channel, mentions=[api.user_id])
        await api.says(BEN, "by role", channel=channel, role_mention=True)
        await api.says(BEN, "as an answer", channel=channel, reply_to=ours)
        await api.says(9, "I am a bot", channel=channel, mentions=[api.user_id])
        await api.notes(ANNA, 7, channel=channel)
        await api.says(ANNA, "in private")
        await rig.inlet.receives(6)
        assert rig.said() == ["named", "by role", "as an answer", "in private"]
        assert len(rig.inlet.handed_over) == 6, "Anna and the other bot are noticed, once each"


async def test_an_answer_in_a_thread_or_a_post_of_a_forum_stays_there(api: DiscordEmulator) -> None:
    guild = api.guild("House", [ANNA])
    channel, forum = api.channel(guild), api.forum(guild)
    async with running(api) as rig:
        for number, parent in enumerate((channel, forum), start=1):
            thread = await api.thread(parent, f"Dinner {number}", ANNA)
            await api.says(ANNA, "and you?", channel=thread, mentions=[api.user_id])
            heard = await rig.hears(number)
            assert heard.address == room(parent, thread)
            assert heard.room_title == f"House #Dinner {number}"
            await rig.adapter.send(queued(heard.address, "me too", reply_to=heard.message_id))
            (shown,) = api.messages(thread)
            assert (shown.content, shown.reference) == ("me too", int(heard.message_id))
        assert api.messages(channel) == []


async def test_an_edit_is_an_event_and_a_link_preview_is_not(rig: Rig) -> None:
    message_id = await rig.api.says(ANNA, "see https://example.org")
    await rig.api.unfurls(message_id)
    await rig.api.edits(message_id, "never mind")
    first, second = await rig.inlet.receives(2)
    edit = rig.adapter.receive(second)
    assert isinstance(edit, InboundMessage)
    assert (edit.text, edit.is_edit) == ("never mind", True)
    assert (first.position, second.position) == (str(message_id).zfill(20), "")


async def test_messages_of_others_move_the_read_position_sometimes(api: DiscordEmulator) -> None:
    guild = api.guild("House", [ANNA, BEN])
    known, unknown = api.channel(guild, "known"), api.channel(guild, "unknown")
    async with running(api) as rig:
        await api.says(ANNA, "hi", channel=known, mentions=[api.user_id])
        for _ in range(NOISE + 5):
            last = await api.says(BEN, "chatter", channel=known)
            await api.says(BEN, "chatter", channel=unknown)
            if _ == NOISE - 1:
                marked = last
        await api.says(ANNA, "there?")
        await rig.inlet.receives(4)
        assert rig.inlet.positions[str(known)] == str(marked).zfill(20)
        assert set(await rig.inlet.marks()) == {str(known), direct(api).chat_id, REST}


async def test_without_the_intent_messages_to_the_bot_are_readable(api: DiscordEmulator) -> None:
    api.without_intents("message_content")
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api, message_content=False) as rig:
        await api.says(ANNA, "hello", channel=channel, mentions=[api.user_id])
        await api.says(ANNA, "in private")
        await rig.inlet.receives(2)
        assert sorted(rig.said()) == ["hello", "in private"]


async def test_member_counts_are_never_too_low(api: DiscordEmulator) -> None:
    guild = api.guild("House", [ANNA])
    channel = api.channel(guild)
    async with running(api) as rig:
        assert await rig.adapter.count_people(direct(api)) == 1
        assert await rig.adapter.count_people(room(channel)) == 1
        alone = api.channel(api.guild("Office", [ANNA]))
        thread = await api.thread(alone, "Side", ANNA)
        assert await rig.adapter.count_people(room(alone, thread)) == 1
        await api.joins(BEN, guild)
        assert await rig.adapter.count_people(room(channel)) == 2, "that another came shows at once"
        await api.joins(BEN, guild, is_there=False)
        assert await rig.adapter.count_people(room(channel)) == 2, "that one went shows later"


async def test_an_omitted_member_count_is_unknown(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api) as rig:
        assert await rig.adapter.count_people(room(channel)) == 1
        api.world.hides_counts = True
        assert await rig.adapter.count_people(room(channel)) is None


async def test_the_owner_of_a_server_is_its_creator(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA, BEN]))
    async with running(api) as rig:
        anna = str(api.user(ANNA))
        assert await rig.adapter.find_creator(room(channel)) == anna
        assert await rig.adapter.find_creator(direct(api)) is None


async def test_people_who_write_aside_react_or_join_are_noticed_once(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA, BEN]))
    async with running(api) as rig:
        for _ in range(3):
            aside = await api.says(ANNA, "to nobody", channel=channel)
        await api.reacts(BEN, aside, "🎉")
        await api.reacts(BEN, aside, "👍")
        await api.says(ANNA, "hello", channel=channel, mentions=[api.user_id])
        events = await rig.inlet.receives(3)
        found = [rig.adapter.receive(event) for event in events]
        assert found[:2] == [
            Presence(address=room(channel), user_ids=(PlatformUserId(str(api.user(number))),))
            for number in (ANNA, BEN)
        ]
        assert isinstance(found[2], InboundMessage)


async def test_people_who_only_edit_an_old_message_are_noticed(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA, BEN]))
    aside = await api.says(BEN, "to nobody", channel=channel)
    async with running(api) as rig:
        await api.edits(aside, "to nobody else")
        (event,) = await rig.inlet.receives(1)
        ben = PlatformUserId(str(api.user(BEN)))
        assert rig.adapter.receive(event) == Presence(address=room(channel), user_ids=(ben,))


async def test_a_reaction_to_the_bots_words_is_kept_and_others_only_show_who_is_there(
    api: DiscordEmulator,
) -> None:
    channel = api.channel(api.guild("House", [ANNA, BEN]))
    async with running(api) as rig:
        aside = await api.says(ANNA, "to nobody", channel=channel)
        sent = await rig.adapter.send(OutboundMessage(address=room(channel), text="hi"))
        await api.reacts(BEN, int(sent), "👍")
        await api.reacts(BEN, aside, "👍")
        await api.reacts(BEN, int(sent), "👍", is_on=False)
        _, *events = await rig.inlet.receives(3)
        ben = PlatformUserId(str(api.user(BEN)))
        change = EmojiReaction(address=room(channel), message_id=sent, user_id=ben)
        assert [rig.adapter.receive(event) for event in events] == [
            replace(change, added=("👍",)),
            replace(change, removed=("👍",)),
        ]


async def test_people_who_wrote_during_downtime_are_noticed(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    channel = api.channel(api.guild("House", [ANNA, BEN]))
    async with running(api, inlet):
        await api.says(ANNA, "hello", channel=channel, mentions=[api.user_id])
        await inlet.receives(1)
    for _ in range(2):
        await api.says(BEN, "is anybody here?", channel=channel)
    async with running(api, inlet) as rig:
        events = await inlet.receives(2)
        ben = PlatformUserId(str(api.user(BEN)))
        assert rig.adapter.receive(events[1]) == Presence(address=room(channel), user_ids=(ben,))


async def test_a_new_channel_and_server_are_known_at_once(rig: Rig) -> None:
    channel = rig.api.channel(rig.api.guild("Fresh", [ANNA]), "start")
    await rig.api.says(ANNA, "hello", channel=channel, role_mention=True)
    heard = await rig.hears()
    assert (heard.room_title, heard.text) == ("Fresh #start", "hello")
