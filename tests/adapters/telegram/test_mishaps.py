"""Every error of the SDK is translated."""

import inspect

import pytest
import telegram.error
from telegram.error import RetryAfter, TelegramError
from telegram.warnings import PTBDeprecationWarning

from adapters.errors import (
    AdapterError,
    AdapterStopped,
    ChatGone,
    ChatMoved,
    RateLimited,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.telegram.errors import AnotherPoller, translate

EXPECTED: dict[str, type[AdapterError]] = {
    "BadRequest": Rejected,
    "ChatMigrated": ChatMoved,
    "Conflict": AnotherPoller,
    "EndPointNotFound": Unsure,
    "Forbidden": ChatGone,
    "InvalidToken": AdapterStopped,
    "NetworkError": Unsure,
    "PassportDecryptionError": Unsure,
    "RetryAfter": RateLimited,
    "TelegramError": Unsure,
    "TimedOut": Unsure,
}
FOUND = {
    name: kind
    for name, kind in inspect.getmembers(telegram.error, inspect.isclass)
    if issubclass(kind, TelegramError)
}


def test_every_error_class_of_the_sdk_is_known() -> None:
    assert set(FOUND) == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(FOUND))
def test_an_error_of_the_sdk_is_translated(name: str) -> None:
    if name == "RetryAfter":
        with pytest.warns(PTBDeprecationWarning):
            found = translate(RetryAfter(7), lost=Unsure, unwell=Unreachable)
        assert isinstance(found, RateLimited)
        assert found.retry_after == 7
    else:
        argument = -100555 if name == "ChatMigrated" else "words"
        found = translate(FOUND[name](argument), lost=Unsure, unwell=Unreachable)
    assert type(found) is EXPECTED[name]
    assert str(found).endswith((".", ")."))


def test_the_sdks_text_with_the_token_is_not_repeated() -> None:
    error = FOUND["InvalidToken"]("The token `123:secret` was rejected by the server.")
    assert "secret" not in str(translate(error, lost=Unsure, unwell=Unsure))
