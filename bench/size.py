"""What `state.db` keeps of a message, table by table, beside the text and a plain FTS5 table of it.

`python -m bench.size [turns] [--long] [--old]`. People write to the gateway on the emulated
Telegram, and the model repeats their words. Sizes are pages of the closed database, without those
that an empty one has. The plain table is FTS5 with its defaults, which keeps the text and an index
of it.
"""

import argparse
import asyncio
import random
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_core.state.lifecycle import retention
from agent_core.state.lifecycle.retention import Span
from bench.bots import compose_environment
from bench.population import TelegramPopulation
from bench.processes import run_program, run_server
from bench.retrieval.town import Talkers
from tests.agent_core.state.schema import migrate

_DIALOGUE = 25
"""Turns of one person before the next person."""
_LONGEST = 4000
"""Characters; Telegram takes 4,096."""
_SIZES = "SELECT name, SUM(pgsize) FROM dbstat GROUP BY name"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.size", description=__doc__)
    parser.add_argument("turns", type=int, nargs="?", default=500)
    parser.add_argument("--long", action="store_true", help="let the messages be long")
    parser.add_argument("--old", action="store_true", help="let a day pass, and its nightly sweep")
    given = parser.parse_args()
    talkers = Talkers(random.Random(4))
    write = talkers.answer if given.long else talkers.say
    texts = [f"{write()[:_LONGEST]} {number}" for number in range(given.turns)]
    with TemporaryDirectory(prefix="talaria-size-") as folder:
        asyncio.run(_converse(Path(folder), texts))
        with closing(sqlite3.connect(Path(folder) / "home" / "state.db")) as connection:
            if given.old:
                ever = Span(after=0, until=2**62, before=2**62)
                retention.sweep_copies(connection, span=ever)
                connection.commit()
            stored = [row[0] for row in connection.execute("SELECT text FROM messages")]
            report(connection.execute(_SIZES).fetchall(), stored)


async def _converse(home: Path, texts: Sequence[str]) -> None:
    """Write every text to the gateway, and stop it."""
    async with run_server("bench.quick_model") as model_url, TelegramPopulation() as population:
        environ = compose_environment([population], model_url, home)
        async with run_program(("-m", "gateway", "run"), environ, home / "output.log"):
            await population.wait_for_poll()
            for number, text in enumerate(texts):
                await population.ask({number // _DIALOGUE: text})


def report(sizes: Sequence[tuple[str, int]], texts: Sequence[str]) -> None:
    """Print the bytes a message of each table and index, largest first."""
    kept = Counter(dict(sizes))
    with closing(sqlite3.connect(":memory:")) as empty:
        migrate(empty)
        kept.subtract(dict(empty.execute(_SIZES).fetchall()))
    text = sum(len(one.encode()) for one in texts)
    plain = measure_plain(texts)
    print(f"{len(texts):,} messages, {text / len(texts):,.0f} bytes of text a message\n")
    for name, size in [*kept.most_common(), ("total", kept.total()), ("plain FTS5", plain)]:
        if size > 0:
            print(f"{name:28}{size / len(texts):10,.0f} bytes a message{size / text:8.2f} x text")
    print(f"\n{kept.total() / plain:.2f} x plain FTS5")


def measure_plain(texts: Sequence[str]) -> int:
    """Return the bytes of a table of FTS5 as it comes."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE plain USING fts5 (text)")
        connection.executemany("INSERT INTO plain VALUES (?)", [(one,) for one in texts])
        sizes: Mapping[str, int] = dict(connection.execute(_SIZES).fetchall())
    return sum(sizes.values())


if __name__ == "__main__":
    main()
