"""The ways in which servers of models differ, whatever their API."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypeVar

from agent_core.models.contract import ModelRequest
from agent_core.models.image_support import ImageSupport, is_about_images
from agent_core.models.plain_schemas import make_plain
from agent_core.models.profiles import ModelProfile
from agent_core.models.shapes import add_shape, read_shape
from agent_core.models.windows import find_room
from agent_core.state.conversations.images import is_pdf
from agent_core.transcript import (
    Message,
    Part,
    RawPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    user_message,
)

_STATUSES = (200, 400, 404, 405, 422, 500, 501)
"""Statuses with which servers refuse what a model lacks; llama.cpp sends 500, OpenRouter 404."""

_NO_TOOLS = re.compile(
    r"(?:not|n't) support (?:the )?(?:use of |using )?\W?(?:tool|function)"
    r"|\b(?:tool|function)(?:s|[ _-]?(?:use|using|calls?|calling|choice))?\W{0,2} "
    r"(?:is|are|isn't|aren't) (?:not |currently |un)*(?:supported|enabled|available|allowed)"
    r"|no endpoints found that support (?:tool|function)"
    r"|tools param requires|tool choice requires --enable"
    r"|(?:unsupported|unrecognized|unknown|unexpected)\b.{0,40}\W(?:tools|functions)\b"
    r"|\btools\W{0,3} ?extra inputs are not",
)
"""Ollama, Bedrock, Groq, DeepSeek, Gemini and Mistral, OpenRouter, llama.cpp, vLLM, OpenAI, and
servers that check the fields of a request.
"""
_NO_SYSTEM = re.compile(
    r"(?:system|developer) (?:role|message|prompt|instruction)s?\W{0,2} "
    r"(?:is |are )?(?:not|n't|un) ?(?:supported|enabled|allowed)"
    r"|(?:not|n't) support (?:the )?(?:role )?\W{0,2}(?:system|developer)\b"
    r"|(?:invalid|unsupported|unknown|unexpected) (?:message )?role\W{1,4}(?:system|developer)"
    r"|role\W{1,4}(?:system|developer)\W{1,3} ?(?:is )?(?:not|un|invalid)"
    r"|roles must alternate|only user(?:,| and) (?:assistant|model)\b.{0,20}roles? (?:is|are) supp"
    r"|role\W{0,2} (?:must|should) be (?:one of|either|in)(?!.*(?:system|developer))"
    r"|message with (?:odd|even) index|system\W{0,3} ?extra inputs are not",
    re.DOTALL,
)
"""Gemma at Google, and in templates of vLLM and llama.cpp; Bedrock, OpenAI, Groq, Mistral's older
templates, Qianfan, MiniMax.
"""
_ODD_SCHEMA = re.compile(
    r"json schema|function_declarations|function\.parameters|tools?\W.{0,40}(?:schema|parameters)"
    r"|(?:invalid|unsupported|unrecognized) schema|schema (?:is|must|conversion)|input_schema",
    re.DOTALL,
)
"""Gemini, Kimi, OpenAI, llama.cpp, Anthropic: a server that takes fewer keywords of schemas."""
_BLIND = re.compile(
    r"(?:not|n't) support (?:\w+ )?(?:image|vision|multimodal)|not a (?:multimodal|vision)"
    r"|support image input|image input is not|content must be a string"
)
"""Words about all images, as opposed to one."""
_LIMITS = re.compile(
    r"max_(?:completion_|output_|new_)?tokens|max(?:imum)? tokens|(?:completion|output) tokens"
)
_WINDOW = re.compile(r"context[ _](?:length|window|limit|size)|maximum model length")
_NUMBER = re.compile(r"(?<![\w.-])\d{1,3}(?:,\d{3})+(?![\w.-])|(?<![\w.-])\d+(?![\w-])")
_CODES = re.compile(r"error code: \d+|\W(?:code|status|status_code)\W{1,4}\d+")
_LEAST_LIMIT = 64
_DIALECT, _UNSEEN = "dialect", "unseen"
_NO_CALLS = "This model's server takes no tools: nothing can be looked up, stored or done here."

T = TypeVar("T", bound="ServerDialect")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDialect:
    """The abilities of a server with one model; the defaults suit most servers."""

    takes_tools: bool = True
    takes_system: bool = True
    """False for a model without a system role: the first message holds the prompt."""
    takes_images: bool = True
    takes_keywords: bool = True
    """False for a server that takes only plain schemas of tools."""
    most_tokens: int = 0
    """The highest limit of an answer; 0 if none is known."""


def read_dialect(base: T, values: Mapping[str, Any]) -> T:
    """Return a dialect with the values of facts or of a shape; others are ignored."""
    known = {one.name for one in fields(base)}
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values.items()
        if name in known
    }
    return replace(base, **given) if given else base


def list_differences(base: T, dialect: T) -> dict[str, Any]:
    """Return the fields in which a dialect differs from another one."""
    return {
        one.name: getattr(dialect, one.name)
        for one in fields(base)
        if getattr(dialect, one.name) != getattr(base, one.name)
    }


def avoid(dialect: T, status: int, said: str, request: ModelRequest) -> T:
    """Return the dialect that avoids a refusal of a request; unchanged for any other error."""
    lowered = said.lower()
    if status not in _STATUSES:
        return dialect
    most = _find_limit(_CODES.sub("", lowered.replace(request.model.lower(), "")), dialect, request)
    if most:
        return replace(dialect, most_tokens=most)
    if dialect.takes_keywords and request.tools and _ODD_SCHEMA.search(lowered):
        return replace(dialect, takes_keywords=False)
    if dialect.takes_tools and request.tools and _NO_TOOLS.search(lowered):
        return replace(dialect, takes_tools=False)
    if dialect.takes_system and request.system.strip() and _NO_SYSTEM.search(lowered):
        return replace(dialect, takes_system=False)
    return dialect


def _find_limit(said: str, dialect: ServerDialect, request: ModelRequest) -> int:
    """Return the limit that a refusal names, if it is below the one that was sent; else 0."""
    if not _LIMITS.search(said) or _WINDOW.search(said):
        return 0
    sent = _cap(request.max_output_tokens, dialect)
    numbers = [int(found.replace(",", "")) for found in _NUMBER.findall(said)]
    return max((one for one in numbers if _LEAST_LIMIT <= one < sent), default=0)


def _cap(limit: int, dialect: ServerDialect) -> int:
    return min(limit, dialect.most_tokens) if dialect.most_tokens else limit


def apply_dialect(request: ModelRequest, dialect: ServerDialect) -> ModelRequest:
    """Return the request as the server takes it; the same if nothing differs."""
    if dialect.most_tokens:
        limit = _cap(request.max_output_tokens, dialect)
        request = replace(request, max_output_tokens=limit)
    if not dialect.takes_images and request.images:
        request = replace(request, images={})
    if not dialect.takes_keywords:
        request = replace(request, tools=tuple(make_plain(tool) for tool in request.tools))
    if not dialect.takes_tools:
        request = _without_tools(request)
    if not dialect.takes_system and request.system.strip():
        messages = (user_message(request.system), *request.messages)
        request = replace(request, system="", messages=messages)
    return request


def _without_tools(request: ModelRequest) -> ModelRequest:
    """Return the request with its calls and results in words."""
    system = f"{request.system}\n\n{_NO_CALLS}" if request.tools else request.system
    messages = tuple(_put_in_words(message) for message in request.messages)
    return replace(request, system=system, tools=(), messages=messages)


def _put_in_words(message: Message) -> Message:
    """Return a message with its calls or results as text; the same without any."""
    if message.role != "tool" and not message.calls:
        return message
    role = "user" if message.role == "tool" else message.role
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            parts.append(TextPart(text=f"[Called {part.name} with {part.arguments}]"))
        elif isinstance(part, ToolResultPart):
            what = "Error" if part.is_error else "Result"
            parts.append(TextPart(text=f"[{what} of {part.name}:]\n{part.text}"))
        elif not isinstance(part, RawPart):
            parts.append(part)
    return Message(role=role, parts=tuple(parts))


class Attempts(Generic[T]):
    """The attempts to send one request, each in the dialect that the refusals so far ask for.

    A second attempt is not a retry: the model did not run, and the request differs.
    """

    def __init__(
        self, request: ModelRequest, *, base: T, profile: ModelProfile, images: ImageSupport
    ) -> None:
        """`base` is the dialect of the server without what was learned, which `profile` holds."""
        self.request = request
        self._known = read_dialect(base, profile.values)
        self.dialect = self._known
        self._lasting = self._known
        """The dialect without what only this request needs."""
        self._tried = {self._known}
        self._images = images
        self._shown = request

    def shape(self, options: Mapping[str, object]) -> ModelRequest:
        """Return the request with all that shapes its bytes: the dialect, pictures that the model
        can't see, and the provider's `options`.
        """
        self._shown = self._images.spare(self.request)
        default = type(self.dialect)()
        values = {
            _DIALECT: list_differences(default, self.dialect),
            _UNSEEN: sorted(self.request.images.keys() - self._shown.images.keys()),
            **options,
        }
        return add_shape(self.request, {name: value for name, value in values.items() if value})

    def refuse(
        self, status: int, said: str, change: Callable[[T], T], *, is_once: bool = False
    ) -> bool:
        """Take a refusal; return True if another attempt may pass.

        `change` gives the dialect that avoids it. `is_once` means that it is about this request
        only, so that nothing is learned.
        """
        if room := self._find_room(said):
            self._change(replace(self.dialect, most_tokens=room), self._lasting)
            return True
        changed = change(self.dialect)
        if changed != self.dialect and changed not in self._tried:
            self._change(changed, self._lasting if is_once else change(self._lasting))
            return True
        if not (self._shown.images and is_about_images(status, said)):
            return False
        if self._sees_nothing(said):
            blind = replace(self._lasting, takes_images=False)
            self._change(replace(self.dialect, takes_images=False), blind)
        else:
            self._images.refuse(self._shown)
        return True

    def accept(self) -> dict[str, Any]:
        """Note that the request was taken; return what was learned from the refusals before."""
        if self.dialect.takes_images:
            self._images.take(self._shown)
        return list_differences(self._known, self._lasting)

    def _find_room(self, said: str) -> int:
        """Return the tokens that the window leaves for the answer, once, if that helps."""
        room = find_room(said)
        is_first = self.dialect.most_tokens == self._lasting.most_tokens
        helps = room < _cap(self.request.max_output_tokens, self.dialect)
        return room if is_first and helps else 0

    def _change(self, dialect: T, lasting: T) -> None:
        self.dialect, self._lasting = dialect, lasting
        self._tried.add(dialect)

    def _sees_nothing(self, said: str) -> bool:
        """True if a refusal says that the model sees no images at all, and it never saw one."""
        is_about_all = _BLIND.search(said.lower()) is not None and self.dialect.takes_images
        has_file = any(is_pdf(data) for data in self._shown.images.values())
        return is_about_all and not has_file and not self._images.has_taken(self.request.model)


def unfold(request: ModelRequest, default: T) -> tuple[ModelRequest, T, dict[str, Any]]:
    """Return a shaped request as its server reads it, its dialect, and the provider's options."""
    values = read_shape(request.shape)
    dialect = read_dialect(default, values.get(_DIALECT, {}))
    unseen = values.get(_UNSEEN, ())
    if unseen:
        kept = {key: data for key, data in request.images.items() if key not in unseen}
        request = replace(request, images=kept)
    return apply_dialect(request, dialect), dialect, values
