"""Transcripts made up for tests, and what has to hold of any view of one."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_core.ids import CallId, MessageId, TurnId
from agent_core.state.conversations.messages import StoredMessage
from agent_core.transcript import Message, TextPart, ToolCallPart, ToolResultPart, user_message


@dataclass
class Script:
    """A transcript under construction; ids have gaps, as other talks have messages too."""

    stored: list[StoredMessage] = field(default_factory=list)
    turn: int = 0

    def add(self, message: Message) -> None:
        number = MessageId((self.stored[-1].id if self.stored else 0) + 3)
        self.stored.append(StoredMessage(id=number, turn_id=TurnId(self.turn), message=message))

    def says(self, text: str) -> None:
        """A person begins a turn."""
        self.turn += 1
        self.add(user_message(text, facts=f"<facts>\nNow: {self.turn}\n</facts>"))

    def steers(self, text: str) -> None:
        """The person says more in the same turn."""
        self.add(user_message(text))

    def acts(self, *outputs: str, tool: str = "look", arguments: str = "{}") -> None:
        """The model calls a tool as often as there are outputs, and gets them."""
        stem = f"c{len(self.stored)}"
        calls = tuple(
            ToolCallPart(call_id=CallId(f"{stem}_{place}"), name=tool, arguments=arguments)
            for place in range(len(outputs))
        )
        self.add(Message(role="assistant", parts=calls))
        results = tuple(
            ToolResultPart(call_id=call.call_id, name=call.name, text=output)
            for call, output in zip(calls, outputs, strict=True)
        )
        self.add(Message(role="tool", parts=results))

    def answers(self, text: str) -> None:
        """The model ends the turn."""
        self.add(Message(role="assistant", parts=(TextPart(text=text),)))


def check_pairs(messages: Sequence[Message]) -> None:
    """Every result stands right behind its call, and every call has its result."""
    open_calls: list[CallId] = []
    for place, message in enumerate(messages):
        results = [part.call_id for part in message.parts if isinstance(part, ToolResultPart)]
        assert results == open_calls, f"message {place}: {results} instead of {open_calls}"
        open_calls = [call.call_id for call in message.calls]
    assert not open_calls
