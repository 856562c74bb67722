"""The bots that are compared, each with a Telegram server and people of its own."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from bench.crowd import Crowd
from bench.processes import Program, run_program

BotName = Literal["gateway", "watched", "bare"]
"""`talaria run`; the same with a clock beside it that notices blocks; the floor."""

ARGUMENTS: Mapping[BotName, tuple[str, ...]] = {
    "gateway": ("-m", "gateway", "run"),
    "watched": ("-m", "bench.house"),
    "bare": ("-m", "bench.bare_bot"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """A running bot and its people."""

    name: BotName
    program: Program
    crowd: Crowd
    home: Path


@asynccontextmanager
async def run_bot(name: BotName, model_url: str, **settings: str) -> AsyncIterator[Bot]:
    """A bot in a fresh home that polls already."""
    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        home = Path(folder)
        async with Crowd() as crowd:
            environ = compose_environment(crowd, model_url, home) | settings
            async with run_program(ARGUMENTS[name], environ, home / "output.log") as program:
                await crowd.wait_for_poll()
                yield Bot(name=name, program=program, crowd=crowd, home=home)


def compose_environment(crowd: Crowd, model_url: str, home: Path) -> dict[str, str]:
    """What both bots are told. Our own pacer is off: neither emulator nor bare bot has one."""
    return {
        "TELEGRAM_BOT_TOKEN": crowd.api.token,
        "TELEGRAM_API_BASE_URL": crowd.api.base_url,
        "ANTHROPIC_API_KEY": "key",
        "ANTHROPIC_BASE_URL": model_url,
        "TALARIA_HOME": str(home / "home"),
        "TALARIA_ACCESS__ALLOW": "*",
        "TALARIA_TELEGRAM__MESSAGES_PER_SECOND": "0",
    }
