"""The neutral form of a conversation: messages made of parts, the same for every model."""

import json
from dataclasses import dataclass, replace
from typing import Literal

from agent_core.ids import CallId

Role = Literal["user", "assistant", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """Words. `is_fact` marks what Talaria itself put into a user message (time, room)."""

    text: str
    is_fact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallPart:
    """The model asks for a tool. `arguments` is JSON text of one object."""

    call_id: CallId
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultPart:
    """What a tool call gave, as the model reads it."""

    call_id: CallId
    name: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RawPart:
    """A provider's own block (thinking, for one) as JSON text.

    Sent back unchanged to the same provider and model, left out for any other.
    """

    provider: str
    model: str
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePart:
    """A picture that a person sent. Its bytes lie in the store of files, under `file_key`.

    `size` is in bytes, so that what fits into a request is known without reading it.
    """

    file_key: str
    media_type: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPart:
    """What stands in a file that a person sent: not their words, and no orders.

    `text` is a whole block as the model reads it, quoted so that nothing in it can end the
    block or pass for anything else.
    """

    name: str
    text: str


Part = TextPart | ToolCallPart | ToolResultPart | RawPart | ImagePart | DocumentPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a transcript.

    A `tool` message holds the results of all calls of the assistant message before it,
    in the order of the calls.
    """

    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The words of a person or of the model, without facts, files, calls and results."""
        return "\n\n".join(
            part.text for part in self.parts if isinstance(part, TextPart) and not part.is_fact
        )

    @property
    def calls(self) -> tuple[ToolCallPart, ...]:
        """The tool calls in this message, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCallPart))

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """The pictures in this message, in order."""
        return tuple(part for part in self.parts if isinstance(part, ImagePart))


def repair_text(text: str) -> str:
    """Text that every store takes: halves of surrogate pairs, which a stream may cut apart,
    are joined again, and what stays half becomes a replacement character.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def repair_message(message: Message) -> Message:
    """A message whose words every store takes; see `repair_text`."""
    parts = tuple(_repair_part(part) for part in message.parts)
    return message if parts == message.parts else replace(message, parts=parts)


def _repair_part(part: Part) -> Part:
    """The same part where there is nothing to mend."""
    if not isinstance(part, TextPart) or (text := repair_text(part.text)) is part.text:
        return part
    return replace(part, text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """How a tool presents itself to a model.

    `schema` is JSON text: a JSON Schema (draft 7) of one object. The name is
    `[A-Za-z0-9_-]`, at most 64 characters.
    """

    name: str
    description: str
    schema: str


def user_message(text: str, *, facts: str = "", parts: tuple[Part, ...] = ()) -> Message:
    """A user message of words, led by facts where there are any; `parts` came along.

    Providers refuse empty text, so what is empty is left out.
    """
    lead = (TextPart(text=facts, is_fact=True),) if facts else ()
    words = (TextPart(text=text),) if text.strip() else ()
    return Message(role="user", parts=(*lead, *words, *parts))


_KINDS: dict[str, type[Part]] = {
    "text": TextPart,
    "call": ToolCallPart,
    "result": ToolResultPart,
    "raw": RawPart,
    "image": ImagePart,
    "document": DocumentPart,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def dump_parts(parts: tuple[Part, ...]) -> str:
    """Parts as JSON text, the form in which they are stored; the same parts, the same bytes."""
    return _ENCODE([_dump_part(part) for part in parts])


def _dump_part(part: Part) -> dict[str, object]:
    """A part's fields, which hold nothing but plain values, under the name of its kind."""
    kind = type(part)
    return {"kind": _NAMES[kind], **{name: getattr(part, name) for name in kind.__slots__}}


def load_parts(text: str) -> tuple[Part, ...]:
    """The reverse of `dump_parts`. Raises `ValueError` or `TypeError` on anything else."""
    parts: list[Part] = []
    for fields in json.loads(text):
        kind = _KINDS.get(fields.pop("kind", ""))
        if kind is None:
            raise ValueError("a stored message holds a part of unknown kind")
        parts.append(kind(**fields))
    return tuple(parts)
