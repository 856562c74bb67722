"""The API against requests that nobody would write, in few examples."""

from pathlib import Path

import pytest

from tests.integration.interfaces.api_fuzz import fuzz


@pytest.mark.thorough
@pytest.mark.process
async def test_fuzzed_requests_get_no_500_and_nothing_of_another_person(home: Path) -> None:
    done = await fuzz(home, tokens=20, examples=6, is_fixed=True)
    assert done.statuses.total() > 100
    assert done.statuses[200] > 20
    assert {404, 400} <= set(done.statuses)
