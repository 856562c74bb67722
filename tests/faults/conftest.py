"""One nursery for all tests here, and a town for each."""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.faults.quarter_discord import DiscordQuarter
from tests.faults.quarter_slack import SlackQuarter
from tests.faults.town import Town

_ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The socket at which houses are ordered."""
    channel = tmp_path_factory.mktemp("nursery") / "door"
    with subprocess.Popen(
        [sys.executable, "-m", "tests.faults.nursery", str(channel)],
        cwd=_ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"listening\n"
        yield channel
        process.kill()


@pytest.fixture
async def town(tmp_path: Path, nursery: Path) -> AsyncIterator[Town]:
    """A town with a fresh home, and no house yet."""
    async with Town(tmp_path / "home", nursery) as town:
        yield town


@pytest.fixture(params=["agent", "classic"])
async def city(
    request: pytest.FixtureRequest, tmp_path: Path, nursery: Path
) -> AsyncIterator[Town]:
    """A town with all platforms.

    Its Slack app is an agent for which no event is kept while it is away, or a classic one.
    """
    is_agent = request.param == "agent"
    others = (DiscordQuarter(), SlackQuarter(is_agent=is_agent, is_forgetful=is_agent))
    async with Town(tmp_path / "home", nursery, quarters=others) as town:
        yield town
