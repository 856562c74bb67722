"""Replace a language model if there is no key: follow simple commands, offline."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace

from agent_core.ids import CallId
from agent_core.localization import LANGUAGES, use_language
from agent_core.models.contract import Model, ModelAnswer, ModelRequest, TextDelta
from agent_core.models.profiles import Profiles
from agent_core.models.scripted.commands import (
    ABILITIES,
    WHO_SHORT,
    AnythingElse,
    AskWhen,
    Piece,
    PlannedCall,
    ReplyContext,
    StandInCommand,
)
from agent_core.models.scripted.form import fill_schema
from agent_core.models.scripted.parse import read_answer, read_command, read_commands
from agent_core.models.token_estimate import estimate_usage
from agent_core.models.transcript_view import read_clock, read_notes
from agent_core.transcript import (
    STAND_IN,
    DocumentPart,
    ImagePart,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    mark_stood_in,
)

_OPENING = "<talk>\n"
_TOLD = ("earlier summary: ", "person: ", "assistant: ")
_CHARACTERS = 2
"""Characters of a summary per token of the answer's limit; twice as many would fit."""
_LONGEST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class StandInPlan:
    """Tool calls to make now; if there are none, the answer."""

    calls: tuple[PlannedCall, ...] = ()
    pieces: tuple[Piece, ...] = ()
    is_for_nobody_else: bool = False
    """Whether no model shall read the answer later: it only told something, or that none is there.
    """


class StandInModel:
    """Follows plain commands with the real tools, and says that it is a stand-in.

    Equal requests get equal answers; only counting and thinking take time.
    """

    provider = STAND_IN

    def __init__(self, *, delay: float = 0.4) -> None:
        """`delay` is the pause between counted numbers, in seconds."""
        self._delay = delay

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Answer; see the contract. Raises nothing."""
        summary = summarize(request)
        plan = (
            StandInPlan(pieces=(Piece(text=summary),))
            if summary
            else make_plan(request, self._delay)
        )
        if request.response_schema and not plan.calls:
            words = "".join(piece.text for piece in plan.pieces)
            plan = replace(plan, pieces=(Piece(text=fill_schema(request.response_schema, words)),))
        # Unique in the conversation, because the number of messages grows with every call.
        stem = f"call_{len(request.messages)}"
        parts = tuple(
            ToolCallPart(
                call_id=CallId(f"{stem}_{place}"), name=wish.name, arguments=wish.arguments
            )
            for place, wish in enumerate(plan.calls, start=1)
        )
        for piece in plan.pieces:
            if piece.wait:
                await asyncio.sleep(piece.wait)
            yield TextDelta(text=piece.text)
        text = "".join(piece.text for piece in plan.pieces)
        mark = (mark_stood_in(request.model),) if plan.is_for_nobody_else else ()
        message = Message(role="assistant", parts=parts or (TextPart(text=text), *mark))
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


def create(settings: object, profiles: Profiles | None = None) -> Model:
    """Create the stand-in, which has no settings and learns nothing."""
    del settings, profiles
    return StandInModel()


def make_plan(request: ModelRequest, delay: float) -> StandInPlan:
    """Plan the next step. Depends only on the request, so a repeat gives the same plan.

    A turn begins after the last answer without calls. All of the person's messages in the turn are
    answered.
    """
    start = _find_turn(request.messages)
    turn = request.messages[start:]
    done = _find_results(turn)
    notes = read_notes(request.system, request.messages[:start])
    tools = {tool.name for tool in request.tools}
    wish = _find_untimed(request.messages[:start])
    chains = [
        (command, [call for call in command.list_calls(notes) if call.name in tools])
        for message in turn
        for command in _understand(message, wish)
    ]
    wanted = dict.fromkeys(call for _, chain in chains if (call := _next(chain, done)))
    for command, chain in chains:
        chain.extend(call for call in command.follow(done) if call.name in tools)
        wanted |= dict.fromkeys(call for call in command.follow(done) if call not in done)
    if wanted:
        return StandInPlan(calls=tuple(wanted))
    context = ReplyContext(
        before=notes,
        now=read_notes(request.system, request.messages),
        is_first=not _was_introduced(request.messages[:start]),
        delay=delay,
    )
    pieces: list[Piece] = []
    for command, chain in chains:
        if pieces:
            pieces.append(Piece(text="\n\n"))
        pieces += command.play([done[call] for call in chain if call in done], context)
    return StandInPlan(
        pieces=tuple(pieces) or (Piece(text=WHO_SHORT()),),
        is_for_nobody_else=not done or any(command.names_stand_in for command, _ in chains),
    )


def _find_untimed(before: Sequence[Message]) -> AskWhen | None:
    """Return the wish for a reminder whose time was asked for in the last answer, if any."""
    if len(before) < 2 or not AskWhen.is_asked_by(before[-1].text):
        return None
    asked = before[-2]
    wish = read_command(asked.text, read_clock(asked)) if asked.role == "user" else None
    return wish if isinstance(wish, AskWhen) else None


def _understand(message: Message, wish: AskWhen | None) -> tuple[StandInCommand, ...]:
    """Return the commands in a person's message, with the names of its files if it is for a
    language model; none for an empty message, or one of somebody else.

    The message may name the time of a `wish`.
    """
    files = _name_files(message)
    if message.role != "user" or not (message.text or files):
        return ()
    clock = read_clock(message)
    timed = read_answer(message.text, wish, clock) if wish else None
    commands = (timed,) if timed else read_commands(message.text, clock)
    return tuple(
        replace(command, words=" ".join([command.words, *files]).strip())
        if isinstance(command, AnythingElse)
        else command
        for command in commands
    )


def _name_files(message: Message) -> list[str]:
    names = []
    for part in message.parts:
        if isinstance(part, ImagePart):
            names.append("[an image]")
        elif isinstance(part, DocumentPart):
            names.append(f"[a file: {part.name}]")
    return names


def _find_turn(messages: Sequence[Message]) -> int:
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role == "assistant" and not messages[place].calls:
            return place + 1
    return 0


def _find_results(turn: Sequence[Message]) -> dict[PlannedCall, ToolResultPart]:
    results = {
        part.call_id: part
        for message in turn
        for part in message.parts
        if isinstance(part, ToolResultPart)
    }
    return {
        PlannedCall(call.name, call.arguments): results[call.call_id]
        for message in turn
        for call in message.calls
        if call.call_id in results
    }


def _next(
    chain: Sequence[PlannedCall], done: dict[PlannedCall, ToolResultPart]
) -> PlannedCall | None:
    """Return the first call that was not tried; None if an earlier call succeeded."""
    for wish in chain:
        if wish not in done:
            return wish
        if not done[wish].is_error:
            return None
    return None


def _was_introduced(before: Sequence[Message]) -> bool:
    lists = set[str]()
    for tag in LANGUAGES:
        with use_language(tag):
            lists.add(ABILITIES())
    answers = [message.text for message in before if message.role == "assistant"]
    return any(listed in answer for answer in answers for listed in lists)


def summarize(request: ModelRequest) -> str:
    """Return the newest lines of a conversation to summarize; "" for any other request."""
    text = request.messages[-1].text if request.messages else ""
    if request.tools or not text.startswith(_OPENING):
        return ""
    lines = [line for line in map(_read_line, text.splitlines()) if line]
    room = request.max_output_tokens * _CHARACTERS
    kept: list[str] = []
    while lines and len(lines[-1]) < room:
        kept.append(lines.pop())
        room -= len(kept[-1])
    return "\n".join(reversed(kept))


def _read_line(line: str) -> str:
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
