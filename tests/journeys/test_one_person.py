"""One person on three platforms: joined in chat, one talk, one memory, and parted again."""

from gateway.texts import people
from tests.emulators.telegram_cast import ANNA, BEN
from tests.journeys.accounts import Account, asked, texts
from tests.journeys.stage import House, Stage, call, calls, facts, heard, results, system_of
from tests.journeys.test_people import claim, code_in

CLEO = 13


async def make_code(house: House, account: Account) -> str:
    return code_in(await house.hears(account, "/link"))


async def join(house: House, first: Account, other: Account) -> None:
    """`other` becomes the person that `first` is, as it is meant to be done."""
    code = await make_code(house, first)
    assert "I asked on" in await house.hears(other, f"/link {code}")
    await house.press(first, people.YES())
    assert "(Linked: " in asked_last(first)


def asked_last(account: Account) -> str:
    """The newest message that was a question about accounts."""
    return next(text for text in reversed(texts(account)) if "Once linked" in text)


async def test_who_began_in_telegram_goes_on_in_discord_and_slack_as_one_person(
    town: Stage,
) -> None:
    telegram, discord, slack = town.accounts(ANNA)
    async with town.open(allow="") as house:
        await claim(house)
        town.plan(calls(call("memory", action="add", target="user", text="Has a cat, Mitzi")))
        town.plan("What a name!")
        assert await house.hears(telegram, "my cat is Mitzi") == "What a name!"

        assert "I don't know you yet" in await house.hears(discord, "hello?")
        assert town.turns[-1]["messages"][0]["content"][-1]["text"] == "my cat is Mitzi"
        code = await make_code(house, telegram)
        told = await house.hears(discord, f"/link {code}")
        assert "I asked on Telegram: confirm there" in told
        question = asked(telegram)
        assert question.labels == (people.YES(), people.NO())
        assert discord.user_id in question.text
        await house.press(telegram, people.YES())
        assert asked_last(telegram).endswith("removes one.)")
        assert texts(discord)[-1] == people.describe_linked_notice("telegram", "Anna")

        assert await house.hears(discord, "who is Mitzi?") == "echo: who is Mitzi?"
        assert heard(town.turns[-1]) == ["my cat is Mitzi", "who is Mitzi?"]

        await join(house, discord, slack)
        town.plan(calls(call("memory", action="add", target="user", text="Lives in Graz")))
        town.plan("Noted.")
        assert await house.hears(slack, "I live in Graz") == "Noted."
        assert heard(town.turns[-1])[:3] == ["my cat is Mitzi", "who is Mitzi?", "I live in Graz"]
        await house.hears(telegram, "/new")
        await house.hears(discord, "what do you know?")
        assert "Has a cat, Mitzi" in system_of(town.turns[-1])
        assert "Lives in Graz" in system_of(town.turns[-1])
        assert heard(town.turns[-1]) == ["what do you know?"]

        listed = await house.hears(slack, "/accounts")
        for account in (telegram, discord, slack):
            assert account.user_id in listed
        assert "this one" in listed


async def test_an_account_that_is_split_off_takes_along_what_it_began(town: Stage) -> None:
    telegram, discord, _ = town.accounts(ANNA)
    async with town.open() as house:
        await house.hears(telegram, "in Telegram")
        await join(house, telegram, discord)
        await house.hears(telegram, "/new")
        await house.hears(discord, "in Discord")
        listed = await house.hears(discord, "/accounts")
        number = next(line[0] for line in listed.splitlines() if "Discord" in line)

        told = await house.hears(telegram, f"/unlink {number}")
        assert "is a separate person again" in told
        await house.hears(telegram, "here again")
        assert "in Discord" not in heard(town.turns[-1])
        await house.hears(discord, "and here")
        assert heard(town.turns[-1]) == ["in Discord", "and here"]
        listed = await house.hears(discord, "/accounts")
        assert "Telegram" not in listed
        assert discord.user_id in listed


async def test_what_two_accounts_said_and_were_remembered_by_becomes_one(town: Stage) -> None:
    telegram, discord, _ = town.accounts(ANNA)
    async with town.open() as house:
        for account, fact in ((telegram, "Drinks tea"), (discord, "Plays chess")):
            town.plan(calls(call("memory", action="add", target="user", text=fact)), "Noted.")
            assert await house.hears(account, fact.lower()) == "Noted."
        await join(house, telegram, discord)
        for account in (telegram, discord):
            await house.hears(account, "/new")
            await house.hears(account, "what do I like?")
            assert "Drinks tea" in system_of(town.turns[-1])
            assert "Plays chess" in system_of(town.turns[-1])
        listed = await house.hears(discord, "/memory")
        assert "Drinks tea" in listed
        assert "Plays chess" in listed
        town.plan(calls(call("recall", query="chess")), "You play it.")
        assert await house.hears(telegram, "what do I play?") == "You play it."
        assert "plays chess" in results(town.turns[-1])[0]


async def test_a_code_in_a_room_is_refused_and_worth_nothing_afterwards(town: Stage) -> None:
    telegram, discord, slack = town.accounts(ANNA)
    channel = town.slack.channel("general", members=(ANNA, BEN))
    guild = town.discord.channel(town.discord.guild("House", [ANNA, BEN, CLEO]))
    async with town.open() as house:
        code = await make_code(house, telegram)
        assert "direct messages only" in await house.hears(
            discord, f"/link {code}", room=str(guild)
        )
        assert "invalid" in await house.hears(discord, f"/link {code}")
        assert "direct messages only" in await house.hears(slack, "/link", room=channel)
        assert not [one for one in telegram.seen() if one.labels]
        assert discord.user_id not in await house.hears(telegram, "/accounts")


async def test_no_and_cancel_join_nobody(town: Stage) -> None:
    telegram, discord, slack = town.accounts(ANNA)
    async with town.open() as house:
        await house.hears(discord, f"/link {await make_code(house, telegram)}")
        await house.press(telegram, people.NO())
        assert people.LINK_REFUSED() in texts(telegram)[-1]
        assert people.LINK_REFUSED_NOTICE() in texts(discord)[-1]
        await house.hears(slack, f"/link {await make_code(house, discord)}")
        assert people.LINK_CANCELLED() in await house.hears(slack, "/link cancel")
        assert people.LINK_CANCELLED_THERE() in texts(discord)[-1]
        await house.hears(telegram, "one")
        await house.hears(discord, "two")
        await house.hears(slack, "three")
        assert [heard(body) for body in town.turns] == [["one"], ["two"], ["three"]]


async def test_words_sent_on_one_platform_are_answered_there_while_the_other_is_at_work(
    town: Stage,
) -> None:
    telegram, discord, _ = town.accounts(ANNA)
    async with town.open() as house:
        await join(house, telegram, discord)
        released = town.hold()
        await house.notes(telegram.says("the long one"))
        await house.until(lambda: town.model.requests)
        await house.notes(discord.says("the short one"))
        released.set()
        await house.at_rest()
        assert texts(telegram)[-1] == "echo: the long one"
        assert texts(discord)[-1] == "echo: the short one"
        assert heard(town.turns[-1]) == ["the long one", "the short one"]
        assert "Discord" in facts(town.turns[-1])
