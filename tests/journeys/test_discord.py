"""Discord only: its command menu, threads and forums, short messages, servers."""

from adapters.messages import OutboundFile
from gateway.interfaces.health import examine
from gateway.texts import general
from tests.emulators.telegram_cast import ANNA, BEN
from tests.journeys.accounts import DiscordAccount, texts
from tests.journeys.identities import join
from tests.journeys.model_answers import QUESTION
from tests.journeys.rooms import CLEO, make_room
from tests.journeys.stage import Harness, Stage, calls, facts, heard

LONG = "\n\n".join(f"Paragraph {number}. " + "word " * 80 for number in range(12))


def discord_of(deployment: Stage, number: int = ANNA) -> DiscordAccount:
    return DiscordAccount(deployment.discord, number)


async def chooses(
    harness: Harness, account: DiscordAccount, name: str, text: str = "", room: str | None = None
) -> list[str]:
    """Use a command of the menu; return the bot's new messages there."""

    def shown() -> list[str]:
        return account.whispered() if room else texts(account)

    before = len(shown())
    await harness.takes(account.commands(name, text, room=room))
    return shown()[before:]


async def test_menu_commands_are_answered_where_they_are_used(
    deployment: Stage,
) -> None:
    anna, room = discord_of(deployment), make_room(deployment, "discord")
    async with deployment.open() as harness:
        await harness.until(deployment.discord.synced_commands)
        names = [entry["name"] for entry in deployment.discord.synced_commands()]
        assert {"help", "new", "stop", "status", "link", "settings", "room", "here"} <= set(names)
        (reported,) = await chooses(harness, anna, "status")
        assert "Model: " in reported
        (reported,) = await chooses(harness, anna, "settings", "language de")
        assert "Sprache: Deutsch" in reported
        (reported,) = await chooses(harness, anna, "room", room=room.id)
        assert "Alle führen hier ihre eigene Unterhaltung mit mir (/room person)" in reported
        assert not any("/room person" in text for text in texts(anna))
        syncs = [path for method, path in deployment.discord.calls if method == "PUT"]
    async with deployment.open() as harness:
        await chooses(harness, anna, "status")
        assert [path for method, path in deployment.discord.calls if method == "PUT"] == syncs


async def test_a_slash_command_leaves_its_own_reply_and_nothing_else(deployment: Stage) -> None:
    anna, room = discord_of(deployment), make_room(deployment, "discord")
    stranger = discord_of(deployment, CLEO)
    known = f"discord:{anna.user_id},telegram:{ANNA}"
    async with deployment.open(known) as harness:
        await harness.until(deployment.discord.synced_commands)
        (code,) = await chooses(harness, stranger, "status", room=room.id)
        (again,) = await chooses(harness, stranger, "help", room=room.id)
        assert code == await harness.hears(discord_of(deployment, BEN), "hello")
        assert again == general.STRANGER_AGAIN()
        for name in ("status", "usage", "whoami", "help", "new", "stop", "here", "retry"):
            assert len(await chooses(harness, anna, name, room=room.id)) == 1
            if name != "retry":
                assert len(await chooses(harness, anna, name)) == 1
        assert texts(anna, room.id) == []
        assert await chooses(harness, anna, "settings", "quiet_hours 22:00-07:00")
        replies = [one for one in deployment.discord.interactions if one.kind == "command"]
        assert {one.type for one in replies} == {5}
        assert not any("👀" in (a.content or "") for one in replies for a in one.answers)
        originals = [deployment.discord.message(one.original_id or 0) for one in replies]
        assert not any(one.is_loading for one in originals)
        assert all(one.answers[0].after < 3 for one in replies)


async def test_a_reply_that_only_confirms_is_ephemeral_in_the_direct_chat_too(
    deployment: Stage,
) -> None:
    anna = discord_of(deployment)
    async with deployment.open() as harness:
        await harness.until(deployment.discord.synced_commands)
        assert await chooses(harness, anna, "retry") == []
        assert anna.whispered() == [general.RETRY_NOTHING()]
        released = deployment.hold()
        await harness.notes(anna.says("what is old?"))
        await harness.until(lambda: deployment.turns)
        await harness.notes(anna.commands("queue", "what is new?"))
        await harness.until(lambda: anna.whispered()[1:] == [general.QUEUED()])
        released.set()
        await harness.until(lambda: texts(anna) == ["echo: what is old?", "echo: what is new?"])
        assert await chooses(harness, anna, "retry") == ["echo: what is new?"]
        assert await chooses(harness, anna, "queue", "and now?") == ["echo: and now?"]
        assert anna.whispered()[2:] == [general.COMMAND_TAKEN()] * 2
        replies = [one for one in deployment.discord.interactions if one.kind == "command"]
        assert [one.after < 3 for used in replies for one in used.answers[:1]] == [True] * 4
        originals = [deployment.discord.message(used.original_id or 0) for used in replies]
        assert not any(one.is_loading for one in originals)


async def test_a_thread_and_a_forum_post_are_own_conversations(
    deployment: Stage,
) -> None:
    anna = discord_of(deployment)
    guild = deployment.discord.guild("House", [ANNA, BEN, CLEO])
    channel, forum = deployment.discord.channel(guild), deployment.discord.forum(guild, "plans")
    thread = await deployment.discord.thread(channel, "Holidays", ANNA)
    async with deployment.open() as harness:
        post = await deployment.discord.thread(
            forum, "Garden", ANNA, text=f"<@{deployment.discord.user_id}> which roses?"
        )
        await harness.until(lambda: texts(anna, str(post)) == ["echo: which roses?"])
        assert await harness.hears(anna, "where to?", room=str(thread)) == "echo: where to?"
        assert await harness.hears(anna, "in general?", room=str(channel)) == "echo: in general?"
        assert [heard(body) for body in deployment.turns] == [
            ["which roses?"],
            ["where to?"],
            ["in general?"],
        ]
        await harness.hears(anna, "red ones?", room=str(post))
        assert heard(deployment.turns[-1]) == ["which roses?", "red ones?"]


async def test_a_mention_can_open_a_thread(deployment: Stage) -> None:
    room = make_room(deployment, "discord")
    async with deployment.open(TALARIA_DISCORD__THREAD_PER_MENTION="true") as harness:
        asked = await room.anna.says("which roses?", room=room.id)
        await harness.until(lambda: texts(room.anna, asked) == ["echo: which roses?"])
        assert texts(room.anna, room.id) == []
        assert await harness.hears(room.anna, "red?", room=asked) == "echo: red?"
        assert heard(deployment.turns[-1]) == ["which roses?", "red?"]


async def test_only_the_first_part_of_a_long_answer_notifies(
    deployment: Stage,
) -> None:
    anna = discord_of(deployment)
    async with deployment.open() as harness:
        deployment.plan(LONG)
        await harness.takes(anna.says("tell me all"))
        parts = anna.seen()
        assert len(parts) > 2
        assert all(len(part.text) <= 2000 for part in parts)
        assert " ".join(" ".join(texts(anna)).split()) == " ".join(LONG.split())
        assert [part.rings for part in parts] == [True] + [False] * (len(parts) - 1)


async def test_the_models_text_pings_only_the_person_it_answers(deployment: Stage) -> None:
    room = make_room(deployment, "discord")
    async with deployment.open() as harness:
        deployment.plan(f"@everyone, ask <@{room.ben.user_id}>!")
        asked = await room.anna.says("whom to ask?", room=room.id)
        await harness.until(lambda: room.anna.seen(room.id))
        await harness.at_rest()
        (answer,) = deployment.discord.messages(int(room.id))
        assert not answer.mention_everyone
        assert answer.mentions == [int(room.anna.user_id)]
        assert str(answer.reference) == asked


async def test_a_command_in_a_chat_without_the_bot_is_answered_there(
    deployment: Stage,
) -> None:
    async with deployment.open() as harness:
        before = len(deployment.discord.interactions)
        await harness.takes(deployment.discord.commands(ANNA, "status", is_user_install=True))
        used = deployment.discord.interactions[before]
        assert used.original_id is not None
        await harness.until(
            lambda: "Model: " in deployment.discord.message(used.original_id or 0).content
        )


async def test_a_server_that_removes_the_bot_gets_no_messages(deployment: Stage) -> None:
    room = make_room(deployment, "discord")
    async with deployment.open() as harness:
        released = deployment.hold()
        await harness.notes(room.anna.says("a long one", room=room.id))
        await harness.until(lambda: len(deployment.turns) == 1)
        guild = deployment.discord.world.channels[int(room.id)].guild_id
        assert guild is not None
        deployment.discord.kick(guild)
        released.set()
        await harness.at_rest()
        assert await harness.count("unreachable_chats", "platform = 'discord'") == 1
        assert await harness.count("outbox", "state IN ('owed', 'sending', 'unsure')") == 0
        assert await harness.hears(room.anna, "here?") == "echo: here?"


async def test_a_person_who_blocks_the_bot_gets_nothing_until_they_write(
    deployment: Stage,
) -> None:
    anna = discord_of(deployment)
    async with deployment.open() as harness:
        deployment.discord.block(ANNA)
        assert await harness.hears(anna, "hello") == ""
        assert await harness.count("unreachable_chats", "platform = 'discord'") == 1
        deployment.discord.block(ANNA, is_blocked=False)
        assert "echo: are you there?" in await harness.hears(anna, "are you there?")


async def test_without_its_intent_only_discord_stops_and_health_says_why(
    deployment: Stage,
) -> None:
    deployment.discord.without_intents("message_content")
    telegram, slack = deployment.account("telegram", ANNA), deployment.account("slack", ANNA)
    async with deployment.open(awaited=("console", "telegram", "slack")) as harness:
        await harness.until(lambda: harness.state_of("discord") == "stopped")
        assert await harness.hears(telegram, "hello") == "echo: hello"
        assert await harness.hears(slack, "hello") == "echo: hello"
        is_well, report = await examine(harness.gateway)
        assert not is_well
        (problem,) = report["problems"]
        assert problem.startswith("discord is stopped")
        assert "Message Content Intent" in problem
    async with deployment.open(TALARIA_DISCORD__MESSAGE_CONTENT="false") as harness:
        assert await harness.hears(discord_of(deployment), "hello") == "echo: hello"


async def test_messages_sent_during_downtime_are_answered_once(
    deployment: Stage,
) -> None:
    anna, room = discord_of(deployment), make_room(deployment, "discord")
    async with deployment.open() as harness:
        await harness.hears(anna, "one")
        await harness.hears(room.ben, "one", room=room.id)
    await anna.says("two")
    await room.ben.says("two", room=room.id)
    async with deployment.open() as harness:
        await harness.until(lambda: "echo: two" in texts(anna))
        await harness.until(lambda: "echo: two" in texts(room.ben, room.id))
        await deployment.discord.drop_gateway()
        await harness.hears(anna, "three")
        assert texts(anna) == ["echo: one", "echo: two", "echo: three"]
        assert texts(room.ben, room.id) == ["echo: one", "echo: two"]


async def test_a_discord_conversation_continues_in_telegram(deployment: Stage) -> None:
    anna, telegram = discord_of(deployment), deployment.account("telegram", ANNA)
    notes = OutboundFile(name="notes.txt", media_type="text/plain", data=b"Plum is the word.")
    async with deployment.open() as harness:
        await join(harness, anna, telegram)
        await harness.hears(anna, "keep that", files=[notes])
        deployment.plan(calls(QUESTION), "Blue it is.")
        await harness.notes(telegram.says("what did I give you?"))
        await harness.asks(telegram, "Blue")
        assert "Plum is the word." in str(deployment.turns[-1]["messages"])
        await harness.press(telegram, "Blue")
        assert texts(telegram)[-1] == "Blue it is."


async def test_replies_and_the_bots_role_are_mentions_but_everyone_is_not(
    deployment: Stage,
) -> None:
    room, say = make_room(deployment, "discord"), deployment.discord.says
    async with deployment.open() as harness:
        await say(BEN, "@everyone dinner!", channel=int(room.id))
        await say(BEN, "who cooks?", channel=int(room.id), role_mention=True)
        await harness.until(lambda: texts(room.ben, room.id) == ["echo: who cooks?"])
        (answer,) = room.ben.seen(room.id)
        reported = await harness.hears(
            room.ben, "and tomorrow?", room=room.id, reply_to=answer.id, mentions=False
        )
        assert reported == "echo: and tomorrow?"
        assert 'Answers your message: "echo: who cooks?"' in facts(deployment.turns[-1])
        assert len(deployment.turns) == 2
