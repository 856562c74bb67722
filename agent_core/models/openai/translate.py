"""Translate requests to chat-completions JSON; pure."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

from agent_core.models.answer_schema import (
    ask_in_words,
    choose_in_words,
    is_any_object,
    is_strict,
    parse_schema,
)
from agent_core.models.arguments import read_object
from agent_core.models.call_names import make_valid
from agent_core.models.contract import ModelRequest
from agent_core.models.dialect import ServerDialect, unfold
from agent_core.models.images import ImageSelection
from agent_core.models.openai.state import FIELDS, load_state
from agent_core.prompt_sections import split_changing
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Message,
    PdfPart,
    TextPart,
    ToolResultPart,
    ToolSpec,
)

RequestBody = dict[str, Any]
TokenLimitName = Literal["max_tokens", "max_completion_tokens"]

IdForm = Literal["any", "short", "nine"]
NoWords = Literal["null", "empty", "none"]
"""The content beside calls without words: null, an empty text, or no content at all."""
_NEXT_NO_WORDS: Mapping[NoWords, NoWords] = {"null": "empty", "empty": "none", "none": "none"}
SchemaForm = Literal["schema", "object", "words"]
"""A schema to follow; any JSON object, with the schema in words; words alone."""
_PLAINER: Mapping[SchemaForm, SchemaForm] = {
    "schema": "object",
    "object": "words",
    "words": "words",
}

_MISSING = re.compile("missing|must be passed|required|must be provided", re.IGNORECASE)
_NINE_WANTED = re.compile("tool.?call.?ids? .*length (of )?9", re.IGNORECASE | re.DOTALL)
_NO_STREAM = re.compile(
    r"stream(?:ing)?\W? (?:mode )?(?:is |are )?(?:not |un)(?:supported|available)"
    r"|stream\W? does not support|(?:not|n't) support .{0,20}\bstream(?:ing)?\b",
    re.IGNORECASE,
)
_WORDS_WANTED = re.compile(
    r"content\b.{0,40}(?:must be|should be|field must|is empty|empty)|message content type"
    r"|\(was null\)|text content is empty|content.{0,20}\b(?:null|none|nil)\b",
    re.IGNORECASE | re.DOTALL,
)
_BRIDGE_WANTED = re.compile("unexpected role .{0,3}user|roles must alternate", re.IGNORECASE)
_BRIDGE = "Noted."
"""What stands between a result and a user's message where a server wants an answer there."""
_NINE = re.compile("[a-zA-Z0-9]{9}")
_LONGEST_ID = 40
_NO_THOUGHT = " "
_NO_SIGNATURE = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""What Google documents for calls that another model made."""

_EFFORTS = {"max": "xhigh"}
_SCHEMA_NAME = "answer"
_ANY_OBJECT: RequestBody = {"type": "json_object"}
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_NO_WORDS = "(a message without words)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect(ServerDialect):
    """The options in which chat-completions servers differ."""

    limit: TokenLimitName = "max_tokens"
    """OpenAI's own models require the newer name; many other servers know only the older one."""
    streams: bool = True
    """False for a model whose answers come only whole."""
    counts_streams: bool = True
    """True if the server takes `stream_options`, which adds usage to a stream."""
    id_form: IdForm = "any"
    """OpenAI takes call ids of at most 40 characters, Mistral only of nine letters or digits."""
    returns_state: bool = True
    """True if the server takes back the fields that came with its answers."""
    fills: tuple[str, ...] = ()
    """The fields that the server requires even in messages that came without them."""
    schema_form: SchemaForm = "schema"
    """How the server is asked for an answer that fits a schema."""
    schema_form_beside_tools: SchemaForm = "schema"
    """The same beside tools: Groq and older servers of Gemini and llama.cpp take only one."""

    notes_behind: bool = False
    """True for a server that forgets all that follows the first change. Most templates put the
    tools behind the system message, so what changes stands in the first message behind them.
    """
    no_words: NoWords = "null"
    bridges_results: bool = False
    """True if an answer must stand between a result and a message of the user."""
    forces_calls: bool = True
    """True if the server takes a wished call ("required", or a tool's name)."""

    def find_schema_form(self, request: ModelRequest) -> SchemaForm:
        """Return how to ask for the schema of a request."""
        return self.schema_form_beside_tools if request.tools else self.schema_form

    def without_schema_form(self, request: ModelRequest) -> "Dialect":
        """Return the dialect that asks in the next plainer form; unchanged after the plainest."""
        plainer = _PLAINER[self.find_schema_form(request)]
        if request.tools:
            return replace(self, schema_form_beside_tools=plainer)
        # What fails alone fails beside tools as well.
        return replace(self, schema_form=plainer, schema_form_beside_tools=plainer)


def adapt(dialect: Dialect, status: int, said: str, request: ModelRequest | None = None) -> Dialect:
    """Return the dialect that avoids the error of a server; unchanged for any other error."""
    if status not in (400, 422):
        return dialect
    messages = request.messages if request else ()
    if not dialect.bridges_results and _BRIDGE_WANTED.search(said) and _has_user_behind(messages):
        return replace(dialect, bridges_results=True)
    if _WORDS_WANTED.search(said) and any(one.calls and not one.text for one in messages):
        return replace(dialect, no_words=_NEXT_NO_WORDS[dialect.no_words])
    if _NINE_WANTED.search(said):
        return replace(dialect, id_form="nine")
    if _NO_STREAM.search(said):
        return replace(dialect, streams=False)
    named = {name for name in FIELDS if name in said}
    if not named:
        return dialect
    if _MISSING.search(said):
        fills = {*dialect.fills, *(named & {"reasoning_content", "thought_signature"})}
        return replace(dialect, returns_state=True, fills=tuple(sorted(fills)))
    return replace(dialect, returns_state=False, fills=())


def _has_user_behind(messages: Sequence[Message]) -> bool:
    """True if a message of the user follows a result."""
    return any(
        one.role == "tool" and (bool(one.images) or then.role == "user")
        for one, then in pairwise(messages)
    )


def render_shaped(request: ModelRequest) -> bytes:
    """Render a request as its shape says, also an old one whose dialect was forgotten since."""
    request, dialect, options = unfold(request, Dialect())
    return render_request(request, dialect=dialect, effort=options.get("effort", ""))


def render_request(request: ModelRequest, *, dialect: Dialect, effort: str = "") -> bytes:
    """Render a request's body; equal requests give equal bytes."""
    form = dialect.find_schema_form(request)
    answer_format = _render_format(request, form)
    if request.response_schema and (form != "schema" or answer_format == _ANY_OBJECT):
        request = ask_in_words(request)
    if request.tool_choice and not dialect.forces_calls:
        request = choose_in_words(request)
    body: RequestBody = {"model": request.model, dialect.limit: request.max_output_tokens}
    body |= request.sampling.list_rendered()
    if answer_format:
        body["response_format"] = answer_format
    if effort := _EFFORTS.get(request.sampling.effort, request.sampling.effort) or effort:
        body["reasoning_effort"] = effort
    if request.tools:
        body["tools"] = [_render_tool(tool) for tool in request.tools]
        if request.tool_choice:
            body["tool_choice"] = _render_choice(request.tool_choice)
    body["messages"] = _render_messages(request, dialect)
    body["stream"] = dialect.streams
    if dialect.counts_streams and dialect.streams:
        body["stream_options"] = {"include_usage": True}
    # A lone surrogate can't be sent; it is replaced by a question mark.
    return _ENCODE(body).encode(errors="replace")


def _render_format(request: ModelRequest, form: SchemaForm) -> RequestBody:
    """Render the wished form of an answer; empty if words ask for it."""
    if not request.response_schema or form == "words":
        return {}
    schema = parse_schema(request.response_schema)
    if form == "object" or is_any_object(schema):
        return _ANY_OBJECT
    asked = {"name": _SCHEMA_NAME, "schema": schema, "strict": is_strict(schema)}
    return {"type": "json_schema", "json_schema": asked}


def _render_choice(choice: str) -> str | RequestBody:
    return choice if choice == "required" else {"type": "function", "function": {"name": choice}}


def _render_tool(tool: ToolSpec) -> RequestBody:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": _parse_schema(tool),
        },
    }


@lru_cache(maxsize=512)
def _parse_schema(tool: ToolSpec) -> RequestBody:
    """Parse a tool's schema; cached, because every call repeats it."""
    return tool.parse_shown_schema()


def _render_messages(request: ModelRequest, dialect: Dialect) -> list[RequestBody]:
    system, notes = request.system, ""
    if dialect.notes_behind:
        system, notes = split_changing(system)
    rendered: list[RequestBody] = [{"role": "system", "content": system}] if system.strip() else []
    if notes:
        dense = notes.replace("\n\n# ", "\n# ")  # one block, like the facts of a message
        block = {"type": "text", "text": f"<facts>\n{dense}\n</facts>"}
        rendered.append({"role": "user", "content": [block]})
    images = ImageSelection(request.images)
    for message in request.messages:
        if message.role == "tool":
            rendered += [
                _render_result(part, dialect.id_form)
                for part in message.parts
                if isinstance(part, ToolResultPart)
            ]
            if message.images:  # a tool message can hold only text
                rendered.append({"role": "user", "content": _render_returned(message, images)})
        elif message.role == "assistant":
            rendered += _render_assistant(message, request.model, dialect)
        else:
            blocks = _render_user(message, images)
            if rendered and rendered[-1]["role"] == "user":
                # The chat templates of some open models require alternating roles.
                rendered[-1]["content"] += blocks
            else:
                rendered.append({"role": "user", "content": blocks})
    for one in rendered:
        if one["role"] == "user":
            one["content"] = _join_words(one["content"])
    return _bridge(rendered) if dialect.bridges_results else rendered


def _bridge(rendered: Sequence[RequestBody]) -> list[RequestBody]:
    """Put an answer between each result and a message of the user."""
    bridged: list[RequestBody] = []
    for one in rendered:
        if bridged and bridged[-1]["role"] == "tool" and one["role"] == "user":
            bridged.append({"role": "assistant", "content": _BRIDGE})
        bridged.append(one)
    return bridged


def _render_user(message: Message, images: ImageSelection) -> list[RequestBody]:
    """Render a person's facts, text and files, one block each."""
    blocks: list[RequestBody] = []
    for part in message.parts:
        if isinstance(part, ImagePart):
            blocks.append(_render_image(part, images))
        elif isinstance(part, TextPart | DocumentPart) and part.text.strip():
            blocks.append({"type": "text", "text": part.text})
    return blocks or [{"type": "text", "text": _NO_WORDS}]


def _render_returned(message: Message, images: ImageSelection) -> list[RequestBody]:
    """Render the pictures and PDF files of tool results, each behind a line that names its tool."""
    blocks: list[RequestBody] = []
    name = ""
    for part in message.parts:
        if isinstance(part, ToolResultPart):
            name = part.name
        elif isinstance(part, ImagePart):
            what = "The PDF file" if isinstance(part, PdfPart) else "A picture"
            blocks.append({"type": "text", "text": f"[{what} that `{name}` returned:]"})
            blocks.append(_render_image(part, images))
    return blocks


def _render_image(part: ImagePart, images: ImageSelection) -> RequestBody:
    data, instead = images.show(part)
    if instead:
        return {"type": "text", "text": instead}
    url = f"data:{part.media_type};base64,{data}"
    if isinstance(part, PdfPart):
        return {"type": "file", "file": {"filename": "document.pdf", "file_data": url}}
    return {"type": "image_url", "image_url": {"url": url}}


def _join_words(blocks: Sequence[RequestBody]) -> str | list[RequestBody]:
    """Join blocks without images into one text: many servers accept no list of blocks."""
    if any(block["type"] != "text" for block in blocks):
        return list(blocks)
    return "\n\n".join(block["text"] for block in blocks)


def _render_assistant(message: Message, model: str, dialect: Dialect) -> list[RequestBody]:
    """Render the model's own message; empty if this provider accepts no part of it."""
    text = message.text
    state, of_calls = load_state(message, model) if dialect.returns_state else ({}, [])
    if not message.calls:
        return [{"role": "assistant", "content": text, **state}] if text.strip() else []
    calls = []
    for place, call in enumerate(message.calls):
        function = {"name": make_valid(call.name), "arguments": _check_arguments(call.arguments)}
        call_id = _render_id(call.call_id, dialect.id_form)
        extra = of_calls[place] if place < len(of_calls) else {}
        calls.append({"id": call_id, "type": "function", "function": function, **extra})
    if "reasoning_content" in dialect.fills:
        state.setdefault("reasoning_content", _NO_THOUGHT)
    if "thought_signature" in dialect.fills and not any(of_calls):
        calls[0]["extra_content"] = _NO_SIGNATURE
    content: RequestBody = {"content": text or (None if dialect.no_words == "null" else "")}
    if not text and dialect.no_words == "none":
        content = {}
    return [{"role": "assistant", **content, **state, "tool_calls": calls}]


def _render_id(call_id: str, form: IdForm) -> str:
    """Return the id of a call as the server takes it; equal ids give equal results."""
    if form == "any" or (form == "short" and len(call_id) <= _LONGEST_ID):
        return call_id
    mark = hashlib.sha256(call_id.encode(errors="surrogatepass")).hexdigest()
    if form == "short":
        return f"call_{mark[:24]}"
    return call_id if _NINE.fullmatch(call_id) else mark[:9]


def _check_arguments(arguments: str) -> str:
    """Return arguments as the JSON text of an object: some servers refuse anything else."""
    is_object = read_object(arguments) is not None
    return arguments if is_object else _ENCODE({"unreadable_arguments": arguments})


def _render_result(part: ToolResultPart, form: IdForm) -> RequestBody:
    text = f"Error: {part.text}" if part.is_error else part.text
    return {"role": "tool", "tool_call_id": _render_id(part.call_id, form), "content": text}
