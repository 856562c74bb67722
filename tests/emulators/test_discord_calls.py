"""discord.py's REST calls to the emulator."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import discord
import pytest

from tests.emulators.discord import DiscordEmulator
from tests.emulators.discord_client import ANNA, BEN, Listener, connected

QUIET = discord.AllowedMentions.none()


@pytest.fixture
async def api() -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator() as emulator:
        yield emulator


@pytest.fixture
async def client(api: DiscordEmulator) -> AsyncIterator[Listener]:
    async with connected(api, max_ratelimit_timeout=30) as real:
        yield real


@pytest.fixture
async def anna(api: DiscordEmulator, client: Listener) -> discord.DMChannel:
    return await client.person(api, ANNA)


async def test_only_the_create_event_has_a_nonce(
    api: DiscordEmulator, client: Listener, anna: discord.DMChannel
) -> None:
    sent = await anna.send("hello", nonce="row-1")
    await api.wait_for(lambda: client.all("message"))
    assert [one.nonce for one in client.all("message")] == ["row-1"]
    assert [one.nonce async for one in anna.history()] == [None]
    assert (await anna.fetch_message(sent.id)).nonce is None
    assert api.messages(anna.id)[0].nonce == "row-1"


async def test_history_is_paged_both_ways(api: DiscordEmulator, anna: discord.DMChannel) -> None:
    ids = [await api.says(ANNA, f"{number}") for number in range(250)]
    middle = discord.Object(ids[50])
    later = anna.history(after=middle, limit=None, oldest_first=True)
    assert [one.id async for one in later] == ids[51:]
    earlier = anna.history(before=middle, limit=None)
    assert [one.id async for one in earlier] == ids[:50][::-1]
    assert [one.id async for one in anna.history(limit=3)] == ids[:-4:-1]
    around = [one.id async for one in anna.history(around=middle, limit=5)]
    assert around == ids[48:53][::-1]
    pages = [path for method, path in api.calls if method == "GET" and path.endswith("/messages")]
    assert len(pages) == 2 + 1 + 1 + 1
    async with aiohttp.ClientSession(headers={"Authorization": f"Bot {api.token}"}) as session:
        address = f"{api.api_base_url}/channels/{anna.id}/messages"
        answer = await session.get(f"{address}?limit=101")
        assert answer.status == 400
        answer = await session.get(f"{address}?after={ids[0]}&limit=3")
        assert answer.headers["Content-Type"] == "application/json"
        # After the id, and still newest first.
        assert [int(one["id"]) for one in await answer.json()] == ids[1:4][::-1]


async def test_a_deleted_message_leaves_history(
    api: DiscordEmulator, anna: discord.DMChannel
) -> None:
    message_id = await api.says(ANNA, "secret")
    await api.deletes(message_id)
    assert [one async for one in anna.history()] == []
    with pytest.raises(discord.NotFound) as caught:
        await anna.fetch_message(message_id)
    assert caught.value.code == 10008


Act = Callable[[discord.DMChannel, int], Awaitable[Any]]


@pytest.mark.parametrize(
    ("act", "status", "code"),
    [
        (lambda a, _: a.send("x" * 2001), 400, 50035),
        (lambda a, _: a.send("x", nonce="n" * 26), 400, 50035),
        (lambda a, _: a.send("  "), 400, 50006),
        (lambda a, _: a.send("x", reference=a.get_partial_message(5)), 400, 50035),
        (lambda a, _: a.get_partial_message(5).edit(content="x"), 404, 10008),
        (lambda a, _: a.get_partial_message(5).add_reaction("👀"), 404, 10008),
        (lambda a, mine: a.get_partial_message(mine).edit(content="x"), 403, 50005),
        (lambda a, mine: a.get_partial_message(mine).delete(), 403, 50003),
        (lambda a, mine: a.get_partial_message(mine).add_reaction("x"), 404, 10014),
    ],
    ids=[
        "too long", "long nonce", "empty", "reply to nothing", "edit of nothing",
        "reaction to nothing", "edit of another's", "deletion of another's", "no emoji",
    ],
)  # fmt: skip
async def test_invalid_messages_are_refused(
    api: DiscordEmulator, anna: discord.DMChannel, act: Act, status: int, code: int
) -> None:
    mine = await api.says(ANNA, "mine")
    with pytest.raises(discord.HTTPException) as caught:
        await act(anna, mine)
    assert (caught.value.status, caught.value.code) == (status, code)
    assert api.texts(anna.id) == []


@pytest.mark.parametrize(
    "rows",
    [
        [{"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "a"}]}] * 6,
        [{"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "a"}] * 2}],
        [{"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "a" * 101}]}],
        [{"type": 1, "components": [{"type": 2, "style": 1, "label": "x"}]}],
        [{"type": 1, "components": []}],
        [{"type": 2, "style": 1, "custom_id": "a"}],
    ],
)
async def test_invalid_components_are_refused(
    api: DiscordEmulator, anna: discord.DMChannel, rows: list[Any]
) -> None:
    async with aiohttp.ClientSession(headers={"Authorization": f"Bot {api.token}"}) as session:
        answer = await session.post(
            f"{api.api_base_url}/channels/{anna.id}/messages",
            json={"content": "x", "components": rows},
        )
        assert (answer.status, (await answer.json())["code"]) == (400, 50035)


async def test_pings_follow_allowed_mentions(api: DiscordEmulator) -> None:
    room = api.channel(api.guild(members=[ANNA, BEN]))
    words = f"<@{api.user(ANNA)}> <@{api.user(BEN)}> @everyone"
    async with connected(api) as client:
        place = client.get_partial_messageable(room)
        loud = await place.send(words)
        quiet = await place.send(words, allowed_mentions=QUIET)
        only = discord.AllowedMentions(
            everyone=False, roles=False, users=[discord.Object(api.user(BEN))], replied_user=True
        )
        asked = await api.says(ANNA, "well?", channel=room)
        reference = discord.MessageReference(message_id=asked, channel_id=room)
        chosen = await place.send(words, allowed_mentions=only, reference=reference)
    assert api.message(loud.id).mentions == [api.user(ANNA), api.user(BEN)]
    assert api.message(loud.id).mention_everyone
    assert api.message(quiet.id).mentions == []
    assert not api.message(quiet.id).mention_everyone
    assert api.message(chosen.id).mentions == [api.user(BEN), api.user(ANNA)]
    assert api.message(chosen.id).reference == asked


async def test_a_thread_is_opened_from_a_message(api: DiscordEmulator) -> None:
    guild_id = api.guild(members=[ANNA])
    room, forum = api.channel(guild_id), api.forum(guild_id)
    async with connected(api) as client:
        place = client.get_channel(room)
        assert isinstance(place, discord.TextChannel)
        asked = place.get_partial_message(await api.says(ANNA, "well?", channel=room))
        thread = await asked.create_thread(name="Answers")
        assert (thread.id, thread.parent_id) == (asked.id, room)
        await thread.send("here")
        with pytest.raises(discord.HTTPException) as caught:
            await asked.create_thread(name="Again")
        assert caught.value.code == 160004
        with pytest.raises(discord.HTTPException):
            await client.get_partial_messageable(forum).send("no place")
        api.lock(thread.id)
        with pytest.raises(discord.HTTPException) as caught:
            await thread.send("too late")
        assert caught.value.code == 160005
    assert api.texts(asked.id) == ["here"]


async def test_closed_places_refuse_the_bot(
    api: DiscordEmulator, anna: discord.DMChannel, client: Listener
) -> None:
    guild_id = api.guild(members=[ANNA])
    room, other = api.channel(guild_id), api.channel(guild_id)
    api.block(ANNA)
    api.delete_channel(other)

    async def refused(act: Awaitable[Any]) -> tuple[int, int]:
        with pytest.raises(discord.HTTPException) as caught:
            await act
        return caught.value.status, caught.value.code

    assert await refused(anna.send("hello")) == (403, 50007)
    assert await refused(client.get_partial_messageable(other).send("x")) == (404, 10003)
    assert await refused(client.fetch_channel(other)) == (404, 10003)
    api.kick(guild_id)
    assert await refused(client.get_partial_messageable(room).send("x")) == (403, 50001)
    assert await refused(client.fetch_guild(guild_id)) == (404, 10004)
    api.block(ANNA, is_blocked=False)
    await anna.send("again")
    assert api.texts(anna.id) == ["again"]


async def test_members_are_counted(api: DiscordEmulator, client: Listener) -> None:
    guild = await client.fetch_guild(api.guild(members=[ANNA, BEN]), with_counts=True)
    assert guild.approximate_member_count == 3
    await api.joins(ANNA, guild.id, is_there=False)
    assert (await client.fetch_guild(guild.id)).approximate_member_count == 2
    await api.joins(ANNA, guild.id)


async def test_a_wrong_token_is_refused(api: DiscordEmulator) -> None:
    async with aiohttp.ClientSession(headers={"Authorization": "Bot wrong"}) as session:
        answer = await session.get(f"{api.api_base_url}/users/@me")
        assert (answer.status, (await answer.json())["code"]) == (401, 0)


async def test_content_is_hidden_without_its_intent(api: DiscordEmulator, client: Listener) -> None:
    room = api.channel(api.guild(members=[ANNA]))
    await api.says(ANNA, "among us", channel=room)
    place = client.get_partial_messageable(room)
    assert [one.content async for one in place.history()] == ["among us"]
    api.without_intents("message_content")
    assert [one.content async for one in place.history()] == [""]


async def test_the_client_waits_for_an_empty_bucket(
    api: DiscordEmulator, anna: discord.DMChannel
) -> None:
    api.limits(True)
    api.rest.limits.bucket_seconds = 0.3
    for number in range(12):
        await anna.send(f"{number}")
    assert api.texts(anna.id) == [f"{number}" for number in range(12)]
    assert api.limit_refusals == 0
    async with aiohttp.ClientSession(headers={"Authorization": f"Bot {api.token}"}) as session:
        address = f"{api.api_base_url}/channels/{anna.id}/messages"
        api.rest.limits.bucket_seconds = 60
        while (last := await session.post(address, json={"content": "x"})).status == 200:
            assert len(api.texts(anna.id)) <= 12 + 10
        assert last.status == 429
        body = await last.json()
        assert 0 < body["retry_after"] <= 60
        assert body["global"] is False
        assert last.headers["X-RateLimit-Remaining"] == "0"
    assert api.limit_refusals == 1


async def test_the_global_limit_is_fifty_a_second(api: DiscordEmulator) -> None:
    api.limits(False, is_global=True)
    api.rest.limits.global_seconds = 60
    async with aiohttp.ClientSession(headers={"Authorization": f"Bot {api.token}"}) as session:
        answers = [await session.get(f"{api.api_base_url}/users/@me") for _ in range(51)]
        assert [one.status for one in answers] == [200] * 50 + [429]
        assert (await answers[-1].json())["global"] is True
        assert answers[-1].headers["X-RateLimit-Scope"] == "global"


async def test_hooks_run_before_a_call_and_before_its_response(
    api: DiscordEmulator, anna: discord.DMChannel
) -> None:
    seen: list[tuple[str, str, list[str]]] = []

    async def before(method: str, path: str) -> None:
        seen.append(("before", path, api.texts(anna.id)))

    async def after(method: str, path: str) -> None:
        seen.append(("after", path, api.texts(anna.id)))

    api.hook(before=before, after=after)
    await anna.send("hello")
    path = f"/channels/{anna.id}/messages"
    assert seen == [("before", path, []), ("after", path, ["hello"])]


@pytest.mark.parametrize(
    "change",
    [
        {"name_localizations": {"de": "Hilfe"}},
        {"name_localizations": {"de": "h" * 33}},
        {"name_localizations": {"de": "new"}},
        {"name_localizations": {"de-AT": "hilfe"}},
        {"description_localizations": {"de": "H" * 101}},
        {"description_localizations": {"de": ""}},
        {"options": [{"type": 3, "name": "text", "description": "T" * 101}]},
    ],
)
async def test_commands_beyond_the_limits_are_refused(
    api: DiscordEmulator, client: Listener, change: dict[str, Any]
) -> None:
    given: Any = [
        {"type": 1, "name": "new", "description": "Start anew"},
        {"type": 1, "name": "help", "description": "Help", **change},
    ]
    application = client.application_id
    assert application
    with pytest.raises(discord.HTTPException, match="Invalid Form Body"):
        await client.http.bulk_upsert_global_commands(application, given)
    assert api.synced_commands() == []
