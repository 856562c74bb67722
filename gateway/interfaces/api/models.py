"""Requests of OpenAI's clients: the fields that Talaria reads; it ignores all others."""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent_core.transcript import repair_text
from gateway.media.file_types import find_media_type

MODEL = "talaria"
"""The only model that the API offers: the assistant itself. Its owner chooses the real model."""
LONGEST_TEXT = 100_000
_MOST_MESSAGES = 4096
_MOST_PICTURES = 10
_MOST_ID = 512
_DATA = re.compile(r"data:image/[a-z0-9.+-]+;base64,", re.IGNORECASE)
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_ONLY_TEXT = "Messages can hold text and pictures only."
_NO_PICTURE = (
    "A picture has to be a data: address with a PNG, JPEG, GIF or WebP file in base64."
    " Talaria fetches none from other addresses."
)
_TOO_MANY = f"A request can hold at most {_MOST_PICTURES} pictures."


class _Given(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ErrorDetail(BaseModel):
    """The fault of a request, for people and for programs."""

    message: str
    type: str
    param: str | None
    code: str


class ErrorBody(BaseModel):
    """The answer to a refused request."""

    error: ErrorDetail


class PictureAddress(_Given):
    """The address of a picture in a chat completion."""

    url: str


class MessagePart(_Given):
    """A part of a message. A picture's address is in an object (chat completions) or a string
    (responses).
    """

    type: str
    text: str | None = None
    image_url: str | PictureAddress | None = None


class ChatMessage(_Given):
    """A message of a chat."""

    role: str = "user"
    content: str | list[MessagePart] | None = None


class StreamOptions(_Given):
    """Options of a streamed answer."""

    include_usage: bool | None = False


class Metadata(_Given):
    """Reads the id of the chat from a request's metadata; other fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)

    chat_id: Annotated[str, Field(max_length=_MOST_ID)] | None = None
    conversation_id: Annotated[str, Field(max_length=_MOST_ID)] | None = None


class _Asked(_Given):
    model: Annotated[str, Field(json_schema_extra={"enum": [MODEL]})]
    stream: bool | None = False
    tools: list[dict[str, Any]] | None = None
    metadata: Metadata | None = None


class ChatRequest(_Asked):
    """A request to `/v1/chat/completions`."""

    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=_MOST_MESSAGES)]
    n: Literal[1] | None = 1
    stream_options: StreamOptions | None = None


class InputItem(ChatMessage):
    """An item of a response's input."""

    type: str = "message"


ConversationName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]


class NamedConversation(_Given):
    """A conversation that Talaria keeps under the program's name for it."""

    id: ConversationName


class ResponseRequest(_Asked):
    """A request to `/v1/responses`."""

    input: str | Annotated[list[InputItem], Field(min_length=1, max_length=_MOST_MESSAGES)]
    background: Literal[False] | None = False
    instructions: str | None = None
    conversation: ConversationName | NamedConversation | None = None
    previous_response_id: Annotated[str, Field(max_length=_MOST_ID)] | None = None

    @property
    def conversation_name(self) -> str:
        """The program's name for its conversation, or ""."""
        given = self.conversation
        return given.id if isinstance(given, NamedConversation) else given or ""

    def list_messages(self) -> list[ChatMessage]:
        """Return the input as messages, after the instructions."""
        given = self.input
        rules = [ChatMessage(role="developer", content=self.instructions)]
        messages = [ChatMessage(content=given)] if isinstance(given, str) else given
        return [*(rules if self.instructions else ()), *messages]


@dataclass(frozen=True, slots=True)
class Said:
    """The user's words and pictures since the last answer; `pictures` are bytes of image files."""

    text: str
    pictures: tuple[bytes, ...]


def read_newest(messages: Sequence[ChatMessage]) -> Said:
    """Read what the user has said since the last answer.

    Raises `ValueError` with a sentence if there is more than text and pictures.
    """
    newest: list[Said] = []
    for message in reversed(messages):
        if message.role not in ("user", "system", "developer"):
            break
        if message.role == "user":
            newest.append(_read(message.content))
    newest.reverse()
    pictures = tuple(picture for said in newest for picture in said.pictures)
    if len(pictures) > _MOST_PICTURES:
        raise ValueError(_TOO_MANY)
    # A client that shortens a text may cut an emoji in half, which no store takes.
    return Said(repair_text("\n\n".join(said.text for said in newest)), pictures)


def read_text(message: ChatMessage) -> str:
    """Read the text of a message; pictures and other parts are left out."""
    content = message.content
    if content is None or isinstance(content, str):
        return repair_text(content or "")
    return repair_text("\n".join(part.text for part in content if part.text))


def _read(content: str | list[MessagePart] | None) -> Said:
    if content is None or isinstance(content, str):
        return Said(content or "", ())
    if any(part.type not in ("text", "input_text", "image_url", "input_image") for part in content):
        raise ValueError(_ONLY_TEXT)
    pictures = [part for part in content if part.type in ("image_url", "input_image")]
    texts = [part.text or "" for part in content if part not in pictures]
    return Said("\n".join(texts), tuple(map(_read_picture, pictures)))


def _read_picture(part: MessagePart) -> bytes:
    given = part.image_url
    address = given.url if isinstance(given, PictureAddress) else given or ""
    head = _DATA.match(address)
    try:
        data = base64.b64decode(address[head.end() :], validate=True) if head else b""
    except ValueError:
        data = b""
    if not data or find_media_type(data) not in _PICTURES:
        raise ValueError(_NO_PICTURE)
    return data
