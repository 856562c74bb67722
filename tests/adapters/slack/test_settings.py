"""Slack's settings: the table, and the app."""

import pytest

from adapters.slack.settings import API, SlackSettings, SlackTable, make_settings
from tests.tables import check_each

TOKENS = {"bot_token": "xoxb-1", "app_token": "xapp-1"}


def test_two_tokens_are_enough() -> None:
    found = make_settings(SlackTable(), bot_token="xoxb-1", app_token="xapp-1")
    assert found == SlackSettings(bot_token="xoxb-1", app_token="xapp-1", base_url=API)


def test_the_table_is_kept() -> None:
    table = SlackTable(
        mode="http",
        http_bind="0.0.0.0",
        http_port=8443,
        sockets=3,
        edit_interval=2.5,
        messages_per_second=0,
        streaming=False,
    )
    found = make_settings(
        table,
        bot_token="xoxb-1",
        signing_secret="secret",
        base_url="http://127.0.0.1:8083/api",
    )
    assert found == SlackSettings(
        **dict(table),
        bot_token="xoxb-1",
        signing_secret="secret",
        base_url="http://127.0.0.1:8083/api/",
    )


SOCKET, HTTP = SlackTable(), SlackTable(mode="http")
INVALID = (
    (SOCKET, TOKENS | {"bot_token": ""}, "SLACK_BOT_TOKEN"),
    (SOCKET, TOKENS | {"bot_token": "xapp-1"}, "should begin with xoxb-"),
    (SOCKET, {"bot_token": "xoxb-1"}, "connections:write .*xapp-.*SLACK_APP_TOKEN"),
    (SOCKET, TOKENS | {"app_token": "xoxb-1"}, "should begin with xapp-"),
    (HTTP, TOKENS, "SLACK_SIGNING_SECRET"),
    (SOCKET, TOKENS | {"base_url": "https://slack.com/"}, "like https://slack.com/api/: it ends"),
    (SOCKET, TOKENS | {"base_url": "slack.com/api/"}, "should look like"),
)


def test_an_invalid_app_is_reported_in_a_sentence() -> None:
    def check(row: tuple[SlackTable, dict[str, str], str]) -> None:
        table, given, sentence = row
        with pytest.raises(ValueError, match=sentence):
            make_settings(table, **given)

    check_each(INVALID, check)
