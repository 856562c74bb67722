"""Slack's settings are parsed strictly."""

import pytest

from adapters.slack import create
from adapters.slack.settings import API, SlackSettings, read_settings
from tests.tables import check_each

TOKENS = {"bot_token": "xoxb-1", "app_token": "xapp-1"}


def test_two_tokens_are_enough() -> None:
    found = read_settings(TOKENS)
    assert found == SlackSettings(bot_token="xoxb-1", app_token="xapp-1", base_url=API)
    assert create(TOKENS).name == "slack"


def test_every_setting_is_read() -> None:
    found = read_settings(
        {
            "bot_token": " xoxb-1 ",
            "signing_secret": "secret",
            "base_url": "http://127.0.0.1:8083/api",
            "mode": "http",
            "http_bind": "0.0.0.0",
            "http_port": "8443",
            "sockets": "3",
            "edit_interval": "2.5",
            "messages_per_second": "0",
            "streaming": "false",
        }
    )
    assert found == SlackSettings(
        bot_token="xoxb-1",
        signing_secret="secret",
        base_url="http://127.0.0.1:8083/api/",
        mode="http",
        http_bind="0.0.0.0",
        http_port=8443,
        sockets=3,
        edit_interval=2.5,
        messages_per_second=0,
        is_streaming=False,
    )


INVALID = (
    ({}, "SLACK_BOT_TOKEN"),
    (TOKENS | {"bot_token": "xapp-1"}, "should begin with xoxb-"),
    ({"bot_token": "xoxb-1"}, "connections:write .*xapp-.*SLACK_APP_TOKEN"),
    (TOKENS | {"app_token": "xoxb-1"}, "should begin with xapp-"),
    (TOKENS | {"mode": "http"}, "SLACK_SIGNING_SECRET"),
    (TOKENS | {"mode": "carrier pigeon"}, '"socket" or "http"'),
    (TOKENS | {"base_url": "https://slack.com/"}, "should look like https://slack.com/api/"),
    (TOKENS | {"base_url": "slack.com/api/"}, "should look like"),
    (TOKENS | {"tokn": "x"}, 'Slack has no setting "tokn"'),
    (TOKENS | {"sockets": "0"}, "from 1 to 10"),
    (TOKENS | {"sockets": "many"}, 'sockets is "many"'),
    (TOKENS | {"http_port": "70000"}, "from 0 to 65535"),
    (TOKENS | {"edit_interval": "nan"}, "should be a number"),
    (TOKENS | {"streaming": "perhaps"}, "should be true or false"),
)


def test_an_invalid_setting_is_reported_in_a_sentence() -> None:
    def check(row: tuple[dict[str, str], str]) -> None:
        options, sentence = row
        with pytest.raises(ValueError, match=sentence):
            create(options)

    check_each(INVALID, check)
