"""Every platform obeys the proxies of the environment, and netrc passwords are not used."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from adapters.toolkit.http import find_proxy
from tests.adapters.discord import rig as discord_rig
from tests.adapters.slack import rig as slack_rig
from tests.adapters.telegram import rig as telegram_rig
from tests.emulators.discord import DiscordEmulator
from tests.emulators.proxy import LoopbackProxy
from tests.emulators.slack import SlackEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.tables import check_each

P = "http://proxy.example:3128"
HOST = "platform.example"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No proxies, and a netrc that has a password for every host."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    netrc = tmp_path / "netrc"
    netrc.write_text("default login anna password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))


def test_the_environment_names_the_proxy_of_an_address() -> None:
    rows: list[tuple[Mapping[str, str], str, str]] = [
        ({}, "https://slack.com/api/", ""),
        ({"HTTPS_PROXY": P}, "https://slack.com/api/", P),
        ({"https_proxy": P}, "https://slack.com/api/", P),
        ({"HTTPS_PROXY": P}, "wss://gateway.discord.gg/", P),
        ({"HTTPS_PROXY": P}, "http://slack.com/", ""),
        ({"HTTP_PROXY": P}, "http://slack.com/", P),
        ({"HTTP_PROXY": P}, "ws://slack.com/", P),
        ({"ALL_PROXY": P}, "https://slack.com/", P),
        ({"ALL_PROXY": "http://other", "HTTPS_PROXY": P}, "https://slack.com/", P),
        ({"HTTPS_PROXY": "proxy.example:3128"}, "https://slack.com/", P),
        ({"HTTPS_PROXY": P, "NO_PROXY": "slack.com"}, "https://slack.com/", ""),
        ({"HTTPS_PROXY": P, "NO_PROXY": "a.org, .slack.com"}, "https://files.slack.com/", ""),
        ({"HTTPS_PROXY": P, "NO_PROXY": "slack.com"}, "https://notslack.com/", P),
        ({"HTTPS_PROXY": P, "NO_PROXY": "slack.com:8443"}, "https://slack.com:8443/", ""),
        ({"HTTPS_PROXY": P, "NO_PROXY": "*"}, "https://slack.com/", ""),
        ({"HTTPS_PROXY": P, "NO_PROXY": "10.0.0.0/8"}, "https://10.1.2.3/", ""),
        ({"HTTPS_PROXY": P, "NO_PROXY": "10.0.0.0/8"}, "https://11.1.2.3/", P),
        ({"ALL_PROXY": P}, "http://127.0.0.1:8081/", ""),
        ({"ALL_PROXY": P}, "http://localhost:8081/", ""),
        ({"ALL_PROXY": P}, "http://[::1]:8081/", ""),
    ]

    def check(row: tuple[Mapping[str, str], str, str]) -> None:
        environ, address, expected = row
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environ.items():
                patch.setenv(name, value)
            assert find_proxy(address) == expected

    check_each(rows, check)


def renamed(address: str) -> str:
    """Return an emulator's address under the invented name."""
    return urlsplit(address)._replace(netloc=HOST).geturl()


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_telegram_is_reached_through_the_proxy(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with TelegramEmulator() as api, LoopbackProxy({HOST: api.port}) as proxy:
        monkeypatch.setenv(variable, f"http://anna:pw@{proxy.address}")
        async with telegram_rig.running(api, base_url=renamed(api.base_url)) as rig:
            assert rig.adapter.health().state == "connected"
        assert set(proxy.asked) == {HOST}
        assert all("Proxy-Authorization: Basic YW5uYTpwdw==" in one for one in proxy.heads)
        assert not any("\nAuthorization" in head for head in proxy.heads)


async def test_discord_is_reached_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with DiscordEmulator() as api, LoopbackProxy({HOST: api.port}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.address}")
        base, gateway = renamed(api.api_base_url), renamed(api.gateway_url)
        async with discord_rig.running(api, api_base_url=base, gateway_url=gateway) as rig:
            assert rig.adapter.health().state == "connected"
        assert proxy.asked
        assert not any("anna" in head for head in proxy.heads)


async def test_slack_is_reached_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with SlackEmulator() as slack, LoopbackProxy({HOST: slack.port}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.address}")
        async with slack_rig.running(slack, base_url=renamed(slack.base_url)) as rig:
            assert rig.adapter.health().state == "connected"
        assert HOST in proxy.asked
        assert not any("YW5uYTpzZWNyZXQ=" in head for head in proxy.heads)  # netrc's password


@pytest.mark.parametrize("left_out", ["", HOST])
async def test_this_machine_and_hosts_without_a_proxy_are_reached_directly(
    left_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with TelegramEmulator() as api, LoopbackProxy({}) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"http://{proxy.address}")
        monkeypatch.setenv("NO_PROXY", left_out)
        async with telegram_rig.running(api) as rig:
            assert rig.adapter.health().state == "connected"
        assert not proxy.asked


async def test_netrc_passwords_are_not_used() -> None:
    async with SlackEmulator() as slack, slack_rig.running(slack) as rig:
        assert rig.adapter.health().state == "connected"
