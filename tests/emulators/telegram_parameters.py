"""Read the parameters of a Bot API call from an address, a form, a multipart form or JSON."""

import json
from typing import Any

from aiohttp import web

from tests.emulators.telegram_texts import Json, Refusal, Upload

_SPOKEN = {
    "entities": "entities",
    "caption_entities": "caption entities",
    "reply_markup": "reply keyboard markup",
    "reaction": "reaction",
    "reply_parameters": "reply parameters",
    "link_preview_options": "link preview options",
    "commands": "commands",
    "allowed_updates": "allowed updates",
    "scope": "bot command scope",
}
"""Structured parameters, sent as JSON text in forms; with their names in errors."""


async def read_parameters(request: web.Request) -> Json:
    """Return the parameters with structures decoded. Raises `Refusal` for broken JSON."""
    parameters: Json = dict(request.query)
    if request.can_read_body:
        if request.content_type == "application/json":
            parameters |= _read_body(await request.read())
        else:
            parameters |= {name: _keep(value) for name, value in (await request.post()).items()}
    for key, name in _SPOKEN.items():
        if isinstance(parameters.get(key), str):
            try:
                parameters[key] = json.loads(parameters[key])
            except ValueError:
                raise Refusal(400, f"Bad Request: can't parse {name} JSON object") from None
    return parameters


def _keep(value: Any) -> Any:
    if not isinstance(value, web.FileField):
        return value
    with value.file as file:
        data = file.read()
    return Upload(name=value.filename, media_type=value.content_type, data=data)


def _read_body(body: bytes) -> Json:
    try:
        parameters: Any = json.loads(body)
    except ValueError:
        raise Refusal(400, "Bad Request: can't parse the request's JSON") from None
    if not isinstance(parameters, dict):
        raise Refusal(400, "Bad Request: a JSON object was expected")
    return parameters
