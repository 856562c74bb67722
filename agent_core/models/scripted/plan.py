"""Plan the stand-in's next step in a turn: tool calls, or an answer; pure."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from agent_core.models.contract import ModelRequest
from agent_core.models.scripted.commands import (
    Chat,
    Command,
    Forget,
    Remember,
    Search,
    ShowJobs,
    read_command,
)
from agent_core.models.scripted.memory_view import find_entries, read_notes
from agent_core.models.scripted.reminders import Remind
from agent_core.models.scripted.replies import ABILITIES, WHO_SHORT, Piece, ReplyWriter
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Message,
    TextPart,
    ToolResultPart,
)

_NOW = re.compile(r"^Now: \w+ (\d{4}-\d\d-\d\d \d\d:\d\d),", re.MULTILINE)
"""The line of the facts that tells the time; see `agent.prompt.facts`."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool call that a command needs; arguments as JSON text."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Tool calls to make now; if there are none, the answer."""

    calls: tuple[PlannedCall, ...] = ()
    pieces: tuple[Piece, ...] = ()


def make_plan(request: ModelRequest, delay: float) -> Plan:
    """Plan the next step. Depends only on the request, so a repeat gives the same plan.

    A turn begins after the last answer without calls. All of the person's messages in the turn are
    answered.
    """
    start = _find_turn(request.messages)
    turn = request.messages[start:]
    done = _find_results(turn)
    notes = read_notes(request.system, request.messages[:start])
    tools = {tool.name for tool in request.tools}
    commands = [
        _read(message)
        for message in turn
        if message.role == "user" and (message.text or _name_files(message))
    ]
    chains = [
        [wish for wish in _list_calls(command, notes) if wish.name in tools] for command in commands
    ]
    wanted = dict.fromkeys(wish for chain in chains if (wish := _next(chain, done)) is not None)
    if wanted:
        return Plan(calls=tuple(wanted))
    writer = ReplyWriter(
        before=notes,
        now=read_notes(request.system, request.messages),
        is_first=not _was_introduced(request.messages[:start]),
        delay=delay,
    )
    pieces: list[Piece] = []
    for number, (command, chain) in enumerate(zip(commands, chains, strict=True)):
        reported = writer.reply(command, [done[wish] for wish in chain if wish in done])
        if number:
            reported = [Piece(text="\n\n"), *reported]
        pieces += reported
    return Plan(pieces=tuple(pieces) or (Piece(text=WHO_SHORT()),))


def _read(message: Message) -> Command:
    """Return the command in a message. A message for a language model also names its files."""
    command = read_command(message.text, _read_clock(message))
    if isinstance(command, Chat):
        return Chat(words=" ".join([command.words, *_name_files(message)]).strip())
    return command


def _read_clock(message: Message) -> datetime | None:
    """Return the time in a message's facts, on the person's clock."""
    for part in message.parts:
        found = _NOW.search(part.text) if isinstance(part, TextPart) and part.is_fact else None
        if found:
            return datetime.fromisoformat(found[1])
    return None


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


def _list_calls(command: Command, notes: dict[str, list[str]]) -> list[PlannedCall]:
    """List the calls for a command; each call is tried only if the previous one failed."""
    match command:
        case Remember():
            return [_memory(action="add", target=command.target, text=command.text)]
        case Search():
            return [PlannedCall("recall", _dump({"query": command.query}))]
        case ShowJobs():
            return [PlannedCall("schedule", _dump({"action": "list"}))]
        case Remind():
            timings: dict[str, str | int] = {
                "cron": command.cron,
                "at": command.at,
                "every_minutes": command.every_minutes,
                "in_minutes": command.minutes,
            }
            given = {name: value for name, value in timings.items() if value}
            asked = {"action": "create", "kind": "message", "text": command.text} | given
            return [PlannedCall("schedule", _dump(asked))]
        case Forget():
            fitting = find_entries(command.words, notes)
            if len(fitting) > 1:
                return []
            if fitting:
                target, entry = fitting[0]
                return [_memory(action="remove", target=target, old=entry)]
            return [
                _memory(action="remove", target=target, old=command.words)
                for target in ("memory", "user")
            ]
    return []


def _memory(**arguments: str) -> PlannedCall:
    return PlannedCall("memory", _dump(arguments))


def _dump(arguments: Mapping[str, str | int]) -> str:
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


def _was_introduced(before: Sequence[Message]) -> bool:
    lists = (ABILITIES(), ABILITIES.english)
    answers = [message.text for message in before if message.role == "assistant"]
    return any(listed in answer for answer in answers for listed in lists)
