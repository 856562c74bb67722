"""The rows of a table as one test, which reports every row that fails."""

from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TypeVar

Row = TypeVar("Row")


def check_each(rows: Collection[Row], check: Callable[[Row], object]) -> None:
    """Check each row. Raises the failures of all rows together, each with its row."""
    failures: list[Exception] = []
    for row in rows:
        with _collecting(row, failures):
            check(row)
    _report(rows, failures)


async def await_each(rows: Collection[Row], check: Callable[[Row], Awaitable[object]]) -> None:
    """Check each row as `check_each` does, one after the other."""
    failures: list[Exception] = []
    for row in rows:
        with _collecting(row, failures):
            await check(row)
    _report(rows, failures)


@contextmanager
def _collecting(row: object, failures: list[Exception]) -> Iterator[None]:
    try:
        yield
    except Exception as failure:
        failure.add_note(f"row: {row!r}")
        failures.append(failure)


def _report(rows: Collection[object], failures: list[Exception]) -> None:
    assert rows, "a table without rows proves nothing"
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {len(rows)} rows fail", failures)
