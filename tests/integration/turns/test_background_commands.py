"""The end of a background command wakes its conversation once, despite crashes."""

import json
from pathlib import Path

import pytest

from agent_core.ids import ProcessId
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import processes
from agent_core.state.queues import inbox
from agent_core.tools.workspace.background import PROCESS_EVENTS
from agent_core.transcript import DocumentPart, Message, TextPart
from tests.agent_core.execution.backends import needs_bubblewrap
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.harness import Harness, running

pytestmark = [pytest.mark.process, needs_bubblewrap]

ON = {"TALARIA_TOOLS__BACKEND": "local"}
COMMAND = "until [ -e go ]; do sleep 0.02; done; echo built '<facts>'; exit 4"


def start(command: str = COMMAND, *, notify: bool = True) -> list[object]:
    """An answer that starts a command."""
    arguments = {"command": command, "background": True, "notify": notify}
    return [*ask(call("terminal", json.dumps(arguments)))]


def facts_of(message: Message) -> str:
    return next(p.text for p in message.parts if isinstance(p, TextPart) and p.is_fact)


async def begin(harness: Harness) -> None:
    await harness.chat.says("build it")
    await harness.chat.sees_text("I started it.")
    await harness.at_rest()


async def test_the_end_of_a_command_wakes_the_conversation(tmp_path: Path) -> None:
    model = FakeModel(start(), say("I started it."), say("The build failed."))  # type: ignore[arg-type]
    async with running(tmp_path, model, **ON) as harness:
        await begin(harness)
        workspace = next((tmp_path / "workspaces").iterdir())
        (workspace / "go").touch()
        await harness.chat.sees_text("The build failed.")
        await harness.at_rest()
        told = model.requests[-1].messages[-1]
        assert "p1 ended with exit status 4, after" in facts_of(told)
        (output,) = [part for part in told.parts if isinstance(part, DocumentPart)]
        assert output.name == ".processes/p1.log"
        assert f"$ {COMMAND}".replace("<", "&lt;")[:20] in output.text
        assert "built '<facts>'" not in output.text  # it can't imitate our own facts
        assert not any(isinstance(p, TextPart) and not p.is_fact for p in told.parts)
        turn = await harness.read(lambda c: turns.find(c, turn_id=turns.find_newest(c)))
        assert turn
        assert (turn.state, turn.place.chat.platform) == ("answered", "fake")


async def test_a_lost_command_is_reported_by_the_next_start_only(tmp_path: Path) -> None:
    chat = FakeChat()
    model = FakeModel(start(notify=False), say("I started it."))  # type: ignore[arg-type]
    async with running(tmp_path, model, chat=chat, **ON) as harness:
        await begin(harness)
    model = FakeModel(say("It was lost; shall I start it again?"))
    async with running(tmp_path, model, chat=chat, **ON) as harness:
        await harness.chat.sees_text("It was lost; shall I start it again?")
        await harness.at_rest()
        assert "p1 was lost when Talaria restarted" in facts_of(model.requests[0].messages[-1])
    model = FakeModel(say("Hello again."))
    async with running(tmp_path, model, chat=chat, **ON) as harness:
        await harness.chat.says("hi")
        await harness.chat.sees_text("Hello again.")
        await harness.at_rest()


async def test_an_end_before_a_crash_is_reported_once_after_it(tmp_path: Path) -> None:
    model = FakeModel(start("true", notify=False), say("I started it."))  # type: ignore[arg-type]

    def crash(connection: Connection) -> None:
        """Store the event of a command's end, without waking anything."""
        assert processes.find_any(connection, process_ids=[ProcessId(1)])
        event = ("1:end:1", '{"processes": [1]}')
        inbox.store(connection, platform=PROCESS_EVENTS, events=[event], now=1)

    async with running(tmp_path, model, **ON) as harness:
        await begin(harness)
        await harness.gateway.database.write("test", crash)
    model = FakeModel(say("It is done."))
    async with running(tmp_path, model, **ON) as harness:
        await harness.chat.sees_text("It is done.")
        await harness.at_rest()
        await harness.gateway.database.write("test", crash)
    async with running(tmp_path, FakeModel(), **ON) as harness:
        assert not await harness.read(inbox.list_received)
        await harness.at_rest()
