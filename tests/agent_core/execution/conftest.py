"""One backend after the other, for every test of the behaviour suite."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agent_core.execution.contract import Backend
from agent_core.execution.ssh import RemoteSettings
from tests.agent_core.execution.backends import EVERY, open_backend
from tests.agent_core.execution.plain_user import become_plain_user, open_to_user
from tests.agent_core.execution.sshd import run_server


@pytest.fixture(scope="session")
def sshd() -> Iterator[RemoteSettings]:
    with TemporaryDirectory() as folder, run_server(Path(folder) / "server") as settings:
        yield settings


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder that other accounts can be let into: pytest closes its own again and again."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def plain_user(tmp_path: Path) -> Iterator[None]:
    open_to_user(tmp_path)
    with become_plain_user():
        yield


@pytest.fixture(params=EVERY)
async def backend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Backend]:
    async with open_backend(request, tmp_path) as backend:
        yield backend
