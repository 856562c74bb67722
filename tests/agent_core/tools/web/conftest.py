"""A small web on loopback."""

from collections.abc import AsyncIterator

import pytest

from tests.emulators.sources import Sources


@pytest.fixture
async def web() -> AsyncIterator[Sources]:
    async with Sources() as sources:
        yield sources
