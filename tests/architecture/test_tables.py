"""A table as one test: every row is checked, and every row that fails is reported."""

import pytest

from tests.tables import await_each, check_each

ROWS = [1, 2, 3]


async def test_each_failing_row_is_reported_with_its_failure() -> None:
    def check(row: int) -> None:
        assert row == 2, "odd"

    async def wait_and_check(row: int) -> None:
        check(row)

    with pytest.raises(ExceptionGroup, match="2 of 3 rows fail") as found:
        check_each(ROWS, check)
    with pytest.raises(ExceptionGroup, match="2 of 3 rows fail") as awaited:
        await await_each(ROWS, wait_and_check)
    for group in (found.value, awaited.value):
        assert [one.__notes__ for one in group.exceptions] == [["row: 1"], ["row: 3"]]
        assert all("odd" in str(one) for one in group.exceptions)


async def test_an_empty_table_fails() -> None:
    checks: list[int] = []

    async def wait(row: int) -> None:
        checks.append(row)

    with pytest.raises(AssertionError, match="without rows"):
        check_each([], checks.append)
    with pytest.raises(AssertionError, match="without rows"):
        await await_each([], wait)
    check_each([2], checks.append)
    await await_each([3], wait)
    assert checks == [2, 3]
