"""The gateway that tests of the API ask."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel
from tests.integration.canaries import fill
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, Setup, make_token
from tests.integration.served import served


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("filled") / "home"
    asyncio.run(fill(home))
    (home / "config.toml").write_text(f'[access]\nallow = ["fake:{OLGA}", "fake:{ZEBRANA}"]\n')
    return home


@pytest.fixture
def home(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(filled, tmp_path / "home"))


@pytest.fixture
async def setup(home: Path) -> AsyncIterator[Setup]:
    chat, model = FakeChat(limit=100_000), FakeModel()
    async with served(home, adapters={"fake": chat}, model=model) as running:
        olga, zebrana = await make_token(home, "olga"), await make_token(home, "zebrana")
        yield Setup(running, chat, model, home, olga, zebrana)
