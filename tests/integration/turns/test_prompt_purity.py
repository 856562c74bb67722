"""Every request to a model can be rebuilt from the database alone, byte for byte."""

import json
import sqlite3
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.state.conversations import compactions
from agent_core.state.conversations.messages import StoredMessage
from agent_core.transcript import Message, TextPart, ToolSpec, dump_parts, load_parts
from tests.agent_core.agent.compaction.seeing import view
from tests.fakes.model import FakeModel, Gate, ask, call, finish, say
from tests.integration.harness import Harness, running

LIMITS = {"TALARIA_TURNS__MAX_STEPS": "2", "TALARIA_MODEL__PATIENCE": "0"}


@dataclass(frozen=True, slots=True)
class Sent:
    """A request in bytes."""

    system: str
    tools: str
    messages: tuple[tuple[str, str], ...]


def see(request: ModelRequest) -> Sent:
    return Sent(
        system=request.system,
        tools=json.dumps([[s.name, s.description, s.schema] for s in request.tools]),
        messages=tuple((m.role, dump_parts(m.parts)) for m in request.messages),
    )


def rebuild(home: Path) -> list[Sent]:
    """The requests of all model calls, oldest first, by nothing but the file.

    A call is a message of the assistant that the model gave: what it was sent is the frozen
    prompt of its turn, and its session up to there, under the fold that counted then.
    """
    connection = sqlite3.connect(home / "state.db")
    sent = []
    answers = connection.execute(
        "SELECT messages.id, messages.session_id, messages.person_id, prompts.system,"
        " prompts.tools FROM messages"
        " JOIN turns ON turns.id = messages.turn_id JOIN prompts ON prompts.hash = prompt_hash"
        " WHERE messages.role = 'assistant' ORDER BY messages.id"
    ).fetchall()
    for message_id, session_id, person_id, system, tools in answers:
        rows = connection.execute(
            "SELECT id, turn_id, role, parts, text FROM messages WHERE session_id = ? AND id < ?"
            " ORDER BY id",
            (session_id, message_id),
        ).fetchall()
        before = [
            StoredMessage(
                id=key, turn_id=turn, message=Message(role=role, parts=load_parts(parts, text))
            )
            for key, turn, role, parts, text in rows
        ]
        made = compactions.list_of_session(connection, session_id=session_id, person_id=person_id)
        sent.append(
            see(
                ModelRequest(
                    model="",
                    system=system,
                    tools=tuple(ToolSpec(**fields) for fields in json.loads(tools)),
                    messages=view(before, made),
                    max_output_tokens=0,
                )
            )
        )
    connection.close()
    return sent


class Talker(FakeModel):
    """Plays the turns, but answers no title from the script."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        if request.system.startswith("Name the conversation"):
            yield finish(TextPart(text="A title"))
        else:
            async for piece in super().stream(request):
                yield piece


async def dialogue(harness: Harness, text: str, answer: str, **fields: object) -> None:
    await harness.chat.says(text, **fields)
    await harness.chat.sees_text(answer)
    await harness.at_rest()


async def test_every_request_of_a_long_conversation_can_be_rebuilt(tmp_path: Path) -> None:
    gate = Gate()
    remember = call("memory", '{"action": "add", "target": "user", "text": "Ana likes tea"}')
    search = call("recall", '{"query": "tea"}', "c2")
    models = [
        Talker(
            say("Hello."),
            ask(remember, search, text="One moment."),
            say("Noted and found."),
            [gate.hold, *say("First.")],
            say("And second."),
            say("In the room."),
            say("Afresh."),
        ),
        Talker(
            ask(call("recall", '{"query": "nothing"}', "c3")),
            ask(call("recall", '{"query": "anything"}', "c4")),
            ask(call("recall", '{"query": "something"}', "c5")),
            ask(call("recall", '{"query": "more"}', "c6")),
            say("I got so far."),
        ),
    ]
    async with running(tmp_path, models[0]) as harness:
        await dialogue(harness, "hi ‮ <facts>now</facts> 🫖", "Hello.")
        await dialogue(harness, "remember: tea", "Noted and found.")
        await harness.chat.says("one")
        await gate.reached.wait()
        await harness.chat.says("two")
        await harness.until(harness.gateway.router.is_idle)
        gate.open.set()
        await harness.chat.sees_text("And second.")
        await harness.at_rest()
        await dialogue(harness, "hi all", "In the room.", chat="room", direct=False)
        await harness.chat.says("/new")
        await dialogue(harness, "again", "Afresh.")
    tmp_path.joinpath("SOUL.md").write_text("You are somebody else.")
    async with running(tmp_path, models[1], **LIMITS) as harness:
        await dialogue(harness, "search", "I got so far.", id=100)
    sent = [see(request) for model in models for request in model.requests]
    assert len(sent) == 7 + 5
    assert len({one.system for one in sent}) == 3, "a talk, a room, and a talk with a memory"
    assert rebuild(tmp_path) == sent
