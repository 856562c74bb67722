"""The `send_message` tool: sends a text, with or without a file, to another chat of the person."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_core.chats import Chat
from agent_core.errors import ToolArgumentError
from agent_core.execution.contract import Backend
from agent_core.ids import PersonId
from agent_core.localization import Text, find_language, use_language
from agent_core.state.conversations import files, turns
from agent_core.state.conversations.turns import Step
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.policy.contract import Action
from agent_core.tools.schemas import make_schema
from agent_core.tools.send_file import read_workspace_file
from agent_core.transcript import Receipt, ToolSpec, flatten

MOST_MESSAGES = 5
"""Messages per turn."""
LONGEST_MESSAGE = 8_000
"""Characters."""
HOME = "home"
"""The name of the home chat if that is a group or channel."""
ROOM_SIGN = "#"
"""The first character of the name of every other group or channel."""
_NAMED = 100
_PLACE = "chat"
_SENT = Text("✉ Sent to {name}")
_FOR_OTHERS = Text("{name} asked me to post this:")
_PROPERTIES = {
    "to": {"type": "string", "minLength": 1, "maxLength": _NAMED},
    "text": {"type": "string", "minLength": 1, "maxLength": LONGEST_MESSAGE},
}
_SPEC = ToolSpec(
    name="send_message",
    description=(
        "Send a message to another chat of this person at once, when they ask for that. Not for"
        " your answer, which goes out here by itself, and not for later (`remind`). `to` is `me`"
        " (their own chat), a chat app in lower case (their own chat there), `home`, or #title of"
        ' a group that they named just now. Example: {"to": "home", "text": "The report is done."}'
    ),
    schema=make_schema(("to", "text"), **_PROPERTIES),
)


_WITH_FILE = ToolSpec(
    name=_SPEC.name,
    description=f"{_SPEC.description} `path` is a file of the workspace that goes with it.",
    schema=make_schema(("to", "text"), **_PROPERTIES, path={"type": "string", "minLength": 1}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """A chat that messages can be sent to, by its name.

    If other people read the chat, its name is `home` or begins with `#`.
    """

    name: str
    chat: Chat
    is_foreign: bool = False
    """The name is the platform's title, which a stranger chose: nothing lists it."""

    @property
    def has_others(self) -> bool:
        """True for a group or channel."""
        return is_for_others(self.name)


class Messenger(Protocol):
    """Finds the chats of people, and puts messages for them into the outbox."""

    def list_destinations(
        self, connection: Connection, *, person_id: PersonId, now: int
    ) -> Sequence[Destination]:
        """List the chats that can be sent to now; each name appears once."""

    def enqueue(
        self,
        connection: Connection,
        destination: Destination,
        text: str,
        *,
        person_id: PersonId,
        now: int,
        file: tuple[str, str] | None = None,
    ) -> Sequence[OutboxRow]:
        """Put a message into the outbox, within the caller's transaction.

        `file` is the (key, name) of a stored file that follows the text.
        """

    def deliver(self, rows: Sequence[OutboxRow]) -> None:
        """Deliver messages after their transaction was committed."""


def is_for_others(name: str) -> bool:
    """True for the name of a chat that other people read, too."""
    return name == HOME or name.startswith(ROOM_SIGN)


class SendMessageTool:
    """The `send_message` tool.

    The transaction that puts the message into the outbox also records the outcome of the call, so
    that a crash at any moment leaves one message or none.
    """

    spec = _SPEC
    effect: Effect = "idempotent"
    declaration = Declaration(cost="free", has_receipts=True)

    def __init__(
        self, database: Database, messenger: Messenger, backend: Backend | None = None
    ) -> None:
        """If a `backend` is given, the tool can also send files of the person's workspace."""
        self._database = database
        self._messenger = messenger
        self._backend = backend
        if backend:
            self.spec = _WITH_FILE

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        """Return an action of the kind `send` for the text, and one more for a file.

        `is_outward` is true unless only the person gets the message. An approval of texts for a
        chat is none of files.
        Raises `ToolArgumentError` if the person has not named the group.
        """
        name = _read_name(arguments)
        if name.startswith(ROOM_SIGN) and not _is_named(name, context.evidence):
            raise ToolArgumentError(
                f"the person has not named {name} in their message; ask them where it shall go"
            )
        path, is_outward = arguments.get("path"), is_for_others(name)
        targets = (name,) if path is None else (name, f"{name}: the file {path}")
        return tuple(
            Action(kind="send", target=one, place=_PLACE, is_outward=is_outward) for one in targets
        )

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Put the message into the outbox.

        Raises `ToolArgumentError`, `StoreError`, and for a file `WorkspaceError` and
        `BackendUnavailable`.
        """
        name, text = _read_name(arguments), str(arguments["text"]).strip()
        if not text:
            raise ToolArgumentError("`text` is empty")
        given: tuple[str, bytes, str] | None = None
        if self._backend and "path" in arguments:
            given = await read_workspace_file(self._backend, str(arguments["path"]), context)

        language = find_language()

        def work(connection: Connection) -> tuple[ToolResult, Sequence[OutboxRow]]:
            turn_id, call_id = context.turn_id, context.call_id
            steps = turns.list_steps(connection, turn_id=turn_id)
            earlier = next((step for step in steps if step.call_id == call_id), None)
            if earlier and earlier.outcome is not None:
                return ToolResult(
                    text=earlier.outcome, is_error=earlier.is_error, receipts=earlier.receipts
                ), ()
            sent = [step for step in steps if step.name == _SPEC.name and _is_done(step)]
            if len(sent) >= MOST_MESSAGES:
                raise ToolArgumentError(
                    f"{MOST_MESSAGES} messages were sent in this turn already; put the rest into"
                    " your answer"
                )
            destination = self._find(connection, name, context)
            file = None
            if given:
                title, data, media_type = given
                key = files.store(connection, data=data, media_type=media_type, now=context.now)
                file = (key, title)
            rows = self._messenger.enqueue(
                connection,
                destination,
                _sign(connection, text, context) if destination.has_others else text,
                person_id=context.person_id,
                now=context.now,
                file=file,
            )
            with use_language(language):  # no context reaches the thread of a connection
                receipt = Receipt(text=_SENT(name=destination.name))
            done = ToolResult(text=f"Sent to {destination.name}.", receipts=(receipt,))
            self._record(connection, done, context)
            return done, rows

        result, rows = await self._database.write("messages.send", work)
        self._messenger.deliver(rows)
        return result

    def _record(self, connection: Connection, done: ToolResult, context: ToolContext) -> None:
        """Record the call and its result in the transaction that sends the message."""
        turns.begin_steps(
            connection,
            turn_id=context.turn_id,
            calls=[(context.call_id, _SPEC.name, self.effect)],
            now=context.now,
        )
        step = Step(
            call_id=context.call_id,
            name=_SPEC.name,
            outcome=done.text,
            is_error=False,
            receipts=done.receipts,
        )
        turns.end_step(connection, turn_id=context.turn_id, step=step, now=context.now)

    def _find(self, connection: Connection, name: str, context: ToolContext) -> Destination:
        """Return the chat with a name. Raises `ToolArgumentError` that lists all names."""
        known = self._messenger.list_destinations(
            connection, person_id=context.person_id, now=context.now
        )
        for destination in known:
            if destination.name.casefold() == name.casefold():
                return destination
        if not known:
            raise ToolArgumentError("there is no chat that a message can be sent to")
        names = ", ".join(f"`{one.name}`" for one in known if not one.is_foreign)
        others = any(one.is_foreign for one in known)
        more = f" or {ROOM_SIGN}title of a group, as the person writes it" if others else ""
        raise ToolArgumentError(f"there is no chat `{name}`; `to` can be {names}{more}")


def _read_name(arguments: Mapping[str, object]) -> str:
    name = flatten(str(arguments["to"]), _NAMED)
    return name if name.startswith(ROOM_SIGN) else name.casefold()


def _is_named(name: str, evidence: str) -> bool:
    """True if the person's own messages contain the title of a group as whole words."""
    title = " ".join(name.removeprefix(ROOM_SIGN).casefold().split())
    words = " ".join(evidence.casefold().split())
    return bool(title) and re.search(rf"(?<!\w){re.escape(title)}(?!\w)", words) is not None


def _is_done(step: Step) -> bool:
    return step.outcome is not None and not step.is_error


def _sign(connection: Connection, text: str, context: ToolContext) -> str:
    """Put the name of the person who asked in front of a message that other people read."""
    person = people.find(connection, person_id=context.person_id)
    name = flatten(person.name, _NAMED) if person else ""
    return f"{_FOR_OTHERS(name=name)}\n\n{text}"
