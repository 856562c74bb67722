"""Discord's settings: the table, and the bot."""

import pytest

from adapters.discord.settings import API, GATEWAY, DiscordTable, make_settings

TABLE = DiscordTable()
TOKEN = "MTAw.Gabcde.secret-part"


def test_a_token_is_enough() -> None:
    found = make_settings(TABLE, token=TOKEN)
    assert (found.token, found.api_base_url, found.gateway_url) == (TOKEN, API, GATEWAY)
    assert (found.message_content, found.thread_per_mention) == (True, False)


def test_the_table_is_kept() -> None:
    table = DiscordTable(
        edit_interval=2, messages_per_second=0, thread_per_mention=True, message_content=False
    )
    found = make_settings(
        table,
        token=TOKEN,
        api_base_url="http://127.0.0.1:8/api/v10/",
        gateway_url="ws://127.0.0.1:8/gateway",
    )
    assert found.api_base_url == "http://127.0.0.1:8/api/v10"
    assert found.gateway_url == "ws://127.0.0.1:8/gateway"
    assert (found.edit_interval, found.messages_per_second) == (2, 0)
    assert (found.thread_per_mention, found.message_content) == (True, False)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"token": ""}, "DISCORD_BOT_TOKEN"),
        ({"token": "Bot MTAw.G.x"}, "without the word Bot"),
        ({"token": "MTAw"}, "three parts"),
        ({"token": TOKEN, "api_base_url": "discord.com"}, "should look like https"),
        ({"token": TOKEN, "gateway_url": "https://discord.gg"}, "should look like wss"),
    ],
)
def test_an_invalid_bot_is_reported(given: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words) as reported:
        make_settings(TABLE, **given)
    assert str(reported.value).endswith(".")
