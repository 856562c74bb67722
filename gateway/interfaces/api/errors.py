"""Errors of the API, in the form that OpenAI's clients read."""

from collections.abc import Callable, Coroutine, Mapping
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gateway.interfaces.api.responses import refuse

Handler = Callable[[Request, Any], Coroutine[Any, Any, Response]]
_API = ("/v1/", "/api/")
_KINDS = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
    HTTPStatus.SERVICE_UNAVAILABLE: "server_error",
}


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


async def _answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it alone
    status = HTTPStatus(error.status_code)
    if not request.url.path.startswith(_API):
        return refuse(status, str(error.detail))
    code = error.code if isinstance(error, ApiError) else status.name.lower()
    param = error.param if isinstance(error, ApiError) else None
    return _answer(status, str(error.detail), (code, param), error.headers)


async def _answer_invalid(_: Request, error: Exception) -> Response:
    """Name the first field that is wrong; never repeat what was sent."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for it alone
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    param = place.encode("ascii", "replace").decode() or None
    sentence = f"{param or 'The body'}: {first['msg']}"
    return _answer(HTTPStatus.BAD_REQUEST, sentence, ("invalid_request", param))


def _answer(
    status: HTTPStatus,
    sentence: str,
    cause: tuple[str, str | None],
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    kind = _KINDS.get(status, "invalid_request_error")
    error = {"message": sentence, "type": kind, "param": cause[1], "code": cause[0]}
    return JSONResponse({"error": error}, status, headers)


HANDLERS: dict[int | type[Exception], Handler] = {
    HTTPException: _answer_http,
    RequestValidationError: _answer_invalid,
}
"""What FastAPI calls for each error."""
