"""Commands are named as people have to type them."""

import pytest

from gateway.outbound.command_formatter import CommandFormatter
from tests.fakes.chat import FakeChat, PrefixedChat

SPELLER = CommandFormatter(lambda: ["new", "link", "help", "csv", "csv-report"])


@pytest.mark.parametrize(
    ("said", "spelled"),
    [
        ("/new starts afresh", "/talaria new starts afresh"),
        ("Send /link cancel now.", "Send /talaria link cancel now."),
        ("(/help)", "(/talaria help)"),
        ("/csv-report – Reports.", "/talaria csv-report – Reports."),
        ("see /etc/new or a/new", "see /etc/new or a/new"),
        ("https://x.test/new", "https://x.test/new"),
        ("`/new` is code", "`/new` is code"),
        ("/news and /unknown", "/news and /unknown"),
        ("/new/", "/new/"),
        ("Prompts: /web__review, /new", "Prompts: /talaria web__review, /talaria new"),
        ("/var/web__review and `/web__review`", "/var/web__review and `/web__review`"),
    ],
)
def test_only_commands_are_spelled_otherwise(said: str, spelled: str) -> None:
    assert SPELLER.format_commands(PrefixedChat(), said) == spelled


def test_elsewhere_a_command_is_a_slash_and_its_name() -> None:
    assert SPELLER.format_commands(FakeChat(), "/new starts afresh") == "/new starts afresh"
    assert CommandFormatter(list).format_commands(PrefixedChat(), "/new") == "/new"
