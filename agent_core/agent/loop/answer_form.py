"""Check whether an answer fits the schema that a program wishes; pure."""

import json
import re

from fastjsonschema import JsonSchemaValueException

from agent_core.tools.arguments import compile_schema
from agent_core.transcript import Message, TextPart, flatten

_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_LONGEST = 300


def unwrap_json(text: str) -> str:
    """Return the JSON in a fence, which some models write around it; else the text as it is."""
    found = _FENCE.search(text)
    if found is None or _is_json(text):
        return text
    return found[1] if _is_json(found[1]) else text


def find_misfit(text: str, schema: str | None) -> str:
    """Return why an answer does not fit a schema; "" if it does, or without a schema."""
    if not schema:
        return ""
    written = unwrap_json(text)
    if not _is_json(written):
        return "it is not JSON alone"
    try:
        compile_schema(schema)(json.loads(written))
    except JsonSchemaValueException as error:
        return flatten(str(error), _LONGEST)
    except (ValueError, RecursionError):  # a schema that can't be checked
        return ""
    return ""


def ask_for_form(misfit: str) -> Message:
    """Ask again after an answer that does not fit."""
    text = (
        f"<facts>\nYour answer does not fit the JSON schema: {misfit}. Answer again, with the JSON"
        " alone.\n</facts>"
    )
    return Message(role="user", parts=(TextPart(text=text, is_fact=True),))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
