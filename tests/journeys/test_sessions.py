"""Sessions: earlier conversations, titles, branches, and side questions during an answer."""

import asyncio
import re

import pytest

from tests.emulators.streaming import Json
from tests.emulators.telegram_cast import ANNA, BEN, SUPERGROUP
from tests.integration.processes import talaria
from tests.journeys.accounts import Account, DiscordAccount, SlackAccount, asked, texts
from tests.journeys.identities import join
from tests.journeys.platforms import everywhere
from tests.journeys.stage import Harness, Stage, facts, heard


async def make_two_sessions(harness: Harness, anna: Account) -> None:
    """Make two sessions; the second is open."""
    assert await harness.hears(anna, "the boat is called Pelikan") == (
        "echo: the boat is called Pelikan"
    )
    await harness.hears(anna, "/title Boat trip")
    await harness.hears(anna, "/new")
    await harness.hears(anna, "bake bread with rye")


@everywhere
async def test_sessions_are_listed_and_resumed_on_every_platform(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        assert "no conversation here yet" in await harness.hears(anna, "/sessions")
        await make_two_sessions(harness, anna)
        listed = await harness.hears(anna, "/sessions")
        assert re.search(r"2: bake bread with rye \(2 messages, .*; this one\)", listed)
        assert "1: Boat trip (2 messages" in listed
        assert asked(anna).labels == ("Resume 1",)
        await harness.press(anna, "Resume 1")
        assert "You're back in “Boat trip” (2 messages). I know all of it." in texts(anna)[-1]
        await harness.hears(anna, "how is it called?")
        assert heard(deployment.turns[-1]) == ["the boat is called Pelikan", "how is it called?"]
        assert "already in that" in await harness.hears(anna, "/resume 1")
        assert "“bake bread with rye”" in await harness.hears(anna, "/resume 2")
        await harness.hears(anna, "and salt?")
        assert heard(deployment.turns[-1]) == ["bake bread with rye", "and salt?"]
        assert "no conversation 9 here" in await harness.hears(anna, "/resume 9")
        assert "Add the number" in await harness.hears(anna, "/resume boat")


@everywhere
async def test_a_branch_leaves_the_original_unchanged(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        assert "nothing to copy" in await harness.hears(anna, "/branch")
        await harness.hears(anna, "plan a trip")
        assert "resume 2" not in await harness.hears(anna, "/sessions")
        assert "/resume 1 returns" in await harness.hears(anna, "/branch By train")
        await harness.hears(anna, "by train")
        assert heard(deployment.turns[-1]) == ["plan a trip", "by train"]
        listed = await harness.hears(anna, "/sessions")
        assert "2: By train (4 messages" in listed
        assert "1: plan a trip (2 messages" in listed
        await harness.hears(anna, "/resume 1")
        await harness.hears(anna, "by boat")
        assert heard(deployment.turns[-1]) == ["plan a trip", "by boat"]
    async with deployment.open() as harness:
        await harness.hears(anna, "/resume 2")
        await harness.hears(anna, "book it")
        assert heard(deployment.turns[-1]) == ["plan a trip", "by train", "book it"]


@everywhere
async def test_a_title_is_shown_and_changed(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        assert "nothing to name" in await harness.hears(anna, "/title Boats")
        await harness.hears(anna, "hello")
        assert "has no title" in await harness.hears(anna, "/title")
        assert "now called “Boats and bread”" in await harness.hears(anna, "/title Boats and bread")
        assert "is called “Boats and bread”" in await harness.hears(anna, "/title")
        reversing = await harness.hears(anna, "/title Bo\u202eats \U000e0041and bread")
        assert "now called “Bo ats and bread”" in reversing
        for number in range(3):
            await harness.hears(anna, f"message {number}")
        assert "Bo ats and bread" in await harness.hears(anna, "/status")


@everywhere
async def test_a_side_question_is_answered_during_a_turn_and_not_kept(
    deployment: Stage, platform: str
) -> None:
    anna, released = deployment.account(platform, ANNA), asyncio.Event()

    async def hold(body: Json) -> None:
        if heard(body)[-1] == "write a long report":
            await released.wait()

    async with deployment.open() as harness:
        await harness.hears(anna, "the boat is called Pelikan")
        deployment.model.before = hold
        await harness.notes(anna.says("write a long report"))
        await harness.until(lambda: len(deployment.turns) == 2)
        assert "Add a question" in texts(anna)[-1] or await harness.notes(anna.says("/btw"))
        await harness.notes(anna.says("/btw what is the boat called?"))
        await harness.until(lambda: "echo: what is the boat called?" in texts(anna))
        aside = next(body for body in deployment.turns if "boat called?" in heard(body)[-1])
        assert heard(aside) == ["the boat is called Pelikan", "what is the boat called?"]
        assert "side question" in facts(aside)
        assert "echo: write a long report" not in texts(anna)
        released.set()
        await harness.at_rest()
        assert "echo: write a long report" in texts(anna)
        await harness.hears(anna, "thanks")
        assert heard(deployment.turns[-1]) == [
            "the boat is called Pelikan",
            "write a long report",
            "thanks",
        ]
        assert await harness.count("sessions", "ended_at IS NULL") == 1


@everywhere
async def test_steer_reaches_the_running_answer(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        assert "Add what I should know" in await harness.hears(anna, "/steer")
        release = deployment.hold()
        await harness.notes(anna.says("plan a trip"))
        await harness.until(lambda: len(deployment.turns) == 1)
        await harness.notes(anna.says("/queue and then bread"))
        await harness.notes(anna.says("/steer only trains"))
        await harness.until(lambda: any("take that into account" in text for text in texts(anna)))
        release.set()
        await harness.at_rest()
        assert [heard(body)[-1] for body in deployment.turns] == [
            "plan a trip",
            "only trains",
            "and then bread",
        ]
        assert await harness.hears(anna, "/steer alone") == "echo: alone"


async def test_steer_reaches_an_answer_on_another_platform(
    deployment: Stage,
) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        await join(harness, telegram, discord)
        turns = len(deployment.turns)
        release = deployment.hold()
        await harness.notes(telegram.says("plan a trip"))
        await harness.until(lambda: len(deployment.turns) == turns + 1)
        await harness.notes(discord.says("/steer only trains"))
        await harness.until(lambda: any("into account" in text for text in texts(discord)))
        release.set()
        await harness.at_rest()
        assert heard(deployment.turns[-1])[-1] == "only trains"
        assert "only trains" in texts(telegram)[-1]


async def test_a_mistyped_command_offers_the_nearest(deployment: Stage) -> None:
    for account in deployment.accounts(ANNA):
        async with deployment.open() as harness:
            await harness.hears(account, "hello")
            shown = await harness.hears(account, "/sesions all")
            assert "I don't know the command sesions. Did you mean /sessions?" in shown
            await harness.press(account, "/sessions all")
            assert "1: hello (2 messages" in texts(account)[-1]
            assert "Did you mean /help?" in await harness.hears(account, "/hlep")
            assert "/help lists" in await harness.hears(account, "/qqqqq")
            assert "approve" not in await harness.hears(account, "/aprove 12345")


async def test_a_groups_sessions_belong_to_the_group(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, "a private word")
        await harness.ask(ANNA, "@talaria_bot hello", chat=SUPERGROUP)
        await harness.ask(ANNA, "/sessions@talaria_bot", chat=SUPERGROUP)
        listed = stage.telegram.texts(ANNA)[-1]
        assert "hello" in listed
        assert "private word" not in listed
        await harness.ask(BEN, "@talaria_bot hi", chat=SUPERGROUP)
        said = await harness.ask(BEN, "/resume@talaria_bot 2", chat=SUPERGROUP)
        assert "no conversation 2" in said
        assert await harness.ask(BEN, "/btw@talaria_bot and you?", chat=SUPERGROUP) == (
            "echo: and you?"
        )
        assert heard(stage.turns[-1]) == ["hi", "and you?"]


@everywhere
async def test_turns_of_branches_and_asides_are_rebuilt_exactly(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        await harness.hears(anna, "the boat is called Pelikan")
        await harness.hears(anna, "/branch")
        await harness.hears(anna, "and how long is it?")
        await harness.hears(anna, "/btw what is it called?")
    for turn in ("2", "3"):
        done = await asyncio.to_thread(talaria, deployment.home, "turns", "replay", turn)
        assert "\nidentical: 1 request" in done.out, done.out + done.err


async def test_a_side_question_works_as_a_slash_command(deployment: Stage) -> None:
    discord, slack = deployment.account("discord", ANNA), deployment.account("slack", ANNA)
    assert isinstance(discord, DiscordAccount)
    assert isinstance(slack, SlackAccount)
    async with deployment.open() as harness:
        await harness.takes(discord.commands("btw", "what is one?"))
        shown = [one.content for one in deployment.discord.messages(deployment.discord.dm(ANNA))]
        assert "echo: what is one?" in shown
        await harness.takes(slack.commands("btw what is two?"))
        await harness.until(lambda: len(deployment.turns) == 2)
        await harness.at_rest()
        said = [one.shown for one in deployment.slack.messages(deployment.slack.dm(ANNA))]
        assert "echo: what is two?" in said


@pytest.mark.parametrize("said", ["remind me tomorrow at 9 to test", "merk dir, dass ich Tee mag"])
async def test_a_wish_behind_a_slash_is_a_message(deployment: Stage, said: str) -> None:
    anna = deployment.account("telegram", ANNA)
    async with deployment.open() as harness:
        deployment.plan("What shall I do?", "What shall I do?")
        assert "What shall I do?" in await harness.hears(anna, f"/{said}")
        assert any(said in one and f"/{said}" not in one for one in heard(deployment.turns[0]))
