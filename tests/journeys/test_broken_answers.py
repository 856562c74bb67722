"""A model that breaks off and then begins differently: people see one answer, and no stump."""

import asyncio
import itertools

from tests.emulators import discord_faults, slack_faults, telegram_faults
from tests.emulators.streaming import Fault, Json, text_answer
from tests.emulators.telegram_cast import ANNA
from tests.journeys.accounts import Account, ringing, texts
from tests.journeys.model_answers import OVERLOADED, QUESTION
from tests.journeys.platforms import everywhere
from tests.journeys.stage import AT_ONCE, PATIENCE, Harness, Stage, calls, is_turn

FIRST = ("Once upon a time there was a calendar, and it was full. " * 6).strip()
OTHER = ("On Tuesday you have two appointments, and none on Wednesday. " * 6).strip()
BROKEN = Fault(answer=text_answer(FIRST), after_events=50, then="cut")
QUICKLY, PIECES = 0.02, 60


async def break_off(
    deployment: Stage, harness: Harness, anna: Account, *further: Fault
) -> asyncio.Event:
    """Let an answer break off; return once a part of it is visible.

    The next call waits for the returned event.
    """
    released = hold_further(deployment)
    deployment.plan(BROKEN, *further)
    await harness.notes(anna.says("what is on Tuesday?"))
    await harness.until(lambda: any("Once upon" in text for text in texts(anna)))
    return released


def hold_further(deployment: Stage) -> asyncio.Event:
    """Let the model stream slowly, and hold its second and later calls until the event is set."""
    deployment.model.pace, deployment.model.deltas = QUICKLY, PIECES
    released, calls = asyncio.Event(), itertools.count()

    async def wait(body: Json) -> None:
        if is_turn(body) and next(calls):
            await asyncio.wait_for(released.wait(), PATIENCE)

    deployment.model.before = wait
    return released


@everywhere
async def test_a_broken_answer_leaves_nothing_when_its_person_writes_again(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        released = await break_off(deployment, harness, anna, OVERLOADED)
        deployment.plan(OTHER)
        await harness.notes(anna.says("and on Wednesday?"))
        released.set()
        await harness.at_rest()
        assert texts(anna) == [OTHER]
        assert ringing(anna)[-1] == OTHER


@everywhere
async def test_what_an_earlier_process_showed_leaves_nothing_when_its_person_writes_again(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open(TALARIA_TURNS__DRAIN_SECONDS=AT_ONCE) as harness:
        await break_off(deployment, harness, anna)
    deployment.plan(OVERLOADED, OTHER)
    released = deployment.hold()
    async with deployment.open() as harness:
        await harness.until(lambda: len(deployment.turns) == 2)
        await harness.notes(anna.says("and on Wednesday?"))
        released.set()
        await harness.at_rest()
        assert texts(anna) == [OTHER]


@everywhere
async def test_a_broken_answer_does_not_stay_above_a_question(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        released = await break_off(deployment, harness, anna)
        deployment.plan(calls(QUESTION), "Blue it is.")
        released.set()
        await harness.asks(anna, "Blue")
        assert not any("Once upon" in text for text in texts(anna))
        await harness.press(anna, "Blue")
        await harness.at_rest()
        assert texts(anna)[-1] == "Blue it is."
        assert len(texts(anna)) == 2


async def test_a_broken_draft_does_not_become_a_message(deployment: Stage) -> None:
    anna = deployment.account("telegram", ANNA)
    deployment.telegram.has_drafts = True
    async with deployment.open() as harness:
        released = hold_further(deployment)
        deployment.plan(BROKEN, OVERLOADED, OTHER)
        await harness.notes(anna.says("what is on Tuesday?"))
        await harness.until(lambda: deployment.telegram.drafts)
        await harness.notes(anna.says("and on Wednesday?"))
        released.set()
        await harness.at_rest()
        assert texts(anna) == [OTHER]


@everywhere
async def test_a_platform_that_refuses_the_last_edit_shows_one_answer(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    deployment.slack.can_stream = False
    async with deployment.open() as harness:
        released = await break_off(deployment, harness, anna)
        refuse_edits(deployment)
        deployment.plan(OTHER)
        released.set()
        await harness.at_rest()
        assert texts(anna) == [OTHER]


@everywhere
async def test_what_can_not_be_deleted_says_that_the_answer_is_elsewhere(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    deployment.slack.can_stream = False
    async with deployment.open() as harness:
        released = await break_off(deployment, harness, anna, OVERLOADED)
        refuse_deletions(deployment)
        deployment.plan(OTHER)
        await harness.notes(anna.says("and on Wednesday?"))
        released.set()
        await harness.at_rest()
        void, answer = texts(anna)
        assert (void, answer) == (
            "(Please ignore this message. My answer is in another one.)",
            OTHER,
        )


def refuse_edits(deployment: Stage) -> None:
    """Let every platform refuse edits from now on, as it does with old messages."""
    deployment.telegram.fail(
        "editMessageText",
        kind=telegram_faults.refused("Bad Request: message can't be edited"),
        times=100,
    )
    deployment.discord.fail(
        discord_faults.EDIT, kind=discord_faults.ERROR, status=400, code=30046, times=100
    )
    deployment.slack.fail(
        "chat.update", kind=slack_faults.ERROR, code="edit_window_closed", times=100
    )


def refuse_deletions(deployment: Stage) -> None:
    """Let every platform refuse deletions from now on."""
    deployment.telegram.fail(
        "deleteMessage",
        kind=telegram_faults.refused("Bad Request: message can't be deleted for everyone"),
        times=100,
    )
    deployment.discord.fail(
        discord_faults.DELETE, kind=discord_faults.ERROR, status=400, code=50021, times=100
    )
    deployment.slack.fail(
        "chat.delete", kind=slack_faults.ERROR, code="cant_delete_message", times=100
    )
