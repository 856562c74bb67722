"""The cost of a request to `/v1/chat/completions`, beside that of a turn on Telegram."""

import asyncio
import re
import socket
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp

from bench.bots import compose_environment
from bench.figures import Figure, percentile
from bench.population import TelegramPopulation
from bench.processes import ROOT, Program, clean_environment, run_program, run_server

_PAGE = re.compile(r"http://127\.0\.0\.1:\d+")
_DIALOGUE = 25
"""Turns of one conversation before the next one, on both sides."""
_GOAL = 1.3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    program: Program
    population: TelegramPopulation
    session: aiohttp.ClientSession
    url: str
    keys: Sequence[str]
    """One for each round: the API limits the requests of a key in a minute."""


async def measure(*, block: int, rounds: int) -> list[Figure]:
    """Alternate blocks of both kinds of turns in one gateway, message after message."""
    seconds: dict[str, list[float]] = {"api": [], "telegram": []}
    cpu = dict.fromkeys(seconds, 0.0)
    async with _run(keys=rounds + 1) as side:
        for number in range(rounds + 1):
            for kind, ask in (("telegram", _ask_telegram), ("api", _ask_api)):
                before = side.program.cpu_seconds()
                taken = [await ask(side, number, number * block + turn) for turn in range(block)]
                if number:  # the first block warms up
                    cpu[kind] += side.program.cpu_seconds() - before
                    seconds[kind] += taken
    done = block * rounds
    api, telegram = (percentile(seconds[kind], 0.5) * 1000 for kind in ("api", "telegram"))
    return [
        Figure(name="api: p50", unit="ms", value=api, bare=telegram, at_most=_GOAL),
        Figure(
            name="api: CPU",
            unit="ms",
            value=cpu["api"] / done * 1000,
            bare=cpu["telegram"] / done * 1000,
            at_most=_GOAL,
        ),
    ]


@asynccontextmanager
async def _run(*, keys: int) -> AsyncIterator[_Side]:
    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        home = Path(folder)
        async with run_server("bench.quick_model") as model, TelegramPopulation() as population:
            environ = compose_environment([population], model, home) | {
                "TALARIA_HTTP__PORT": str(_find_port()),
            }
            async with run_program(
                ("-m", "gateway", "run"), environ, home / "output.log"
            ) as program:
                await population.wait_for_poll()
                address = await _read_address(program)
                await population.ask({0: "hello."})
                async with aiohttp.ClientSession() as session:
                    yield _Side(
                        program=program,
                        population=population,
                        session=session,
                        url=f"{address}/v1/chat/completions",
                        keys=[await _make_key(environ, number) for number in range(keys)],
                    )


async def _ask_telegram(side: _Side, _: int, turn: int) -> float:
    return (await side.population.ask({turn // _DIALOGUE: f"word {turn}."}))[0]


async def _ask_api(side: _Side, number: int, turn: int) -> float:
    """Ask as OpenAI's clients do, streaming. The answer counts when its last byte is there."""
    body = {
        "model": "talaria",
        "stream": True,
        "messages": [{"role": "user", "content": f"word {turn}."}],
    }
    head = {
        "Authorization": f"Bearer {side.keys[number]}",
        "Talaria-Conversation": f"bench-{turn // _DIALOGUE}",
    }
    started = time.monotonic()
    async with side.session.post(side.url, json=body, headers=head) as answer:
        answer.raise_for_status()
        whole = await answer.read()
    taken = time.monotonic() - started
    assert f"word {turn}.".encode() in whole, whole
    return taken


def _find_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def _read_address(program: Program) -> str:
    while line := await program.output.readline():
        if found := _PAGE.search(line.decode()):
            return found[0]
    raise RuntimeError("the gateway ended before it was ready")


async def _make_key(environ: dict[str, str], number: int) -> str:
    """Make a token of the first person, as its owner would."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "tokens", "create", f"bench {number}"),
        *("--person", "person-10000", "--scope", "api"),
        cwd=ROOT,
        env=clean_environment(environ),
        stdout=asyncio.subprocess.PIPE,
    )
    shown, _ = await process.communicate()
    return next(word for word in shown.decode().split() if word.startswith("talaria_"))
