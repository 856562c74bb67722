"""Approvals of calls: shown in full, answered once, remembered by shape, and revoked."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from agent_core.state.engine.database import Connection
from agent_core.tools.contract import ToolContext
from agent_core.tools.policy.command_effects import list_command_actions
from agent_core.tools.policy.contract import Action
from gateway.app.timings import Timings
from gateway.texts import approvals
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.fakes.tool import FakeTool
from tests.integration.accounts import count, enrol
from tests.integration.harness import Harness, running
from tests.integration.model_requests import results
from tests.integration.questions import waiting

HOST = "a.example"


class Poster(FakeTool):
    """Posts a text to a host."""

    def __init__(self, kind: str = "send") -> None:
        super().__init__("post", effect="unsafe")
        self.kind = kind

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        text = str(arguments["text"])
        return (
            Action(kind=self.kind, target=text, place=HOST, is_outward=True),  # type: ignore[arg-type]
        )


def post(text: str, call_id: str) -> tuple[str, str, str]:
    return "post", json.dumps({"text": text}), call_id


async def read(harness: Harness, sql: str) -> list[tuple[object, ...]]:
    def look(connection: Connection) -> list[tuple[object, ...]]:
        return connection.execute(sql).fetchall()

    return await harness.read(look)


async def test_the_question_shows_the_whole_call_and_what_it_reaches(tmp_path: Path) -> None:
    tool, lines = Poster(), [f"line {number}" for number in range(150)]
    text = "\n".join([*lines, "\u202een\u3164d ☀\ufe0f"])
    model = FakeModel(ask(call(*post(text, "c1"))), say("Left."))
    async with running(tmp_path, model, tools=(tool,)) as harness:
        await harness.chat.says("post it")
        await waiting(harness, "Shall I run this")
        await harness.until(lambda: "Once" in harness.chat.shown[-1].labels)
        shown = "\n".join(one.text for one in harness.chat.shown)
        packed = re.sub(r"[\s`]", "", shown)  # a part may end within a line
        assert packed.count("".join(lines).replace(" ", "")) == 1
        asking = harness.chat.shown[-1].text
        assert len(asking.split("\n")) < 40
        assert "line 0\n" in asking
        assert "line 149\n" in asking
        assert "\\u202een\\u3164d ☀\ufe0f" in shown
        assert "\u202e" not in shown
        assert HOST in shown
        assert "Ana" in shown
        await harness.chat.press("No")
        await harness.chat.sees_text("Left.")
        assert tool.asked == []


async def test_a_call_too_long_to_show_is_refused(tmp_path: Path) -> None:
    tool = Poster()
    model = FakeModel(ask(call(*post("x" * 7000, "c1"))), say("Left."))
    async with running(tmp_path, model, tools=(tool,)) as harness:
        await harness.chat.says("post it")
        await harness.chat.sees_text("Left.")
        assert "too much for a person to read" in results(model)[0]
        assert tool.asked == []


async def test_for_this_session_asks_once_for_a_shape_and_again_in_the_next(
    tmp_path: Path,
) -> None:
    tool = Poster()
    model = FakeModel(
        *(ask(call(*post("hi", "c1"))), ask(call(*post("hi", "c2"))), say("Twice.")),
        *(ask(call(*post("hi", "c3"))), say("Left.")),
    )
    async with running(tmp_path, model, tools=(tool,)) as harness:
        await harness.chat.says("post it twice")
        message = await waiting(harness, "Shall I run this")
        assert message.labels == [
            *("Once", "For this conversation", "Always for this kind", "No", "No, and say why")
        ]
        await harness.chat.press("For this conversation")
        await harness.chat.sees_text("Twice.")
        assert len(tool.asked) == 2
        await harness.at_rest()
        await harness.chat.says("/new")
        await harness.chat.says("post it")
        await harness.until(lambda: "No" in harness.chat.shown[-1].labels)
        await harness.chat.press("No")
        await harness.chat.sees_text("Left.")
        assert len(tool.asked) == 2
        decided = await read(harness, "SELECT action FROM audit WHERE action GLOB 'approval.*'")
        assert decided == [("approval.session",), ("approval.no",)]


async def test_a_tool_that_is_switched_off_during_a_turn_is_refused_at_once(
    tmp_path: Path,
) -> None:
    tool = Poster()
    model = FakeModel(
        *(ask(call(*post("hi", "c1"))), ask(call(*post("hi", "c2"))), say("Only once.")),
    )
    async with running(tmp_path, model, tools=(tool,)) as harness:
        await harness.chat.says("post it twice")
        await waiting(harness, "Shall I run this")
        await harness.chat.says("/tools off post")
        await harness.chat.sees_text("Turned off here: ")
        await harness.chat.press("For this conversation")
        await harness.chat.sees_text("Only once.")
        assert len(tool.asked) == 1
        assert results(model)[-1] == "`post` is switched off here; `/tools` switches it on."


async def test_always_lasts_across_a_restart_until_it_is_revoked(tmp_path: Path) -> None:
    chat, tool = FakeChat(), Poster()
    model = FakeModel(ask(call(*post("hi", "c1"))), say("Done."))
    async with running(tmp_path, model, chat=chat, tools=(tool,)) as harness:
        await chat.says("post it")
        await waiting(harness, "Shall I run this")
        await chat.press("Always for this kind")
        await chat.sees_text("Done.")
        await harness.at_rest()
    model = FakeModel(ask(call(*post("hi", "c1"))), say("Again."), ask(call(*post("hi", "c2"))))
    model.plays.append(say("Left."))
    async with running(tmp_path, model, chat=chat, tools=(tool,)) as harness:
        await chat.says("again")
        await chat.sees_text("Again.")
        assert len(tool.asked) == 2
        await harness.at_rest()
        await chat.says("/approvals")
        listed = await chat.sees_text("Choose one to revoke it.")
        assert f"post: send hi <any text> → {HOST}" in listed.text
        (row,) = await read(harness, "SELECT id FROM approvals WHERE scope = 'always'")
        await chat.press(approvals.REVOKE_NUMBER(number=row[0]))
        await chat.sees_text("From now on, I ask before this")
        await chat.says("/approvals")
        await chat.sees_text(approvals.NOTHING_ALLOWED())
        await harness.at_rest()
        await chat.says("once more")
        await harness.until(lambda: "No" in chat.shown[-1].labels)
        await chat.press("No")
        await chat.sees_text("Left.")
        assert len(tool.asked) == 2
        assert await count(harness, "audit", "action = 'approval.revoke'") == 1


class Shell(FakeTool):
    """A terminal with a network, which only counts calls."""

    def __init__(self) -> None:
        super().__init__("terminal", effect="unsafe")

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        return list_command_actions(str(arguments["command"]), "", has_network=True)


async def test_always_covers_the_same_with_other_numbers_and_no_other_method(
    tmp_path: Path,
) -> None:
    read, other, gone = (
        f"curl -X {method} https://{HOST}/items/{number}"
        for method, number in (("GET", 1), ("GET", 2), ("DELETE", 1))
    )
    calls = [
        call("terminal", json.dumps({"command": text}), f"c{number}")
        for number, text in enumerate((read, other, gone))
    ]
    tool, model = Shell(), FakeModel(*(ask(one) for one in calls), say("Left."))
    async with running(tmp_path, model, tools=(tool,)) as harness:
        await harness.chat.says("tidy up")
        asked = await waiting(harness, read)
        assert f"curl -X GET https://{HOST}/items/<any number>" in asked.text
        await harness.chat.press("Always for this kind")
        asked = await waiting(harness, gone)
        assert asked.text.count(gone) == 1
        await harness.chat.press("No")
        await harness.chat.sees_text("Left.")
        assert [arguments["command"] for arguments, _ in tool.asked] == [read, other]


@pytest.mark.parametrize(("said", "runs"), [("Once", 1), ("no", 0), ("once.", 1)])
async def test_a_typed_label_answers(tmp_path: Path, said: str, runs: int) -> None:
    tool = Poster()
    model = FakeModel(ask(call(*post("hi", "c1"))), say("So be it."))
    async with running(tmp_path, model, tools=(tool,)) as harness:
        await harness.chat.says("post it")
        await waiting(harness, "Shall I run this")
        await harness.chat.says(said)
        await harness.chat.sees_text("So be it.")
        assert len(tool.asked) == runs


async def test_a_typed_number_is_no_answer_where_there_are_buttons(tmp_path: Path) -> None:
    tool = Poster()
    model = FakeModel(ask(call(*post("hi", "c1"))), say("I see."))
    async with running(tmp_path, model, tools=(tool,)) as harness:
        await harness.chat.says("post it")
        await waiting(harness, "Shall I run this")
        await harness.chat.says("1")
        await harness.chat.sees_text("I see.")
        assert tool.asked == []


async def test_the_next_message_after_a_no_is_its_reason(tmp_path: Path) -> None:
    tool = Poster()
    model = FakeModel(ask(call(*post("hi", "c1"))), say("I see."))
    async with running(tmp_path, model, tools=(tool,)) as harness:
        await harness.chat.says("post it")
        await waiting(harness, "Shall I run this")
        await harness.chat.press("No, and say why")
        await waiting(harness, approvals.TELL_WHY())
        await harness.chat.says('Not to "them".')
        await harness.chat.sees_text("I see.")
        assert results(model) == [
            '`post` was not run. The person said no, because: "Not to \\"them\\"."'
        ]
        assert tool.asked == []


async def test_a_restart_still_waits_for_the_reason(tmp_path: Path) -> None:
    chat, model = FakeChat(), FakeModel(ask(call(*post("hi", "c1"))))
    async with running(tmp_path, model, chat=chat, tools=(Poster(),)) as harness:
        await chat.says("post it")
        await waiting(harness, "Shall I run this")
        await chat.press("No, and say why")
        await waiting(harness, approvals.TELL_WHY())
    tool, model = Poster(), FakeModel(say("I see."))
    async with running(tmp_path, model, chat=chat, tools=(tool,)) as harness:
        await harness.until(lambda: bool(harness.gateway.questions.answers._futures))
        await chat.says("Too early.")
        await chat.sees_text("I see.")
        assert results(model)[0].endswith('because: "Too early."')
        assert tool.asked == []


async def test_a_restart_asks_once_and_accepts_the_answer(tmp_path: Path) -> None:
    chat, model = FakeChat(), FakeModel(ask(call(*post("hi", "c1"))))
    async with running(tmp_path, model, chat=chat, tools=(Poster(),)) as harness:
        await chat.says("post it")
        await waiting(harness, "Shall I run this")
    tool, model = Poster(), FakeModel(say("Done."))
    async with running(tmp_path, model, chat=chat, tools=(tool,)) as harness:
        await harness.until(lambda: bool(harness.gateway.questions.answers._futures))
        await chat.press("Once")
        await chat.sees_text("Done.")
        assert len(tool.asked) == 1
        assert await count(harness, "questions") == 1
        assert await read(harness, "SELECT used_at IS NOT NULL FROM approvals") == [(1,)]


async def test_an_answer_to_another_request_runs_nothing(tmp_path: Path) -> None:
    chat, model = FakeChat(), FakeModel(ask(call(*post("hi", "c1"))))
    async with running(tmp_path, model, chat=chat, tools=(Poster(),)) as harness:
        await chat.says("post it")
        await waiting(harness, "Shall I run this")
    tool, model = Poster("spend"), FakeModel(say("I see."))
    async with running(tmp_path, model, chat=chat, tools=(tool,)) as harness:
        await harness.until(lambda: bool(harness.gateway.questions.answers._futures))
        await chat.press("Once")
        await chat.sees_text("I see.")
        assert tool.asked == []
        assert "differs from what was shown" in results(model)[0]


async def test_no_answer_means_no(tmp_path: Path) -> None:
    tool = Poster()
    model = FakeModel(ask(call(*post("hi", "c1"))), say("Left."))
    times = Timings(answer_patience=50)
    async with running(tmp_path, model, tools=(tool,), timings=times) as harness:
        await harness.chat.says("post it")
        await harness.chat.sees_text("Left.")
        assert "Nobody answered in time, which means no." in results(model)[0]
        assert tool.asked == []
        assert await count(harness, "audit", "action = 'approval.late'") == 1


async def test_a_stop_does_not_call_a_call_done_that_waits_for_permission(tmp_path: Path) -> None:
    tool, look = Poster(), FakeTool("look")
    model = FakeModel(ask(call("look", "{}", "c0")), ask(call(*post("hi", "c1"))))
    async with running(tmp_path, model, tools=(tool, look)) as harness:
        await harness.chat.says("look, then post it")
        await waiting(harness, "Shall I run this")
        await harness.chat.says("/stop")
        await harness.chat.sees_text("(Stopped. Done so far: look.)")
        assert tool.asked == []


async def test_a_stop_does_not_call_a_call_done_that_the_person_refused(tmp_path: Path) -> None:
    tool, go = Poster(), asyncio.Event()
    model = FakeModel(ask(call(*post("hi", "c1"))), [go.wait, *say("Never said.")])
    async with running(tmp_path, model, tools=(tool,)) as harness:
        await harness.chat.says("post it")
        await waiting(harness, "Shall I run this")
        await harness.chat.press("No")
        await harness.until(lambda: len(model.requests) == 2)
        await harness.chat.says("/stop")
        await harness.chat.sees_text("(Stopped.)")
        assert tool.asked == []


async def test_an_owner_decides_where_the_person_may_not(tmp_path: Path) -> None:
    tool = Poster("spend")
    model = FakeModel(say("Hello."), ask(call(*post("5 €", "c1"))), say("Paid."))
    chat = FakeChat(people=3)
    async with running(tmp_path, model, chat=chat, tools=(tool,)) as harness:
        await enrol(harness, "olga", "Olga", owner=True)
        await chat.says("hello", user="olga", name="Olga", chat="olga")
        await chat.sees_text("Hello.")
        await harness.at_rest()
        await chat.says("buy it")
        await waiting(harness, "Shall I run this")
        asked = next(one for one in chat.shown if "Shall I run this" in one.text)
        assert asked.chat_id == "olga"
        await chat.press("Once", user="olga", name="Olga", chat="olga")
        await chat.sees_text("Paid.")
        assert len(tool.asked) == 1
