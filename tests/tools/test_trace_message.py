"""The path of a message stays short."""

import asyncio

import pytest

from tools.trace_message import trace

MOST_FILES = 75


@pytest.mark.process
@pytest.mark.slow
def test_a_message_without_a_tool_passes_through_at_most_75_files() -> None:
    traces = ({file for file, _ in asyncio.run(trace("telegram"))} for _ in range(3))
    files = set.intersection(*traces)  # what runs beside the message by chance is not in all
    assert "gateway/turns/runner.py" in files
    assert len(files) <= MOST_FILES, sorted(files)
