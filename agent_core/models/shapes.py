"""What shapes the bytes of a request besides its transcript, its prompt and its limit.

A shape is canonical JSON, "" if nothing does: the dialect of a server above all. It is part of the
request's fingerprint and stored with each call, so that an old request can be rendered again.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent_core.models.contract import ModelRequest


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
