"""Every status that the SDK knows and every error of the transport is mapped on purpose."""

import inspect

import aiohttp
import anthropic
import pytest

from agent_core.errors import ModelError, ModelInterrupted, ModelRejected, ModelUnreachable
from agent_core.models.anthropic.client import WIRE_ERRORS, translate_error
from agent_core.models.anthropic.connection import ApiError

REJECTED = {400, 412, 413, 422, 431, 501}
"""Statuses that say that the request itself is wrong; for others, waiting or an owner helps."""

OTHER = (
    aiohttp.web.HTTPException,
    aiohttp.WebSocketError,
    aiohttp.WSMessageTypeError,
    aiohttp.EofStream,
)
"""Of servers, of websockets, and of another way to read a body."""


def list_statuses() -> set[int]:
    found = {cls.__dict__.get("status_code") for cls in subclasses(anthropic.APIStatusError)}
    return {status for status in found if isinstance(status, int)}


def subclasses(root: type[BaseException]) -> set[type[BaseException]]:
    found = set(root.__subclasses__())
    return found.union(*(subclasses(child) for child in found)) if found else set()


def test_every_status_that_the_sdk_names_is_mapped() -> None:
    statuses = list_statuses()
    assert len(statuses) > 12
    rejected = {
        status
        for status in statuses
        if type(translate_error(ApiError(status, b"", {}), False, 0)) is ModelRejected
    }
    assert rejected == REJECTED & statuses


@pytest.mark.parametrize("has_begun", [False, True])
def test_no_class_of_the_transport_is_unmapped(has_begun: bool) -> None:
    classes = [
        found
        for _, found in inspect.getmembers(aiohttp, inspect.isclass)
        if issubclass(found, Exception) and not issubclass(found, Warning)
    ]
    assert len(classes) > 20
    for found in classes:
        if issubclass(found, OTHER):
            continue
        # Without the parts of a connection, of which its text is made.
        plain = type(found.__name__, (found,), {"__str__": lambda _: "said"})
        error = plain.__new__(plain)
        assert isinstance(error, WIRE_ERRORS), found
        wanted = ModelInterrupted if has_begun else ModelUnreachable
        assert type(translate_error(error, has_begun, 0)) is wanted


@pytest.mark.parametrize(
    "body", [b"", b"<html>\xff", b"[]", b"null", b'{"error": "x"}', b'{"error": {"message": 5}}']
)
def test_an_error_in_no_known_form_is_told_as_it_came(body: bytes) -> None:
    error = ApiError(502, body, {})
    assert (error.kind, error.code) == ("", "")
    assert str(error) == body.decode(errors="replace")
    assert isinstance(translate_error(error, False, 0), ModelError)
