"""What `/profile` shows of a person, and how they change it."""

import asyncio
import json
from pathlib import Path

from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger
from gateway.texts import profile
from tests.fakes.model import FakeModel, Gate, ask, call, doubt, say
from tests.integration.harness import running
from tests.integration.memory.learning import learning, read_profile, reviewed
from tests.patience import PATIENCE

SAID = "I live in Vienna. I prefer short answers. I am writing a book about bees"


def claim(section: str, text: str, quote: str) -> str:
    return json.dumps({"section": section, "text": text, "message": 1, "quote": quote})


REVIEW = ask(
    call("memory", claim("person", "Lives in Vienna", "I live in Vienna"), "c1"),
    call("memory", claim("answers", "Prefers short answers", "I prefer short answers"), "c2"),
    call("memory", claim("work", "Writing a book about bees", "writing a book about bees"), "c3"),
)


async def test_a_profile_has_sections_and_the_words_behind_each_line(tmp_path: Path) -> None:
    async with learning(tmp_path, say("Fine."), REVIEW) as harness:
        await harness.chat.says("/profile")
        await harness.chat.sees_text("no profile of you yet")
        await harness.chat.says(SAID)
        await reviewed(harness)
        await harness.chat.says("/profile")
        shown = await harness.chat.sees_text("Who you are")
        titles = ["Who you are", "Lives in Vienna", "How you like answers", "Prefers short answers"]
        titles += ["What you are working on", "Writing a book about bees"]
        places = [shown.text.index(one) for one in titles]
        assert places == sorted(places)
        assert "(you wrote: `I prefer short answers.`" in shown.text
        assert shown.labels[:2] == [profile.CHANGE(number=2), profile.FORGET(number=2)]


async def test_a_line_rests_on_all_messages_of_its_turn(tmp_path: Path) -> None:
    gate = Gate()
    noted = json.dumps({"action": "add", "target": "user", "text": "Has a dog called Rex"})
    model = FakeModel(
        [gate.hold, *ask(call("recall", '{"query": "tea"}'))],
        ask(call("memory", noted, "c2")),
        say("Noted."),
    )
    async with running(tmp_path, model) as harness:
        await harness.chat.says("Which tea did I like?")
        await gate.reached.wait()
        await harness.chat.says("And my dog is called Rex")
        conversation_id = await harness.read(
            lambda c: c.execute("SELECT id FROM conversations").fetchone()[0]
        )
        lanes = harness.gateway.lanes
        await harness.until(lambda: lanes.count_waiting(conversation_id) == 1)
        gate.open.set()
        await harness.chat.sees_text("Noted.")
        await harness.at_rest()
        await harness.chat.says("/profile")
        shown = await harness.chat.sees_text("(you wrote: ")
        assert "Has a dog called Rex" in shown.text
        assert "(you wrote: `Which tea did I like?`, `And my dog is called Rex`, " in shown.text


async def test_a_correction_takes_the_place_of_a_line_in_its_section(tmp_path: Path) -> None:
    async with learning(tmp_path, say("Fine."), REVIEW) as harness:
        await harness.chat.says(SAID)
        await reviewed(harness)
        await harness.chat.says("/profile")
        await harness.chat.sees_text("Who you are")
        await harness.chat.press(profile.CHANGE(number=3))
        await harness.chat.sees_text("send /profile 3 and the new text")
        await harness.chat.says("/profile 3 Prefers long answers")
        corrected = await harness.chat.sees_text("now says: `Prefers long answers`")
        assert "long answers" in read_profile(tmp_path)
        assert "short answers" not in read_profile(tmp_path)
        await harness.chat.says("/profile")
        shown = (await harness.chat.sees_text("(you wrote: `/profile 3")).text
        assert shown.index("How you like answers") < shown.index("Prefers long answers")
        await harness.chat.press(corrected.labels[0])
        await harness.chat.sees_text("Taken back")
        assert "short answers" in read_profile(tmp_path)


async def test_a_line_is_deleted_by_its_button(tmp_path: Path) -> None:
    async with learning(tmp_path, say("Fine."), REVIEW) as harness:
        await harness.chat.says(SAID)
        await reviewed(harness)
        await harness.chat.says("/profile")
        await harness.chat.sees_text("Who you are")
        await harness.chat.press(profile.FORGET(number=2))
        async with asyncio.timeout(PATIENCE):
            while "Vienna" in read_profile(tmp_path):
                await harness.at_rest()


async def test_bad_corrections_get_a_sentence_and_change_nothing(tmp_path: Path) -> None:
    async with learning(tmp_path, say("Fine."), REVIEW) as harness:
        await harness.chat.says(SAID)
        await reviewed(harness)
        before = read_profile(tmp_path)
        for words, answer in (
            ("9 Lives in Graz", "9"),
            ("forget 9", "9"),
            ("nonsense", profile.USAGE()),
            ("2 Lives in Vienna", profile.SAME()),
            ("2 Key: sk-ant-api03-" + "a" * 95, profile.SECRET()),
            ("2 Lives in \u202eGraz", profile.HIDDEN()),
            ("2 " + "x" * 1400, profile.FULL()),
        ):
            await harness.chat.says(f"/profile {words}")
            await harness.chat.sees_text(answer)
        assert read_profile(tmp_path) == before


async def test_a_group_never_sees_a_profile(tmp_path: Path) -> None:
    async with learning(tmp_path, say("Fine."), REVIEW) as harness:
        await harness.chat.says(SAID)
        await reviewed(harness)
        count = len(harness.chat.shown)
        await harness.chat.says("/profile", chat="room", direct=False)
        await harness.chat.until(lambda: len(harness.chat.shown) > count)
        assert all("Vienna" not in one.text for one in harness.chat.shown[count:])


async def test_a_held_line_keeps_its_section_when_it_is_accepted(tmp_path: Path) -> None:
    doubtful = ask(call("memory", claim("people", "Knows Anna of Falcon", "I live in Vienna")))
    async with learning(tmp_path, say("Fine."), doubtful, judge=doubt) as harness:
        await harness.chat.says(SAID)
        await reviewed(harness)
        await harness.chat.sees_text("Should I remember this?")
        await harness.chat.press("Accept")

        def written(connection: Connection) -> bool:
            return any(row.target == "memory" for _, row in ledger.list_recent(connection, limit=5))

        async with asyncio.timeout(PATIENCE):
            while not await harness.read(written):
                await harness.at_rest()
        await harness.chat.says("/profile")
        shown = (await harness.chat.sees_text("People and projects")).text
        assert "Knows Anna of Falcon" in shown
