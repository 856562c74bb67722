"""The benchmarks can be started, and outlast a part that crashes."""

import pytest

from bench import __main__ as bench
from bench.figures import Figure


def test_all_parts_are_found() -> None:
    assert bench.main


async def test_a_part_that_crashes_leaves_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def crash() -> list[Figure]:
        raise TypeError("no role")

    async def work() -> list[Figure]:
        return [Figure(name="work", unit="s", value=1)]

    figures, crashed = await bench.measure({"crash": crash, "work": work})
    assert [one.name for one in figures] == ["work"]
    assert crashed == ["crash"]
    assert "TypeError: no role" in capsys.readouterr().err
