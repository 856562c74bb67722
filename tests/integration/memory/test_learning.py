"""Background reviews in a running gateway: what they keep, ask, report, and never do."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agent_core.agent.review.record import ReviewRecord, dump_record
from agent_core.ids import PersonId, TaskId, TurnId
from agent_core.models.contract import ModelRequest
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger
from agent_core.state.queues import reviews, tasks
from gateway.texts import learning as notices
from tests.agent_core.skills.skill_folders import write_skill
from tests.fakes.chat import FakeChat, PrefixedChat
from tests.fakes.model import FakeModel, Gate, ask, call, doubt, say
from tests.integration.accounts import make_owner
from tests.integration.clock import GoingClock
from tests.integration.harness import Harness, running
from tests.integration.memory.learning import (
    KEPT,
    NOTE,
    SAID,
    SOON,
    TWICE,
    Learner,
    answering,
    converse,
    learning,
    read_profile,
    remember,
    reviewed,
)
from tests.patience import PATIENCE


def list_entries(connection: Connection) -> list[str | None]:
    """List what was written to memories."""
    rows = ledger.list_recent(connection, limit=9)
    return [row.change.after for _, row in rows if row.target != "soul"]


def is_review(request: ModelRequest) -> bool:
    return request.system.startswith("You review")


async def test_a_fact_that_the_person_stated_is_kept_reported_and_undone(tmp_path: Path) -> None:
    review = ask(call("memory", remember(KEPT, SAID)))
    async with learning(tmp_path, say("Fine."), review) as harness:
        await harness.chat.says(SAID)
        await reviewed(harness)
        notice = await harness.chat.sees_text("Learned")
        assert KEPT in notice.text
        assert KEPT in read_profile(tmp_path)
        await harness.chat.says("/why 2")
        explained = await harness.chat.sees_text("Where it comes from")
        assert SAID in explained.text
        assert "from your messages" in explained.text
        await harness.chat.says("/learned")
        assert KEPT in (await harness.chat.sees_text("What I learned")).text
        await harness.chat.press(notice.labels[0])
        await harness.chat.sees_text("Taken back")
        assert KEPT not in read_profile(tmp_path)


async def test_the_list_of_learned_entries_has_a_button_to_undo_each(tmp_path: Path) -> None:
    review = ask(call("memory", remember(KEPT, SAID)))
    async with learning(tmp_path, say("Fine."), review) as harness:
        await harness.chat.says(SAID)
        await reviewed(harness)
        await harness.chat.says("/learned")
        shown = await harness.chat.sees_text("What I learned")
        assert [label for label in shown.labels if KEPT in label] == shown.labels[:1]
        await harness.chat.press(shown.labels[0])
        await harness.chat.sees_text("Taken back")
        assert KEPT not in read_profile(tmp_path)


async def test_a_lie_is_held_back_until_the_person_accepts_it(tmp_path: Path) -> None:
    review = ask(call("memory", remember("Prefers imperial units", SAID)))
    async with learning(tmp_path, say("Fine."), review, judge=doubt) as harness:
        await harness.chat.says(SAID)
        await reviewed(harness)
        await harness.chat.sees_text("whether you meant it to last")
        assert await harness.read(list_entries) == []
        await harness.chat.press("Accept")
        async with asyncio.timeout(PATIENCE):
            while not await harness.read(list_entries):
                await asyncio.sleep(0.01)
        await harness.chat.says("/memory review", chat="r", direct=False)
        await harness.chat.sees_text("send it to me in a direct message")
        await harness.chat.says("/memory review")
        await harness.chat.sees_text("No note waits for your yes.")


async def test_a_dismissed_note_comes_back_and_can_be_accepted(tmp_path: Path) -> None:
    review = ask(call("memory", remember("Prefers imperial units", SAID)))
    async with learning(
        tmp_path, say("Fine."), review, chat=PrefixedChat(), judge=doubt
    ) as harness:
        await harness.chat.says("/learned dismissed")
        await harness.chat.sees_text("no dismissed note that I could bring back")
        await harness.chat.says(SAID)
        await reviewed(harness)
        await harness.chat.sees_text("whether you meant it to last")
        await harness.chat.press("Dismiss")
        await harness.chat.sees_text("send /talaria learned dismissed")
        await harness.chat.says("/learned restore 99")
        await harness.chat.sees_text("no dismissed note with that number")
        await harness.chat.says("/learned dismissed")
        listed = await harness.chat.sees_text("Dismissed, or not answered in time")
        assert "Prefers imperial units" in listed.text
        seen = len(harness.chat.shown)
        await harness.chat.press(listed.labels[0])
        await harness.chat.until(
            lambda: any("Should I remember" in one.text for one in harness.chat.shown[seen:])
        )
        await harness.chat.press("Accept")
        async with asyncio.timeout(PATIENCE):
            while not await harness.read(list_entries):
                await asyncio.sleep(0.01)
        await harness.chat.says("/learned restore 1")
        await harness.at_rest()
        assert await harness.read(list_entries) == ["Prefers imperial units"]


async def test_a_person_who_switched_it_off_is_never_reviewed(tmp_path: Path) -> None:
    async with learning(tmp_path, say("Fine.")) as harness:
        await harness.chat.says("/learned off")
        await harness.chat.sees_text("no longer learn")
        await harness.chat.says(SAID)
        await harness.chat.sees_text("Fine.")
        await harness.at_rest()
        assert not any(is_review(request) for request in harness.model.requests)


async def test_a_model_that_answers_nonsense_changes_nothing(tmp_path: Path) -> None:
    review = ask(
        call("memory", "not json", "c1"),
        call("memory", "[]", "c2"),
        call("rm", remember(KEPT, SAID), "c3"),
        call("memory", json.dumps({"target": "soul", "text": KEPT, "message": 1, "quote": SAID})),
    )
    async with learning(tmp_path, say("Fine."), review) as harness:
        await harness.chat.says(SAID)
        await reviewed(harness)
        assert await harness.read(list_entries) == []
        assert [shown.text for shown in harness.chat.shown] == ["Fine."]


async def test_the_next_review_begins_behind_the_last(tmp_path: Path) -> None:
    plays = (say("One."), say("nothing"), say("Two."), say("nothing"))
    async with learning(tmp_path, *plays) as harness:
        await harness.chat.says("The first thing")
        await reviewed(harness)
        await harness.chat.says("The second thing")
        await reviewed(harness, 2)
        seen = [r.messages[0].text for r in harness.model.requests if is_review(r)]
        assert "first" in seen[0]
        assert "first" not in seen[1]
        assert "second" in seen[1]


async def test_a_review_waits_for_the_end_of_a_running_turn(tmp_path: Path) -> None:
    over = asyncio.Event()
    plays = (say("One."), [over.wait, *say("Two.")], say("nothing"))
    async with learning(tmp_path, *plays, turns=0) as harness:
        await harness.chat.says("first")
        await harness.chat.sees_text("One.")
        await harness.at_rest()
        await harness.chat.says("second")
        async with asyncio.timeout(PATIENCE):
            while not harness.model.streaming:
                await asyncio.sleep(0.01)
        await harness.gateway.database.write("due", enqueue_first)
        async with asyncio.timeout(PATIENCE):
            while not await harness.read(is_deferred):
                await asyncio.sleep(0.01)
        assert not any(map(is_review, harness.model.requests))
        over.set()
        await harness.chat.sees_text("Two.")
        await reviewed(harness)
        assert list(map(is_review, harness.model.requests)) == [False, False, True]


def enqueue_first(connection: Connection) -> None:
    """Queue a review of the first turn, due since long ago."""
    turn_id, person_id = connection.execute("SELECT MIN(id), person_id FROM turns").fetchone()
    record = ReviewRecord(after=TurnId(0), until=turn_id)
    reviews.enqueue(
        connection, person_id=person_id, until=turn_id, payload=dump_record(record), now=1
    )


def is_deferred(connection: Connection) -> bool:
    query = "SELECT 1 FROM tasks WHERE kind = 'review' AND due_at > 1 AND state = 'owed'"
    return connection.execute(query).fetchone() is not None


async def test_learning_has_its_own_line_in_usage(tmp_path: Path) -> None:
    async with learning(tmp_path, say("Fine."), say("nothing")) as harness:
        await harness.chat.says(SAID)
        await reviewed(harness)
        await harness.chat.says("/usage")
        await harness.chat.sees_text("Learning")


def count_reflections(harness: Harness) -> int:
    return sum(one.system.startswith("The same thing") for one in harness.model.requests)


async def accept(harness: Harness) -> str:
    """Accept what waits, and return what was asked."""
    question = await harness.chat.sees_text("The same thing went wrong twice.")
    await harness.chat.press("Accept")
    async with asyncio.timeout(PATIENCE):
        while not await harness.read(list_accepted):
            await asyncio.sleep(0.01)
    return question.texts[0]


def list_accepted(connection: Connection) -> list[tuple[str, str]]:
    """List what was accepted of the lessons, with its evidence."""
    rows = connection.execute(
        "SELECT after, evidence FROM ledger WHERE call_key LIKE '%review:%' ORDER BY id"
    )
    return [(row[0], row[1]) for row in rows]


async def test_the_same_correction_twice_proposes_a_note_with_both_times(tmp_path: Path) -> None:
    plays = answering("260 miles.", "418 km.", "850 miles.", "1368 km.")
    lesson = ask(call("note", json.dumps({"text": NOTE})))
    async with learning(tmp_path, *plays, lesson) as harness:
        await converse(harness, *TWICE)
        asked = await accept(harness)
        ((kept, evidence),) = await harness.read(list_accepted)
    assert kept == NOTE
    for shown in (asked, evidence):
        assert all(words in shown for words in (*TWICE, "260 miles.", "850 miles."))


async def test_a_third_time_and_what_was_said_while_off_propose_nothing(tmp_path: Path) -> None:
    plays = answering("1.", "2.", "3.")
    async with learning(tmp_path, *plays[:4], ask(call("note", "{}")), *plays[4:]) as harness:
        await converse(harness, *TWICE[1:2] * 3)
        assert count_reflections(harness) == 1
    off = tmp_path / "off"
    async with learning(off, say("1."), say("2."), say("nothing")) as harness:
        await harness.chat.says("/learned off")
        await harness.chat.sees_text("no longer learn")
        await harness.chat.says(TWICE[1])
        await harness.chat.sees_text("1.")
        await harness.at_rest()
        await harness.chat.says("/learned quiet")
        await harness.chat.sees_text("without a sound")
        await converse(harness, TWICE[1], first=2)
        assert count_reflections(harness) == 0


async def test_the_same_error_twice_proposes_a_patch_of_the_skill_behind_it(
    tmp_path: Path,
) -> None:
    write_skill(tmp_path / "skills", "tidy")
    place = tmp_path / "skills" / "tidy" / "SKILL.md"
    old = place.read_text().strip().splitlines()[-1]
    plays: list[object] = []
    for number in (1, 2):
        gone = json.dumps({"action": "remove", "target": "memory", "old": f"shed {number}"})
        read = call("skill_view", '{"name": "tidy"}', "c1")
        plays += [ask(read, call("memory", gone, "c2")), say(f"Done {number}."), say("nothing")]
    lesson = json.dumps({"name": "tidy", "old": old, "text": "Look before you remove."})
    async with learning(tmp_path, *plays, ask(call("patch", lesson))) as harness:
        await converse(harness, "tidy the shed")
        await make_owner(harness)
        await converse(harness, "tidy the shed again", first=2)
        asked = await accept(harness)
        ((_, evidence),) = await harness.read(list_accepted)
        async with asyncio.timeout(PATIENCE):
            while "Look before you remove." not in place.read_text():
                await asyncio.sleep(0.01)
        done = await harness.chat.sees_text("Done:")
        assert f"-{old}" in done.text
        assert "+Look before you remove." in done.text
        await harness.chat.press(done.labels[0])
        await harness.chat.sees_text("↩ Taken back. The skill “tidy” is as it was before.")
        assert old in place.read_text()
    for shown in (asked, evidence):
        assert all(words in shown for words in ("tidy the shed again", "shed 1", "shed 2"))


async def test_a_daily_summary_replaces_the_messages_of_the_day(tmp_path: Path) -> None:
    clock, chat = GoingClock(2026, 11, 24, 12), FakeChat()
    first = ask(call("memory", remember(KEPT, SAID)))
    second = ask(call("memory", remember("Owns two boats", "I own a boat", 3)))
    plays = (say("Fine."), first, say("Nice."), second)
    async with learning(tmp_path, *plays[:2], chat=chat, clock=clock) as harness:
        await harness.chat.says("/learned daily")
        await harness.chat.sees_text("Once a day")
        await converse(harness, SAID)
    async with learning(tmp_path, *plays[2:], chat=chat, clock=clock, judge=doubt) as harness:
        await converse(harness, "I own a boat", first=2)
        assert not any("Learned" in shown.text for shown in harness.chat.shown)
        clock.move(harness, days=1)
        notice = await harness.chat.sees_text("Learned from what you said:")
        assert KEPT in notice.text
        assert "1 note waits for your yes" in notice.text
        assert len(notice.labels) == 2
        assert sum("Learned" in shown.text for shown in harness.chat.shown) == 1
        await harness.chat.press(notice.labels[0])
        await harness.chat.sees_text("Taken back")
        assert KEPT not in read_profile(tmp_path)


async def test_a_mode_ends_the_summaries_and_a_summary_switches_learning_on(tmp_path: Path) -> None:
    review = ask(call("memory", remember(KEPT, SAID)))
    async with learning(tmp_path, say("Fine."), review) as harness:
        for command, answer in (
            ("/learned off", "no longer learn"),
            ("/learned", "I don't learn from our conversations"),
            ("/learned weekly", "Once a week"),
            ("/learned", "I haven't learned anything from our conversations yet"),
            ("/learned quiet", "without a sound"),
        ):
            await harness.chat.says(command)
            await harness.chat.sees_text(answer)
        await converse(harness, SAID, first=2)  # what is skipped counts as a review
        await harness.chat.sees_text("Learned from what you said:")


async def test_the_feed_says_how_it_learns_and_marks_what_nobody_said(tmp_path: Path) -> None:
    notes = ("Works for Falcon", "Has a boat called Pelikan")
    adds = [
        call("memory", json.dumps({"action": "add", "target": "user", "text": text}), f"c{number}")
        for number, text in enumerate(notes)
    ]
    async with learning(tmp_path, ask(*adds), say("Noted."), turns=50) as harness:
        await harness.chat.says("my boat is called Pelikan")
        await harness.chat.sees_text("Noted.")
        await harness.chat.says("/learned")
        feed = await harness.chat.sees_text("How I learn:")
        marked = feed.text.partition("messages don't clearly say so")[2]
        assert notes[0] in marked
        assert notes[1] not in marked
        assert "/memory forget 2" in marked


async def test_a_person_asks_to_learn_now(tmp_path: Path) -> None:
    review = ask(call("memory", remember(KEPT, SAID)))
    async with learning(tmp_path, say("Fine."), review, turns=50) as harness:
        await harness.chat.says("/learn")
        await harness.chat.sees_text(notices.NOTHING_NEW())
        await harness.chat.says(SAID)
        await harness.chat.sees_text("Fine.")
        await harness.at_rest()
        await harness.chat.says("/learn")
        await harness.chat.sees_text(notices.LOOKING())
        await harness.chat.sees_text("Learned from what you said:")
        count = len(harness.chat.shown)
        await harness.chat.says("/refine")
        await harness.chat.until(lambda: len(harness.chat.shown) > count)
        assert harness.chat.shown[-1].text == notices.NOTHING_NEW()
        for command in ("/learned off", "/learn"):
            await harness.chat.says(command)
        await harness.chat.sees_text("I don't learn from our conversations")


async def test_four_hours_of_silence_are_enough_to_learn(tmp_path: Path) -> None:
    clock, chat = GoingClock(2026, 11, 24, 12), FakeChat()
    review = ask(call("memory", remember(KEPT, SAID)))
    async with learning(
        tmp_path, say("Fine."), review, turns=50, chat=chat, clock=clock
    ) as harness:
        await harness.chat.says(SAID)
        await harness.chat.sees_text("Fine.")
        await harness.at_rest()
        await harness.gateway.silence.look()
        assert await harness.read(lambda c: reviews.find_newest(c, person_id=PersonId(1))) == 0
        clock.move(harness, hours=4.1)
        await harness.gateway.silence.look()
        await harness.chat.sees_text("Learned from what you said:")


async def test_to_learn_now_repeats_a_review_that_failed_for_good(tmp_path: Path) -> None:
    review = ask(call("memory", remember(KEPT, SAID)))
    async with learning(tmp_path, say("Fine."), say("Nothing."), review) as harness:
        await harness.chat.says(SAID)
        await reviewed(harness)
        await harness.gateway.database.write(
            "fail", lambda c: tasks.abandon(c, task_id=TaskId(1), reason="no model")
        )
        await harness.chat.says("/learn")
        await harness.chat.sees_text("Learned from what you said:")


async def test_learn_off_switches_learning_off_and_reviews_nothing(tmp_path: Path) -> None:
    async with learning(tmp_path, say("Fine."), turns=50) as harness:
        await harness.chat.says(SAID)
        await harness.chat.sees_text("Fine.")
        await harness.chat.says("/learn off")
        await harness.chat.sees_text(notices.MODE_SAVED["off"]())
        await harness.at_rest()
        assert await harness.read(lambda c: reviews.find_newest(c, person_id=PersonId(1))) == 0


async def test_nobody_learns_now_where_the_owner_has_switched_reviews_off(tmp_path: Path) -> None:
    async with learning(tmp_path, say("Fine."), turns=0) as harness:
        await harness.chat.says(SAID)
        await harness.chat.sees_text("Fine.")
        await harness.chat.says("/learn")
        await harness.chat.sees_text(notices.NO_REVIEWS())


WORKING = {"TALARIA_LEARNING__STEPS": "3", "TALARIA_LEARNING__TURNS": "0"}
VIEWS = [call("skill_view", '{"name": "tidy"}', f"c{number}") for number in range(3)]
DRAFT = {
    "name": "tidy-sheds",
    "description": "Tidies sheds.",
    "body": "1. Sweep the shed.\n2. Mop it.",
    "turn": 1,
}


@asynccontextmanager
async def working(home: Path, *plays: object) -> AsyncIterator[Harness]:
    """Run a gateway of an owner that reviews after three tool calls, with a skill by hand."""
    write_skill(home / "skills", "tidy")
    answers = (ask(*VIEWS), say("Done."), *plays)
    async with running(home, FakeModel(*answers), timings=SOON, **WORKING) as harness:
        await harness.chat.says("/learned tell")
        await harness.chat.sees_text("tell you with a sound")
        await make_owner(harness)
        yield harness


async def test_work_becomes_a_draft_that_is_reported_listed_and_undone(tmp_path: Path) -> None:
    place = tmp_path / "skills" / "tidy-sheds"
    review = ask(call("create", json.dumps(DRAFT)))
    async with working(tmp_path, review) as harness:
        await harness.chat.says("tidy the shed")
        await reviewed(harness)
        notice = await harness.chat.sees_text("Learned from what you said:")
        assert "/tidy-sheds: Tidies sheds." in notice.text
        assert "The new skill is a draft." in notice.text
        assert "Sweep the shed." in (place / "SKILL.md").read_text()
        await harness.chat.says("/usage")
        await harness.chat.sees_text("Learning")
        await harness.chat.says("/learned")
        shown = await harness.chat.sees_text("What I learned")
        assert "/tidy-sheds: Tidies sheds." in shown.text
        await harness.chat.press(shown.labels[0])
        await harness.chat.sees_text("archive")
        assert not place.exists()
        await harness.chat.says("/learned")
        await harness.chat.sees_text("I haven't learned anything from our conversations yet")


async def test_a_draft_of_a_review_waits_for_whoever_decides_on_each_note(tmp_path: Path) -> None:
    review = ask(call("create", json.dumps(DRAFT)))
    async with working(tmp_path, review) as harness:
        await harness.chat.says("/learned ask")
        await harness.chat.sees_text("ask before")
        await harness.chat.says("tidy the shed")
        await reviewed(harness)
        asked = await harness.chat.sees_text(
            "Should I write the skill “tidy-sheds” from this work?"
        )
        assert "skill_view" in asked.text
        assert not (tmp_path / "skills" / "tidy-sheds").exists()
        await harness.chat.press("Accept")
        async with asyncio.timeout(PATIENCE):
            while not (tmp_path / "skills" / "tidy-sheds" / "SKILL.md").exists():
                await asyncio.sleep(0.01)


async def test_a_rule_about_work_waits_for_a_yes(tmp_path: Path) -> None:
    review = ask(call("note", json.dumps({"text": "Sweep a shed before mopping", "turn": 1})))
    async with working(tmp_path, review) as harness:
        await harness.chat.says("tidy the shed")
        await reviewed(harness)
        await harness.chat.sees_text("Should I remember this for next time?")
        assert await harness.read(list_accepted) == []
        await harness.chat.press("Accept")
        async with asyncio.timeout(PATIENCE):
            while not await harness.read(list_accepted):
                await asyncio.sleep(0.01)
        ((kept, evidence),) = await harness.read(list_accepted)
    assert kept == "Sweep a shed before mopping"
    assert "tidy the shed" in evidence


async def test_a_review_that_the_stop_cuts_off_is_paid_for_and_done_again(tmp_path: Path) -> None:
    gate, chat = Gate(), FakeChat()
    review = ask(call("memory", remember(KEPT, SAID)), text="Let me see.")
    async with learning(
        tmp_path, say("Fine."), [review[0], gate.hold, *review[1:]], chat=chat
    ) as harness:
        await harness.chat.says(SAID)
        await gate.reached.wait()
    async with learning(tmp_path, review, chat=chat) as harness:
        await reviewed(harness)
        assert KEPT in read_profile(tmp_path)
        paid = await harness.read(
            lambda c: c.execute("SELECT purpose FROM usage ORDER BY id").fetchall()
        )
        assert [row[0] for row in paid] == ["turn", "broken", "review", "review"]


async def test_a_line_leaves_the_prompt_after_its_last_day(tmp_path: Path) -> None:
    clock = GoingClock(2026, 11, 29, 12)
    lines = ("Has a guest (until 2026-11-30)", "Lives in Graz (until 2026-12-24)")
    review = ask(*(call("memory", remember(one, SAID), f"c{n}") for n, one in enumerate(lines)))
    async with learning(tmp_path, model=Learner(review), clock=clock) as harness:
        await converse(harness, SAID)
        for day in range(2):
            clock.move(harness, days=1)
            await converse(harness, "and now?", first=2 + day)
        systems = [one.system for one in harness.model.requests]
        asked = [one for one in systems if one.startswith("You are Talaria")]
        assert [one in asked[-1] for one in lines] == [False, True]
        assert any(lines[0] in one for one in asked)
        assert lines[0] in read_profile(tmp_path)
