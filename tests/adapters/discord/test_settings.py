"""Settings are parsed strictly, and invalid ones reported in a sentence."""

import pytest

from adapters.discord import create
from adapters.discord.settings import API, GATEWAY, read_settings

TOKEN = "MTAw.Gabcde.secret-part"


def test_a_token_is_enough() -> None:
    found = read_settings({"token": f" {TOKEN} "})
    assert (found.token, found.api_base_url, found.gateway_url) == (TOKEN, API, GATEWAY)
    assert (found.message_content, found.thread_per_mention) == (True, False)


def test_everything_can_be_set() -> None:
    found = read_settings({
        "token": TOKEN,
        "api_base_url": "http://127.0.0.1:8/api/v10/",
        "gateway_url": "ws://127.0.0.1:8/gateway",
        "edit_interval": "2",
        "messages_per_second": "0",
        "thread_per_mention": "True",
        "message_content": "false",
    })  # fmt: skip
    assert found.api_base_url == "http://127.0.0.1:8/api/v10"
    assert found.gateway_url == "ws://127.0.0.1:8/gateway"
    assert (found.edit_interval, found.messages_per_second) == (2, 0)
    assert (found.thread_per_mention, found.message_content) == (True, False)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "DISCORD_BOT_TOKEN"),
        ({"token": "Bot MTAw.G.x"}, "without the word Bot"),
        ({"token": "MTAw"}, "three parts"),
        ({"token": TOKEN, "edit_intervall": "1"}, 'no setting "edit_intervall"'),
        ({"token": TOKEN, "edit_interval": "often"}, "a number from 0"),
        ({"token": TOKEN, "messages_per_second": "nan"}, "a number from 0"),
        ({"token": TOKEN, "api_base_url": "discord.com"}, "should look like https"),
        ({"token": TOKEN, "gateway_url": "https://discord.gg"}, "should look like wss"),
        ({"token": TOKEN, "message_content": "yes"}, "true or false"),
    ],
)
def test_an_invalid_setting_is_reported(options: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words) as reported:
        create(options)
    assert str(reported.value).endswith(".")
