"""`/here` moves a running turn to another place, where it is answered once."""

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from agent_core.models.contract import TextDelta
from agent_core.state.conversations import turns
from agent_core.tools.contract import ToolContext, ToolResult
from gateway.texts import general
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.fakes.tool import FakeTool
from tests.integration import harness as harnesses
from tests.integration.accounts import count
from tests.integration.harness import Harness
from tests.integration.model_requests import results, words
from tests.integration.questions import QUESTION, waiting

MOVED = general.describe_move("fake")
running = partial(harnesses.running, timings=harnesses.quick(first_words=0.0, first_indicator=0.0))


def hold(*, before: str = "") -> tuple[FakeModel, asyncio.Event]:
    """A model that writes, waits, and finishes its answer."""
    go = asyncio.Event()
    first = [TextDelta(text=before)] if before else []
    return FakeModel([*first, go.wait, *say("The answer.")]), go


def texts(chat: FakeChat, chat_id: str) -> list[str]:
    return [shown.text for shown in chat.shown if shown.chat_id == chat_id]


async def says_here(harness: Harness, chat_id: str, **fields: object) -> None:
    """Send /here, and return once it is done."""
    await harness.chat.says("/here", chat=chat_id, **fields)
    await harness.until(harness.gateway.router.is_idle)


async def test_a_turn_without_output_is_answered_in_the_new_place(
    tmp_path: Path,
) -> None:
    model, go = hold()
    async with running(tmp_path, model) as harness:
        await harness.chat.says("think")
        await harness.until(lambda: model.streaming == 1)
        await says_here(harness, "2")
        go.set()
        await harness.chat.sees_text("The answer.")
        await harness.at_rest()
        assert texts(harness.chat, "1") == []
        assert texts(harness.chat, "2") == ["The answer."]


async def test_the_shown_part_says_where_the_answer_went(tmp_path: Path) -> None:
    model, go = hold(before="Well, ")
    async with running(tmp_path, model) as harness:
        await harness.chat.says("think")
        await harness.chat.sees_text("Well,")
        await says_here(harness, "2")
        await harness.chat.until(lambda: texts(harness.chat, "2") == ["Well,"])
        await harness.chat.until(lambda: texts(harness.chat, "1") == [MOVED])
        go.set()
        await harness.at_rest()
        assert texts(harness.chat, "1") == [MOVED]
        assert texts(harness.chat, "2") == ["The answer."]
        assert await count(harness, "outbox", "state <> 'sent' OR is_live = 1") == 0


async def test_repeated_moves_leave_one_answer_in_the_last_place(
    tmp_path: Path,
) -> None:
    model, go = hold(before="Well, ")
    async with running(tmp_path, model) as harness:
        await harness.chat.says("think")
        await harness.chat.sees_text("Well,")
        for chat_id in ("2", "3", "3", "1"):
            await says_here(harness, chat_id)
        go.set()
        await harness.chat.until(lambda: "The answer." in texts(harness.chat, "1"))
        await harness.at_rest()
        shown = [one.text for one in harness.chat.shown]
        assert shown.count("The answer.") == 1
        assert set(shown) == {"The answer.", MOVED}
        assert await count(harness, "outbox", "state <> 'sent' OR is_live = 1") == 0


async def test_here_in_the_same_place_changes_nothing(tmp_path: Path) -> None:
    model, go = hold(before="Well, ")
    async with running(tmp_path, model) as harness:
        await harness.chat.says("think")
        await harness.chat.sees_text("Well,")
        await says_here(harness, "1")
        go.set()
        await harness.chat.sees_text("The answer.")
        await harness.at_rest()
        assert [shown.texts[-1] for shown in harness.chat.shown] == ["The answer."]
        assert MOVED not in harness.chat.shown[0].texts


async def test_here_in_a_room_with_a_conversation_of_its_own_moves_nothing(tmp_path: Path) -> None:
    model, go = hold()
    async with running(tmp_path, model) as harness:
        await harness.chat.says("think")
        await harness.until(lambda: model.streaming == 1)
        await says_here(harness, "room", direct=False)
        await harness.chat.sees_text(general.MOVE_NOTHING())
        go.set()
        await harness.chat.sees_text("The answer.")
        assert texts(harness.chat, "1") == ["The answer."]


async def test_here_with_nothing_running_says_so(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("The answer."))) as harness:
        await harness.chat.says("think")
        await harness.chat.sees_text("The answer.")
        await harness.at_rest()
        await says_here(harness, "2")
        await harness.chat.sees_text(general.MOVE_NOTHING())
        assert texts(harness.chat, "1") == ["The answer."]


@pytest.mark.parametrize("steps", range(0, 60, 4))
async def test_here_during_delivery_leaves_one_answer(tmp_path: Path, steps: int) -> None:
    model, go = hold(before="Well, ")
    async with running(tmp_path, model) as harness:
        await harness.chat.says("think")
        await harness.chat.sees_text("Well,")
        go.set()
        for _ in range(steps):
            await asyncio.sleep(0)
        await says_here(harness, "2")
        await harness.at_rest()
        old, new = texts(harness.chat, "1"), texts(harness.chat, "2")
        is_moved = MOVED in old
        assert old == ([MOVED] if is_moved else ["The answer."])
        assert new == (["The answer."] if is_moved else [general.MOVE_NOTHING()])
        assert await count(harness, "outbox", "state <> 'sent' OR is_live = 1") == 0


@pytest.mark.parametrize("steps", range(0, 40, 4))
async def test_a_live_message_in_flight_does_not_get_the_answer(tmp_path: Path, steps: int) -> None:
    """Whenever the turn moves while its live message opens, the answer is elsewhere."""
    model, go = hold(before="Well, ")
    async with running(tmp_path, model) as harness:
        harness.chat.gate = asyncio.Event()
        await harness.chat.says("think")
        await harness.until(lambda: model.streaming == 1)
        for _ in range(steps):
            await asyncio.sleep(0)
        await says_here(harness, "2")
        harness.chat.gate.set()
        go.set()
        await harness.chat.sees_text("The answer.")
        await harness.at_rest()
        assert texts(harness.chat, "1") in ([], [MOVED])
        assert texts(harness.chat, "2") == ["The answer."]


async def test_an_open_question_moves_along(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("Blue it is."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        old = await waiting(harness)
        await says_here(harness, "2")
        await harness.chat.until(lambda: any(one.chat_id == "2" for one in harness.chat.shown))
        await harness.chat.until(lambda: general.QUESTION_MOVED() in old.text)
        new = next(one for one in harness.chat.shown if one.chat_id == "2")
        assert (old.labels, new.labels) == ([], ["Red", "Blue"])
        await harness.chat.says("Blue", chat="2")
        await harness.chat.until(lambda: "Blue it is." in texts(harness.chat, "2"))
        await harness.at_rest()
        assert results(model) == ["They chose: Blue"]
        assert new.text == "Which colour?\n\n→ Blue (Ana)"
        assert old.text == f"Which colour?\n\n{general.QUESTION_MOVED()}"


async def test_text_in_the_old_place_is_no_answer(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("I see."), say("And that."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        await waiting(harness)
        await says_here(harness, "2")
        await harness.chat.says("Blue", chat="1")
        await harness.chat.until(lambda: "And that." in texts(harness.chat, "1"))
        assert "wrote something else" in results(model, 1)[0]
        assert words(model) == ["paint my room", "Blue"]


async def test_a_question_that_moves_away_and_back_is_open_in_one_place(tmp_path: Path) -> None:
    model = FakeModel(QUESTION, say("Blue it is."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("paint my room")
        await waiting(harness)
        for chat_id in ("2", "1"):
            await says_here(harness, chat_id)
        await harness.until(harness.gateway.dispatcher.is_idle)
        assert [one.chat_id for one in harness.chat.shown if one.keyboard] == ["1"]
        await harness.chat.press("Blue")
        await harness.chat.sees_text("Blue it is.")
        await harness.at_rest()
        assert not any(one.keyboard for one in harness.chat.shown)
        assert sum("→ Blue" in one.text for one in harness.chat.shown) == 1


async def test_the_new_place_survives_a_restart(tmp_path: Path) -> None:
    chat = FakeChat()
    model, _ = hold(before="Well, ")
    async with running(tmp_path, model, chat=chat, TALARIA_TURNS__DRAIN_SECONDS="0") as harness:
        await chat.says("think")
        await chat.sees_text("Well,")
        await says_here(harness, "2")
        await chat.until(lambda: texts(chat, "1") == [MOVED])
    chat.inlet = None
    async with running(tmp_path, FakeModel(say("The answer.")), chat=chat) as harness:
        await chat.sees_text("The answer.")
        await harness.at_rest()
        assert texts(chat, "1") == [MOVED]
        assert texts(chat, "2") == ["The answer."]
        assert await harness.read(turns.list_running) == []


async def test_a_status_line_moves_along(tmp_path: Path) -> None:
    timings = harnesses.quick(first_words=0.0, first_indicator=0.0, first_status=0.0)
    go = asyncio.Event()

    async def bake(_: Mapping[str, object], __: ToolContext) -> ToolResult:
        await go.wait()
        return ToolResult(text="Baked.")

    model = FakeModel(ask(call("bake")), say("The answer."))
    tool = FakeTool("bake", bake)
    async with running(tmp_path, model, tools=(tool,), timings=timings) as harness:
        await harness.chat.says("think")
        await harness.chat.sees_text("Using bake")
        await says_here(harness, "2")
        await harness.chat.until(lambda: any("bake" in text for text in texts(harness.chat, "2")))
        await harness.chat.until(lambda: texts(harness.chat, "1") == [])
        go.set()
        await harness.chat.sees_text("The answer.")
        await harness.at_rest()
        assert [shown.text for shown in harness.chat.shown] == ["The answer."]
        assert await count(harness, "outbox", "kind = 'status'") == 0


async def test_an_answer_is_split_for_its_new_platform(tmp_path: Path) -> None:
    other = FakeChat(name="other", limit=10)
    go = asyncio.Event()
    model = FakeModel([go.wait, *say("A longer answer.")])
    async with running(tmp_path, model, others={"other": other}) as harness:
        await harness.chat.says("think")
        await harness.until(lambda: model.streaming == 1)
        await know_elsewhere(harness)
        await harness.until(lambda: other.inlet is not None)
        await other.says("/here")
        await harness.until(harness.gateway.router.is_idle)
        go.set()
        assert await other.sees(2) == ["A longer a", "nswer."]
        await harness.at_rest()
        assert harness.chat.shown == []
        assert [shown.is_silent for shown in other.shown] == [False, True]


async def know_elsewhere(harness: Harness) -> None:
    """Give the person an account on another platform."""
    columns = "person_id, platform, user_id, display_name, admitted_by, created_at"
    query = (
        f"INSERT INTO accounts ({columns})"
        " SELECT person_id, 'other', user_id, display_name, admitted_by, 0 FROM accounts"
    )
    await harness.gateway.database.write("account", lambda c: c.execute(query) and None)


async def test_a_message_in_the_old_place_gets_its_own_answer(tmp_path: Path) -> None:
    reached, go = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        reached.set()
        await go.wait()

    model = FakeModel([wait, *say("The answer.")], say("And this."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("think")
        await reached.wait()
        await says_here(harness, "2")
        await harness.chat.says("and you?", chat="1")
        await harness.until(harness.gateway.router.is_idle)
        go.set()
        await harness.chat.sees_text("And this.")
        await harness.at_rest()
        assert texts(harness.chat, "2") == ["The answer."]
        assert texts(harness.chat, "1") == ["And this."]
