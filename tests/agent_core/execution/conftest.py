"""One backend after the other, for every test of the behaviour suite."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from agent_core.execution import Backend, RemoteSettings
from tests.agent_core.execution.backends import BACKENDS, open_backend
from tests.agent_core.execution.sshd import run_server


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RemoteSettings]:
    with run_server(tmp_path_factory.mktemp("sshd") / "server") as settings:
        yield settings


@pytest.fixture(params=BACKENDS)
async def backend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Backend]:
    async with open_backend(request, tmp_path) as backend:
        yield backend
