"""What shapes the bytes of a request besides its transcript, its prompt and its limit.

A shape is canonical JSON, "" if nothing does: the dialect of a server above all, and what a program
wishes of the answer. It is part of the request's fingerprint and stored with each call, so that an
old request can be rendered again.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from agent_core.models.contract import ModelRequest, Sampling

_SCHEMA, _CHOICE = "schema", "tool_choice"


def make_shape(values: Mapping[str, object]) -> str:
    """Return the shape of these values; equal values give equal text."""
    if not values:
        return ""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def read_shape(shape: str) -> dict[str, Any]:
    """Return the values of a shape."""
    found: dict[str, Any] = json.loads(shape) if shape else {}
    return found


def add_shape(request: ModelRequest, values: Mapping[str, object]) -> ModelRequest:
    """Return the request with further values in its shape; the same without any."""
    if not values:
        return request
    return replace(request, shape=make_shape({**read_shape(request.shape), **values}))


def find_shape(request: ModelRequest) -> str:
    """Return the request's whole shape, with what it wishes of the answer."""
    wishes = request.sampling.list_set()
    if request.response_schema:
        wishes[_SCHEMA] = request.response_schema
    if request.tool_choice:
        wishes[_CHOICE] = request.tool_choice
    return add_shape(request, wishes).shape


def restore_wishes(request: ModelRequest) -> ModelRequest:
    """Return an old request with the wishes that its shape holds."""
    values = read_shape(request.shape)
    sampling = {one.name: values[one.name] for one in fields(Sampling) if one.name in values}
    if "stop" in sampling:
        sampling["stop"] = tuple(sampling["stop"])
    return replace(
        request,
        sampling=Sampling(**sampling),
        response_schema=values.get(_SCHEMA),
        tool_choice=values.get(_CHOICE, ""),
    )
