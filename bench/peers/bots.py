"""The compared bots: Talaria, a bare bot, and Hermes Agent from PyPI."""

import json
import os
import sys
from pathlib import Path

from bench.peers.contract import Bot, Launch, Place

HERMES_VARIABLE = "BENCH_HERMES"
"""The folder of a virtual environment with `hermes-agent[messaging]`."""
_MODEL = "gpt-5-mini"


class Talaria:
    """`talaria run`, as shipped, open to everyone."""

    name = "Talaria"

    def find_fault(self) -> str:
        """Return ""; it is this checkout."""
        return ""

    def prepare(self, place: Place) -> Launch:
        """Return its command; all its settings are variables."""
        return Launch(
            argv=(sys.executable, "-m", "gateway", "run"),
            environ={
                "TALARIA_HOME": str(place.home / "home"),
                "TELEGRAM_BOT_TOKEN": place.token,
                "TELEGRAM_API_BASE_URL": place.telegram,
                "TALARIA_TELEGRAM__MESSAGES_PER_SECOND": "0",
                "OPENAI_API_KEY": "key",
                "OPENAI_BASE_URL": f"{place.model}/v1",
                "TALARIA_MODEL__PROVIDER": "openai",
                "TALARIA_MODEL__NAME": _MODEL,
                "TALARIA_ACCESS__ALLOW": "*",
                "TALARIA_ACCESS__GREET": "false",
            },
        )


class BareBot:
    """The echo bot of python-telegram-bot's documentation, which stores nothing."""

    name = "bare bot"

    def find_fault(self) -> str:
        """Return ""; it is `bench.bare_bot`."""
        return ""

    def prepare(self, place: Place) -> Launch:
        """Return its command."""
        return Launch(
            argv=(sys.executable, "-m", "bench.bare_bot"),
            environ={
                "TELEGRAM_BOT_TOKEN": place.token,
                "TELEGRAM_API_BASE_URL": place.telegram,
                "ANTHROPIC_BASE_URL": place.model,
            },
        )


class HermesAgent:
    """Hermes Agent's gateway, from a virtual environment that `BENCH_HERMES` names."""

    name = "Hermes Agent"

    def __init__(self) -> None:
        self._folder = Path(os.environ.get(HERMES_VARIABLE, "/nonexistent"))

    def find_fault(self) -> str:
        """Return how to install it, if it is missing."""
        if (self._folder / "bin" / "hermes").exists():
            return ""
        return (
            f"Install hermes-agent[messaging] into a virtual environment, and set"
            f" {HERMES_VARIABLE} to its folder."
        )

    def prepare(self, place: Place) -> Launch:
        """Write `config.yaml`, which is JSON here: YAML contains it."""
        home = place.home / "hermes"
        home.mkdir(exist_ok=True)
        settings = {
            "model": {
                "provider": "custom",
                "default": _MODEL,
                "base_url": f"{place.model}/v1",
                "api_key": "key",
                "context_length": 128_000,
            },
            "platforms": {
                "telegram": {
                    "enabled": True,
                    "token": place.token,
                    "extra": {
                        "base_url": f"{place.telegram}/bot",
                        "base_file_url": f"{place.telegram}/file/bot",
                    },
                }
            },
        }
        (home / "config.yaml").write_text(json.dumps(settings))
        return Launch(
            argv=(str(self._folder / "bin" / "hermes"), "gateway", "run"),
            environ={
                "HERMES_HOME": str(home),
                "TELEGRAM_BOT_TOKEN": place.token,
                "TELEGRAM_ALLOW_ALL_USERS": "true",
                # Its own way around a blocked Telegram leads out of this machine.
                "HERMES_TELEGRAM_DISABLE_FALLBACK_IPS": "1",
                "TELEGRAM_FALLBACK_IPS": "127.0.0.1",
                "GATEWAY_ALLOW_ALL_USERS": "true",
                "OPENAI_API_KEY": "key",
                "OPENAI_BASE_URL": f"{place.model}/v1",
            },
        )


def list_bots() -> list[Bot]:
    """List every bot that can be compared."""
    return [Talaria(), BareBot(), HermesAgent()]
