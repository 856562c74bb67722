"""Marks of tests that need the extra `voice`, and settings that wait for a busy machine."""

import pytest

from gateway.app.tables import MediaSettings
from gateway.media.voices.installed import can_hear, can_speak

NEEDS_VOICE = [
    pytest.mark.process,
    pytest.mark.thorough,
    pytest.mark.skipif(
        not (can_hear() and can_speak()),
        reason="the extra `voice` is not installed; `make try-voice` installs and tries it",
    ),
]
SETTINGS = MediaSettings(transcription_seconds=200, speech_seconds=200)
