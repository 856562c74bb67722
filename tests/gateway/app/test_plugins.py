"""Plugs: found by name, loaded only when asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

from adapters.console.settings import ConsoleSettings
from adapters.discord.settings import DiscordSettings
from adapters.ids import list_platforms
from adapters.signal.settings import SignalSettings
from adapters.slack.settings import SlackSettings
from adapters.telegram.settings import TelegramSettings
from adapters.whatsapp.settings import WhatsAppSettings
from gateway.app.plugins import UnknownPlug, load_adapter, load_model
from tests.architecture.source import ROOT, list_modules

pytestmark = pytest.mark.process

SDKS = ("telegram", "discord", "slack_bolt", "slack_sdk", "anthropic", "openai", "mcp")


def loaded_sdks(code: str) -> str:
    """The SDKs that a fresh interpreter holds after some code."""
    report = f"import sys; print(*[name for name in {SDKS} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=ROOT,
    )
    return done.stdout.strip()


def test_platforms_are_the_folders_that_exist() -> None:
    found = list_platforms()
    assert {"telegram", "console"} <= set(found)
    assert not {"contract", "errors", "ids", "markdown", "messages", "split"} & set(found)


def test_an_unknown_plugin_is_reported_with_the_known_ones() -> None:
    with pytest.raises(UnknownPlug, match=r'no model provider "gpt"; there are .*scripted'):
        load_model("gpt", None)


def test_a_module_that_is_no_folder_is_no_platform() -> None:
    assert "errors" not in list_platforms()
    with pytest.raises(UnknownPlug):
        load_model("contract", None)


def test_every_platform_can_be_made() -> None:
    settings = {
        "telegram": TelegramSettings(token="1:a"),
        "console": ConsoleSettings(socket=Path("/nowhere")),
        "discord": DiscordSettings(token="a.b.c"),
        "slack": SlackSettings(bot_token="xoxb-1", app_token="xapp-1"),
        "whatsapp": WhatsAppSettings(
            token="EAA1", phone_number_id="1", app_secret="s", verify_token="v"
        ),
        "signal": SignalSettings(account="+4915112345678"),
    }
    for name in list_platforms():
        assert load_adapter(name, settings[name]).name == name


async def test_the_stand_in_model_needs_no_settings() -> None:
    model = load_model("scripted", None)
    assert model.provider == "scripted"
    await model.close()


def test_no_sdk_is_imported_before_its_plug_is_on() -> None:
    code = (
        "import pathlib, adapters.ids, gateway.app.plugins, gateway.app.settings as s\n"
        "s.load({}, home=pathlib.Path('nowhere'))\n"
        "adapters.ids.list_platforms()"
    )
    assert loaded_sdks(code) == ""


@pytest.mark.thorough
def test_no_module_of_the_gateway_imports_an_sdk_but_those_loaded_late() -> None:
    late = {f"gateway.interfaces.mcp_server.{name}" for name in ("http", "server", "stdio")}
    late |= {f"gateway.media.voices.{name}" for name in ("hear", "speak")}  # programs of an extra
    names = [
        module.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for module in list_modules(("gateway",))
        if module.name != "__main__"
    ]
    names = [name for name in names if name not in late]
    assert {"gateway.app.plugins", "gateway.interfaces.mcp_server.loading"} <= set(names)
    assert loaded_sdks(f"import {', '.join(names)}") == ""


def test_a_plug_brings_only_its_own_sdk() -> None:
    code = (
        "import gateway.app.plugins as p, adapters.telegram.settings as t\n"
        "p.load_adapter('telegram', t.TelegramSettings(token='1:a'))"
    )
    assert loaded_sdks(code) == "telegram"
