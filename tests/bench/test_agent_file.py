"""The import of an agent file is measured, and a failure ends the process."""

import asyncio
import resource

import pytest

from bench import agent_file
from tests.integration.processes import run_fork

_MOST_BYTES = 1_500_000
"""Enough for an empty database, and too little for the messages."""


async def test_a_file_of_few_messages_is_measured() -> None:
    figures = await agent_file.measure(messages=20)
    assert [one.name for one in figures] == [
        "agent file of 20 messages",
        "CPU of the import and the other writes",
        "longest other write meanwhile",
    ]
    assert all(one.value > 0 for one in figures)


def measure_on_a_full_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_BYTES, resource.RLIM_INFINITY))
    asyncio.run(agent_file.measure(messages=3000))


@pytest.mark.thorough
@pytest.mark.process
def test_a_measurement_that_crashes_ends() -> None:
    assert run_fork(measure_on_a_full_disk) == 1
