"""Reduce the schemas of tools to what every server takes; pure."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from agent_core.transcript import ToolSpec

_DEEPEST = 10
_TYPES = ("object", "array", "string", "integer", "number", "boolean")
_CHOICES = ("anyOf", "oneOf", "allOf")

Schema = dict[str, Any]


@lru_cache(maxsize=512)
def make_plain(tool: ToolSpec) -> ToolSpec:
    """Return the tool with a schema of types, descriptions and choices only.

    The toolbox checks the arguments by the whole schema anyway.
    """
    root = json.loads(tool.schema)
    plain = {**_reduce(root, root, 0), "type": "object"}
    plain.setdefault("properties", {})
    return replace(tool, schema=json.dumps(plain, ensure_ascii=False, sort_keys=True))


def _reduce(schema: object, root: Schema, depth: int) -> Schema:
    found = _resolve(schema, root) if depth < _DEEPEST else {}
    plain: Schema = {"type": _find_type(found)}
    if isinstance(found.get("description"), str):
        plain["description"] = found["description"]
    choices = found.get("enum") or ([found["const"]] if "const" in found else [])
    if isinstance(choices, list) and choices and all(isinstance(one, str) for one in choices):
        plain |= {"type": "string", "enum": choices}
    if plain["type"] == "array":
        plain["items"] = _reduce(found.get("items"), root, depth + 1)
    properties = found.get("properties")
    if plain["type"] == "object" and isinstance(properties, dict):
        plain["properties"] = {
            name: _reduce(one, root, depth + 1) for name, one in properties.items()
        }
        required = found.get("required")
        names = required if isinstance(required, list) else []
        if needed := [name for name in names if name in properties]:
            plain["required"] = needed
    return plain


def _resolve(schema: object, root: Schema) -> Mapping[str, Any]:
    """Return a schema with its reference and its first choice put in place."""
    found: Mapping[str, Any] = schema if isinstance(schema, dict) else {}
    for _ in range(_DEEPEST):
        reference = found.get("$ref")
        choices: list[Any] = next(
            (found[key] for key in _CHOICES if isinstance(found.get(key), list)), []
        )
        if isinstance(reference, str):
            found = {**_find(reference, root), **_without(found, "$ref")}
        elif choices and "properties" not in found:
            useful = [one for one in choices if isinstance(one, dict) and one.get("type") != "null"]
            found = {**(useful[0] if useful else {}), **_without(found, *_CHOICES)}
        else:
            break
    return found


def _find(reference: str, root: Schema) -> Schema:
    value: Any = root
    for step in reference.removeprefix("#/").split("/"):
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _without(schema: Mapping[str, Any], *keys: str) -> Schema:
    return {key: value for key, value in schema.items() if key not in keys}


def _find_type(schema: Mapping[str, Any]) -> str:
    given = schema.get("type")
    kinds = given if isinstance(given, list) else [given]
    known = next((kind for kind in kinds if kind in _TYPES), "")
    return known or ("object" if "properties" in schema else "string")
