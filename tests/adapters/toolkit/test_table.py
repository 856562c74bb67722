"""A server's address is checked, and an invalid one reported in a sentence."""

import pytest

from adapters.toolkit.table import read_address

URL = "https://chat.example/api"


def test_an_address_is_kept_as_given() -> None:
    given = "http://127.0.0.1:8/api/"
    assert read_address("PIGEON_URL", given, URL, ending="/api") == given


@pytest.mark.parametrize("given", [None, ""])
def test_a_missing_address_is_the_default(given: str | None) -> None:
    assert read_address("PIGEON_URL", given, URL, ending="/api") == URL


@pytest.mark.parametrize(
    "given",
    ["chat.example/api", "ftp://x/api", f"{URL}?a=b", "https://x/", "https://:pass@/api"],
)
def test_an_invalid_address_is_reported_and_not_repeated(given: str) -> None:
    with pytest.raises(ValueError, match="PIGEON_URL") as reported:
        read_address("PIGEON_URL", given, URL, ending="/api", hint=": so")
    assert str(reported.value) == f"PIGEON_URL should look like {URL}: so."
