"""The time to the first answer after a start, and the share of importing the SDKs."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.bots import BotName, arguments_of, compose_environment
from bench.figures import Figure
from bench.population import TelegramPopulation
from bench.processes import run_program, run_server, time_program

_IMPORT = ("-c", "import telegram.ext, anthropic")


async def measure(*, rounds: int) -> list[Figure]:
    """Return medians over cold homes; the first compiles bytecode and is not counted."""
    imports: list[float] = []
    starts: dict[BotName, list[tuple[float, float]]] = {"gateway": [], "bare": []}
    async with run_server("tests.emulators.anthropic") as model:
        for number in range(rounds + 1):
            took = await time_program(_IMPORT, {})
            gateway, bare = await _start("gateway", model), await _start("bare", model)
            if number:
                imports.append(took)
                starts["gateway"].append(gateway)
                starts["bare"].append(bare)
    ready = {name: median(ready for ready, _ in taken) for name, taken in starts.items()}
    first = {name: median(first for _, first in taken) for name, taken in starts.items()}
    return [
        Figure(name="importing telegram and anthropic", unit="s", value=median(imports)),
        Figure(name="start to first poll", unit="s", value=ready["gateway"], at_most=1.5),
        Figure(name="start to first poll, bare bot", unit="s", value=ready["bare"]),
        Figure(
            name="start to first poll, in imports",
            unit="times",
            value=ready["gateway"] / median(imports),
            at_most=3.0,
        ),
        Figure(name="start to first answer", unit="s", value=first["gateway"], bare=first["bare"]),
    ]


async def _start(name: BotName, model: str) -> tuple[float, float]:
    """Return seconds to the first poll, and to the answer to a waiting message."""
    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        home = Path(folder)
        async with TelegramPopulation() as population:
            environ = compose_environment([population], model, home)
            asking = asyncio.create_task(population.ask({0: "first word."}))
            async with run_program(arguments_of(name), environ, home / "output.log") as program:
                polled = await population.wait_for_poll()
                return polled - program.started, (await asking)[0]


async def measure_words() -> list[Figure]:
    """Measure the command line."""
    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        environ = {"TALARIA_HOME": folder}
        return [
            Figure(
                name=f"talaria {words[-1]}",
                unit="s",
                value=await _best(words, environ),
                at_most=0.5,
            )
            for words in (("-m", "gateway", "--help"), ("-m", "gateway", "check"))
        ]


async def _best(arguments: Sequence[str], environ: dict[str, str]) -> float:
    return min([await time_program(arguments, environ) for _ in range(3)])
