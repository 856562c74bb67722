"""Mentions in channels without a read position are found, once, and nothing older."""

import time
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import cast

import pytest

from adapters.discord.channel_directory import ChannelDirectory
from adapters.discord.ingest.archived import find_archived
from adapters.discord.ingest.catchup import Backlog, Start
from adapters.discord.ingest.unmarked import REST, GuildListing, Rest, read_listing
from adapters.discord.snowflakes import snowflake_at
from adapters.toolkit.text import Json
from tests.adapters.discord.rig import ANNA, BEN, direct, queued, room, running
from tests.emulators.discord import DiscordEmulator
from tests.emulators.discord_faults import ERROR
from tests.fakes.inlet import FakeInlet
from tests.patience import until


async def heard_before(api: DiscordEmulator, inlet: FakeInlet) -> tuple[int, int]:
    """A server with a channel that the bot joins for the first time."""
    guild = api.guild("House", [ANNA, BEN])
    channel = api.channel(guild)
    async with running(api, inlet):
        await until(lambda: REST in inlet.positions)
    return guild, channel


async def test_a_first_mention_in_a_channel_is_found(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    _, channel = await heard_before(api, inlet)
    await api.says(BEN, "chatter", channel=channel)
    await api.says(ANNA, "missed", channel=channel, mentions=[api.user_id])
    async with running(api, inlet) as rig:
        await until(lambda: rig.said() == ["missed"])
        await api.says(BEN, "live", channel=channel, mentions=[api.user_id])
        await until(lambda: rig.said() == ["missed", "live"])
        assert [*inlet.taken.values()][-1].position


async def test_a_new_thread_of_a_known_channel_is_read(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    _, channel = await heard_before(api, inlet)
    async with running(api, inlet) as rig:
        await api.says(ANNA, "before", channel=channel, mentions=[api.user_id])
        await until(lambda: rig.said() == ["before"])
    thread = await api.thread(channel, "Side", ANNA)
    await api.says(ANNA, "missed", channel=thread, mentions=[api.user_id])
    async with running(api, inlet) as rig:
        await until(lambda: rig.said() == ["before", "missed"])
        found = rig.adapter.receive([*inlet.taken.values()][-1])
        assert found is not None
        assert found.address == room(channel, thread)


async def test_a_session_that_cannot_be_resumed_loses_no_mention(api: DiscordEmulator) -> None:
    guild = api.guild("House", [ANNA, BEN])
    channels = [api.channel(guild, f"room-{number}") for number in range(20)]
    async with running(api) as rig:
        await until(lambda: REST in rig.inlet.positions)
        for loss in range(3):
            api.lose_session()
            await api.drop_gateway()
            for number, channel in enumerate(channels):
                text = f"missed {loss}-{number}"
                await api.says(ANNA, text, channel=channel, mentions=[api.user_id])
            await until(lambda loss=loss: api.identifies == loss + 2)  # type: ignore[misc]
            await until(lambda loss=loss: len(rig.said()) == 20 * (loss + 1))  # type: ignore[misc]
        wanted = {f"missed {loss}-{number}" for loss in range(3) for number in range(20)}
        assert set(rig.said()) == wanted


async def test_reading_that_a_crash_interrupts_begins_again_at_the_same_place(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    guild, first = await heard_before(api, inlet)
    second = api.channel(guild, "second")
    await api.says(ANNA, "missed", channel=first, mentions=[api.user_id])

    async def fail(method: str, path: str) -> None:
        if method == "GET" and path == f"/channels/{first}/messages":
            raise ConnectionResetError

    api.hook(before=fail)
    async with running(api, inlet) as rig:
        await api.says(ANNA, "meanwhile", channel=second, mentions=[api.user_id])
        await api.says(ANNA, "direct")
        await until(lambda: sorted(rig.said()) == ["direct", "meanwhile"])
    api.hook(before=None)
    async with running(api, inlet) as rig:
        await until(lambda: "missed" in rig.said())


async def test_messages_from_before_the_bot_joined_are_not_answered(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA, BEN]))
    await api.says(ANNA, "for another program", channel=channel, mentions=[api.user_id])
    async with running(api) as rig:
        await api.says(ANNA, "now", channel=channel, mentions=[api.user_id])
        await until(lambda: bool(rig.said()))
        assert rig.said() == ["now"]
        assert ("GET", f"/channels/{channel}/messages") not in api.calls


async def test_only_channels_with_news_that_the_bot_may_read_are_asked_for(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    guild, busy = await heard_before(api, inlet)
    quiet, hidden = api.channel(guild, "quiet"), api.channel(guild, "hidden")
    for channel in (busy, hidden):
        await api.says(ANNA, f"in {channel}", channel=channel, mentions=[api.user_id])
    api.hide(hidden)
    api.calls.clear()
    async with running(api, inlet) as rig:
        await until(lambda: rig.said() == [f"in {busy}"])
        await rig.adapter.send(queued(direct(api), "done"))
        asked = [path for method, path in api.calls if method == "GET" and "/channels/" in path]
        assert asked == [f"/channels/{busy}/messages"]
        assert str(quiet) not in {event.channel for event in inlet.taken.values()}


def be_away(inlet: FakeInlet, hours: float) -> None:
    """Let the position of all channels be as old as after an absence."""
    position = snowflake_at(time.time() - hours * 3600)
    inlet.positions[REST] = str(position).zfill(20)


async def test_threads_that_were_archived_meanwhile_are_read(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    guild = api.guild("House", [ANNA, BEN])
    channel, forum, hidden = api.channel(guild), api.forum(guild), api.channel(guild, "hidden")
    threads = [await api.thread(one, "Side", ANNA) for one in (channel, forum, hidden)]
    async with running(api, inlet) as rig:
        await api.says(ANNA, "known", channel=threads[0], mentions=[api.user_id])
        await until(lambda: rig.said() == ["known"])
    be_away(inlet, hours=3)
    for number, thread in enumerate(threads):
        await api.says(BEN, "chatter", channel=thread)
        await api.says(ANNA, f"missed {number}", channel=thread, mentions=[api.user_id])
        api.archive(thread)
    api.hide(hidden)
    async with running(api, inlet) as rig:
        await until(lambda: sorted(rig.said()) == ["known", "missed 0", "missed 1"])
        asked = [path for _, path in api.calls if path.endswith("/threads/archived/public")]
        assert sorted(asked) == sorted(
            f"/channels/{one}/threads/archived/public" for one in (channel, forum)
        )


async def test_no_archived_thread_is_asked_for_after_a_short_absence(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    _, channel = await heard_before(api, inlet)
    be_away(inlet, hours=0.9)
    async with running(api, inlet) as rig:
        await api.says(ANNA, "live", channel=channel, mentions=[api.user_id])
        await until(lambda: rig.said() == ["live"])
        assert not any("/archived/" in path for _, path in api.calls)


async def test_archived_threads_are_listed_in_pages_up_to_the_absence(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    guild = api.guild("House", [ANNA, BEN])
    channel = api.channel(guild)
    for number in range(205):
        thread = await api.thread(channel, f"Side {number}", ANNA)
        if number % 100 == 3:
            await api.says(ANNA, f"missed {number}", channel=thread, mentions=[api.user_id])
        api.archive(thread)
    be_away(inlet, hours=3)
    api.fail("/channels/*/threads/archived/public", kind=ERROR)
    async with running(api, inlet) as rig:
        await until(lambda: sorted(rig.said()) == ["missed 103", "missed 203", "missed 3"])


async def test_archived_threads_that_a_refused_token_hides_are_read_in_the_next_session(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    guild = api.guild("House", [ANNA, BEN])
    channel = api.channel(guild)
    thread = await api.thread(channel, "Side", ANNA)
    await api.says(ANNA, "missed", channel=thread, mentions=[api.user_id])
    api.archive(thread)
    be_away(inlet, hours=3)
    api.fail("GET /channels/*/threads/archived/public", kind=ERROR, status=401, code=0)
    async with running(api, inlet) as rig:
        await until(lambda: any("/archived/" in path for _, path in api.calls))
        for text in ("live", "again"):
            await api.says(ANNA, text, channel=channel, mentions=[api.user_id])
        await until(lambda: rig.said() == ["live", "again"])
    async with running(api, inlet) as rig:
        await until(lambda: "missed" in rig.said())


class Directory:
    """The bot in one server; `is_listed` once Discord described it."""

    bot = "100"
    is_listed = True

    def is_complete(self) -> bool:
        return self.is_listed

    def can_read(self, _: str) -> bool:
        return True


async def test_a_malformed_archived_thread_hides_no_other() -> None:
    now = time.time()
    facts = {"archive_timestamp": f"{datetime.fromtimestamp(now, UTC).isoformat()}"}
    good = {"id": "7", "last_message_id": str(snowflake_at(now)), "thread_metadata": facts}
    odd = [{}, {**good, "id": 7}, {**good, "last_message_id": 9}, {**good, "thread_metadata": 1}]
    odd += [
        {**good, "last_message_id": None},
        {**good, "thread_metadata": {"archive_timestamp": "x"}},
    ]

    class Archive(Directory):
        async def archived_threads(self, _: str) -> AsyncIterator[list[Json]]:
            yield [*odd, good]

    directory, after = cast(ChannelDirectory, Archive()), snowflake_at(now - 7200)
    found = await find_archived(directory, ["1"], after, {})
    assert found == {"7": Start(after=str(after), has_mark=False)}
    assert await find_archived(directory, ["1"], after, {"7": str(snowflake_at(now))}) == {}


@pytest.mark.parametrize("threads", ["none", [{"thread_metadata": 1}]])
async def test_an_odd_answer_about_archived_threads_stops_nothing(
    api: DiscordEmulator, inlet: FakeInlet, threads: object
) -> None:
    channel = api.channel(api.guild("House", [ANNA, BEN]))
    be_away(inlet, hours=3)
    api.world.show_archived = lambda *_: {"threads": threads}  # type: ignore[method-assign]
    async with running(api, inlet) as rig:
        await until(lambda: any("/archived/" in path for _, path in api.calls))
        await api.says(ANNA, "live", channel=channel, mentions=[api.user_id])
        await until(lambda: rig.said() == ["live"])


def make_rest(marks: Mapping[str, str]) -> tuple[Rest, Backlog, Directory]:
    backlog, directory = Backlog(), Directory()
    rest = Rest(cast(ChannelDirectory, directory), backlog)
    rest.begin(marks, now=snowflake_at(time.time()))
    return rest, backlog, directory


def test_the_position_advances_with_live_messages_while_nothing_is_missing() -> None:
    now, before = snowflake_at(time.time()), snowflake_at(time.time() - 3600)
    rest, backlog, directory = make_rest({REST: str(before)})
    backlog.begin(["1"], now=now)
    assert rest.advance(now) is None
    backlog.finish("1")
    directory.is_listed = False
    assert rest.advance(now) is None
    directory.is_listed = True
    mark = rest.advance(now)
    assert mark is not None
    assert before < int(mark.data["id"]) < now
    assert rest.advance(now + 1) is None, "one row in five minutes"


def test_a_message_of_the_millisecond_in_which_the_first_session_began_is_read() -> None:
    now = snowflake_at(time.time())
    rest, _, _ = make_rest({})
    rest.begin({}, now=now)
    listing = GuildListing(guild_id="7", newest={"1": now, "2": now - 1}, joined=0)
    assert [*rest.find_starts(listing, {})] == ["1"]


def test_all_channels_of_a_large_server_are_read() -> None:
    now = snowflake_at(time.time())
    rest, _, _ = make_rest({REST: str(now)})
    listing = GuildListing(
        guild_id="7", newest={str(number): now + number for number in range(1, 1501)}, joined=0
    )
    assert [*rest.find_starts(listing, {})] == [str(number) for number in range(1500, 0, -1)]


@pytest.mark.parametrize(
    ("channel", "is_read"),
    [
        ({"id": "1", "type": 0, "last_message_id": "9"}, True),
        ({"id": "1", "type": 15, "last_message_id": "9"}, False),
        ({"id": "1", "type": 0, "last_message_id": None}, False),
        ({"id": "1", "type": 0, "last_message_id": 9}, False),
        ({"id": {}, "type": 0, "last_message_id": "9"}, False),
        ({"type": "x"}, False),
    ],
)
def test_a_malformed_channel_of_a_listing_is_left_out(
    channel: dict[str, object], is_read: bool
) -> None:
    other = {"id": "2", "type": 11, "last_message_id": "8"}
    listing = read_listing({"id": "7", "channels": [channel], "threads": [other]})
    assert listing.newest == {"2": 8} | ({"1": 9} if is_read else {})
