"""The API against 20,000 requests that nobody would write."""

from pathlib import Path

import pytest

from tests.integration.canaries import fill
from tests.integration.interfaces.api_fuzz import fuzz
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA


@pytest.mark.long
async def test_20000_fuzzed_requests_get_no_500_and_nothing_of_another_person(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    await fill(home)
    (home / "config.toml").write_text(f'[access]\nallow = ["fake:{OLGA}", "fake:{ZEBRANA}"]\n')
    done = await fuzz(home, tokens=300, examples=600, is_fixed=False)
    print(sorted(done.statuses.items()))
    assert done.statuses.total() >= 20_000
    assert done.statuses[200] > 4_000
    assert (done.statuses[401], done.statuses[429]) == (0, 0)
