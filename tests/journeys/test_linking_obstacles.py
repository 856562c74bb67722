"""Account linking with obstacles: a restart, and memories that are too long together."""

import asyncio

from agent_core.transcript import flatten
from gateway.texts import people
from tests.emulators.telegram_cast import ANNA
from tests.journeys.accounts import Account, asked, texts
from tests.journeys.identities import claim, join, make_code
from tests.journeys.model_answers import QUESTION
from tests.journeys.stage import PATIENCE, Harness, Stage, call, calls, heard, system_of

SHORT = {"TALARIA_MEMORY__USER_LIMIT": "200"}

JOINED = "action = 'link.joined' AND detail LIKE 'became %'"


async def remember(harness: Harness, account: Account, fact: str) -> None:
    """Have the model note a fact about the person."""
    harness.stage.plan(calls(call("memory", action="add", target="user", text=fact)), "Noted.")
    told = await harness.hears(account, "remember that")
    assert told == f"Noted.\n\n📝 Remembered: {flatten(fact, 120)}"


async def prompt_of(harness: Harness, account: Account) -> str:
    """Return the system prompt of a new session."""
    await harness.hears(account, "/new")
    await harness.hears(account, "hello")
    return system_of(harness.stage.turns[-1])


async def test_a_confirmation_survives_a_restart_and_linking_is_audited(
    deployment: Stage,
) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        await harness.hears(telegram, "in Telegram")
        await harness.hears(discord, f"/link {await make_code(harness, telegram)}")
        assert asked(telegram).labels == (people.YES(), people.NO())
    async with deployment.open() as harness, asyncio.timeout(PATIENCE):
        while not await harness.count("audit", JOINED):  # a gateway scans memories when it starts
            await harness.press(telegram, people.YES())
        await harness.hears(discord, "in Discord")
        assert heard(deployment.turns[-1]) == ["in Telegram", "in Discord"]
        assert await harness.count("audit", JOINED) == 1


async def test_a_code_works_only_once(deployment: Stage) -> None:
    telegram, discord, slack = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        code = await make_code(harness, telegram)
        await harness.hears(discord, f"/link {code}")
        await harness.press(telegram, people.YES())
        assert "invalid" in await harness.hears(slack, f"/link {code}")
        assert people.LINK_SAME() in await harness.hears(
            discord, f"/link {await make_code(harness, telegram)}"
        )
        assert (
            await harness.count("audit", "action = 'link.joined' AND detail LIKE 'became %'") == 1
        )


async def test_notes_too_long_together_are_asked_about_and_none_is_cut(
    deployment: Stage,
) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    ours, theirs = "Drinks tea " + "a" * 120, "Plays chess " + "b" * 120
    async with deployment.open(**SHORT) as harness:  # type: ignore[arg-type]
        await remember(harness, telegram, ours)
        await remember(harness, discord, theirs)
        await join(harness, telegram, discord)
        await harness.asks(telegram, people.KEEP())
        assert "Plays chess" in asked(telegram).text
        await harness.press(telegram, people.LEAVE())
        system = await prompt_of(harness, discord)
        assert ours in system
        assert theirs not in system
        assert "set aside when you linked" in await harness.hears(discord, "/accounts")
        await harness.hears(discord, "/accounts keep")
        system = await prompt_of(harness, telegram)
        assert ours in system
        assert theirs in system


async def test_unlinking_takes_an_accounts_memories_along(
    deployment: Stage,
) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        await remember(harness, telegram, "Drinks tea")
        await remember(harness, discord, "Plays chess")
        await join(harness, telegram, discord)
        assert "Plays chess" in await prompt_of(harness, telegram)
        assert "a separate person again" in await harness.hears(telegram, "/unlink discord")
        ours, theirs = await prompt_of(harness, telegram), await prompt_of(harness, discord)
        assert ("Drinks tea" in ours, "Plays chess" in ours) == (True, False)
        assert ("Drinks tea" in theirs, "Plays chess" in theirs) == (False, True)


async def test_an_account_linked_to_an_owner_is_an_owner_until_unlinked(deployment: Stage) -> None:
    telegram, _, slack = deployment.accounts(ANNA)
    async with deployment.open(allow="") as harness:
        await claim(harness)
        await join(harness, telegram, slack)
        assert "(owner)" in await harness.hears(slack, "/whoami")
        reported = await harness.hears(telegram, "/unlink slack")
        assert "an owner has to let it in" in reported
        assert "(owner)" not in await harness.hears(slack, "/whoami")
        assert await harness.hears(slack, "hello") == ""
        assert deployment.turns == []


async def test_budget_and_status_are_shared_by_linked_accounts(deployment: Stage) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        await harness.hears(telegram, "one")
        await harness.hears(discord, "two")
        alone = await harness.hears(telegram, "/status")
        await join(harness, telegram, discord)
        both = await harness.hears(telegram, "/status")
        there = await harness.hears(discord, "/status")
        assert _tokens(both) == _tokens(there)
        assert _tokens(both) > _tokens(alone)
        assert texts(discord)[-1] == there


def _tokens(status: str) -> int:
    line = next(line for line in status.splitlines() if "tokens read" in line)
    return int(line.split(": ")[1].split()[0].replace(",", ""))


async def test_a_question_that_waits_is_asked_again_where_the_link_is_confirmed(
    deployment: Stage,
) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        await harness.hears(discord, f"/link {await make_code(harness, telegram)}")
        deployment.plan(calls(QUESTION), "Blue it is.")
        await harness.notes(telegram.says("paint my room"))
        await harness.asks(telegram, "Blue")
        assert "waiting for your answer to “Which colour?”" in await _status(harness, telegram)
        await harness.notes(telegram.holds(people.YES())())
        await harness.until(
            lambda: people.ANSWER_FIRST(question="Which colour?") in texts(telegram)
        )
        await harness.until(lambda: texts(telegram)[-1].startswith("Which colour?"))
        assert asked(telegram).labels == ("Red", "Blue")
        await harness.press(telegram, "Blue")
        assert "Blue it is." in texts(telegram)
        await harness.press(telegram, people.YES())
        assert discord.user_id in await harness.hears(telegram, "/accounts")


async def test_a_question_on_the_other_account_is_not_shown_before_the_link(
    deployment: Stage,
) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        await harness.hears(discord, f"/link {await make_code(harness, telegram)}")
        deployment.plan(calls(QUESTION), "Blue it is.")
        await harness.notes(discord.says("paint my room"))
        await harness.asks(discord, "Blue")
        await harness.notes(telegram.holds(people.YES())())
        await harness.until(
            lambda: people.describe_question_there("discord") == texts(telegram)[-1]
        )
        await harness.press(discord, "Blue")
        await harness.press(telegram, people.YES())
        assert discord.user_id in await harness.hears(telegram, "/accounts")


async def _status(harness: Harness, account: Account) -> str:
    """Ask for the status while a turn waits."""
    await harness.notes(account.says("/status"))
    await harness.until(lambda: any("Model: " in text for text in texts(account)))
    return next(text for text in texts(account) if "Model: " in text)
