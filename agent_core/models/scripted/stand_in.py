"""Replace a language model if there is no key: follow simple commands, offline."""

import asyncio
import json
from collections.abc import AsyncGenerator

from agent_core.ids import CallId
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.models.scripted.plan import Plan, make_plan
from agent_core.models.scripted.replies import Piece
from agent_core.models.token_estimate import estimate_usage
from agent_core.transcript import Message, TextPart, ToolCallPart

_OPENING = "<talk>\n"
_TOLD = ("earlier summary: ", "person: ", "assistant: ")
_CHARACTERS = 2
"""Characters of a summary per token of the answer's limit; twice as many would fit."""
_LONGEST = 300


def summarize(request: ModelRequest) -> str:
    """Return the newest lines of a conversation to summarize; "" for any other request."""
    text = request.messages[-1].text if request.messages else ""
    if request.tools or not text.startswith(_OPENING):
        return ""
    lines = [line for line in map(_read, text.splitlines()) if line]
    room = request.max_output_tokens * _CHARACTERS
    kept: list[str] = []
    while lines and len(lines[-1]) < room:
        kept.append(lines.pop())
        room -= len(kept[-1])
    return "\n".join(reversed(kept))


def _read(line: str) -> str:
    """Return a message's text from a line; "" for calls, outputs and facts."""
    opening = next((opening for opening in _TOLD if line.startswith(opening)), "")
    if not opening:
        return ""
    try:
        words = json.loads(line.removeprefix(opening))
    except ValueError:
        return ""
    said = " ".join(str(words).split())[:_LONGEST]
    return said if opening == _TOLD[0] else f"{opening}{said}"


PROVIDER = "scripted"


class StandInModel:
    """Follows plain commands with the real tools, and says that it is a stand-in.

    Equal requests get equal answers; only counting and thinking take time.
    """

    provider = PROVIDER

    def __init__(self, *, delay: float) -> None:
        """`delay` is the pause between counted numbers, in seconds."""
        self._delay = delay

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Answer; see the contract. Raises nothing."""
        summary = summarize(request)
        plan = Plan(pieces=(Piece(text=summary),)) if summary else make_plan(request, self._delay)
        if plan.calls:
            # Unique in the conversation, because the number of messages grows with every call.
            stem = f"call_{len(request.messages)}"
            calls = tuple(
                ToolCallPart(
                    call_id=CallId(f"{stem}_{place}"), name=wish.name, arguments=wish.arguments
                )
                for place, wish in enumerate(plan.calls, start=1)
            )
            message = Message(role="assistant", parts=calls)
        else:
            for piece in plan.pieces:
                if piece.wait:
                    await asyncio.sleep(piece.wait)
                yield TextDelta(text=piece.text)
            text = "".join(piece.text for piece in plan.pieces)
            message = Message(role="assistant", parts=(TextPart(text=text),))
        yield ModelAnswer(
            message=message,
            stop="tools" if plan.calls else "end",
            usage=estimate_usage(request, message),
            model=request.model,
        )

    async def check(self, model: str) -> None:
        """Accept any name."""

    async def close(self) -> None:
        """Do nothing."""
