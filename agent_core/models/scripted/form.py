"""Fill a JSON schema as the stand-in: the words where text is free, else the first choice; pure."""

import json
from typing import Any

from agent_core.models.answer_schema import Schema, parse_schema

_DEEPEST = 20
_FORMS = {
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
    "time": "00:00:00Z",
    "duration": "PT1H",
    "email": "someone@example.org",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def fill_schema(schema: str, words: str) -> str:
    """Return JSON text that fits a schema; patterns are not followed."""
    parsed = parse_schema(schema)
    return json.dumps(_fill(parsed, parsed, words, 0), ensure_ascii=False)


def _fill(schema: object, root: Schema, words: str, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return words if schema is True else None
    if "$ref" in schema:
        return _fill(_find(root, str(schema["$ref"])), root, words, depth + 1)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            return _fill(schema[key][0], root, words, depth + 1)
    if schema.get("allOf"):
        merged = {key: value for one in schema["allOf"] for key, value in one.items()}
        return _fill({**merged, **schema, "allOf": None}, root, words, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    match kind[0] if isinstance(kind, list) and kind else kind:
        case "object":
            properties: Schema = schema.get("properties", {})
            required = schema.get("required", list(properties))
            wanted = [name for name in properties if name in required]
            filled = {name: _fill(properties[name], root, words, depth + 1) for name in wanted}
            return filled or ({} if properties else {"answer": words})
        case "array":
            item = schema.get("items", True)
            return [
                _fill(item, root, words, depth + 1) for _ in range(int(schema.get("minItems", 1)))
            ]
        case "integer" | "number":
            return _fill_number(schema)
        case "boolean":
            return True
        case "null":
            return None
    text = _FORMS.get(schema.get("format", ""), words)
    return text.ljust(int(schema.get("minLength", 0)), ".")[: schema.get("maxLength")]


def _fill_number(schema: Schema) -> float:
    if "exclusiveMinimum" in schema:
        return float(schema["exclusiveMinimum"]) + 1
    least: float = schema.get("minimum", 0)
    most: float = schema.get("maximum", least)
    return min(least, most)


def _find(root: Schema, reference: str) -> object:
    """Return what a reference within the schema names."""
    found: Any = root
    for name in reference.removeprefix("#").strip("/").split("/"):
        if not name:
            continue
        found = found.get(name.replace("~1", "/").replace("~0", "~")) if found else None
    return found
