"""Reduce the JSON Schema of a foreign tool to a part that is safe to check and to show.

Checking patterns and references can take hours, and other keywords don't help models. The server
checks its arguments itself, so a looser schema here loses nothing.
"""

import json
import math
import re
from collections.abc import Callable, Mapping

from agent_core.transcript import flatten

_DEEPEST = 10
_MOST_NODES = 600
_MOST_CHOICES = 100
_DESCRIPTION = 300
_CHOICE = 200
_PROPERTY = re.compile(r"[\w.$@:/ -]{1,64}")
_ARGUMENT = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""Names of arguments that every provider allows. For any other name, Anthropic refuses the whole
request: "Property keys should match pattern".
"""
_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_SIZES = ("minLength", "maxLength", "minItems", "maxItems")
_LISTS = ("anyOf", "oneOf", "allOf")

Schema = dict[str, object]


def reduce_schema(schema: Mapping[str, object]) -> str:
    """Return the schema of an object as JSON. Raises `ValueError`; its text ends a sentence."""
    reduced = _join_choices(_Reduction(schema).reduce(schema, 0))
    kind = reduced.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise ValueError("its arguments are no object")
    shown = {**reduced, **_keep_arguments(reduced), "type": "object"}
    return json.dumps(shown, ensure_ascii=False, sort_keys=True)


class _Reduction:
    """The reduction of one schema: its references are replaced by their targets, within limits."""

    def __init__(self, root: Mapping[str, object]) -> None:
        self._root = root
        self._nodes = 0

    def reduce(self, schema: object, depth: int) -> Schema:
        """Reduce a part of the schema; {} if it is nested too deeply."""
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise ValueError("its schema is too large")
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return {}
        if "$ref" in schema:
            return self.reduce(self._find(schema["$ref"]), depth + 1)
        kept: Schema = {}
        for key, value in schema.items():
            reduce = _PLAIN.get(key)
            reduced = reduce(value) if reduce else self._reduce_parts(key, value, depth)
            if reduced is not None:
                kept[key] = reduced
        return kept

    def _reduce_parts(self, key: str, value: object, depth: int) -> object:
        if key == "properties" and isinstance(value, dict):
            return {_check(name): self.reduce(one, depth + 1) for name, one in value.items()}
        if key == "items" and isinstance(value, dict):
            return self.reduce(value, depth + 1)
        if key == "additionalProperties":
            return value if isinstance(value, bool) else self.reduce(value, depth + 1)
        if key in _LISTS and isinstance(value, list) and value:
            return [self.reduce(one, depth + 1) for one in value]
        return None

    def _find(self, reference: object) -> object:
        """Return the target of a reference within the schema; {} for any other reference."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return {}
        found: object = self._root
        for part in reference.removeprefix("#").split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, dict) else None
        return found


def _join_choices(schema: Schema) -> Schema:
    """Join the forms of a whole call to one form: providers refuse a choice at the top.

    What only some forms require is optional then.
    """
    joined = {key: value for key, value in schema.items() if key not in _LISTS}
    parts = [part for key in _LISTS for part in _list_parts(schema, key)]
    if not parts:
        return joined
    properties: Schema = {}
    for one in (*map(_join_choices, parts), schema):
        given = one.get("properties")
        properties |= given if isinstance(given, dict) else {}
    kinds = {one.get("type", "object") for one in parts if isinstance(one.get("type", ""), str)}
    needed = [name for one in (schema, *_list_parts(schema, "allOf")) for name in _needs(one)]
    return {
        **({} if "object" in kinds else {"type": "string"}),
        **joined,
        **({"properties": properties} if properties else {}),
        **({"required": list(dict.fromkeys(needed))} if needed else {}),
    }


def _list_parts(schema: Schema, key: str) -> list[Schema]:
    parts = schema.get(key)
    return [one for one in parts if isinstance(one, dict)] if isinstance(parts, list) else []


def _needs(schema: Schema) -> list[str]:
    required = schema.get("required")
    return required if isinstance(required, list) else []


def _keep_arguments(schema: Schema) -> Schema:
    """Leave out optional arguments whose names not every provider allows."""
    required, given = schema.get("required"), schema.get("properties")
    if isinstance(required, list) and not all(map(_ARGUMENT.fullmatch, required)):
        raise ValueError("its schema has a property whose name can't be used")
    if not isinstance(given, dict):
        return {}
    return {"properties": {name: one for name, one in given.items() if _ARGUMENT.fullmatch(name)}}


def _check(name: object) -> str:
    if not isinstance(name, str) or not _PROPERTY.fullmatch(name):
        raise ValueError("its schema has a property whose name can't be used")
    return name


def _keep_type(value: object) -> object:
    if isinstance(value, list):
        known = [one for one in value if one in _TYPES]
        return known or None
    return value if value in _TYPES else None


def _keep_names(value: object) -> object:
    names = value if isinstance(value, list) else []
    return [_check(name) for name in names] or None


def _keep_choices(value: object) -> object:
    choices = value if isinstance(value, list) else []
    if not choices or len(choices) > _MOST_CHOICES:
        return None
    kept = [_keep_scalar(one) for one in choices]
    return kept if kept == choices else None


def _keep_scalar(value: object) -> object:
    if isinstance(value, str):
        return value if flatten(value, _CHOICE) == value else None
    return value if isinstance(value, bool) else _keep_number(value)


def _keep_number(value: object) -> object:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if -math.inf < value < math.inf else None  # JSON has no NaN


def _keep_size(value: object) -> object:
    is_size = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_size else None


def _keep_description(value: object) -> object:
    return flatten(value, _DESCRIPTION) if isinstance(value, str) else None


_PLAIN: Mapping[str, Callable[[object], object]] = {
    "type": _keep_type,
    "required": _keep_names,
    "enum": _keep_choices,
    "const": _keep_scalar,
    "description": _keep_description,
    **dict.fromkeys(_NUMBERS, _keep_number),
    **dict.fromkeys(_SIZES, _keep_size),
}
