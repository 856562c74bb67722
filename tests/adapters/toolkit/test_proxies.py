"""Proxies come from the environment, and netrc passwords are not used."""

from pathlib import Path

import pytest

from adapters.toolkit.http import has_proxy
from tests.adapters.slack.rig import running
from tests.emulators.slack import SlackEmulator

SLACK = "https://slack.com/api/"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def test_there_is_no_proxy_by_default() -> None:
    assert not has_proxy(SLACK)


def test_a_proxy_is_for_the_scheme_that_it_is_named_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://anna:secret@proxy.example:3128")
    assert has_proxy(SLACK)
    assert not has_proxy("http://slack.com/api/")


def test_an_address_may_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "slack.com")
    assert not has_proxy(SLACK)
    assert has_proxy("https://example.org/api/")


async def test_netrc_passwords_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login anna password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    async with SlackEmulator() as slack, running(slack) as rig:
        assert rig.adapter.health().state == "connected"
