"""Addresses that a webhook may have."""

import pytest

from gateway.errors import Mistaken
from gateway.outbound.webhooks.rules import WebhookRules

RULES = WebhookRules(allow_hosts=("nas.lan", "[::1]:8080", "192.168.1.5:8080"))


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/hook?key=1",
        "https://93.184.216.34:8443/",
        "http://nas.lan:8123/hook",
        "http://NAS.lan./hook",
        "http://[::1]:8080/",
        "http://192.168.1.5:8080/",
    ],
)
def test_a_public_or_listed_address_is_taken(url: str) -> None:
    RULES.check(url)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://example.org/hook", "must begin with https://"),
        ("https://127.0.0.1/", "127.0.0.1 is not a public address"),
        ("https://[::1]/", "::1 is not a public address"),
        ("https://192.168.1.5/", "192.168.1.5 is not a public address"),
        ("http://192.168.1.5/", "must begin with https://"),
        ("https://user:word@example.org/", "must not contain a user name"),
        ("ftp://example.org/", "only http and https"),
        ("example.org", "only http and https"),
        ("https://", "has no host"),
        ("https://exa mple.org/", "invalid characters"),
    ],
)
def test_any_other_address_is_refused_in_one_sentence(url: str, why: str) -> None:
    with pytest.raises(Mistaken, match="The address can't be used") as caught:
        RULES.check(url)
    assert why in str(caught.value)
