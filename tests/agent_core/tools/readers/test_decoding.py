"""Texts from the web are decoded by what they declare, where that is a charset."""

import pytest

from agent_core.tools.readers.decoding import decode


@pytest.mark.parametrize("charset", ["punycode", "Unicode-Escape", "idna", "undefined", "no\0name"])
def test_a_codec_that_is_no_charset_is_not_used(charset: str) -> None:
    """Decoding these bytes as Punycode would take half an hour."""
    assert decode(b"zA\\u0041" * 400_000, charset) == "zA\\u0041" * 400_000
    named = f'<meta charset="{charset}">caf\u00e9'
    assert decode(named.encode()) == named


def test_a_declared_charset_is_used() -> None:
    assert decode("Größe".encode("cp1252"), "windows-1252") == "Größe"
    assert decode("Größe".encode("utf-16"), "latin-1") == "Größe"
