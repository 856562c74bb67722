"""Ask for an answer's form, a schema or a call, in a way that its server takes; pure."""

import json
import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

from agent_core.models.contract import ModelRequest
from agent_core.transcript import TextPart

Schema = dict[str, Any]

_IN_WORDS = (
    "Answer only with JSON that fits this JSON schema, without any other words and without a"
    " code fence: "
)
_STATUSES = (400, 404, 415, 422, 500, 501)
"""Statuses with which servers refuse a form; OpenRouter sends 404, llama.cpp 500."""
_ABOUT_SCHEMAS = re.compile(
    r"response_?format|json_?schema|json_?object|json mode|json schema|structured output"
    r"|output_config|output_format|grammar|response mime type|guided_json|format.{0,20}schema"
    r"|schema.{0,60}(?:unsupported|not supported)|unsupported.{0,20}schema"
)
_BAD_SCHEMA = re.compile(
    r"(?:invalid|malformed|failed to parse|could not (?:parse|convert)).{0,30}schema|in context="
    r"|schema.{0,60}(?:invalid|must|too (?:many|complex|deep|large)|required)|additionalproperties"
)
"""Words about this one schema, as opposed to all."""

_ABOUT_CHOICE = re.compile(r"tool_?choice|tool choice|forced? tool|force.{0,20}tool")


def is_about_schema(request: ModelRequest, status: int, said: str) -> bool:
    """True if a request with a schema probably failed because of it."""
    has_schema = bool(request.response_schema) and status in _STATUSES
    lowered = said.lower()
    return has_schema and any(one.search(lowered) for one in (_ABOUT_SCHEMAS, _BAD_SCHEMA))


def is_bad_schema(said: str) -> bool:
    """True if a refusal is about one schema; another may be taken."""
    return _BAD_SCHEMA.search(said.lower()) is not None


def is_about_choice(request: ModelRequest, status: int, said: str) -> bool:
    """True if a request with a wished call probably failed because of it."""
    has_choice = bool(request.tool_choice) and status in _STATUSES
    return has_choice and _ABOUT_CHOICE.search(said.lower()) is not None


@lru_cache(maxsize=256)
def parse_schema(text: str) -> Schema:
    """Parse a schema; cached, because programs repeat theirs."""
    parsed: Schema = json.loads(text)
    return parsed


def is_any_object(schema: Schema) -> bool:
    """True for a schema that allows any JSON object."""
    return schema == {"type": "object"}


def is_strict(schema: object) -> bool:
    """True if each object in a schema requires all its properties, and allows no others.

    OpenAI and its kind follow only such a schema in any case ("strict").
    """
    if isinstance(schema, list):
        return all(is_strict(one) for one in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False:
            return False
        if set(schema.get("required", ())) != set(properties):
            return False
    return all(is_strict(one) for one in schema.values())


def is_closable(schema: object) -> bool:
    """True if no object in a schema needs properties that the schema does not name."""
    if isinstance(schema, list):
        return all(is_closable(one) for one in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("additionalProperties", False) is not False:
        return False
    if schema.get("type") == "object" and not schema.get("properties"):
        return schema.get("additionalProperties") is False
    return all(is_closable(one) for one in schema.values())


def ask_in_words(request: ModelRequest) -> ModelRequest:
    """Return the request with its schema in words."""
    words = f"{_IN_WORDS}{request.response_schema}"
    return _tell(replace(request, response_schema=None), words)


def choose_in_words(request: ModelRequest) -> ModelRequest:
    """Return the request with its wished call in words."""
    choice = request.tool_choice
    what = "a tool" if choice == "required" else f"the tool `{choice}`"
    return _tell(replace(request, tool_choice=""), f"Call {what} before you answer.")


def _tell(request: ModelRequest, words: str) -> ModelRequest:
    """Add words to the person's last message.

    The system prompt and what comes before stay as they are, so the prefix cache holds.
    """
    part = TextPart(text=words, is_fact=True)
    messages = list(request.messages)
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role == "user":
            messages[place] = replace(messages[place], parts=(*messages[place].parts, part))
            return replace(request, messages=tuple(messages))
    return replace(request, system=f"{request.system}\n\n{words}")
