"""The pages about usage: days, people, what caching saved, and today's limits."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent_core.ids import PersonId
from agent_core.localization import say_day
from agent_core.state.conversations import usage
from agent_core.state.conversations.usage import ModelCall
from agent_core.state.engine.database import Connection, Database
from agent_core.state.engine.database import now as wall_clock
from agent_core.state.people import people
from gateway.home import DATABASE
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel
from tests.integration.interfaces.api_setup import ZEBRANA, Setup, find_named
from tests.integration.interfaces.console_setup import browse, browse_as
from tests.integration.interfaces.page_texts import find_row, read
from tests.integration.served import Served, served

DAY = 86_400_000
CALL = ModelCall(
    purpose="turn",
    model="claude-sonnet-4-5",
    input_tokens=1_000_000,
    cache_read_tokens=2_000_000,
    cache_write_tokens=1_000_000,
    output_tokens=10,
    micro_dollars=7_654_321,
)
"""Three dollars are the price of a million tokens read afresh, 0.30 of cached ones, 3.75 of written
ones: reading saves 5.40 dollars, and writing costs 0.75 more.
"""
FREE = replace(CALL, model="llama-local", purpose="title", micro_dollars=None)


def show_day(moment: datetime) -> str:
    """Show a day as the pages do."""
    return say_day(moment.date(), moment.date() + timedelta(days=7))


async def spend(running: Served, person_id: PersonId, call: ModelCall, at: int) -> None:
    """Record a call of a person."""
    await running.gateway.database.write(
        "test", lambda c: usage.insert(c, call, person_id=person_id, turn_id=None, now=at)
    )


def clear(connection: Connection) -> None:
    """Forget what the people of the home have used."""
    for table in ("usage", "usage_sums"):
        connection.execute(f"DELETE FROM {table}")


@pytest.fixture
async def clean(setup: Setup) -> Setup:
    """A gateway whose people have used nothing yet."""
    await setup.served.gateway.database.write("test", clear)
    return setup


async def test_a_person_sees_what_each_day_cost_and_what_caching_saved(clean: Setup) -> None:
    running = clean.served
    zebrana, olga = await find_named(clean, "zebrana"), await find_named(clean, "olga")
    now = running.gateway.now()
    for person, call, at in (
        (zebrana, CALL, now),
        (zebrana, CALL, now - DAY),
        (zebrana, replace(CALL, micro_dollars=1_000_000), now - DAY),
        (zebrana, replace(CALL, micro_dollars=500_000_000), now - 31 * DAY),
        (olga, replace(CALL, micro_dollars=9_000_000), now),
    ):
        await spend(running, person.id, call, at)
    async with browse_as(running, clean.chat, ZEBRANA) as session:
        text = await read(session, "/usage")
    day = show_day(datetime.fromtimestamp((now - DAY) / 1000, tz=UTC))
    cells = find_row(text, day)
    assert cells[-6:] == ["$8.6543", "2", "2,000,000", "2,000,000", "4,000,000", "20"]
    assert f"<title>{day}: $8.6543</title>" in text
    assert text.count("<title>") == 1 + 2 * 30
    assert find_row(text, "Total")[-6:-4] == ["$16.3086", "3"]
    assert "6,000,000 tokens were read from the cache: 50% of all that was read." in text
    assert (
        "Caching saved $13.95: reading cost $16.20 less, and writing the cache $2.25 more,"
        " at today&#39;s prices." in text
    )
    assert find_row(text, "Models with a price")[:2] == ["$7.6543", "$5.00"]
    assert "153%" in text
    assert find_row(text, "Models without a price")[:2] == ["0 tokens", "5,000,000 tokens"]
    assert "An owner can change the limits." in text
    for hidden in ("$9.00", "house_day", "Everyone", "by=person", "/people"):
        assert hidden not in text


async def test_what_has_no_price_is_unknown_and_never_free(clean: Setup) -> None:
    running, olga = clean.served, await find_named(clean, "olga")
    await spend(running, olga.id, FREE, running.gateway.now())
    async with browse(running) as session:
        text = await read(session, "/usage?by=purpose")
    assert '<p class="figure">4,000,010 tokens</p>' in text
    assert find_row(text, "Total")[:2] == ["4,000,010 tokens", "4,000,010 tokens"]
    assert "No price known for: llama-local. So I can" in text
    assert "Caching saved" not in text
    assert find_row(text, "Models without a price")[:2] == ["4,000,010 tokens", "5,000,000 tokens"]
    assert '<th scope="col">Titles</th>' in text
    assert 'href="/usage?by=purpose" aria-current="true"' in text
    assert 'hx-get="/usage?by=purpose"' in text
    assert "cost.person_day_usd, cost.person_day_tokens" in text


async def test_an_owner_sees_everyones_usage_by_person_model_and_purpose(home: Path) -> None:
    now = wall_clock()

    def work(connection: Connection) -> None:
        clear(connection)
        ids = {one.slug: one.id for one in people.list_all(connection)}
        for slug, call, at in (
            ("zebrana", CALL, now),
            ("zebrana", CALL, now - 3 * DAY),
            ("olga", replace(CALL, purpose="title", micro_dollars=2_000_000), now),
        ):
            usage.insert(connection, call, person_id=ids[slug], turn_id=None, now=at)

    database = await Database.open(home / DATABASE)
    await database.write("test", work)
    await database.close()
    async with (
        served(home, adapters={"fake": FakeChat()}, model=FakeModel(), now=lambda: now) as running,
        browse(running) as session,
    ):
        text = await read(session, "/people/usage?by=person")
        models = await read(session, "/people/usage?by=model")
        unknown = await read(session, "/people/usage?by=bluefish")
    assert find_row(text, "Zebrana") == ["$7.6543", "$15.3086", "2"]
    assert find_row(text, "Total")[:3] == ["$15.3086", "$2.00", "$17.3086"]
    assert "</svg>Zebrana</li>" in text
    assert "</svg>claude-sonnet-4-5</li>" in models
    assert "</svg>claude-sonnet-4-5</li>" in unknown
    assert find_row(text, "Models with a price")[:2] == ["$9.6543", "$50.00"]
    assert "cost.house_day_usd, cost.house_day_tokens" in text
    assert "bluefish" not in text


async def test_the_sixth_and_later_are_called_others(clean: Setup) -> None:
    running, olga = clean.served, await find_named(clean, "olga")
    for number in range(1, 8):
        call = replace(CALL, model=f"nest-{number}", micro_dollars=number * 10_000)
        await spend(running, olga.id, call, running.gateway.now())
    async with browse(running) as session:
        text = await read(session, "/usage")
    names = re.findall(r"</svg>([^<]+)</li>", text)[:6]
    assert names == [*(f"nest-{number}" for number in (7, 6, 5, 4, 3)), "Others"]
    assert find_row(text, "Total")[5] == "$0.03"


async def test_days_are_those_of_the_reader_and_an_empty_page_says_so(home: Path) -> None:
    noon = int(datetime(2026, 10, 26, 12, tzinfo=UTC).timestamp() * 1000)
    late = int(datetime(2026, 10, 24, 22, 30, tzinfo=UTC).timestamp() * 1000)
    with (home / "config.toml").open("a") as file:
        file.write('[people]\ntime_zone = "Europe/Vienna"\n')
    async with served(
        home, adapters={"fake": FakeChat()}, model=FakeModel(), now=lambda: noon
    ) as running:
        async with browse(running) as session:
            text = await read(session, "/usage")
            assert "No model was called in the last 30 days." in text
        everybody = Setup(running, FakeChat(), FakeModel(), home, "", "")
        olga = await find_named(everybody, "olga")
        await spend(running, olga.id, CALL, late)
        async with browse(running) as session:
            text = await read(session, "/usage")
    # The clocks go back on 25 October; 22:30 UTC the evening before is half past midnight.
    assert find_row(text, show_day(datetime(2026, 10, 25, tzinfo=UTC)))[-5] == "1"
    assert find_row(text, show_day(datetime(2026, 10, 24, tzinfo=UTC)))[-5] == "0"
