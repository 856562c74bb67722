"""One person on three platforms: linked in chat, one conversation and memory, and unlinked."""

from gateway.texts import memory, people
from tests.emulators.telegram_cast import ANNA, BEN
from tests.journeys.accounts import asked, texts
from tests.journeys.identities import asked_last, claim, join, make_code
from tests.journeys.stage import Stage, call, calls, facts, heard, results, system_of

CLEO = 13


async def test_a_person_continues_from_telegram_in_discord_and_slack(
    deployment: Stage,
) -> None:
    telegram, discord, slack = deployment.accounts(ANNA)
    async with deployment.open(allow="") as harness:
        await claim(harness)
        deployment.plan(calls(call("memory", action="add", target="user", text="Has a cat, Mitzi")))
        deployment.plan("What a name!")
        told = "What a name!\n\n📝 Remembered: Has a cat, Mitzi"
        assert await harness.hears(telegram, "my cat is Mitzi") == told

        assert "I don't know you yet" in await harness.hears(discord, "hello?")
        assert deployment.turns[-1]["messages"][0]["content"][-1]["text"] == "my cat is Mitzi"
        code = await make_code(harness, telegram)
        reported = await harness.hears(discord, f"/link {code}")
        assert "I've asked on Telegram whether to link" in reported
        question = asked(telegram)
        assert question.labels == (people.YES(), people.NO())
        assert discord.user_id in question.text
        await harness.press(telegram, people.YES())
        assert asked_last(telegram).endswith("unlinks one.)")
        assert texts(discord)[-1] == people.describe_linked_notice("telegram", "Anna")

        assert await harness.hears(discord, "who is Mitzi?") == "echo: who is Mitzi?"
        assert heard(deployment.turns[-1]) == ["my cat is Mitzi", "who is Mitzi?"]

        await join(harness, discord, slack)
        deployment.plan(calls(call("memory", action="add", target="user", text="Lives in Graz")))
        deployment.plan("Noted.")
        told = "Noted.\n\n📝 Remembered: Lives in Graz"
        assert await harness.hears(slack, "I live in Graz") == told
        assert heard(deployment.turns[-1])[:3] == [
            "my cat is Mitzi",
            "who is Mitzi?",
            "I live in Graz",
        ]
        await harness.hears(telegram, "/new")
        await harness.hears(discord, "what do you know?")
        assert "Has a cat, Mitzi" in system_of(deployment.turns[-1])
        assert "Lives in Graz" in system_of(deployment.turns[-1])
        assert heard(deployment.turns[-1]) == ["what do you know?"]

        listed = await harness.hears(slack, "/accounts")
        for account in (telegram, discord, slack):
            assert account.user_id in listed
        assert "this one" in listed


async def test_an_undo_button_from_before_a_link_undoes_no_other_change(
    deployment: Stage,
) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        deployment.plan(calls(call("memory", action="add", target="user", text="Has a cat")), "Ok.")
        await harness.hears(telegram, "I have a cat")
        deployment.plan(calls(call("memory", action="add", target="user", text="In Graz")), "Ok.")
        await harness.hears(discord, "I live in Graz")
        press = discord.holds("Undo")
        await join(harness, telegram, discord)
        await harness.takes(press())
        assert memory.CHANGE_ELSEWHERE() in texts(discord)
        listed = await harness.hears(telegram, "/memory")
        assert "Has a cat" in listed
        assert "In Graz" in listed


async def test_an_unlinked_account_takes_along_what_it_began(deployment: Stage) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        await harness.hears(telegram, "in Telegram")
        await join(harness, telegram, discord)
        await harness.hears(telegram, "/new")
        await harness.hears(discord, "in Discord")
        listed = await harness.hears(discord, "/accounts")
        number = next(line[0] for line in listed.splitlines() if "Discord" in line)

        reported = await harness.hears(telegram, f"/unlink {number}")
        assert "is a separate person again" in reported
        await harness.hears(telegram, "here again")
        assert "in Discord" not in heard(deployment.turns[-1])
        await harness.hears(discord, "and here")
        assert heard(deployment.turns[-1]) == ["in Discord", "and here"]
        listed = await harness.hears(discord, "/accounts")
        assert "Telegram" not in listed
        assert discord.user_id in listed


async def test_linking_merges_conversations_and_memories(deployment: Stage) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        for account, fact in ((telegram, "Drinks tea"), (discord, "Plays chess")):
            deployment.plan(calls(call("memory", action="add", target="user", text=fact)), "Noted.")
            told = await harness.hears(account, fact.lower())
            assert told == f"Noted.\n\n📝 Remembered: {fact}"
        await join(harness, telegram, discord)
        for account in (telegram, discord):
            await harness.hears(account, "/new")
            await harness.hears(account, "what do I like?")
            assert "Drinks tea" in system_of(deployment.turns[-1])
            assert "Plays chess" in system_of(deployment.turns[-1])
        listed = await harness.hears(discord, "/memory")
        assert "Drinks tea" in listed
        assert "Plays chess" in listed
        deployment.plan(calls(call("recall", query="chess")), "You play it.")
        assert await harness.hears(telegram, "what do I play?") == "You play it."
        assert "plays chess" in results(deployment.turns[-1])[0]


async def test_a_code_in_a_room_is_refused_and_revoked(deployment: Stage) -> None:
    telegram, discord, slack = deployment.accounts(ANNA)
    channel = deployment.slack.channel("general", members=(ANNA, BEN))
    guild = deployment.discord.channel(deployment.discord.guild("House", [ANNA, BEN, CLEO]))
    async with deployment.open() as harness:
        code = await make_code(harness, telegram)
        assert "only link accounts in direct messages" in await harness.hears(
            discord, f"/link {code}", room=str(guild)
        )
        assert "invalid" in await harness.hears(discord, f"/link {code}")
        for words in ("/link", "/link telegram", "/link discord"):
            assert "only link accounts in direct messages" in await harness.hears(
                slack, words, room=channel
            )
        assert not [one for one in telegram.seen() if one.labels]
        assert discord.user_id not in await harness.hears(telegram, "/accounts")


async def test_a_platform_that_is_off_is_said(stage: Stage) -> None:
    async with stage.open() as harness:
        said = await harness.ask(ANNA, "/link Discord")
        assert said.startswith("Discord isn't connected to me"), said
        assert "talaria setup discord" in said


async def test_no_and_cancel_link_nobody(deployment: Stage) -> None:
    telegram, discord, slack = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        await harness.hears(discord, f"/link {await make_code(harness, telegram)}")
        await harness.press(telegram, people.NO())
        assert people.LINK_REFUSED() in texts(telegram)[-1]
        assert people.LINK_REFUSED_NOTICE() in texts(discord)[-1]
        await harness.hears(slack, f"/link {await make_code(harness, discord)}")
        assert people.LINK_CANCELLED() in await harness.hears(slack, "/link cancel")
        assert people.LINK_CANCELLED_THERE() in texts(discord)[-1]
        await harness.hears(telegram, "one")
        await harness.hears(discord, "two")
        await harness.hears(slack, "three")
        assert [heard(body) for body in deployment.turns] == [["one"], ["two"], ["three"]]


async def test_each_platform_answers_while_the_other_is_busy(
    deployment: Stage,
) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        await join(harness, telegram, discord)
        released = deployment.hold()
        await harness.notes(telegram.says("the long one"))
        await harness.until(lambda: deployment.model.requests)
        await harness.notes(discord.says("the short one"))
        released.set()
        await harness.at_rest()
        assert texts(telegram)[-1] == "echo: the long one"
        assert texts(discord)[-1] == "echo: the short one"
        assert heard(deployment.turns[-1]) == ["the long one", "the short one"]
        assert "Discord" in facts(deployment.turns[-1])
