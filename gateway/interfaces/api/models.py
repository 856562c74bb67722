"""Requests of OpenAI's clients: the fields that Talaria reads; it ignores all others."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MODEL = "talaria"
"""The only model: the assistant itself. Its owner chooses the model behind it."""
LONGEST_TEXT = 100_000
_MOST_MESSAGES = 4096


class _Given(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ErrorDetail(BaseModel):
    """The fault of a request, for people and for programs."""

    message: str
    type: str
    param: str | None
    code: str


class ErrorBody(BaseModel):
    """The answer to a request that is refused."""

    error: ErrorDetail


class Part(_Given):
    """A part of a message."""

    type: str
    text: str | None = None


class ChatMessage(_Given):
    """A message of a chat; only the newest ones of the user are read."""

    role: str = "user"
    content: str | list[Part] | None = None


class StreamOptions(_Given):
    """Options of a streamed answer."""

    include_usage: bool | None = False


class _Asked(_Given):
    model: Annotated[str, Field(json_schema_extra={"enum": [MODEL]})]
    stream: bool | None = False
    tools: list[dict[str, Any]] | None = None


class ChatRequest(_Asked):
    """A request to `/v1/chat/completions`."""

    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=_MOST_MESSAGES)]
    n: Literal[1] | None = 1
    stream_options: StreamOptions | None = None


class InputItem(ChatMessage):
    """An item of a response's input."""

    type: str = "message"


class ResponseRequest(_Asked):
    """A request to `/v1/responses`."""

    input: str | Annotated[list[InputItem], Field(min_length=1, max_length=_MOST_MESSAGES)]
    background: Literal[False] | None = False


def find_words(messages: Sequence[ChatMessage]) -> str | None:
    """Return what the user has said since the last answer; None if it holds more than text.

    The conversation is in Talaria, so earlier messages and instructions of the client are not
    read again.
    """
    newest: list[str] = []
    for message in reversed(messages):
        if message.role not in ("user", "system", "developer"):
            break
        if message.role != "user":
            continue
        words = _read(message.content)
        if words is None:
            return None
        newest.append(words)
    return "\n\n".join(reversed(newest))


def _read(content: str | list[Part] | None) -> str | None:
    if content is None or isinstance(content, str):
        return content or ""
    if any(part.type not in ("text", "input_text") for part in content):
        return None
    return "\n".join(part.text or "" for part in content)
