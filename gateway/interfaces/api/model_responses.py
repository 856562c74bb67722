"""Responses in the shape of OpenAI's and of Open Responses: whole, or streamed as events."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from itertools import count

from agent_core.agent.wishes import ProgramWishes
from agent_core.transcript import ToolSpec
from gateway.interfaces.api.answers import ApiAnswer, ClientCall
from gateway.interfaces.api.models import MODEL
from gateway.interfaces.api.requests import Question, Requests
from gateway.interfaces.api.streams import ALIVE, grow, write_event

_CONTENT = 0
"""The place of the text in a message: it has one part."""


def compose(question: Question, answer: ApiAnswer, now: int) -> dict[str, object]:
    """Compose a whole response. `now` is in milliseconds since the epoch, UTC."""
    texts = [_item(question, "completed", [_part(answer.text)])] if answer.text else []
    calls = [_call(question, place, call, "completed") for place, call in enumerate(answer.calls)]
    is_cut = answer.finish == "length"
    return {
        **_head(question, now),
        "status": "incomplete" if is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "completed_at": None if is_cut else now // 1000,
        "output": [*texts, *calls],
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
    writer = _Writer(question)
    begun = {**_head(question, now), "status": "in_progress", "output": [], "usage": None}
    yield writer.write("response.created", response=begun)
    yield writer.write("response.in_progress", response=begun)
    text = ""
    async for piece in grow(requests, question):
        if isinstance(piece, ApiAnswer):
            for line in writer.end_text(text):
                yield line
            for place, call in enumerate(piece.calls):
                for line in writer.add_call(int(bool(text)), place, call):
                    yield line
            done = compose(question, replace(piece, text=text), now)
            yield writer.write(f"response.{done['status']}", response=done)
        elif piece:
            for line in () if text else writer.begin_text():
                yield line
            text += piece
            yield writer.write(
                "response.output_text.delta", **writer.place, delta=piece, logprobs=[]
            )
        else:
            yield ALIVE


class _Writer:
    """Writes the numbered events of one response."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._numbers = count()
        item_id = _item_id(question)
        self.place = {"item_id": item_id, "output_index": 0, "content_index": _CONTENT}

    def write(self, kind: str, **fields: object) -> str:
        """Write an event."""
        event = {"type": kind, "sequence_number": next(self._numbers), **fields}
        return write_event(event, kind)

    def begin_text(self) -> Iterator[str]:
        """Begin the message that holds the text; an answer without words has none."""
        empty = _item(self._question, "in_progress", [])
        yield self.write("response.output_item.added", output_index=0, item=empty)
        yield self.write("response.content_part.added", **self.place, part=_part(""))

    def end_text(self, text: str) -> Iterator[str]:
        """End the message, if it has begun."""
        if not text:
            return
        whole = _item(self._question, "completed", [_part(text)])
        yield self.write("response.output_text.done", **self.place, text=text, logprobs=[])
        yield self.write("response.content_part.done", **self.place, part=_part(text))
        yield self.write("response.output_item.done", output_index=0, item=whole)

    def add_call(self, before: int, place: int, call: ClientCall) -> Iterator[str]:
        """Write a call that the program runs; `before` counts the items before all calls."""
        index, begun = before + place, replace(call, arguments="")
        item = _call(self._question, place, begun, "in_progress")
        where = {"output_index": index, "item_id": item["id"]}
        yield self.write("response.output_item.added", output_index=index, item=item)
        yield self.write("response.function_call_arguments.delta", **where, delta=call.arguments)
        yield self.write(
            "response.function_call_arguments.done",
            **where,
            name=call.name,
            arguments=call.arguments,
        )
        whole = _call(self._question, place, call, "completed")
        yield self.write("response.output_item.done", output_index=index, item=whole)


def _head(question: Question, now: int) -> dict[str, object]:
    wishes, sampling = question.wishes, question.wishes.sampling
    return {
        "id": f"resp_{question.event_id}",
        "object": "response",
        "created_at": now // 1000,
        "completed_at": None,
        "model": MODEL,
        "error": None,
        "incomplete_details": None,
        "instructions": wishes.rules or None,
        "metadata": {},
        "parallel_tool_calls": not wishes.is_serial,
        "previous_response_id": None,
        "frequency_penalty": sampling.frequency_penalty or 0.0,
        "max_output_tokens": wishes.most_tokens,
        "max_tool_calls": None,
        "presence_penalty": sampling.presence_penalty or 0.0,
        "prompt_cache_key": None,
        "reasoning": {"effort": sampling.effort or None, "summary": None},
        "safety_identifier": None,
        "service_tier": "default",
        "temperature": 1.0 if sampling.temperature is None else sampling.temperature,
        "text": {"format": _format(wishes)},
        "tool_choice": _choice(wishes),
        "tools": [_tool(spec) for spec in wishes.tools],
        "top_logprobs": 0,
        "top_p": 1.0 if sampling.top_p is None else sampling.top_p,
        "truncation": "disabled",
        "store": True,
        "background": False,
    }


def _item(question: Question, status: str, content: list[dict[str, object]]) -> dict[str, object]:
    return {
        "id": _item_id(question),
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": content,
    }


def _part(text: str) -> dict[str, object]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _item_id(question: Question) -> str:
    return f"msg_{question.event_id}"


def _call(question: Question, place: int, call: ClientCall, status: str) -> dict[str, object]:
    return {
        "id": f"fc_{question.event_id}-{place}",
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        "status": status,
    }


def _format(wishes: ProgramWishes) -> dict[str, object]:
    if not wishes.response_schema:
        return {"type": "text"}
    schema = json.loads(wishes.response_schema)
    return {"type": "json_schema", "name": "answer", "schema": schema, "strict": None}


def _choice(wishes: ProgramWishes) -> str | dict[str, object]:
    choice = wishes.tool_choice or "auto"
    return choice if choice in ("auto", "required") else {"type": "function", "name": choice}


def _tool(spec: ToolSpec) -> dict[str, object]:
    return {
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": json.loads(spec.schema),
        "strict": None,
    }
