"""Platform settings are parsed strictly, and invalid ones reported in a sentence."""

from collections.abc import Callable

import pytest

from adapters.toolkit.options import Options

URL = "https://chat.example/api"
KNOWN = ("pace", "loud", "url", "name")


def options(**given: str) -> Options:
    return Options("Pigeon", given, known=KNOWN)


def test_an_unknown_setting_is_reported_with_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match='Pigeon has no setting "pase"; it has pace, loud, url, na'
    ):
        options(pase="1")


def test_a_missing_setting_is_the_default() -> None:
    found = options()
    assert (found.text("name"), found.text("name", "Bo"), found.number("pace", 2)) == ("", "Bo", 2)
    assert (found.switch("loud", default=True), found.address("url", URL)) == (True, URL)


def test_settings_are_read() -> None:
    found = options(name=" Bo ", pace=" 1.5 ", loud="False", url="http://127.0.0.1:8/api/")
    assert (found.text("name"), found.number("pace", 2)) == ("Bo", 1.5)
    assert found.switch("loud", default=True) is False
    assert found.address("url", URL, ending="/api") == "http://127.0.0.1:8/api/"


def test_an_empty_text_is_not_set() -> None:
    assert options(name="  ").text("name", "Bo") == "Bo"


@pytest.mark.parametrize(
    ("given", "read", "sentence"),
    [
        ({"pace": "fast"}, lambda o: o.number("pace", 1), "should be a number from 0 to 86400."),
        ({"pace": "nan"}, lambda o: o.number("pace", 1), 'pace is "nan", but should be a number'),
        ({"pace": "fast"}, lambda o: o.number("pace", 1, least=-9), "from -9 to 86400."),
        ({"pace": "0"}, lambda o: o.number("pace", 1, least=1, most=7), "from 1 to 7."),
        ({"pace": "8"}, lambda o: o.number("pace", 1, least=1, most=7), "from 1 to 7."),
        ({"loud": "yes"}, lambda o: o.switch("loud", default=False), "should be true or false."),
        ({"url": "chat.example"}, lambda o: o.address("url", URL), f"should look like {URL}."),
        ({"url": "ftp://x/api"}, lambda o: o.address("url", URL), "should look like"),
        ({"url": f"{URL}?a=b"}, lambda o: o.address("url", URL), "should look like"),
        (
            {"url": "https://x/"},
            lambda o: o.address("url", URL, ending="/api", hint=": so"),
            ": so.",
        ),
    ],
)
def test_an_invalid_setting_is_reported(
    given: dict[str, str], read: Callable[[Options], object], sentence: str
) -> None:
    with pytest.raises(ValueError, match="Pigeon's") as reported:
        read(options(**given))
    assert sentence in str(reported.value)
