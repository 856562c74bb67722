"""Short ways to call a model in tests."""

import json
from collections.abc import Mapping, Sequence

from agent_core.ids import CallId
from agent_core.models.contract import Model, ModelAnswer, ModelRequest, Sampling, TextDelta
from agent_core.transcript import (
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
    user_message,
)

MEMORY = ToolSpec(
    name="memory",
    description="Keep a note.",
    schema='{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}',
)
RECALL = ToolSpec(name="recall", description="Search.", schema='{"type":"object","properties":{}}')


def ask(
    *messages: Message | str,
    model: str = "claude-sonnet-5-5",
    system: str = "You are Talaria.",
    tools: tuple[ToolSpec, ...] = (MEMORY, RECALL),
    max_output_tokens: int = 800,
    images: Mapping[str, bytes] | None = None,
    response_schema: str | None = None,
    sampling: Sampling | None = None,
    tool_choice: str = "",
) -> ModelRequest:
    """A request; a string stands for a person's message."""
    return ModelRequest(
        model=model,
        system=system,
        tools=tools,
        messages=tuple(
            user_message(message) if isinstance(message, str) else message for message in messages
        ),
        max_output_tokens=max_output_tokens,
        images=images or {},
        response_schema=response_schema,
        sampling=sampling or Sampling(),
        tool_choice=tool_choice,
    )


def says(text: str) -> Message:
    """The assistant said that."""
    return Message(role="assistant", parts=(TextPart(text=text),))


def calls(*calls: tuple[str, str, object], text: str = "") -> Message:
    """The assistant asked for tools: (id, name, arguments)."""
    parts = tuple(
        ToolCallPart(call_id=CallId(call_id), name=name, arguments=json.dumps(arguments))
        for call_id, name, arguments in calls
    )
    return Message(role="assistant", parts=((TextPart(text=text), *parts) if text else parts))


def results(*given: tuple[str, str], is_error: bool = False) -> Message:
    """The tools gave that: (id, text)."""
    return Message(
        role="tool",
        parts=tuple(
            ToolResultPart(call_id=CallId(call_id), name="memory", text=text, is_error=is_error)
            for call_id, text in given
        ),
    )


async def complete(model: Model, request: ModelRequest) -> tuple[str, ModelAnswer]:
    """Everything that streamed, and the answer, which must be the last thing and single."""
    pieces: Sequence[TextDelta | ModelAnswer] = [piece async for piece in model.stream(request)]
    *deltas, answer = pieces
    assert isinstance(answer, ModelAnswer)
    texts = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    assert len(texts) == len(deltas)
    return "".join(texts), answer
