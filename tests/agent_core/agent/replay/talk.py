"""A talk with a part of every kind."""

from agent_core.agent.replay.trajectories import Trajectory
from agent_core.ids import CallId, SessionId
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Message,
    Part,
    RawPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
    make_source,
)

SCHEMA = '{"type":"object","properties":{"text":{"type":["string","null"]}}}'
FACTS = "<facts>It is Monday.</facts>"


def user(*parts: Part) -> Message:
    return Message(role="user", parts=parts)


def answer(*parts: Part) -> Message:
    return Message(role="assistant", parts=parts)


def calling(call_id: str, arguments: str) -> ToolCallPart:
    return ToolCallPart(call_id=CallId(call_id), name="memory", arguments=arguments)


def result(call_id: str, text: str, *, is_error: bool = False) -> ToolResultPart:
    return ToolResultPart(
        call_id=CallId(call_id),
        name="memory",
        text=text,
        is_error=is_error,
        sources=(make_source("file", "ada.pdf"),),
    )


TALK = Trajectory(
    session_id=SessionId(7),
    person="ada",
    model="claude",
    started_at=1,
    system="You are Talaria.",
    tools=(ToolSpec(name="memory", description="Notes.", schema=SCHEMA),),
    messages=(
        user(
            TextPart(text=FACTS, is_fact=True),
            TextPart(text="Two\nlines, “quoted” </tool_call> \u2028"),
            DocumentPart(name="ada.txt", text="<attached-file>Ada</attached-file>"),
            ImagePart(file_key="k", media_type="image/png", size=3),
        ),
        answer(
            RawPart(provider="anthropic", model="claude", payload='{"type":"thinking"}'),
            TextPart(text="One moment."),
            calling("c1", '{"text":"Tea for Ada"}'),
            calling("c2", '{"text":null,"n":[1,{"deep":"Ada"}]}'),
        ),
        Message(role="tool", parts=(result("c1", "Added."), result("c2", "No.", is_error=True))),
        answer(TextPart(text="Done.")),
        user(TextPart(text="and now?")),
        answer(calling("c3", "no JSON")),
        Message(role="tool", parts=(result("c3", "Not run."),)),
        answer(TextPart(text="Never mind.")),
        user(TextPart(text="a question that nobody has answered yet")),
    ),
)
