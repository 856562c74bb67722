"""Journeys on several platforms."""

import pytest

everywhere = pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])

in_every_app = pytest.mark.parametrize(
    "platform", ["telegram", "discord", "slack", "signal", "whatsapp"]
)

both = pytest.mark.parametrize("platform", ["discord", "slack"])
