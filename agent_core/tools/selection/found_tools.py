"""The tools found by searches, as short lines; pure."""

import json
import re
from collections.abc import Iterable

from agent_core.tools.selection.catalog import SEARCH_TOOL
from agent_core.transcript import Message, ToolResultPart, flatten

MOST_KEPT = 20
"""Lines that are kept, the newest ones: about 500 tokens with usual MCP servers."""
_LONGEST_LINE = 200
_FOUND = re.compile(r"^## (\S+)\n(?:.*\n)*?Arguments: (.*)$", re.MULTILINE)
"""A tool in a search result, in the catalog's format."""


def show_found_tools(messages: Iterable[Message], before: str = "") -> str:
    """List each tool whose schema a search showed, as `name(argument: type, other?: type)`.

    `before` is the list of the messages before these. Returns "" if there is none.
    """
    found = {line.partition("(")[0]: line for line in before.splitlines()}
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolResultPart) and part.name == SEARCH_TOOL:
                for name, schema in _FOUND.findall(part.text):
                    found.pop(name, None)
                    found[name] = flatten(f"{name}({_list_arguments(schema)})", _LONGEST_LINE)
    return "\n".join([*found.values()][-MOST_KEPT:])


def _list_arguments(schema: str) -> str:
    """List the arguments of a schema; "…" if the search showed only a part of it."""
    try:
        read = json.loads(schema)
        properties, required = read.get("properties", {}), read.get("required", ())
        return ", ".join(
            f"{name}{'' if name in required else '?'}: {_name_type(value)}"
            for name, value in properties.items()
        )
    except (ValueError, RecursionError, AttributeError, TypeError):
        return "…"


def _name_type(schema: object) -> str:
    if not isinstance(schema, dict):
        return "any"
    if isinstance(values := schema.get("enum"), list):
        return "|".join(json.dumps(value, ensure_ascii=False) for value in values)
    kind = schema.get("type", "any")
    return "|".join(map(str, kind)) if isinstance(kind, list) else str(kind)
