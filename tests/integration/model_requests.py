"""What the model was asked."""

from agent_core.models.contract import ModelRequest
from agent_core.transcript import Message, TextPart, ToolResultPart
from tests.fakes.model import FakeModel


def facts_of(message: Message) -> str:
    """Return the facts that the gateway put in front of the text."""
    parts = message.parts
    return "".join(part.text for part in parts if isinstance(part, TextPart) and part.is_fact)


def facts(request: ModelRequest) -> list[str]:
    """Return the facts of the newest message."""
    (slot, *_) = [message for message in request.messages if message.role == "user"][-1].parts
    return str(getattr(slot, "text", "")).splitlines()


def results(model: FakeModel, request: int = -1) -> list[str]:
    """Return the tool results of the last answer in a request."""
    return [
        part.text
        for message in model.requests[request].messages
        for part in message.parts
        if isinstance(part, ToolResultPart)
    ]


def words(model: FakeModel, request: int = -1) -> list[str]:
    return [m.text for m in model.requests[request].messages if m.role == "user"]
