"""The tokens of a plain hello, and the cached share of the second turn."""

from collections.abc import Mapping

from bench.bots import run_bot
from bench.figures import Figure
from tests.emulators.anthropic import AnthropicEmulator


async def measure() -> list[Figure]:
    """Measure with the emulator's accounting: four characters a token, prefixes cached."""
    async with AnthropicEmulator() as model:
        async with run_bot("gateway", model.url) as bot:
            for text in ("hello", "how are you?", "fine"):
                await bot.population.ask({0: text})
        first, second, third = (_Input(usage) for usage in list(model.usages)[:3])
    return [
        Figure(name="input of a bare hello", unit="tokens", value=first.total, at_most=3000),
        Figure(name="cache reads, second turn", unit="%", value=second.read_share, at_least=90),
        Figure(name="cache reads, third turn", unit="%", value=third.read_share, at_least=90),
    ]


class _Input:
    """The input side of one call's usage."""

    def __init__(self, usage: Mapping[str, int]) -> None:
        read = usage["cache_read_input_tokens"]
        self.total = usage["input_tokens"] + usage["cache_creation_input_tokens"] + read
        self.read_share = 100 * read / self.total
