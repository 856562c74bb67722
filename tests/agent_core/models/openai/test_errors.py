"""Every exception class that the SDK and its transport have is mapped on purpose."""

import inspect

import httpx2
import openai
import pytest

from agent_core.errors import ModelError, ModelInterrupted, ModelUnreachable
from agent_core.models.openai.client import WIRE_ERRORS, translate_error

FROM_OTHER_ENDPOINTS = {
    # Of parts of the SDK that Talaria doesn't use: keyless sign-in, Azure, its parser of
    # whole answers, its websockets, the API of version 0, raw responses that are read twice.
    "SubjectTokenProviderError",
    "OAuthError",
    "MutuallyExclusiveAuthError",
    "LengthFinishReasonError",
    "ContentFilterFinishReasonError",
    "WebSocketConnectionClosedError",
    "WebSocketQueueFullError",
    "APIRemovedInV1",
    "_AmbiguousModuleClientUsageError",
    "StreamAlreadyConsumed",
}


def subclasses(root: type[BaseException]) -> set[type[BaseException]]:
    found = set(root.__subclasses__())
    return found.union(*(subclasses(child) for child in found)) if found else set()


def make(found: type[BaseException]) -> BaseException:
    """An instance, as the SDK would raise it."""
    request = httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions")
    if issubclass(found, openai.APIStatusError):
        status = getattr(found, "status_code", 500)
        response = httpx2.Response(status, request=request)
        return found("said", response=response, body={"message": "said"})
    if issubclass(found, openai.APIResponseValidationError):
        return found(httpx2.Response(200, request=request), None)
    if issubclass(found, openai.APITimeoutError):
        return found(request)
    if issubclass(found, openai.APIConnectionError):
        return found(request=request)
    if issubclass(found, openai.APIError):
        return found("said", request, body=None)
    return found.__new__(found, "said")


@pytest.mark.parametrize("has_begun", [False, True])
def test_no_class_of_the_sdk_is_unmapped(has_begun: bool) -> None:
    classes = subclasses(openai.OpenAIError)
    assert len(classes) > 12
    unmapped = []
    for found in classes:
        if found.__name__ in FROM_OTHER_ENDPOINTS:
            continue
        error = make(found)
        assert isinstance(error, WIRE_ERRORS)
        mapped = translate_error(error, has_begun, 0.0)  # type: ignore[arg-type]
        assert isinstance(mapped, ModelError)
        if "SDK refuses" in str(mapped):
            unmapped.append(found.__name__)
    assert unmapped == []


def test_no_class_of_the_transport_is_unmapped() -> None:
    classes = [
        found
        for _, found in inspect.getmembers(httpx2, inspect.isclass)
        if issubclass(found, Exception) and not issubclass(found, Warning)
    ]
    assert len(classes) > 20
    for found in classes:
        if found is httpx2.CookieConflict:
            continue  # raised by reading a cookie jar, which nobody does
        error = found.__new__(found, "said")
        assert isinstance(error, WIRE_ERRORS), found
        if issubclass(found, httpx2.TransportError):
            assert type(translate_error(error, False, 0)) is ModelUnreachable
            assert type(translate_error(error, True, 0)) is ModelInterrupted
