"""The JSON Schema of a tool's arguments."""

import json
from collections.abc import Sequence


def make_object(required: Sequence[str] = (), /, **properties: object) -> dict[str, object]:
    """Return the schema of an object that has these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def make_schema(required: Sequence[str] = (), /, **properties: object) -> str:
    """Return the schema of such an object as JSON text; equal arguments give equal text."""
    return json.dumps(
        make_object(required, **properties), ensure_ascii=False, separators=(",", ":")
    )
