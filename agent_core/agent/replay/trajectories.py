"""Conversations as training data: read from the transcripts, and rendered in common formats."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from agent_core.agent.compaction.client_results import join_results
from agent_core.agent.replay.formats import TrajectoryFormat
from agent_core.agent.replay.records import read_frozen_prompt
from agent_core.errors import StoreDamaged
from agent_core.ids import PersonId, SessionId
from agent_core.models.arguments import read_object
from agent_core.state.conversations import messages, past_sessions, sessions, usage
from agent_core.state.conversations.sessions import Session
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.tools.secret_scan import SecretMask
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Message,
    Part,
    PdfPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
    dump_parts,
    mark_images,
)

_GAP = "\n\n"
_PICTURE, _PDF = "[picture]", "[PDF file]"
_EMAIL, _NUMBER = "[e-mail]", "[number]"
_EMAILS = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_NUMBERS = re.compile(r"(?<!\d)(?!\d{4}-\d\d-\d\d)\+?\d(?:[ ()/.-]?\d){6,}")
"""Numbers like those of telephones, accounts and cards, but no dates."""
_SHORTEST_NAME = 3
"""Characters; a shorter name would hide ordinary words."""

Body = dict[str, Any]
_P = TypeVar("_P", bound=Part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """A session: the input of the model, and the messages of the model and its people.

    `person` is the folder name of its person or room. `system` and `tools` are empty if the prompt
    was deleted. `started_at` is in milliseconds since the epoch.
    """

    session_id: SessionId
    person: str
    model: str
    started_at: int
    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]


def read_trajectories(
    connection: Connection, whose: Sequence[Person], since: int
) -> Iterator[Trajectory]:
    """Read the sessions of people that were used since a moment, in milliseconds.

    Sessions without an answer are left out. Raises `StoreDamaged` on a damaged message.
    """
    for person in whose:
        for session in past_sessions.list_of_person(connection, person_id=person.id, since=since):
            found = _read(connection, person, session)
            if any(message.role == "assistant" for message in found.messages):
                yield found


def _read(connection: Connection, person: Person, session: Session) -> Trajectory:
    stored = messages.list_session(connection, session_id=session.id, person_id=person.id)
    prompt = read_frozen_prompt(connection, session.prompt_hash)
    spent = usage.list_of_turn(connection, turn_id=stored[-1].turn_id) if stored else []
    return Trajectory(
        session_id=session.id,
        person=person.slug,
        model=spent[-1].model if spent else "",
        started_at=session.started_at,
        system=prompt.system if prompt else "",
        tools=prompt.tools if prompt else (),
        messages=join_results([one.message for one in stored]),
    )


def read_turn(connection: Connection, turn: StoredTurn, slug: str) -> Trajectory:
    """Read one turn without its prompt.

    Leaves out its messages, too, if a row of its session is damaged. `slug` is the folder name of
    the person who asked for it.
    """
    conversation = sessions.get_conversation(
        connection, conversation_id=turn.conversation_id, person_id=turn.person_id
    )
    try:
        stored = messages.list_session(
            connection, session_id=turn.session_id, person_id=conversation.person_id
        )
    except StoreDamaged:
        stored = []  # the turn's ending also says `damaged`
    spent = usage.list_of_turn(connection, turn_id=turn.id)
    return Trajectory(
        session_id=turn.session_id,
        person=slug,
        model=spent[-1].model if spent else "",
        started_at=turn.started_at,
        system="",
        tools=(),
        messages=join_results([one.message for one in stored if one.turn_id == turn.id]),
    )


class Redaction:
    """Takes people out of trajectories: names, addresses, numbers and secrets.

    Leaves out the system prompt, which holds a person's memory, and the facts of messages. Other
    things that people say about themselves stay.
    """

    def __init__(self, connection: Connection, mask: SecretMask) -> None:
        """Learn the names of all people, rooms and accounts."""
        self._mask = mask
        self._numbers: dict[str, str] = {}
        names: dict[str, str] = {}
        for number, person in enumerate(people.list_all(connection), start=1):
            alias = f"{'Room' if person.kind == 'room' else 'Person'} {number}"
            self._numbers[person.slug] = alias
            for name in _list_names(connection, person.id, person):
                names.setdefault(name.casefold(), alias)
        self._names = names
        longest_first = sorted(names, key=len, reverse=True)
        words = "|".join(map(re.escape, longest_first))
        self._pattern = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)

    def apply(self, trajectory: Trajectory) -> Trajectory:
        """Return a trajectory without names and other data that identify people."""
        return replace(
            trajectory,
            person=self._numbers.get(trajectory.person, ""),
            system="",
            messages=tuple(
                Message(role=one.role, parts=tuple(self._change_parts(one.parts)))
                for one in trajectory.messages
            ),
        )

    def _change_parts(self, parts: Sequence[Part]) -> Iterator[Part]:
        for part in parts:
            if isinstance(part, TextPart) and not part.is_fact:
                yield replace(part, text=self._hide(part.text))
            elif isinstance(part, ToolCallPart):
                yield replace(part, arguments=_change_texts(part.arguments, self._hide))
            elif isinstance(part, ToolResultPart):
                yield replace(part, text=self._hide(part.text), sources=())
            elif isinstance(part, DocumentPart):
                yield replace(part, name="", text=self._hide(part.text))
            elif isinstance(part, ImagePart):
                yield TextPart(text=_PDF if isinstance(part, PdfPart) else _PICTURE)

    def _hide(self, text: str) -> str:
        text = _EMAILS.sub(_EMAIL, self._mask.hide(text))
        if self._names:
            text = self._pattern.sub(lambda found: self._names[found[0].casefold()], text)
        return _NUMBERS.sub(_NUMBER, text)


def _list_names(connection: Connection, person_id: PersonId, person: Person) -> Iterator[str]:
    accounts = people.list_accounts(connection, person_id=person_id)
    shown = [name for one in accounts for name in (one.user_id, one.display_name)]
    given = [person.name, person.slug, *shown]
    # A full name also appears as its parts; a room's name has ordinary words, so it is not split.
    parts = [] if person.kind == "room" else person.name.split()
    yield from (name for name in (*given, *parts) if len(name) >= _SHORTEST_NAME)


def _change_texts(arguments: str, change: Callable[[str], str]) -> str:
    """Change the texts in the arguments of a call; those that are no JSON object count as one."""
    value = read_object(arguments or "{}")
    if value is None:
        return change(arguments)
    return json.dumps(_walk(value, change), ensure_ascii=False)


def _walk(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_walk(one, change) for one in value]
    if isinstance(value, dict):
        return {key: _walk(one, change) for key, one in value.items()}
    return value


def render_trajectory(trajectory: Trajectory, wanted: TrajectoryFormat) -> str:
    """Render a trajectory as one line of JSON.

    `jsonl` keeps every part as it is stored. The others are the formats of OpenAI's and Anthropic's
    chat APIs, and ShareGPT with tool calls as Hermes models write them. These three end with the
    last answer, and name a picture without its bytes.
    """
    body = _RENDER[wanted](trajectory)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def render_turn(turn: StoredTurn, trajectory: Trajectory, mask: SecretMask) -> str:
    """Render an ended turn as one line of JSON, with secrets masked.

    It has the fields of the format `jsonl`, after those of the turn.
    """
    whole = _render_whole(trajectory)
    body = {
        "turn": turn.id,
        "started_at": turn.started_at,
        "state": turn.state,
        "reason": turn.reason,
        "ended_at": turn.ended_at,
        **whole,
        "messages": _walk(whole["messages"], mask.hide),
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _render_whole(trajectory: Trajectory) -> Body:
    return {
        "session": trajectory.session_id,
        "person": trajectory.person,
        "model": trajectory.model,
        "started_at": trajectory.started_at,
        "system": trajectory.system,
        "tools": [_render_tool(tool, "schema") for tool in trajectory.tools],
        "messages": [
            {"role": one.role, "parts": json.loads(dump_parts(one.parts))}
            for one in trajectory.messages
        ],
    }


def _render_tool(tool: ToolSpec, schema: str) -> Body:
    return {
        "name": tool.name,
        "description": tool.description,
        schema: json.loads(tool.schema),
    }


def _render_openai(trajectory: Trajectory) -> Body:
    said: list[Body] = []
    if trajectory.system:
        said.append({"role": "system", "content": trajectory.system})
    for message in _list_answered(trajectory):
        if message.role == "tool":
            said += [
                {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
                for result in _pick(message, ToolResultPart)
            ]
        elif message.role == "user":
            said.append({"role": "user", "content": _join_user(message)})
        elif message.text or message.calls:
            body: Body = {"role": "assistant", "content": message.text}
            if message.calls:
                body["tool_calls"] = [
                    {
                        "id": call.call_id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": call.arguments or "{}"},
                    }
                    for call in message.calls
                ]
            said.append(body)
    tools = [
        {"type": "function", "function": _render_tool(tool, "parameters")}
        for tool in trajectory.tools
    ]
    return {"messages": said, **({"tools": tools} if tools else {})}


def _render_anthropic(trajectory: Trajectory) -> Body:
    said: list[Body] = []
    for message in _list_answered(trajectory):
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _list_blocks(message)
        if blocks and said and said[-1]["role"] == role:  # the API wants the roles to alternate
            said[-1]["content"] += blocks
        elif blocks:
            said.append({"role": role, "content": blocks})
    tools = [_render_tool(tool, "input_schema") for tool in trajectory.tools]
    system = {"system": trajectory.system} if trajectory.system else {}
    return {**system, "messages": said, **({"tools": tools} if tools else {})}


def _list_blocks(message: Message) -> list[Body]:
    if message.role == "tool":
        return [
            {
                "type": "tool_result",
                "tool_use_id": result.call_id,
                "content": result.text,
                **({"is_error": True} if result.is_error else {}),
            }
            for result in _pick(message, ToolResultPart)
        ]
    text = message.text if message.role == "assistant" else _join_user(message)
    blocks: list[Body] = [{"type": "text", "text": text}] if text else []
    return blocks + [
        {"type": "tool_use", "id": call.call_id, "name": call.name, "input": _read_object(call)}
        for call in message.calls
    ]


def _render_sharegpt(trajectory: Trajectory) -> Body:
    said: list[Body] = []
    if trajectory.system:
        said.append({"from": "system", "value": trajectory.system})
    for message in _list_answered(trajectory):
        if message.role == "user":
            said.append({"from": "human", "value": _join_user(message)})
        elif message.role == "tool":
            results = [
                {"tool_call_id": one.call_id, "name": one.name, "content": one.text}
                for one in _pick(message, ToolResultPart)
            ]
            said.append({"from": "tool", "value": _join_tags("tool_response", results)})
        elif message.text or message.calls:
            calls = [
                {"id": one.call_id, "name": one.name, "arguments": _read_object(one)}
                for one in message.calls
            ]
            words = [message.text, _join_tags("tool_call", calls)]
            said.append({"from": "gpt", "value": "\n".join(word for word in words if word)})
    tools = [_render_tool(tool, "parameters") for tool in trajectory.tools]
    # As text: tables of training data want one type in each field, and schemas have many.
    return {"conversations": said, "tools": json.dumps(tools, ensure_ascii=False)}


_RENDER: dict[TrajectoryFormat, Callable[[Trajectory], Body]] = {
    "jsonl": _render_whole,
    "openai": _render_openai,
    "anthropic": _render_anthropic,
    "sharegpt": _render_sharegpt,
}


def _list_answered(trajectory: Trajectory) -> Sequence[Message]:
    """List the messages up to the last answer: a model learns nothing from messages without one."""
    said = [
        mark_images(one, _PICTURE, _PDF) if one.role == "tool" else one
        for one in trajectory.messages
    ]
    end = next(
        (
            number
            for number in range(len(said), 0, -1)
            if said[number - 1].role == "assistant" and not said[number - 1].calls
        ),
        len(said),
    )
    return said[:end]


def _join_user(message: Message) -> str:
    """Return a person's message as the model read it; facts come first."""
    texts = []
    for part in message.parts:
        if isinstance(part, ImagePart):
            texts.append(_PDF if isinstance(part, PdfPart) else _PICTURE)
        elif isinstance(part, TextPart | DocumentPart):
            texts.append(part.text)
    return _GAP.join(texts)


def _join_tags(tag: str, bodies: Sequence[Body]) -> str:
    return "\n".join(
        f"<{tag}>\n{json.dumps(body, ensure_ascii=False)}\n</{tag}>" for body in bodies
    )


def _read_object(call: ToolCallPart) -> object:
    """Return the arguments of a call; a text that is no JSON object becomes one field."""
    value = read_object(call.arguments or "{}")
    return {"arguments": call.arguments} if value is None else value


def _pick(message: Message, kind: type[_P]) -> list[_P]:
    return [part for part in message.parts if isinstance(part, kind)]
