"""What only Discord has: its command menu, threads and forums, short messages, servers."""

from adapters.messages import OutboundFile
from gateway.interfaces.http.health import examine
from tests.emulators.telegram_cast import ANNA, BEN
from tests.journeys.accounts import DiscordAccount, texts
from tests.journeys.stage import House, Stage, calls, facts, heard
from tests.journeys.test_buttons import QUESTION
from tests.journeys.test_one_person import join
from tests.journeys.test_servers_and_channels import CLEO, make_room

LONG = "\n\n".join(f"Paragraph {number}. " + "word " * 80 for number in range(12))


def discord_of(town: Stage, number: int = ANNA) -> DiscordAccount:
    return DiscordAccount(town.discord, number)


async def chooses(
    house: House, account: DiscordAccount, name: str, text: str = "", room: str | None = None
) -> list[str]:
    """Use a command of the menu; what the bot then says there, besides what it said."""
    before = len(account.seen(room))
    await house.takes(account.commands(name, text, room=room))
    return [one.text for one in account.seen(room)[before:]]


async def test_commands_are_chosen_from_the_menu_and_answered_where_they_were_used(
    town: Stage,
) -> None:
    anna, room = discord_of(town), make_room(town, "discord")
    async with town.open() as house:
        await house.until(town.discord.synced_commands)
        names = [entry["name"] for entry in town.discord.synced_commands()]
        assert {"help", "new", "stop", "status", "link", "settings", "room", "here"} <= set(names)
        (told,) = await chooses(house, anna, "status")
        assert "Model: " in told
        (told,) = await chooses(house, anna, "settings", "language de")
        assert "Sprache: de" in told
        (told,) = await chooses(house, anna, "room", room=room.id)
        assert "Alle führen hier ihre eigene Unterhaltung mit mir (/room person)" in told
        assert not any("/room person" in text for text in texts(anna))
        syncs = [path for method, path in town.discord.calls if method == "PUT"]
    async with town.open() as house:
        await chooses(house, anna, "status")
        assert [path for method, path in town.discord.calls if method == "PUT"] == syncs


async def test_a_thread_and_a_post_of_a_forum_are_talks_of_their_own(town: Stage) -> None:
    anna = discord_of(town)
    guild = town.discord.guild("House", [ANNA, BEN, CLEO])
    channel, forum = town.discord.channel(guild), town.discord.forum(guild, "plans")
    thread = await town.discord.thread(channel, "Holidays", ANNA)
    async with town.open() as house:
        post = await town.discord.thread(
            forum, "Garden", ANNA, text=f"<@{town.discord.user_id}> which roses?"
        )
        await house.until(lambda: texts(anna, str(post)) == ["echo: which roses?"])
        assert await house.hears(anna, "where to?", room=str(thread)) == "echo: where to?"
        assert await house.hears(anna, "in general?", room=str(channel)) == "echo: in general?"
        assert [heard(body) for body in town.turns] == [
            ["which roses?"],
            ["where to?"],
            ["in general?"],
        ]
        assert "Garden" in facts(town.turns[0])
        await house.hears(anna, "red ones?", room=str(post))
        assert heard(town.turns[-1]) == ["which roses?", "red ones?"]


async def test_a_mention_may_open_a_thread_of_its_own(town: Stage) -> None:
    room = make_room(town, "discord")
    async with town.open(TALARIA_DISCORD__THREAD_PER_MENTION="true") as house:
        asked = await room.anna.says("which roses?", room=room.id)
        await house.until(lambda: texts(room.anna, asked) == ["echo: which roses?"])
        assert texts(room.anna, room.id) == []
        assert await house.hears(room.anna, "red?", room=asked) == "echo: red?"
        assert heard(town.turns[-1]) == ["which roses?", "red?"]


async def test_a_long_answer_comes_in_parts_of_which_only_the_first_rings(town: Stage) -> None:
    anna = discord_of(town)
    async with town.open() as house:
        town.plan(LONG)
        await house.takes(anna.says("tell me all"))
        parts = anna.seen()
        assert len(parts) > 2
        assert all(len(part.text) <= 2000 for part in parts)
        assert " ".join(" ".join(texts(anna)).split()) == " ".join(LONG.split())
        assert [part.rings for part in parts] == [True] + [False] * (len(parts) - 1)


async def test_words_of_the_model_ping_nobody_but_whom_they_answer(town: Stage) -> None:
    room = make_room(town, "discord")
    async with town.open() as house:
        town.plan(f"@everyone, ask <@{room.ben.user_id}>!")
        asked = await room.anna.says("whom to ask?", room=room.id)
        await house.until(lambda: room.anna.seen(room.id))
        await house.at_rest()
        (answer,) = town.discord.messages(int(room.id))
        assert not answer.mention_everyone
        assert answer.mentions == [int(room.anna.user_id)]
        assert str(answer.reference) == asked


async def test_a_command_where_the_bot_was_only_brought_along_is_answered_there(
    town: Stage,
) -> None:
    async with town.open() as house:
        before = len(town.discord.interactions)
        await house.takes(town.discord.commands(ANNA, "status", is_user_install=True))
        used = town.discord.interactions[before]
        assert used.original_id is not None
        await house.until(lambda: "Model: " in town.discord.message(used.original_id or 0).content)


async def test_a_server_that_throws_the_bot_out_is_left_in_peace(town: Stage) -> None:
    room = make_room(town, "discord")
    async with town.open() as house:
        released = town.hold()
        await house.notes(room.anna.says("a long one", room=room.id))
        await house.until(lambda: len(town.turns) == 1)
        guild = town.discord.world.channels[int(room.id)].guild_id
        assert guild is not None
        town.discord.kick(guild)
        released.set()
        await house.at_rest()
        assert await house.count("unreachable_chats", "platform = 'discord'") == 1
        assert await house.count("outbox", "state IN ('owed', 'sending', 'unsure')") == 0
        assert await house.hears(room.anna, "here?") == "echo: here?"


async def test_who_blocks_the_bot_is_left_in_peace_and_heard_again_when_they_write(
    town: Stage,
) -> None:
    anna = discord_of(town)
    async with town.open() as house:
        town.discord.block(ANNA)
        assert await house.hears(anna, "hello") == ""
        assert await house.count("unreachable_chats", "platform = 'discord'") == 1
        town.discord.block(ANNA, is_blocked=False)
        assert "echo: are you there?" in await house.hears(anna, "are you there?")


async def test_without_its_intent_discord_stops_by_itself_and_health_names_the_switch(
    town: Stage,
) -> None:
    town.discord.without_intents("message_content")
    telegram, slack = town.account("telegram", ANNA), town.account("slack", ANNA)
    async with town.open(awaited=("console", "telegram", "slack")) as house:
        await house.until(lambda: house.state_of("discord") == "stopped")
        assert await house.hears(telegram, "hello") == "echo: hello"
        assert await house.hears(slack, "hello") == "echo: hello"
        is_well, report = await examine(house.gateway)
        assert not is_well
        (problem,) = report["problems"]
        assert problem.startswith("discord is stopped")
        assert "Message Content Intent" in problem
    async with town.open(TALARIA_DISCORD__MESSAGE_CONTENT="false") as house:
        assert await house.hears(discord_of(town), "hello") == "echo: hello"


async def test_what_was_said_while_the_house_was_closed_is_answered_once(town: Stage) -> None:
    anna, room = discord_of(town), make_room(town, "discord")
    async with town.open() as house:
        await house.hears(anna, "one")
        await house.hears(room.ben, "one", room=room.id)
    await anna.says("two")
    await room.ben.says("two", room=room.id)
    async with town.open() as house:
        await house.until(lambda: "echo: two" in texts(anna))
        await house.until(lambda: "echo: two" in texts(room.ben, room.id))
        await town.discord.drop_gateway()
        await house.hears(anna, "three")
        assert texts(anna) == ["echo: one", "echo: two", "echo: three"]
        assert texts(room.ben, room.id) == ["echo: one", "echo: two"]


async def test_what_began_in_discord_can_be_asked_for_in_telegram(town: Stage) -> None:
    anna, telegram = discord_of(town), town.account("telegram", ANNA)
    notes = OutboundFile(name="notes.txt", media_type="text/plain", data=b"Plum is the word.")
    async with town.open() as house:
        await join(house, anna, telegram)
        await house.hears(anna, "keep that", files=[notes])
        town.plan(calls(QUESTION), "Blue it is.")
        await house.notes(telegram.says("what did I give you?"))
        await house.asks(telegram, "Blue")
        assert "Plum is the word." in str(town.turns[-1]["messages"])
        await house.press(telegram, "Blue")
        assert texts(telegram)[-1] == "Blue it is."


async def test_the_bot_s_role_and_replies_to_it_are_mentions_and_everyone_is_not(
    town: Stage,
) -> None:
    room, say = make_room(town, "discord"), town.discord.says
    async with town.open() as house:
        await say(BEN, "@everyone dinner!", channel=int(room.id))
        await say(BEN, "who cooks?", channel=int(room.id), role_mention=True)
        await house.until(lambda: texts(room.ben, room.id) == ["echo: who cooks?"])
        (answer,) = room.ben.seen(room.id)
        told = await house.hears(
            room.ben, "and tomorrow?", room=room.id, reply_to=answer.id, mentions=False
        )
        assert told == "echo: and tomorrow?"
        assert 'Answers your message: "echo: who cooks?"' in facts(town.turns[-1])
        assert len(town.turns) == 2
