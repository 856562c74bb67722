"""The bench of skills: the test of a skill tells what helps from what harms."""

from pathlib import Path

import pytest

from bench.learning.skill_success import SKILLS, count_successes, list_tasks, measure


@pytest.mark.parametrize(
    ("name", "counts", "result"),
    [
        ("right", (5, 11, 11), "passed"),
        ("careless", (3, 3, 6), "failed"),
        ("useless", (5, 5, 10), "same"),
    ],
)
async def test_a_skill_passes_only_if_tasks_go_better_with_it(
    tmp_path: Path, name: str, counts: tuple[int, int, int], result: str
) -> None:
    runs, verdict = await measure(tmp_path, name)
    assert len(list_tasks()) == 12
    assert not [text for text in SKILLS.values() for case in list_tasks() if case.prompt in text]
    having = count_successes(runs, "with")
    assert (count_successes(runs, "without"), having, len(runs) // 2) == counts
    assert verdict.result == result
