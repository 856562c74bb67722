"""A model that plays scripted answers and records its requests."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from agent_core.errors import ModelError
from agent_core.ids import CallId
from agent_core.models.contract import ModelAnswer, ModelRequest, StopReason, TextDelta, Usage
from agent_core.tools.selection.catalog import SEARCH_TOOL
from agent_core.transcript import Message, Part, TextPart, ToolCallPart

Piece = TextDelta | ModelAnswer | ModelError | Callable[[], Awaitable[object]]
"""The next step of a stream; a function is awaited at that point."""
Play = Sequence[Piece]

_NOTE = re.compile(r"^(\d+)\. (?:rests on \[|stands for )", re.MULTILINE)
USAGE = Usage(input_tokens=10, output_tokens=1)


class FakeModel:
    """Plays one play per call, in order; one call too many fails the test.

    `judge` answers the looks of reviews at their claims, which are no such calls.
    """

    provider = "fake"

    def __init__(self, *plays: Play) -> None:
        self.plays = list(plays)
        self.requests: list[ModelRequest] = []
        self.judged: list[ModelRequest] = []
        self.judge: Callable[[ModelRequest], Play] = agree
        self.streaming = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        if any(one.name == "judge" for one in request.tools):
            self.judged.append(request)
            play = self.judge(request)
        else:
            self.requests.append(request)
            assert self.plays, "the model was called once more than planned"
            play = self.plays.pop(0)
        self.streaming += 1
        try:
            for piece in play:
                if isinstance(piece, ModelError):
                    raise piece
                if isinstance(piece, TextDelta | ModelAnswer):
                    yield piece
                else:
                    await piece()
        finally:
            self.streaming -= 1

    async def check(self, model: str) -> None:
        """Accept every model."""

    async def close(self) -> None:
        """Do nothing."""


class Gate:
    """A point in a model's play that it does not pass before it may."""

    def __init__(self) -> None:
        self.reached, self.open = asyncio.Event(), asyncio.Event()

    async def hold(self) -> None:
        """Wait as a piece of a play until the gate is open."""
        self.reached.set()
        await self.open.wait()


def list_offered(request: ModelRequest) -> set[str]:
    """Return a request's tools: those in the prompt, and those that a search returns."""
    search = next((one.description for one in request.tools if one.name == SEARCH_TOOL), "")
    named = re.search(r"in this list: ([^:]*), and those", search)
    hidden = named[1].split(", ") if named else []
    return {one.name for one in request.tools} | set(hidden)


def finish(
    *parts: Part,
    stop: StopReason = "end",
    usage: Usage = USAGE,
    model: str = "fake-1",
    refusal: str = "",
) -> ModelAnswer:
    """Return a complete answer of these parts."""
    message = Message(role="assistant", parts=parts)
    return ModelAnswer(message=message, stop=stop, usage=usage, model=model, refusal=refusal)


def say(*deltas: str, stop: StopReason = "end", usage: Usage = USAGE, refusal: str = "") -> Play:
    """Return a text answer, streamed in these pieces."""
    parts = (TextPart(text="".join(deltas)),) if deltas else ()
    answer = finish(*parts, stop=stop, usage=usage, refusal=refusal)
    return [*(TextDelta(text=delta) for delta in deltas), answer]


def call(name: str, arguments: str = "{}", call_id: str = "c1") -> ToolCallPart:
    """Return a tool call."""
    return ToolCallPart(call_id=CallId(call_id), name=name, arguments=arguments)


def ask(*calls: ToolCallPart, text: str = "", usage: Usage = USAGE) -> Play:
    """Return an answer with tool calls after some text."""
    words = (TextPart(text=text),) if text else ()
    deltas = [TextDelta(text=text)] if text else []
    return [*deltas, finish(*words, *calls, stop="tools", usage=usage)]


def agree(request: ModelRequest) -> Play:
    """Return the answer of a judge that finds every claim true."""
    return _give_verdicts(request, "yes", "none", changes=False)


def agree_and_change(request: ModelRequest) -> Play:
    """Return the answer of a judge for whom every claim makes the first known line untrue."""
    return _give_verdicts(request, "yes", "none", changes=True)


def deny(request: ModelRequest) -> Play:
    """Return the answer of a judge that finds every claim false."""
    return _give_verdicts(request, "no", "absent", changes=False)


def doubt(request: ModelRequest) -> Play:
    """Return the answer of a judge that can't tell, so that every claim waits for the person."""
    return _give_verdicts(request, "unsure", "unsure", changes=True)


def _give_verdicts(request: ModelRequest, stated: str, objection: str, *, changes: bool) -> Play:
    """Return the same verdict of all claims, and the right ones of the made-up claims."""
    shown = request.messages[0].text
    known = re.search(r"^   known line: (\".*\")$", shown, re.MULTILINE)
    notes: list[dict[str, object]] = [
        {"note": 101, "stated": "yes"},
        {"note": 102, "stated": "no"},
    ]
    for number in map(int, _NOTE.findall(shown)):
        if number not in (101, 102):
            replaces = json.loads(known[1]) if known and changes else ""
            found = {"note": number, "stated": stated, "objection": objection}
            notes.append({**found, "replaces": replaces})
    return ask(call("judge", json.dumps({"notes": notes})))
