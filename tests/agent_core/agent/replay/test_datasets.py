"""An export loads in Hugging Face's `datasets`, which training programs use, as it was written."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from agent_core.agent.replay.formats import TrajectoryFormat
from agent_core.agent.replay.trajectories import render_trajectory
from agent_core.transcript import Message, TextPart
from tests.agent_core.agent.replay.talk import TALK, answer, calling, result, user

datasets = pytest.importorskip("datasets", reason="the package datasets is not installed")

OTHER = replace(
    TALK,
    person="ben",
    messages=(
        user(TextPart(text="again")),
        answer(calling("c1", '{"count": 5, "names": ["a"], "text": null}')),
        Message(role="tool", parts=(result("c1", "Done."),)),
        answer(TextPart(text="Yes.")),
    ),
)
"""A conversation whose calls have other arguments."""


@pytest.mark.slow
@pytest.mark.parametrize("wanted", get_args(TrajectoryFormat))
def test_an_export_loads_as_it_was_written(tmp_path: Path, wanted: TrajectoryFormat) -> None:
    lines = [render_trajectory(one, wanted) for one in (TALK, OTHER)]
    file = tmp_path / "talks.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines))
    cache = str(tmp_path / "cache")
    rows = datasets.load_dataset("json", data_files=str(file), cache_dir=cache, split="train")
    assert [_trim(row) for row in rows] == [_trim(json.loads(line)) for line in lines]


def _trim(value: Any) -> Any:
    """Leave out what is empty: a table has every key in every row."""
    if isinstance(value, dict):
        return {key: _trim(one) for key, one in value.items() if one is not None}
    return [_trim(one) for one in value] if isinstance(value, list) else value
