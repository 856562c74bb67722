"""Errors of the API, in the form that OpenAI's clients read."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from gateway.interfaces.api.responses import refuse

_API = ("/v1/", "/api/")
_KINDS = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
    HTTPStatus.SERVICE_UNAVAILABLE: "server_error",
}
_SENTENCES = {
    HTTPStatus.NOT_FOUND: "There is nothing at this address. /api/docs lists the addresses.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This address takes other methods. /api/docs lists them.",
}
"""Sentences that replace Starlette's own error texts."""
_FAULTS = {
    "missing": "is missing",
    "json_invalid": "is not valid JSON",
    "extra_forbidden": "is not a field of this request",
    "string_too_short": "must have {min_length} or more characters",
    "string_pattern_mismatch": "is empty or in a form that /api/docs does not show",
    "string_unicode": "holds half of a character; perhaps an emoji was cut in two",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "needs {min_length} or more entries",
    "too_long": "has room for {max_length} entries",
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le} or less",
    "greater_than": "must be more than {gt}",
    "less_than": "must be less than {lt}",
    "int_from_float": "must be a whole number",
}
"""Descriptions of a fault, by pydantic's error type."""
_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "text",
    "list": "a list",
    "dict": "an object",
    "model": "an object",
}
"""Descriptions of the expected value, by the beginning of pydantic's error type."""


class ApiError(HTTPException):
    """A request that can't be answered. `code` is for programs, `detail` for people."""

    def __init__(
        self,
        status: HTTPStatus,
        sentence: str,
        *,
        code: str,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, sentence, headers)
        self.code = code
        self.param = param


async def answer_http(request: Request, error: Exception) -> Response:
    """Answer an HTTP error: in the API's form on the API's paths, elsewhere as one sentence."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it alone
    status, sentence = HTTPStatus(error.status_code), str(error.detail)
    if not isinstance(error, ApiError) and status in _SENTENCES:
        sentence = _SENTENCES[status]
    headers = dict(error.headers or {})
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_list_methods(request))
    if not request.url.path.startswith(_API):
        return refuse(status, sentence, headers)
    code = error.code if isinstance(error, ApiError) else status.name.lower()
    param = error.param if isinstance(error, ApiError) else None
    return answer_error(status, sentence, code, param, headers)


def _list_methods(request: Request) -> list[str]:
    """List the methods of all routes with the request's path; Starlette names those of one."""
    methods = {
        method
        for route in request.app.routes
        if route.matches(request.scope)[0] is Match.PARTIAL
        for method in route.methods
    }
    return sorted(methods)


def answer_invalid(first: Mapping[str, Any]) -> Response:
    """Answer a validation error of pydantic: name the wrong field, never repeat the input."""
    # For invalid JSON, `loc` is a position in the text and not a field.
    names = () if first["type"] == "json_invalid" else first["loc"]
    place = ".".join(str(part) for part in names if part != "body")
    param = place.encode("ascii", "replace").decode() or None
    sentence = f"{param or 'The body'} {_describe_fault(first)}."
    return answer_error(HTTPStatus.BAD_REQUEST, sentence, "invalid_request", param)


def _describe_fault(error: Mapping[str, Any]) -> str:
    """Say in plain words what is wrong with a field."""
    kind, limits = str(error["type"]), error.get("ctx", {})
    if kind == "value_error":  # raised by Talaria's own check, with its own sentence
        return str(limits["error"])
    if words := _FAULTS.get(kind):
        return words.format(**limits)
    expected = _TYPES.get(kind.partition("_")[0])
    if expected and kind.endswith(("_type", "_parsing")):
        return f"must be {expected}"
    return "can't be used: /api/docs shows its form"


def answer_error(
    status: HTTPStatus,
    sentence: str,
    code: str,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Answer with an error of the API."""
    kind = _KINDS.get(status, "invalid_request_error")
    error = {"message": sentence, "type": kind, "param": param, "code": code}
    return JSONResponse({"error": error}, status, headers)
