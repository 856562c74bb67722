"""Telegram's settings: the table, and the bot."""

import pytest

from adapters.telegram.settings import API, TelegramSettings, TelegramTable, make_settings

TABLE = TelegramTable()


def test_a_token_is_enough() -> None:
    assert make_settings(TABLE, token="123:abc") == TelegramSettings(token="123:abc", base_url=API)


def test_the_table_is_kept() -> None:
    table = TelegramTable(messages_per_second=0, edit_interval=2.5, poll_timeout=10)
    found = make_settings(table, token="123:abc", base_url="http://127.0.0.1:8081/")
    assert found.base_url == "http://127.0.0.1:8081"
    assert (found.messages_per_second, found.edit_interval, found.poll_timeout) == (0, 2.5, 10)


@pytest.mark.parametrize(
    ("token", "address", "sentence"),
    [
        ("", None, "TELEGRAM_BOT_TOKEN"),
        ("abc", None, "does not look like a token"),
        ("abc:def", None, "does not look like a token"),
        ("1:a", "api.telegram.org", "should look like https://api.telegram.org: what stands"),
        ("1:a", "ftp://x", "should look like"),
    ],
)
def test_an_invalid_bot_is_reported_in_a_sentence(
    token: str, address: str | None, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        make_settings(TABLE, token=token, base_url=address)
