"""Chat completions: whole, or streamed in chunks."""

from collections.abc import AsyncIterator

from gateway.interfaces.api.answers import ApiAnswer
from gateway.interfaces.api.models import MODEL
from gateway.interfaces.api.requests import Question, Requests
from gateway.interfaces.api.streams import ALIVE, grow, write_event


def compose(question: Question, answer: ApiAnswer, now: int) -> dict[str, object]:
    """Compose a whole completion. `now` is in milliseconds since the epoch, UTC."""
    message: dict[str, object] = {
        "role": "assistant",
        "content": answer.text or None,
        "refusal": None,
        "annotations": [],
    }
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in answer.calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": answer.finish, "logprobs": None}
    return {
        **_head(question, "chat.completion", now),
        "choices": [choice],
        "usage": _count(answer),
    }


async def stream(
    requests: Requests, question: Question, now: int, *, wants_usage: bool
) -> AsyncIterator[str]:
    """Yield the chunks of a completion as server-sent events."""
    head = _head(question, "chat.completion.chunk", now)

    def write(delta: dict[str, object], reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return write_event({**head, "choices": [choice]})

    yield write({"role": "assistant", "content": ""})
    async for piece in grow(requests, question):
        if isinstance(piece, str):
            yield write({"content": piece}) if piece else ALIVE
            continue
        for place, call in enumerate(piece.calls):
            function = {"name": call.name, "arguments": ""}
            begun = {"index": place, "id": call.id, "type": "function", "function": function}
            yield write({"tool_calls": [begun]})
            given = {"index": place, "function": {"arguments": call.arguments}}
            yield write({"tool_calls": [given]})
        yield write({}, piece.finish)
        if wants_usage:
            yield write_event({**head, "choices": [], "usage": _count(piece)})
    yield "data: [DONE]\n\n"


def _head(question: Question, kind: str, now: int) -> dict[str, object]:
    return {
        "id": f"chatcmpl-{question.id}",
        "object": kind,
        "created": now // 1000,
        "model": MODEL,
    }


def _count(answer: ApiAnswer) -> dict[str, object]:
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.output_tokens,
        "prompt_tokens_details": {"cached_tokens": answer.cached_tokens},
    }
