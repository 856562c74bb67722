"""The inlet that every adapter of these tests fills."""

import pytest

from tests.fakes.inlet import FakeInlet


@pytest.fixture
def inlet() -> FakeInlet:
    return FakeInlet()
