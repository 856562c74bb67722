"""One nursery for all tests here, and a town for each."""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.faults.deployment import Deployment
from tests.faults.driver_discord import DiscordDriver
from tests.faults.driver_slack import SlackDriver

_ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def spawner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The socket at which houses are ordered."""
    channel = tmp_path_factory.mktemp("nursery") / "door"
    with subprocess.Popen(
        [sys.executable, "-m", "tests.faults.spawner", str(channel)],
        cwd=_ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"listening\n"
        yield channel
        process.kill()


@pytest.fixture
async def deployment(tmp_path: Path, spawner: Path) -> AsyncIterator[Deployment]:
    """A town with a fresh home, and no house yet."""
    async with Deployment(tmp_path / "home", spawner) as deployment:
        yield deployment


@pytest.fixture(params=["agent", "classic"])
async def full_deployment(
    request: pytest.FixtureRequest, tmp_path: Path, spawner: Path
) -> AsyncIterator[Deployment]:
    """A town with all platforms.

    Its Slack app is an agent for which no event is kept while it is away, or a classic one.
    """
    is_agent = request.param == "agent"
    others = (DiscordDriver(), SlackDriver(is_agent=is_agent, is_forgetful=is_agent))
    async with Deployment(tmp_path / "home", spawner, drivers=others) as deployment:
        yield deployment
