"""Credentials are in no message, file or stored result, whoever wrote them."""

from collections.abc import Mapping
from pathlib import Path

from agent_core.models.contract import TextDelta
from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.transcript import TextPart
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, Gate, ask, call, finish, say
from tests.fakes.tool import FakeTool
from tests.integration.accounts import count
from tests.integration.clock import Clock
from tests.integration.harness import quick, running
from tests.integration.jobs_support import give_job, greet, greeted, looked
from tests.integration.model_requests import results

OWN = "own-test-credential-0815"
"""A credential of this installation, in no known form."""
FOREIGN = "ghp_" + "Ab1" * 12
SECRETS = {"HONCHO_API_KEY": OWN}


def all_texts(chat: FakeChat) -> str:
    """Return every text that any message has had."""
    return "\n".join(text for message in chat.shown for text in message.texts)


async def test_an_answer_shows_no_secret_or_its_start(tmp_path: Path) -> None:
    chat = FakeChat()
    parts = (f"The keys are {OWN[:-3]}", f"{OWN[-3:]} and {FOREIGN[:-3]}", f"{FOREIGN[-3:]} now.")
    gates = (lambda: chat.sees_text("The keys are"), lambda: chat.sees_text("[hidden] and"))
    model = FakeModel(
        [
            *(TextDelta(text=parts[0]), gates[0], TextDelta(text=parts[1]), gates[1]),
            *(TextDelta(text=parts[2]), finish(TextPart(text="".join(parts)))),
        ]
    )
    timings = quick(first_words=0.0)
    async with running(tmp_path, model, chat=chat, timings=timings, **SECRETS) as harness:
        await chat.says("repeat my keys")
        await chat.sees_text("The keys are [hidden] and [hidden] now.")
        await harness.at_rest()
        for secret in (OWN, FOREIGN):
            assert await count(harness, "messages", f"parts || text LIKE '%{secret}%'") == 0
            assert await count(harness, "outbox", f"body LIKE '%{secret}%'") == 0
    assert OWN[:12] not in all_texts(chat)
    assert FOREIGN[:12] not in all_texts(chat)


async def test_a_reply_that_no_model_wrote_shows_no_secret(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Hi.")), **SECRETS) as harness:
        await harness.chat.says("hello")
        await harness.chat.sees_text("Hi.")
        await harness.chat.says(f"/title keys {OWN} {FOREIGN}")
        await harness.chat.sees_text("keys [hidden] [hidden]")
        assert not {OWN, FOREIGN} & set(all_texts(harness.chat).split())


async def look(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
    return ToolResult(text=f"env: {OWN} {FOREIGN}")


async def test_the_result_of_a_tool_is_stored_without_secrets(tmp_path: Path) -> None:
    tool = FakeTool("look", look)
    model = FakeModel(ask(call("look", "{}")), say("Seen."))
    async with running(tmp_path, model, tools=(tool,), **SECRETS) as harness:
        await harness.chat.says("look")
        await harness.chat.sees_text("Seen.")
        await harness.at_rest()
        assert await count(harness, "steps", "outcome = 'env: [hidden] [hidden]'") == 1
        assert results(model) == ["env: [hidden] [hidden]"]


async def test_what_a_script_prints_is_stored_and_sent_without_secrets(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path, greeted(), now=clock, **SECRETS) as harness:
        await greet(harness)
        (tmp_path / "keys").write_text(f"It is {OWN} {FOREIGN}")
        await give_job(harness, "cat keys", "2026-11-20T13:30", kind="script")
        clock.move(harness, minutes=120)
        await looked(harness)
        await harness.chat.sees_text("It is [hidden] [hidden]")
        await harness.at_rest()
        for secret in (OWN, FOREIGN):
            assert await count(harness, "outbox", f"body LIKE '%{secret}%'") == 0
            assert secret not in all_texts(harness.chat)


async def test_a_file_of_an_answer_has_no_secret(tmp_path: Path) -> None:
    text = f'{{"name": "keys.txt", "text": "a {OWN} b {FOREIGN}"}}'
    model = FakeModel(ask(call("send_file", text)), say("There."))
    async with running(tmp_path, model, **SECRETS) as harness:
        await harness.chat.says("send me a file")
        await harness.chat.sees_text("There.")
        await harness.at_rest()
        (file,) = [one.file for one in harness.chat.shown if one.file]
        assert file.data == b"a [hidden] b [hidden]"


async def test_the_name_of_a_file_and_a_button_have_no_secret(tmp_path: Path) -> None:
    file = f'{{"name": "{OWN}.txt", "text": "a"}}'
    question = f'{{"question": "Which?", "options": ["{OWN}", "other"]}}'
    model = FakeModel(ask(call("send_file", file)), ask(call("ask", question, "c2")), say("There."))
    async with running(tmp_path, model, **SECRETS) as harness:
        await harness.chat.says("send me a file")
        asked = await harness.chat.sees_text("Which?")
        assert asked.labels[:2] == ["[hidden]", "other"]
        await harness.chat.press("other")
        await harness.chat.sees_text("There.")
        await harness.at_rest()
        assert [one.file.name for one in harness.chat.shown if one.file] == ["[hidden].txt"]
        assert OWN not in all_texts(harness.chat)


async def test_a_stopped_answer_ends_before_a_secret_that_it_began(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel([TextDelta(text=f"The key is {OWN[:-3]}"), gate.hold])
    timings = quick(first_words=0.0)
    async with running(tmp_path, model, timings=timings, **SECRETS) as harness:
        await harness.chat.says("repeat my key")
        await gate.reached.wait()
        await harness.chat.says("/stop")
        await harness.chat.sees_text("The key is")
        await harness.at_rest()
        assert OWN[:4] not in all_texts(harness.chat)
        assert await count(harness, "outbox", f"body LIKE '%{OWN[:4]}%'") == 0
