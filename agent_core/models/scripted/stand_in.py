"""Stands in for a language model where no key is set: follows plain commands, offline."""

import asyncio
from collections.abc import AsyncGenerator

from agent_core.ids import CallId
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.models.estimate import estimate_usage
from agent_core.models.scripted.plan import Plan, make_plan
from agent_core.models.scripted.summing import sum_up
from agent_core.models.scripted.telling import Piece
from agent_core.transcript import Message, TextPart, ToolCallPart

PROVIDER = "scripted"


class StandInModel:
    """Does what plain words ask of it with the real tools, and says what it is.

    The same request always gets the same answer; only counting and thinking take time.
    """

    provider = PROVIDER

    def __init__(self, *, delay: float) -> None:
        """`delay` is in seconds, between numbers when it counts."""
        self._delay = delay

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Answer; see the contract. Raises nothing."""
        summary = sum_up(request)
        plan = Plan(pieces=(Piece(text=summary),)) if summary else make_plan(request, self._delay)
        if plan.wishes:
            # Unique in the conversation: it grows with every call.
            stem = f"call_{len(request.messages)}"
            calls = tuple(
                ToolCallPart(
                    call_id=CallId(f"{stem}_{place}"), name=wish.name, arguments=wish.arguments
                )
                for place, wish in enumerate(plan.wishes, start=1)
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
            stop="tools" if plan.wishes else "end",
            usage=estimate_usage(request, message),
            model=request.model,
        )

    async def check(self, model: str) -> None:
        """Any name is good."""

    async def close(self) -> None:
        """There is nothing to let go of."""
