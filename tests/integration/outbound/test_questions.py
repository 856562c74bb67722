"""Questions of a running turn: asked once, answered once, only by the people asked."""

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.ids import PlatformMessageId
from adapters.messages import OutboundMessage
from agent_core.ids import ConversationId
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import inbox
from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.tools.user_questions import UserPrompt
from gateway.app.timings import Timings
from gateway.texts import general
from tests.agent_core.skills.skill_folders import write_skill
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, Gate, ask, call, say
from tests.fakes.tool import FakeTool
from tests.integration.accounts import age, count, enrol
from tests.integration.harness import Harness, quick, running
from tests.integration.model_requests import results, words
from tests.integration.questions import ARGUMENTS, QUESTION, ROOM, waiting
from tests.patience import PATIENCE


@dataclass
class NumbersChat(FakeChat):
    """A platform without buttons."""

    most_buttons: int = 0


async def test_a_press_answers_and_its_message_shows_the_choice(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("Blue it is."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        assert (await waiting(harness)).labels == ["Red", "Blue"]
        await harness.chat.press("Blue")
        await harness.chat.sees_text("Blue it is.")
        await harness.at_rest()
        assert results(model) == ["They chose: Blue"]
        first, second = harness.chat.shown
        assert first.texts == ["Which colour?", "Which colour?\n\n→ Blue (Ana)"]
        assert (first.labels, first.is_silent) == ([], False)
        assert second.text == "Blue it is."
        assert await count(harness, "inbox", "state <> 'done'") == 0


async def test_text_before_a_question_stays_and_the_answer_is_below(tmp_path: Path) -> None:
    chat = FakeChat()

    async def shown() -> None:
        await chat.sees_text("Let me see.")

    delta, answer = ask(call("ask", ARGUMENTS), text="Let me see.")
    words_first = [delta, shown, answer]
    async with running(tmp_path, FakeModel(words_first, say("Blue it is.")), chat=chat) as harness:
        await harness.chat.says("paint my room")
        await waiting(harness)
        await harness.chat.press("Blue")
        await harness.chat.sees_text("Blue it is.")
        await harness.at_rest()
        texts = [shown.text for shown in chat.shown]
        assert texts[0] == "Let me see."
        assert texts[1].startswith("Which colour?")
        assert texts[2:] == ["Blue it is."]


async def test_an_answer_above_a_question_is_not_shown_again_below_it(tmp_path: Path) -> None:
    """The first answer is too short to be shown before the words above the question."""
    gate, end = Gate(), asyncio.Event()
    chat = FakeChat()

    async def shown() -> None:
        await chat.sees_text("Let me see.")

    delta, answer = ask(call("ask", ARGUMENTS), text="Let me see.")
    growing, *rest = say("Blue it is.", " Thanks.")
    model = FakeModel([gate.hold, *say("Tea.")], [delta, shown, answer], [growing, end.wait, *rest])
    timings = quick(first_words=0.0, first_length=10)
    async with running(tmp_path, model, chat=chat, timings=timings) as harness:
        await chat.says("tea or coffee?")
        await gate.reached.wait()
        await chat.says("and paint my room")
        await harness.until(lambda: harness.gateway.lanes.count_waiting(_dialogue()) == 1)
        gate.open.set()
        await waiting(harness)
        await chat.press("Blue")
        await chat.sees_text("Blue it is.")
        end.set()
        await chat.sees_text("Thanks.")
        await harness.at_rest()
        assert [one.texts for one in chat.shown] == [
            ["Tea.\n\nLet me see."],
            ["Which colour?", "Which colour?\n\n→ Blue (Ana)"],
            ["Blue it is.", "Blue it is. Thanks."],
        ]


@pytest.mark.parametrize("said", ["Blue", "blue!", "2", "2.", "o2", "  BLUE "])
async def test_the_text_of_a_choice_answers(tmp_path: Path, said: str) -> None:
    model = FakeModel(QUESTION, say("Blue it is."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        await waiting(harness)
        await harness.chat.says(said)
        await harness.chat.sees_text("Blue it is.")
        assert results(model) == ["They chose: Blue"]
        assert words(model) == ["paint my room"], "an answer is no message of its own"


@pytest.mark.parametrize(
    "fields",
    [
        {"attachments": [{"kind": "image", "file_id": ""}]},
        {"chat": "elsewhere"},
    ],
)
async def test_longer_text_and_text_elsewhere_are_messages(
    tmp_path: Path, fields: dict[str, object]
) -> None:
    model = FakeModel(QUESTION, say("I see."), say("And that."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        await waiting(harness)
        await harness.chat.says("Blue", **fields)
        await harness.chat.sees_text("I see.")
        await harness.at_rest()
        assert "wrote something else" in results(model)[0]
        assert words(model) == ["paint my room", "Blue"]


async def test_anything_else_ends_the_wait_and_steers(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("Green, then."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        message = await waiting(harness)
        await harness.chat.says("green, if you have it")
        await harness.chat.sees_text("Green, then.")
        await harness.at_rest()
        assert "wrote something else" in results(model)[0]
        assert words(model) == ["paint my room", "green, if you have it"]
        assert message.text == f"Which colour?\n\n{general.QUESTION_OVER()}"
        assert message.labels == []
        key = "q1:o1:00000000"
        await harness.chat.press_key(key, message.id)
        await harness.at_rest()
        assert len(harness.chat.shown) == 2


async def test_messages_before_the_question_are_read_first(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel([gate.hold, *QUESTION], say("Green, then."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        await gate.reached.wait()
        await harness.chat.says("green")
        await harness.until(lambda: harness.gateway.lanes.count_waiting(_dialogue()) == 1)
        gate.open.set()
        await harness.chat.sees_text("Green, then.")
        await harness.at_rest()
        assert [shown.text for shown in harness.chat.shown] == ["Green, then."]
        assert words(model) == ["paint my room", "green"]


async def test_words_stay_above_messages_that_are_read_before_the_question(tmp_path: Path) -> None:
    chat = FakeChat()
    told = asyncio.Event()

    async def shown() -> None:
        await chat.sees_text("Let me see.")
        await told.wait()

    delta, answer = ask(call("ask", ARGUMENTS), text="Let me see.")
    model = FakeModel([delta, shown, answer], say("Green, then."))
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.says("paint my room")
        await chat.sees_text("Let me see.")
        await chat.says("green")
        await harness.until(lambda: harness.gateway.lanes.count_waiting(_dialogue()) == 1)
        told.set()
        await chat.sees_text("Green, then.")
        await harness.at_rest()
        assert [one.texts[-1] for one in chat.shown] == ["Let me see.", "Green, then."]


async def test_a_queued_message_does_not_end_the_wait(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("Blue it is."), say("Later."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        await waiting(harness)
        await harness.chat.says("/queue Red")
        await harness.chat.sees_text(general.QUEUED_ASKED())
        assert harness.gateway.questions.answers._futures
        await harness.chat.press("Blue")
        await harness.chat.sees_text("Later.")
        assert results(model, 1) == ["They chose: Blue"]


@pytest.mark.parametrize("said", ["/tidy the attic", "/skills try tidy the attic"])
async def test_a_command_that_begins_a_turn_ends_the_wait(tmp_path: Path, said: str) -> None:
    write_skill(tmp_path / "skills", "tidy")
    model = FakeModel(QUESTION, say("Then not."), say("Swept."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        message = await waiting(harness)
        await harness.chat.says(said)
        await harness.chat.sees_text("Swept.")
        await harness.at_rest()
        assert "it comes after this answer" in results(model, 1)[0]
        assert message.text == f"Which colour?\n\n{general.QUESTION_OVER()}"
        assert "the attic" in words(model)[-1]


async def test_a_command_before_the_question_goes_first(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "tidy")
    gate = Gate()
    model = FakeModel([gate.hold, *QUESTION], say("Then not."), say("Swept."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        await gate.reached.wait()
        await harness.chat.says("/tidy the attic")
        await harness.until(lambda: harness.gateway.lanes.count_waiting(_dialogue()) == 1)
        gate.open.set()
        await harness.chat.sees_text("Swept.")
        await harness.at_rest()
        assert [one.text for one in harness.chat.shown] == ["Then not.", "Swept."]


async def test_pressed_twice_at_once_the_first_counts(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("So be it."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        message = await waiting(harness)
        keys = [button.key for button in message.keyboard]
        await asyncio.gather(
            *(harness.chat.press_key(key, message.id) for key in (*keys, *reversed(keys)))
        )
        await harness.chat.sees_text("So be it.")
        await harness.at_rest()
        assert results(model) == ["They chose: Red"]
        assert message.text == "Which colour?\n\n→ Red (Ana)"
        assert len(harness.chat.shown) == 2
        for key in keys:
            await harness.chat.press_key(key, message.id)
        await harness.at_rest()
        assert len(harness.chat.shown) == 2, "what is over is over"


async def test_forged_keys_change_nothing(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("So be it."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        message = await waiting(harness)
        good = message.keyboard[0].key
        name, choice, secret = good.split(":")
        wrong = f"{int(secret, 16) ^ 1:08x}"
        for key in (
            f"{name}:{choice}:{wrong}",
            f"{name}:{choice}:{secret.upper() if secret.upper() != secret else wrong}",
            f"{name}:o3:{secret}",
            f"{name}:{choice}",
            f"q999:{choice}:{secret}",
            f"q{'9' * 15}:{choice}:{secret}",
            f"q{'9' * 40}:{choice}:{secret}",
            f"{good}x",
            "",
            "q",
        ):
            await harness.chat.press_key(key, message.id)
        await harness.until(harness.gateway.router.is_idle)
        assert harness.gateway.questions.answers._futures
        assert message.labels == ["Red", "Blue"]
        assert await count(harness, "inbox", "state = 'received'") == 0
        await harness.chat.press("Red")
        await harness.chat.sees_text("So be it.")


async def test_others_get_one_notice_and_owners_may_answer(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("So be it."))
    async with running(tmp_path, model) as harness:
        await enrol(harness, "ben", "Ben")
        await enrol(harness, "cleo", "Cleo", owner=True)
        await harness.chat.says("paint my room", **ROOM)
        message = await waiting(harness)
        for _ in range(3):
            await harness.chat.press("Red", user="ben", name="Ben", direct=False)
        await harness.chat.sees_text(general.QUESTION_NOT_YOURS())
        await harness.until(harness.gateway.router.is_idle)
        await harness.until(harness.gateway.dispatcher.is_idle)
        refusals = [one for one in harness.chat.shown if one.text == general.QUESTION_NOT_YOURS()]
        assert [one.is_silent for one in refusals] == [True]
        assert harness.gateway.questions.answers._futures
        await harness.chat.press("Blue", user="cleo", name="Cleo", direct=False)
        await harness.chat.sees_text("So be it.")
        await harness.at_rest()
        assert message.text.endswith("→ Blue (Cleo)")


async def test_messages_of_others_in_the_room_are_no_answers(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("Hello Ben."), say("So be it."))
    async with running(tmp_path, model) as harness:
        await enrol(harness, "ben", "Ben")
        await harness.chat.says("paint my room", **ROOM)
        await waiting(harness)
        await harness.chat.says("Blue", user="ben", name="Ben", **ROOM)
        await harness.chat.sees_text("Hello Ben.")
        assert harness.gateway.questions.answers._futures
        await harness.chat.says("Blue", **ROOM)
        await harness.chat.sees_text("So be it.")


async def test_strangers_get_silence(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("So be it."))
    async with running(tmp_path, model, TALARIA_ACCESS__ALLOW="fake:1") as harness:
        await harness.chat.says("paint my room", **ROOM)
        await waiting(harness)
        await harness.chat.press("Red", user="9", name="Nobody", direct=False)
        await harness.until(harness.gateway.router.is_idle)
        assert len(harness.chat.shown) == 1
        assert harness.gateway.questions.answers._futures
        await harness.chat.press("Blue", direct=False)
        await harness.chat.sees_text("So be it.")


async def test_an_unanswered_question_expires_and_says_so(
    tmp_path: Path,
) -> None:
    model = FakeModel(QUESTION, say("I took red."))
    async with running(tmp_path, model, timings=Timings(answer_patience=50)) as harness:
        await harness.chat.says("paint my room")
        await harness.chat.sees_text("I took red.")
        await harness.at_rest()
        assert results(model)[0].startswith("No answer came.")
        message = harness.chat.shown[0]
        assert message.texts[-1] == f"Which colour?\n\n{general.QUESTION_LATE()}"
        assert message.labels == []


async def test_a_late_press_ends_the_question_and_late_text_is_a_message(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("Blue, I read."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        message = await waiting(harness)
        await age(harness, 700_000)
        await harness.chat.says("Blue")
        await harness.chat.sees_text("Blue, I read.")
        await harness.at_rest()
        assert words(model) == ["paint my room", "Blue"], "nothing that was said is swallowed"
        assert message.text == f"Which colour?\n\n{general.QUESTION_LATE()}"


async def test_a_late_press_says_that_it_is_too_late(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("Never said."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        message = await waiting(harness)
        await age(harness, 700_000)
        await harness.chat.press("Blue")
        await harness.chat.until(lambda: general.PRESSED_LATE() in message.text)
        assert message.labels == []
        await harness.chat.says("/stop")
        await harness.chat.sees_text("(Stopped.")


async def test_stop_ends_the_turn_and_its_question(tmp_path: Path) -> None:
    model = FakeModel(QUESTION)
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        message = await waiting(harness)
        await harness.chat.says("/stop")
        await harness.chat.sees_text("(Stopped.")
        await harness.at_rest()
        assert message.text == f"Which colour?\n\n{general.QUESTION_OVER()}"
        assert message.labels == []
        assert not harness.gateway.questions.answers._futures
        assert not harness.gateway.questions.answers._turns


async def test_a_stop_as_the_wait_ends_leaves_no_buttons(
    tmp_path: Path,
) -> None:
    reached, go = threading.Event(), threading.Event()

    def hold() -> int:
        reached.set()
        go.wait(10)
        return 0

    def prepare(connection: Connection) -> None:
        connection.create_function("hold", 0, hold)
        connection.execute(
            "CREATE TEMP TRIGGER slow BEFORE UPDATE ON questions WHEN NEW.state = 'over'"
            " BEGIN SELECT hold(); END"
        )

    async with running(tmp_path, FakeModel(QUESTION)) as harness:
        await harness.chat.says("paint my room")
        message = await waiting(harness)
        await harness.until(harness.gateway.dispatcher.is_idle)
        await harness.gateway.database.write("prepare", prepare)
        turn = (await harness.read(turns.list_running))[0]
        harness.gateway.questions.answers.interrupt(turn.id)
        await harness.until(reached.is_set)
        assert harness.gateway.lanes.stop(_dialogue())
        await harness.until(lambda: not harness.gateway.lanes._handles[_dialogue()].presenter)
        go.set()
        await harness.chat.sees_text("(Stopped.")
        await harness.at_rest()
        assert message.labels == []
        assert message.text == f"Which colour?\n\n{general.QUESTION_OVER()}"


async def test_without_buttons_choices_are_a_numbered_list(
    tmp_path: Path,
) -> None:
    arguments = '{"question": "How many?", "options": ["2", "1"]}'
    model = FakeModel(ask(call("ask", arguments)), say("Noted."))
    async with running(tmp_path, model, chat=NumbersChat()) as harness:
        await harness.chat.says("a table, please")
        message = await waiting(harness, "How many?")
        assert message.text == "How many?\n\n1. 2\n2. 1\n\nReply with the number."
        assert message.keyboard == ()
        await harness.chat.says("1")
        await harness.chat.sees_text("Noted.")
        await harness.at_rest()
        assert results(model) == ["They chose: 2"]
        assert message.text == "How many?\n\n→ 2 (Ana)"


async def test_with_buttons_a_number_is_first_of_all_a_label(tmp_path: Path) -> None:
    arguments = '{"question": "How many?", "options": ["2", "1"]}'
    model = FakeModel(ask(call("ask", arguments)), say("Noted."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("a table, please")
        await waiting(harness, "How many?")
        await harness.chat.says("1")
        await harness.chat.sees_text("Noted.")
        assert results(model) == ["They chose: 1"]


async def test_more_choices_than_buttons_are_a_list(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("Noted."))
    async with running(tmp_path, model, chat=FakeChat(most_buttons=1)) as harness:
        await harness.chat.says("paint my room")
        message = await waiting(harness)
        assert "2. Blue" in message.text
        assert message.keyboard == ()
        await harness.chat.says("2")
        await harness.chat.sees_text("Noted.")
        assert results(model) == ["They chose: Blue"]


@dataclass
class StrictChat(FakeChat):
    """Refuses what does not fit into one message, like real platforms."""

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        assert len(message.text) <= self.limit
        return await super().send(message)

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        assert len(message.text) <= self.limit
        await super().edit(message, message_id)


@pytest.mark.parametrize("size", [590, 601, 990, 1400, 1500])
@pytest.mark.parametrize("buttons", [25, 0])
async def test_a_long_question_is_asked_in_parts_that_fit(
    tmp_path: Path, size: int, buttons: int
) -> None:
    question = "Which? " + "x" * (size - 7)
    arguments = f'{{"question": "{question}", "options": ["Red", "Blue"]}}'
    model = FakeModel(ask(call("ask", arguments)), say("Noted."))
    async with running(tmp_path, model, chat=StrictChat(most_buttons=buttons)) as harness:
        await harness.chat.says("paint my room")
        await waiting(harness, "Which?")
        await harness.until(harness.gateway.dispatcher.is_idle)
        *before, message = harness.chat.shown
        assert "".join(shown.text for shown in harness.chat.shown).startswith(question)
        assert all(one.is_silent and not one.keyboard for one in before)
        assert not message.is_silent
        await harness.chat.says("Blue")
        await harness.chat.sees_text("Noted.")
        await harness.at_rest()
        assert message.text.endswith("→ Blue (Ana)")
        assert "Reply with the number" not in message.text
        assert message.keyboard == ()


async def test_two_questions_are_two_messages_with_their_own_answers(
    tmp_path: Path,
) -> None:
    other = '{"question": "Which room?", "options": ["Kitchen", "Hall"]}'
    model = FakeModel(ask(call("ask", ARGUMENTS), call("ask", other, "c2")), say("Done."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint")
        await harness.until(lambda: len(harness.gateway.questions.answers._futures) == 2)
        await harness.chat.sees(2)
        await harness.chat.says("Hall")
        await harness.chat.press("Red")
        await harness.chat.sees_text("Done.")
        assert results(model) == ["They chose: Red", "They chose: Hall"]


async def test_a_restart_asks_once_and_blocks_nothing(tmp_path: Path) -> None:
    chat = FakeChat()
    drain = {"TALARIA_TURNS__DRAIN_SECONDS": "600"}
    async with asyncio.timeout(PATIENCE):  # nobody waits for the person
        async with running(tmp_path, FakeModel(QUESTION), chat=chat, **drain) as harness:
            await chat.says("paint my room")
            await waiting(harness)
    chat.inlet = None
    model = FakeModel(say("Blue it is."))
    async with running(tmp_path, model, chat=chat) as harness:
        await harness.until(lambda: bool(harness.gateway.questions.answers._futures))
        await harness.until(harness.gateway.dispatcher.is_idle)
        assert len(chat.shown) == 1
        turn = (await harness.read(turns.list_running))[0]
        assert turn.attempts == 1, "to wait for an answer is not held against the turn"
        await chat.press("Blue")
        await chat.sees_text("Blue it is.")
        await harness.at_rest()
        assert results(model) == ["They chose: Blue"]
        assert len(chat.shown) == 2


@pytest.mark.parametrize("said", ["Blue", "green"])
async def test_an_answer_during_downtime_counts_at_the_next_start(
    tmp_path: Path, said: str
) -> None:
    chat = FakeChat()
    async with running(tmp_path, FakeModel(QUESTION), chat=chat) as harness:
        await chat.says("paint my room")
        await waiting(harness)
    chat.inlet = None
    await _store_unhandled_event(tmp_path, said)
    model = FakeModel(say("So be it."))
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.sees_text("So be it.")
        await harness.at_rest()
        if said == "Blue":
            assert results(model) == ["They chose: Blue"]
        else:
            assert "wrote something else" in results(model)[0]
            assert words(model) == ["paint my room", "green"]


async def _store_unhandled_event(home: Path, said: str) -> None:
    """Store an event that an earlier process accepted but did not handle."""
    database = await Database.open(home / "state.db")
    events = [("left", f'{{"id": "77", "text": "{said}"}}')]
    await database.write("left", lambda c: inbox.store(c, platform="fake", events=events, now=1))
    await database.close()


async def test_a_question_in_quiet_hours_is_silent(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("So be it."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("/settings quiet_hours 00:00-23:59")
        await harness.at_rest()
        await harness.chat.says("paint my room")
        assert (await waiting(harness)).is_silent
        await harness.chat.press("Blue")
        assert (await harness.chat.sees_text("So be it.")).is_silent


def _dialogue() -> ConversationId:
    return ConversationId(1)


@pytest.mark.parametrize("said", ["late", "interrupted"])
async def test_words_that_are_also_names_of_outcomes_are_an_answer(
    tmp_path: Path, said: str
) -> None:
    harnesses: list[Harness] = []

    async def ask_for_words(_: Mapping[str, object], context: ToolContext) -> ToolResult:
        prompt = UserPrompt(
            person_id=context.person_id,
            turn_id=context.turn_id,
            call_id=context.call_id,
            kind="words",
            text="How was the train?",
            choices=(),
        )
        answer = await harnesses[0].gateway.user_prompts.ask(prompt)
        return ToolResult(text=answer if isinstance(answer, str) else f"They said {answer.label}")

    model = FakeModel(ask(call("form", "{}")), say("I see."))
    tool = FakeTool("form", ask_for_words)
    async with running(tmp_path, model, tools=(tool,)) as harness:
        harnesses.append(harness)
        await harness.chat.says("fill in the form")
        await waiting(harness, "How was the train?")
        await harness.chat.says(said)
        await harness.chat.sees_text("I see.")
        assert results(model) == [f"They said {said}"]
