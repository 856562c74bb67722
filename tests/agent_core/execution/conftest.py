"""One backend after the other, for every test of the behaviour suite."""

from pathlib import Path

import pytest

from agent_core.execution import Backend
from tests.agent_core.execution.backends import BACKENDS, MARKS


@pytest.fixture(params=[pytest.param(name, marks=MARKS[name]) for name in BACKENDS])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    return BACKENDS[request.param](tmp_path)
