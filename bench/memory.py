"""Memory after the start and the first turn, and memory that each conversation leaves behind."""

from bench.bots import Bot, run_bot, run_everywhere
from bench.figures import Figure
from bench.processes import run_server

_WARM_UP = 50
_AT_ONCE = 20
_MEGA = 1_000_000
_KILO = 1_000


async def measure(*, conversations: int) -> list[Figure]:
    """Have one short conversation each, a few at a time, so that no peak counts as a leak."""
    async with (
        run_server("tests.emulators.anthropic") as model,
        run_bot("gateway", model) as gateway,
        run_bot("bare", model) as bare,
    ):
        at_start = [bot.program.resident_bytes() for bot in (gateway, bare)]
        (first,) = await gateway.population.ask({0: "hello."})
        after_turn = gateway.program.resident_bytes()
        await _dialogue(gateway, range(_WARM_UP))
        before = gateway.program.resident_bytes()
        await _dialogue(gateway, range(_WARM_UP, _WARM_UP + conversations))
        grown = gateway.program.resident_bytes() - before
    return [
        Figure(name="resident after start", unit="MB", value=at_start[0] / _MEGA, at_most=110.0),
        Figure(name="resident after start, bare bot", unit="MB", value=at_start[1] / _MEGA),
        Figure(name="resident after the first turn", unit="MB", value=after_turn / _MEGA),
        Figure(name="the first turn, with the import of the SDK", unit="s", value=first),
        Figure(
            name=f"growth per idle conversation, of {conversations:,}",
            unit="KB",
            value=grown / conversations / _KILO,
            at_most=64.0,
        ),
    ]


async def measure_everywhere() -> list[Figure]:
    """Measure all platforms at once, after one turn on each."""
    async with run_server("tests.emulators.anthropic") as model:
        async with run_everywhere("gateway", model) as program:
            ours = program.resident_bytes()
        async with run_everywhere("bare", model) as program:
            bare = program.resident_bytes()
    return [
        Figure(name="resident, three platforms on", unit="MB", value=ours / _MEGA, at_most=170.0),
        Figure(name="resident, three bare bots in one process", unit="MB", value=bare / _MEGA),
    ]


async def _dialogue(bot: Bot, people: range) -> None:
    for first in range(people.start, people.stop, _AT_ONCE):
        group = range(first, min(first + _AT_ONCE, people.stop))
        await bot.population.ask({person: f"word {person}." for person in group})
