"""The trace of a message names the files that it passes through."""

import asyncio

import pytest

from tools.trace_message import trace


@pytest.mark.process
@pytest.mark.slow
def test_the_trace_of_a_message_names_the_runner_of_its_turn() -> None:
    files = {file for file, _ in asyncio.run(trace("telegram"))}
    assert "gateway/turns/runner.py" in files
