"""The errors of Honcho's SDK, as our own.

What the server says of a request may quote the words in it, so that is kept and logged nowhere.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from honcho.http import exceptions as sdk

from agent_core.errors import (
    OutsideAway,
    OutsideBroken,
    OutsideError,
    OutsideLacking,
    OutsideRefused,
)

_NO_ROUTE = "Not Found"
"""What its server says of an address that it does not have; of a missing thing it says which."""
_OVERLOADED = (502, 503, 504)


_UNREADABLE = (
    *(ValueError, TypeError, AttributeError, LookupError, RuntimeError),
    httpx.HTTPError,
)
"""What comes of an answer that has not the form of one."""


class Unknown(OutsideBroken):
    """The server has the function, and does not know the peer, session or conclusion."""


@contextmanager
def mapped(function: str) -> Iterator[None]:
    """Raise what its SDK raises as an `OutsideError`, or `Unknown`. `function` is for people."""
    try:
        yield
    except sdk.NotFoundError as error:
        if error.message == _NO_ROUTE:
            raise OutsideLacking(f"this Honcho server has no {function}") from error
        raise Unknown(f"Honcho does not know the {function} of it") from error
    except sdk.HonchoError as error:
        raise translate(error) from error
    except _UNREADABLE as error:
        kind = type(error).__name__
        raise OutsideBroken(f"Honcho gave an answer that can't be read ({kind})") from error


def translate(error: sdk.HonchoError) -> OutsideError:
    """One of the SDK's errors, but for a 404, as one of ours."""
    match error:
        case sdk.RateLimitError():
            return OutsideAway("Honcho limits the rate", retry_after=error.retry_after)
        case sdk.TimeoutError() | sdk.ConnectionError():
            return OutsideAway(f"Honcho can't be reached: {error.message}")
        case sdk.AuthenticationError() | sdk.PermissionDeniedError():
            return OutsideAway("Honcho does not take the key: see HONCHO_API_KEY")
        case sdk.ServerError() if error.status in _OVERLOADED:
            return OutsideAway(f"Honcho is overloaded or being set up (HTTP {error.status})")
        case sdk.ServerError():
            return OutsideBroken(f"Honcho failed over it (HTTP {error.status})")
        case sdk.ConflictError():
            return OutsideBroken("Honcho was in its own way (HTTP 409)")
        case _:
            return OutsideRefused(f"Honcho refuses it (HTTP {error.status})")
