"""Every exception class that an SDK and its transport have is mapped on purpose."""

import importlib
import inspect
import pkgutil
import time
from dataclasses import dataclass
from typing import Any

import anthropic
import anthropic.types
import httpx2
import openai
import pytest

from agent_core.errors import ModelDenied, ModelError, ModelInterrupted, ModelUnreachable
from agent_core.models.anthropic import client as anthropic_client
from agent_core.models.openai import client as openai_client


@dataclass(frozen=True)
class Sdk:
    """One SDK, and what Talaria makes of its errors."""

    module: Any
    root: type[Exception]
    least: int
    """It has more classes than this."""
    client: Any
    elsewhere: frozenset[str]
    """Raised only by parts of the SDK that Talaria doesn't use."""

    def classes(self) -> list[type[BaseException]]:
        for module in pkgutil.walk_packages(anthropic.types.__path__, "anthropic.types."):
            if module.name.endswith("_error"):
                importlib.import_module(module.name)
        classes = subclasses(self.root)
        assert len(classes) > self.least
        return sorted(classes, key=lambda found: found.__qualname__)

    def translate(self, error: BaseException, *, has_begun: bool) -> ModelError:
        assert isinstance(error, self.client.WIRE_ERRORS), error
        mapped = self.client.translate_error(error, has_begun, time.time())
        assert isinstance(mapped, ModelError)
        return mapped

    def make(self, found: type[BaseException]) -> BaseException:
        """An instance, as the SDK would raise it."""
        request = httpx2.Request("POST", "http://127.0.0.1/")
        if issubclass(found, self.module.APIStatusError):
            status = getattr(found, "status_code", None)
            response = httpx2.Response(status or 500, request=request)
            return found("said", response=response, body={"error": {"message": "said"}})
        if issubclass(found, self.module.APIResponseValidationError):
            return found(httpx2.Response(200, request=request), None)
        if issubclass(found, self.module.APITimeoutError):
            return found(request)
        if issubclass(found, self.module.APIConnectionError):
            return found(request=request)
        if issubclass(found, self.module.APIError):
            return found("said", request, body=None)
        return found.__new__(found, "said")


ANTHROPIC = Sdk(
    module=anthropic,
    root=anthropic.AnthropicError,
    least=60,
    client=anthropic_client,
    # Its tool runner, its extras, other hosts, keyless sign-in, and raw responses read twice.
    elsewhere=frozenset(
        {
            "ToolsetUsageError",
            "MissingDependencyError",
            "MutuallyExclusiveAuthError",
            "WorkloadIdentityError",
            "StreamAlreadyConsumed",
        }
    ),
)
OPENAI = Sdk(
    module=openai,
    root=openai.OpenAIError,
    least=12,
    client=openai_client,
    # Keyless sign-in, Azure, its parser of whole answers, its websockets, the API of version 0,
    # and raw responses read twice.
    elsewhere=frozenset(
        {
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
    ),
)
each_sdk = pytest.mark.parametrize("sdk", [ANTHROPIC, OPENAI], ids=["anthropic", "openai"])


def subclasses(root: type[BaseException]) -> set[type[BaseException]]:
    found = set(root.__subclasses__())
    return found.union(*(subclasses(child) for child in found))


@each_sdk
@pytest.mark.parametrize("has_begun", [False, True])
def test_no_class_of_the_sdk_is_unmapped(sdk: Sdk, has_begun: bool) -> None:
    unmapped = []
    for found in sdk.classes():
        if found in (anthropic.APIError, anthropic.APIStatusError):
            continue  # the roots themselves; the SDK raises the leaves
        if sdk.elsewhere & {base.__name__ for base in found.__mro__}:
            continue
        mapped = sdk.translate(sdk.make(found), has_begun=has_begun)
        if "SDK refuses" in str(mapped):
            unmapped.append(found.__name__)
    assert unmapped == []


@each_sdk
def test_no_class_of_the_transport_is_unmapped(sdk: Sdk) -> None:
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
        assert isinstance(error, sdk.client.WIRE_ERRORS), found
        if issubclass(found, httpx2.TransportError):
            assert type(sdk.translate(error, has_begun=False)) is ModelUnreachable
            assert type(sdk.translate(error, has_begun=True)) is ModelInterrupted


def test_missing_credentials_are_a_denial() -> None:
    error = anthropic.CredentialsError("none found")
    assert type(ANTHROPIC.translate(error, has_begun=False)) is ModelDenied
