"""Learning by chat: learn, see, why, correct, undo, dismiss, change of mind, full memory."""

import asyncio

from tests.emulators.telegram_cast import ANNA
from tests.journeys.accounts import Account, Seen, asked, texts
from tests.journeys.platforms import everywhere
from tests.journeys.reviews import learning, names_of
from tests.journeys.stage import Stage, call, calls
from tests.patience import PATIENCE, until

METRIC, SAID = "Prefers metric units", "I prefer metric units"


async def sees(account: Account, words: str, count: int = 1) -> Seen:
    """Return the newest message with these words, once so many have them."""
    try:
        async with asyncio.timeout(PATIENCE):
            await until(lambda: sum(words in text for text in texts(account)) >= count)
    except TimeoutError:
        raise AssertionError("\n=====\n".join(texts(account))) from None
    return [one for one in account.seen() if words in one.text][-1]


def read_profile(stage: Stage) -> str:
    """Return what is remembered about the only person."""
    return "".join(one.read_text() for one in stage.home.glob("memories/people/*/USER.md"))


@everywhere
async def test_learn_see_why_correct_and_undo(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with learning(deployment) as (harness, teacher):
        teacher.plan(SAID, METRIC)
        await harness.takes(anna.says(SAID))
        notice = await sees(anna, "Learned from what you said:")
        assert METRIC in notice.text
        assert not notice.rings or platform == "slack", "Slack has no silent messages"
        await harness.takes(anna.says("/learned"))
        feed = await sees(anna, "What I learned from our conversations")
        assert METRIC in feed.text
        assert "How I learn:" in feed.text
        await harness.takes(anna.says("/why 2"))
        assert SAID in (await sees(anna, "Where it comes from")).text
        await harness.takes(anna.says("/profile 2 Prefers imperial units"))
        assert "Prefers imperial units" in read_profile(deployment)
        await harness.takes(anna.says("/undo"))
        assert METRIC in read_profile(deployment)
        await harness.press(anna, f"Undo: {METRIC}")
        await until(lambda: METRIC not in read_profile(deployment))
        await harness.takes(anna.says(SAID))
        again = await sees(anna, "You removed a note like this before.")
        assert "Accept" in again.labels


@everywhere
async def test_correct_dismiss_and_change_of_mind(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    guesses = {"I saw a boat": "Owns a boat", "my aunt bakes": "Bakes bread for a living"}
    async with learning(deployment) as (harness, teacher):
        await harness.takes(anna.says("/learned ask"))
        teacher.planned = {said: (text, "") for said, text in guesses.items()}
        await harness.takes(anna.says("I saw a boat"))
        await sees(anna, "Should I remember")
        await harness.takes(anna.says("my aunt bakes"))
        await sees(anna, "Bakes bread")
        await harness.press(anna, "Dismiss")
        await sees(
            anna,
            "/learned dismissed" if platform != "slack" else "learned dismissed",
        )
        told = await harness.hears(anna, "/undo")
        assert "changed nothing that I can take back (Dismiss)" in told
        await harness.takes(anna.says("/learned dismissed"))
        listed = await sees(anna, "Dismissed, or not answered in time")
        await harness.press(anna, listed.labels[0])
        await until(lambda: "Accept" in asked(anna).labels)
        await harness.takes(anna.says("yes"))
        done = await sees(anna, "Done:")
        await harness.press(anna, done.labels[0])
        await sees(anna, "↩ Taken back.")
        assert len([body for body in deployment.turns if "recall" in names_of(body)]) == 2


@everywhere
async def test_one_message_asks_about_all_notes(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    boat, bread = "Owns a boat", "Bakes bread for a living"
    async with learning(deployment) as (harness, teacher):
        teacher.planned = {"I saw a boat, my aunt bakes": (boat, "")}
        teacher.more = {"I saw a boat, my aunt bakes": bread}
        await harness.takes(anna.says("I saw a boat, my aunt bakes"))
        question = await sees(anna, "Should I remember these notes?")
        assert question.labels == ("Keep all", "None", "One by one")
        assert boat in question.text
        assert bread in question.text
        await harness.press(anna, "Keep all")
        await sees(anna, "I'll remember these 2 notes.")
        await until(lambda: all(one in read_profile(deployment) for one in (boat, bread)))
        await harness.takes(anna.says("/memory"))
        await until(lambda: boat in texts(anna)[-1] and bread in texts(anna)[-1])


@everywhere
async def test_a_full_memory_says_what_moved(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    long = (
        "Collects stamps from Norway, Iceland, Sweden, Finland and Denmark since her ninth birthday"
    )
    other = "Plays the cello in the orchestra of the railway workers on Sundays at half past nine"
    adds = [call("memory", action="add", target="user", text=text) for text in (long, other)]
    async with learning(deployment) as (harness, teacher):
        deployment.plan(calls(*adds), "Noted.")
        await harness.takes(anna.says("remember my stamps and my cello"))
        teacher.plan(SAID, METRIC)
        await harness.takes(anna.says(SAID))
        notice = await sees(anna, "There is no more room in my notes about you.")
        assert long in notice.text
        assert METRIC in notice.text
        await harness.press(anna, next(one for one in notice.labels if one.startswith("Bring")))
        await sees(anna, "↩ Taken back.")
        await harness.takes(anna.says("/memory"))
        await until(lambda: long in texts(anna)[-1])


@everywhere
async def test_a_nearly_full_memory_is_said_in_fewer_words(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    lines = (
        "Is allergic to hazelnuts and to walnuts",
        "Is allergic to soy in any form",
        "Plays the cello in the orchestra of the railway workers",
        "Plays the organ in the church of St. Ruprecht at Christmas",
    )
    both = "Is allergic to hazelnuts, walnuts and soy in any form"
    music = "Plays the cello in the orchestra, the organ in the church of St. Ruprecht"
    adds = [call("memory", action="add", target="user", text=text) for text in lines]
    async with learning(deployment) as (harness, teacher):
        deployment.plan(calls(*adds), "Noted.")
        await harness.takes(anna.says("remember my allergies and my music"))
        before = read_profile(deployment)
        assert all(one in before for one in lines)
        teacher.merges = [([1, 2], both), ([3, 4], music)]
        await harness.takes(anna.says("good morning"))
        notice = await sees(anna, "My notes about you were nearly full")
        assert both in notice.text
        assert all(one in notice.text for one in lines)
        left_out = notice.text.partition("What the merged notes leave out is in the archive")[2]
        assert all(one in left_out for one in lines[2:])
        assert not any(one in left_out for one in lines[:2])
        assert both in read_profile(deployment)
        await harness.takes(anna.says("/learned"))
        feed = await sees(anna, "What I learned from our conversations")
        assert both in feed.text
        await harness.press(anna, next(one for one in notice.labels if "allergic" in one))
        await sees(anna, "↩ Taken back.")
        assert all(one in read_profile(deployment) for one in (*lines[:2], music))
        await harness.takes(anna.says("/memory archive"))
        await until(lambda: lines[2] in texts(anna)[-1] and lines[3] in texts(anna)[-1])
