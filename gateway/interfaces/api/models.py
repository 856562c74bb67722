"""Requests of OpenAI's clients: the fields that Talaria reads; it ignores all others."""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent_core.agent.wishes import ClientResult
from agent_core.ids import CallId
from agent_core.transcript import repair_text
from gateway.interfaces.api.wishes import ChatWishes, ResponseWishes
from gateway.media.file_types import find_media_type

MODEL = "talaria"
"""The only model that the API offers: the assistant itself. Its owner chooses the real model."""
LONGEST_TEXT = 100_000
_MOST_MESSAGES = 4096
_MOST_PICTURES = 10
_PARTS = ("text", "input_text", "output_text", "image_url", "input_image")
_MOST_ID = 512
_DATA = re.compile(r"data:image/[a-z0-9.+-]+;base64,", re.IGNORECASE)
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_ONLY_TEXT = "Messages can hold text and pictures only."
_NO_PICTURE = (
    "A picture has to be a data: address with a PNG, JPEG, GIF or WebP file in base64."
    " Talaria fetches none from other addresses."
)
_ONLY_WORDS = "The result of a call can hold text only."
_NO_ITEM = "An input can hold messages, function calls, their outputs and references to these."
_TOO_MANY = f"A request can hold at most {_MOST_PICTURES} pictures."


class _Given(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


Model = Annotated[str, Field(json_schema_extra={"enum": [MODEL]})]


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


class CalledFunction(_Given):
    """The function of a call, and its arguments as JSON text."""

    name: str = ""
    arguments: str | None = ""


class CallMade(_Given):
    """A call that an earlier answer made, as the program repeats it."""

    id: str = ""
    function: CalledFunction = CalledFunction()


class ChatMessage(_Given):
    """A message of a chat. One of the role `tool` holds the result of the call `tool_call_id`."""

    role: str = "user"
    content: str | list[MessagePart] | None = None
    tool_calls: list[CallMade] | None = None
    tool_call_id: Annotated[str, Field(max_length=_MOST_ID)] | None = None
    answer_id: Annotated[str, Field(exclude=True)] = ""
    """The id of the answer that a response's input only names."""


class StreamOptions(_Given):
    """Options of a streamed answer."""

    include_usage: bool | None = False


class Metadata(_Given):
    """Reads the id of the chat from a request's metadata; other fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)

    chat_id: Annotated[str, Field(max_length=_MOST_ID)] | None = None
    conversation_id: Annotated[str, Field(max_length=_MOST_ID)] | None = None


class ChatRequest(ChatWishes):
    """A request to `/v1/chat/completions`."""

    model: Model
    stream: bool | None = False
    metadata: Metadata | None = None
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=_MOST_MESSAGES)]
    n: Literal[1] | None = 1
    stream_options: StreamOptions | None = None


class InputItem(ChatMessage):
    """An item of a response's input: a message, a call, its result, or the id of one of them."""

    type: str | None = "message"
    id: Annotated[str, Field(max_length=_MOST_ID)] | None = None
    call_id: Annotated[str, Field(max_length=_MOST_ID)] = ""
    name: str = ""
    arguments: str = ""
    output: str | list[MessagePart] | None = None

    def as_message(self) -> ChatMessage | None:
        """Return the item as a message of a chat; None for thoughts. Raises `ValueError`."""
        match self.type or "message":
            case "message":
                return ChatMessage(role=self.role, content=self.content)
            case "function_call":
                function = CalledFunction(name=self.name, arguments=self.arguments)
                call = CallMade(id=self.call_id, function=function)
                return ChatMessage(role="assistant", tool_calls=[call])
            case "function_call_output":
                return ChatMessage(role="tool", content=self.output, tool_call_id=self.call_id)
            case "item_reference":
                return ChatMessage(role="assistant", answer_id=self.id or "?")
            case "reasoning":
                return None
        raise ValueError(_NO_ITEM)


ConversationName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]


class NamedConversation(_Given):
    """A conversation that Talaria keeps under the program's name for it."""

    id: ConversationName


class ResponseRequest(ResponseWishes):
    """A request to `/v1/responses`."""

    model: Model
    stream: bool | None = False
    metadata: Metadata | None = None
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
        """Return the input as messages, after the instructions. Raises `ValueError`."""
        given = self.input
        rules = [ChatMessage(role="developer", content=self.instructions)]
        if isinstance(given, str):
            messages = [ChatMessage(content=given)]
        else:
            messages = [one for item in given if (one := item.as_message())]
        return [*(rules if self.instructions else ()), *messages]


@dataclass(frozen=True, slots=True)
class Said:
    """The user's words and pictures since the last answer, and the results of the answer's calls.

    `pictures` are bytes of image files.
    """

    text: str
    pictures: tuple[bytes, ...] = ()
    results: tuple[ClientResult, ...] = ()


def read_newest(messages: Sequence[ChatMessage]) -> Said:
    """Read what the user has said since the last answer.

    Raises `ValueError` with a sentence if there is more than text and pictures.
    """
    newest: list[Said] = []
    results: list[ClientResult] = []
    for message in reversed(messages):
        if message.role not in ("user", "system", "developer", "tool"):
            break
        if message.role == "user":
            newest.append(_read(message.content))
        elif message.role == "tool":
            results.append(_read_result(message))
    newest.reverse()
    results.reverse()
    pictures = tuple(picture for said in newest for picture in said.pictures)
    if len(pictures) > _MOST_PICTURES:
        raise ValueError(_TOO_MANY)
    # A client that shortens a text may cut an emoji in half, which no store takes.
    text = repair_text("\n\n".join(said.text for said in newest))
    return Said(text, pictures, tuple(results))


def read_text(message: ChatMessage) -> str:
    """Read the text of a message; pictures and other parts are left out."""
    content = message.content
    if content is None or isinstance(content, str):
        return repair_text(content or "")
    return repair_text("\n".join(part.text for part in content if part.text))


def _read_result(message: ChatMessage) -> ClientResult:
    said = _read(message.content)
    if said.pictures:
        raise ValueError(_ONLY_WORDS)
    if len(said.text) > LONGEST_TEXT:
        raise ValueError(f"The result of a call is longer than {LONGEST_TEXT} characters.")
    return ClientResult(call_id=CallId(message.tool_call_id or ""), text=repair_text(said.text))


def _read(content: str | list[MessagePart] | None) -> Said:
    if content is None or isinstance(content, str):
        return Said(content or "")
    if any(part.type not in _PARTS for part in content):
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
