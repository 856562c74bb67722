"""Journeys on several platforms."""

import pytest

everywhere = pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])


both = pytest.mark.parametrize("platform", ["discord", "slack"])
