"""Every exception class that the SDK and its transport have is mapped on purpose."""

import importlib
import inspect
import pkgutil
import time

import anthropic
import anthropic.types
import httpx2
import pytest

from agent_core.errors import ModelDenied, ModelError, ModelInterrupted, ModelUnreachable
from agent_core.models.anthropic.client import WIRE_ERRORS, translate_error

FROM_OTHER_ENDPOINTS = {
    # Of parts of the SDK that Talaria doesn't use: its tool runner, its extras, other hosts,
    # keyless sign-in, and raw responses that are read twice.
    "ToolsetUsageError",
    "MissingDependencyError",
    "MutuallyExclusiveAuthError",
    "WorkloadIdentityError",
    "StreamAlreadyConsumed",
}


def subclasses(root: type[BaseException]) -> set[type[BaseException]]:
    found = set(root.__subclasses__())
    return found.union(*(subclasses(child) for child in found)) if found else set()


def sdk_classes() -> list[type[BaseException]]:
    for module in pkgutil.walk_packages(anthropic.types.__path__, "anthropic.types."):
        if module.name.endswith("_error"):
            importlib.import_module(module.name)
    classes = subclasses(anthropic.AnthropicError)
    assert len(classes) > 60
    return sorted(classes, key=lambda found: found.__qualname__)


def make(found: type[BaseException]) -> BaseException:
    """An instance, as the SDK would raise it."""
    request = httpx2.Request("POST", "http://127.0.0.1/v1/messages")
    status = getattr(found, "status_code", None)
    if issubclass(found, anthropic.APIStatusError):
        response = httpx2.Response(status or 500, request=request)
        return found("said", response=response, body={"error": {"message": "said"}})
    if issubclass(found, anthropic.APIResponseValidationError):
        return found(httpx2.Response(200, request=request), None)
    if issubclass(found, anthropic.APITimeoutError):
        return found(request)
    if issubclass(found, anthropic.APIConnectionError):
        return found(request=request)
    if issubclass(found, anthropic.APIError):
        return found("said", request, body=None)
    return found.__new__(found, "said")


@pytest.mark.parametrize("has_begun", [False, True])
def test_no_class_of_the_sdk_is_unmapped(has_begun: bool) -> None:
    unmapped = []
    for found in sdk_classes():
        if found in (anthropic.APIError, anthropic.APIStatusError):
            continue  # the roots themselves; the SDK raises the leaves
        if any(base.__name__ in FROM_OTHER_ENDPOINTS for base in found.__mro__):
            continue
        error = make(found)
        assert isinstance(error, WIRE_ERRORS)
        mapped = translate_error(error, has_begun, time.time())  # type: ignore[arg-type]
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


def test_missing_credentials_are_a_denial() -> None:
    error = anthropic.CredentialsError("none found")
    assert type(translate_error(error, False, 0)) is ModelDenied
