"""Responses in the shape of OpenAI's and of Open Responses: whole, or streamed as events."""

from collections.abc import AsyncIterator
from itertools import count

from gateway.interfaces.api.models import MODEL
from gateway.interfaces.api.requests import ApiAnswer, Question, Requests
from gateway.interfaces.api.streams import ALIVE, grow, write_event

_PLACE: dict[str, object] = {"output_index": 0, "content_index": 0}


def compose(question: Question, answer: ApiAnswer, now: int) -> dict[str, object]:
    """Compose a whole response. `now` is in milliseconds since the epoch, UTC."""
    item = _item(question, "completed", [_part(answer.text)])
    return {
        **_head(question, now),
        "status": "completed",
        "completed_at": now // 1000,
        "output": [item],
        "usage": {
            "input_tokens": answer.input_tokens,
            "input_tokens_details": {"cached_tokens": answer.cached_tokens},
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.input_tokens + answer.output_tokens,
        },
    }


async def stream(requests: Requests, question: Question, now: int) -> AsyncIterator[str]:
    """Yield the events of a response."""
    numbers = count()
    item_id = f"msg_{question.id}"

    def write(kind: str, **fields: object) -> str:
        event = {"type": kind, "sequence_number": next(numbers), **fields}
        return write_event(event, kind)

    begun = {**_head(question, now), "status": "in_progress", "output": [], "usage": None}
    yield write("response.created", response=begun)
    yield write("response.in_progress", response=begun)
    empty = _item(question, "in_progress", [])
    yield write("response.output_item.added", output_index=0, item=empty)
    place = {"item_id": item_id, **_PLACE}
    yield write("response.content_part.added", **place, part=_part(""))
    text = ""
    async for piece in grow(requests, question):
        if isinstance(piece, ApiAnswer):
            whole = _item(question, "completed", [_part(text)])
            yield write("response.output_text.done", **place, text=text, logprobs=[])
            yield write("response.content_part.done", **place, part=_part(text))
            yield write("response.output_item.done", output_index=0, item=whole)
            done = compose(question, piece, now) | {"output": [whole]}
            yield write("response.completed", response=done)
        elif piece:
            text += piece
            yield write("response.output_text.delta", **place, delta=piece, logprobs=[])
        else:
            yield ALIVE


def _head(question: Question, now: int) -> dict[str, object]:
    return {
        "id": f"resp_{question.event_id}",
        "object": "response",
        "created_at": now // 1000,
        "completed_at": None,
        "model": MODEL,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "frequency_penalty": 0.0,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "presence_penalty": 0.0,
        "prompt_cache_key": None,
        "reasoning": None,
        "safety_identifier": None,
        "service_tier": "default",
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "store": True,
        "background": False,
    }


def _item(question: Question, status: str, content: list[dict[str, object]]) -> dict[str, object]:
    return {
        "id": f"msg_{question.id}",
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": content,
    }


def _part(text: str) -> dict[str, object]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
