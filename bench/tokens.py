"""The tokens of a plain hello, without and with all tools, and the cached shares of later turns."""

from collections.abc import Mapping

from bench.bots import run_bot
from bench.figures import Figure
from tests.emulators.anthropic import AnthropicEmulator


async def measure() -> list[Figure]:
    """Measure with the emulator's accounting: four characters a token, prefixes cached."""
    first, second, third = await _run()
    whole, cached, _ = await _run(TALARIA_TOOLS__BACKEND="local")
    return [
        Figure(name="input of a hello, all tools", unit="tokens", value=whole.total),
        Figure(name="cache reads, all tools", unit="%", value=cached.read_share, at_least=95),
        Figure(name="input of a bare hello", unit="tokens", value=first.total),
        Figure(name="cache reads, second turn", unit="%", value=second.read_share, at_least=95),
        Figure(name="cache reads, third turn", unit="%", value=third.read_share, at_least=95),
    ]


async def _run(**settings: str) -> tuple["_Input", "_Input", "_Input"]:
    async with AnthropicEmulator() as model:
        async with run_bot("gateway", model.url, **settings) as bot:
            for text in ("hello", "how are you?", "fine"):
                await bot.population.ask({0: text})
        first, second, third = (_Input(usage) for usage in list(model.usages)[:3])
    return first, second, third


class _Input:
    """The input side of one call's usage."""

    def __init__(self, usage: Mapping[str, int]) -> None:
        read = usage["cache_read_input_tokens"]
        self.total = usage["input_tokens"] + usage["cache_creation_input_tokens"] + read
        self.read_share = 100 * read / self.total
