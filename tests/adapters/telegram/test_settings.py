"""Telegram's settings are parsed strictly."""

import pytest

from adapters.telegram import create
from adapters.telegram.settings import API, TelegramSettings, read_settings

TOKEN = {"token": "123:abc"}


def test_a_token_is_enough() -> None:
    assert read_settings(TOKEN) == TelegramSettings(token="123:abc", base_url=API)
    assert create(TOKEN).name == "telegram"


def test_every_setting_is_read() -> None:
    found = read_settings(
        TOKEN
        | {
            "base_url": "http://127.0.0.1:8081/",
            "messages_per_second": "0",
            "edit_interval": "2.5",
            "poll_timeout": "10",
        }
    )
    assert found.base_url == "http://127.0.0.1:8081"
    assert (found.messages_per_second, found.edit_interval, found.poll_timeout) == (0, 2.5, 10)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "Telegram needs the token that @BotFather gave you"),
        ({"token": " "}, "TELEGRAM_BOT_TOKEN"),
        ({"token": "abc"}, "does not look like a token"),
        ({"token": "abc:def"}, "does not look like a token"),
        (TOKEN | {"tokn": "x"}, 'Telegram has no setting "tokn"'),
        (TOKEN | {"base_url": "api.telegram.org"}, "should look like https://api.telegram.org"),
        (TOKEN | {"base_url": "ftp://x"}, "should look like"),
        (TOKEN | {"messages_per_second": "many"}, 'messages_per_second is "many"'),
        (TOKEN | {"messages_per_second": "-1"}, "from 0 to 86400"),
        (TOKEN | {"edit_interval": "nan"}, "should be a number"),
        (TOKEN | {"poll_timeout": "0"}, "from 1 to 86400"),
    ],
)
def test_an_invalid_setting_is_reported_in_a_sentence(
    options: dict[str, str], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        create(options)
