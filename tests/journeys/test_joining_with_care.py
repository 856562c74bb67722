"""Joining accounts where something stands in the way: a restart, two memories that are too long."""

import asyncio

from gateway.texts import people
from tests.emulators.telegram_cast import ANNA
from tests.journeys.accounts import Account, asked, texts
from tests.journeys.stage import PATIENCE, House, Stage, call, calls, heard, system_of
from tests.journeys.test_one_person import join, make_code
from tests.journeys.test_people import claim

SHORT = {"TALARIA_MEMORY__USER_LIMIT": "200"}

JOINED = "action = 'link.joined' AND detail LIKE 'became %'"


async def remember(house: House, account: Account, fact: str) -> None:
    """The model notes a fact about whoever that is."""
    house.stage.plan(calls(call("memory", action="add", target="user", text=fact)), "Noted.")
    assert await house.hears(account, "remember that") == "Noted."


async def prompt_of(house: House, account: Account) -> str:
    """What the model is told in a fresh talk."""
    await house.hears(account, "/new")
    await house.hears(account, "hello")
    return system_of(house.stage.turns[-1])


async def test_a_confirmation_outlives_a_restart_and_the_joining_is_written_down(
    town: Stage,
) -> None:
    telegram, discord, _ = town.accounts(ANNA)
    async with town.open() as house:
        await house.hears(telegram, "in Telegram")
        await house.hears(discord, f"/link {await make_code(house, telegram)}")
        assert asked(telegram).labels == (people.YES(), people.NO())
    async with town.open() as house, asyncio.timeout(PATIENCE):
        while not await house.count("audit", JOINED):  # a house that starts looks memories through
            await house.press(telegram, people.YES())
        await house.hears(discord, "in Discord")
        assert heard(town.turns[-1]) == ["in Telegram", "in Discord"]
        assert await house.count("audit", JOINED) == 1


async def test_a_code_works_once_and_not_for_who_comes_later(town: Stage) -> None:
    telegram, discord, slack = town.accounts(ANNA)
    async with town.open() as house:
        code = await make_code(house, telegram)
        await house.hears(discord, f"/link {code}")
        await house.press(telegram, people.YES())
        assert "invalid" in await house.hears(slack, f"/link {code}")
        assert people.LINK_SAME() in await house.hears(
            discord, f"/link {await make_code(house, telegram)}"
        )
        assert await house.count("audit", "action = 'link.joined' AND detail LIKE 'became %'") == 1


async def test_notes_that_do_not_fit_together_are_asked_about_and_none_is_cut(
    town: Stage,
) -> None:
    telegram, discord, _ = town.accounts(ANNA)
    ours, theirs = "Drinks tea " + "a" * 120, "Plays chess " + "b" * 120
    async with town.open(**SHORT) as house:  # type: ignore[arg-type]
        await remember(house, telegram, ours)
        await remember(house, discord, theirs)
        await join(house, telegram, discord)
        await house.asks(telegram, people.KEEP())
        assert "Plays chess" in asked(telegram).text
        await house.press(telegram, people.LEAVE())
        system = await prompt_of(house, discord)
        assert ours in system
        assert theirs not in system
        assert "set aside when you linked" in await house.hears(discord, "/accounts")
        await house.hears(discord, "/accounts keep")
        system = await prompt_of(house, telegram)
        assert ours in system
        assert theirs in system


async def test_what_an_account_was_remembered_by_goes_with_it_when_it_is_split_off(
    town: Stage,
) -> None:
    telegram, discord, _ = town.accounts(ANNA)
    async with town.open() as house:
        await remember(house, telegram, "Drinks tea")
        await remember(house, discord, "Plays chess")
        await join(house, telegram, discord)
        assert "Plays chess" in await prompt_of(house, telegram)
        assert "a separate person again" in await house.hears(telegram, "/unlink discord")
        ours, theirs = await prompt_of(house, telegram), await prompt_of(house, discord)
        assert ("Drinks tea" in ours, "Plays chess" in ours) == (True, False)
        assert ("Drinks tea" in theirs, "Plays chess" in theirs) == (False, True)


async def test_who_was_joined_with_the_owner_is_an_owner_until_split_off(town: Stage) -> None:
    telegram, _, slack = town.accounts(ANNA)
    async with town.open(allow="") as house:
        await claim(house)
        await join(house, telegram, slack)
        assert "(owner)" in await house.hears(slack, "/whoami")
        told = await house.hears(telegram, "/unlink slack")
        assert "needs an owner's approval" in told
        assert "(owner)" not in await house.hears(slack, "/whoami")
        assert await house.hears(slack, "hello") == ""
        assert town.turns == []


async def test_budget_and_status_are_the_person_s_on_every_platform(town: Stage) -> None:
    telegram, discord, _ = town.accounts(ANNA)
    async with town.open() as house:
        await house.hears(telegram, "one")
        await house.hears(discord, "two")
        alone = await house.hears(telegram, "/status")
        await join(house, telegram, discord)
        both = await house.hears(telegram, "/status")
        there = await house.hears(discord, "/status")
        assert _tokens(both) == _tokens(there)
        assert _tokens(both) > _tokens(alone)
        assert texts(discord)[-1] == there


def _tokens(status: str) -> int:
    line = next(line for line in status.splitlines() if "tokens read" in line)
    return int(line.split(": ")[1].split()[0].replace(",", ""))
