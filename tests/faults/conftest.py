"""Start gateways from one warm process, and give each test a deployment."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.faults.deployment import Deployment
from tests.faults.driver_discord import DiscordDriver
from tests.faults.driver_signal import SignalDriver
from tests.faults.driver_slack import SlackDriver
from tests.faults.driver_whatsapp import WhatsAppDriver
from tests.faults.spawner import serve
from tests.integration.processes import FORKS


@pytest.fixture(scope="session")
def spawner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The socket that starts gateways."""
    channel = tmp_path_factory.mktemp("spawner") / "socket"
    ready, listening = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=serve, args=(str(channel), listening))
    process.start()
    listening.close()
    ready.recv()
    yield channel
    process.kill()
    process.join()


@pytest.fixture
async def deployment(tmp_path: Path, spawner: Path) -> AsyncIterator[Deployment]:
    """A deployment with a fresh home and Telegram. No gateway runs yet."""
    async with Deployment(tmp_path / "home", spawner) as deployment:
        yield deployment


@pytest.fixture(params=["agent", "classic"])
async def full_deployment(
    request: pytest.FixtureRequest, tmp_path: Path, spawner: Path
) -> AsyncIterator[Deployment]:
    """A deployment with all platforms.

    The Slack app is either an agent whose missed events are dropped, or a classic app.
    """
    is_agent = request.param == "agent"
    others = (
        DiscordDriver(),
        SlackDriver(is_agent=is_agent, is_forgetful=is_agent),
        SignalDriver(),
        WhatsAppDriver(),
    )
    async with Deployment(tmp_path / "home", spawner, drivers=others) as deployment:
        yield deployment
