"""The compared bots, each with its own platform server and people."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from bench.population import POPULATIONS, Population
from bench.processes import Program, run_program

BotName = Literal["gateway", "watched", "bare"]
"""`talaria run`; the same with a clock that notices blocks; the baseline."""
PlatformName = Literal["telegram", "discord", "slack", "signal", "whatsapp"]
PLATFORMS: Sequence[PlatformName] = ("telegram", "discord", "slack", "signal", "whatsapp")
_TOGETHER = PLATFORMS[:3]
"""The platforms of the bare bot that listens on several."""

_OURS: Mapping[BotName, tuple[str, ...]] = {
    "gateway": ("-m", "gateway", "run"),
    "watched": ("-m", "bench.harness"),
}
_BARE: Mapping[PlatformName, tuple[str, ...]] = {
    "telegram": ("-m", "bench.bare_bot"),
    "discord": ("-m", "bench.bare_discord"),
    "slack": ("-m", "bench.bare_slack"),
    "signal": ("-m", "bench.bare_signal"),
    "whatsapp": ("-m", "bench.bare_whatsapp"),
}
_BARE_ALL = ("-m", "bench.bare_all")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """A running bot and its people."""

    name: BotName
    program: Program
    population: Population
    home: Path


def arguments_of(name: BotName, platform: PlatformName = "telegram") -> tuple[str, ...]:
    """Return the command line of a bot."""
    return _OURS[name] if name in _OURS else _BARE[platform]


@asynccontextmanager
async def run_bot(
    name: BotName, model_url: str, platform: PlatformName = "telegram", /, **settings: str
) -> AsyncIterator[Bot]:
    """A bot in a fresh home, once it listens; `settings` are further variables."""
    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        home = Path(folder)
        async with POPULATIONS[platform]() as population:
            environ = compose_environment([population], model_url, home) | settings
            arguments = arguments_of(name, platform)
            async with run_program(arguments, environ, home / "output.log") as program:
                await population.wait_for_poll()
                yield Bot(name=name, program=program, population=population, home=home)


@asynccontextmanager
async def run_everywhere(name: BotName, model_url: str) -> AsyncIterator[Program]:
    """A bot that listens on three platforms."""
    arguments = _OURS.get(name, _BARE_ALL)
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory(prefix="talaria-bench-")))
        crowds = [await stack.enter_async_context(POPULATIONS[one]()) for one in _TOGETHER]
        environ = compose_environment(crowds, model_url, home)
        program = await stack.enter_async_context(
            run_program(arguments, environ, home / "output.log")
        )
        for population in crowds:
            await population.wait_for_poll()
        for population in crowds:
            await population.ask({0: "hello."})
        yield program


def compose_environment(crowds: Sequence[Population], model_url: str, home: Path) -> dict[str, str]:
    """Return the settings that all bots share."""
    environ = {
        "ANTHROPIC_API_KEY": "key",
        "ANTHROPIC_BASE_URL": model_url,
        "TALARIA_HOME": str(home / "home"),
        "TALARIA_ACCESS__ALLOW": "*",
        "TALARIA_ACCESS__GREET": "false",
    }
    for population in crowds:
        environ |= population.environ()
    return environ
