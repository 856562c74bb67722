"""The extra `voice`: real models speak, and hear what was spoken. `make try-voice` runs this."""

import io
import wave

import pytest

from agent_core.execution.subprocesses.program import make_command
from gateway.app.credentials import Secrets
from gateway.app.media import make_speech_command, make_transcriber
from gateway.media.media_command import CommandFailed
from gateway.media.speech import speak
from gateway.media.voices.installed import HEARING, SPEAKING
from tests.gateway.media.voices.installed_voice import NEEDS_VOICE, SETTINGS

pytestmark = NEEDS_VOICE


def silence(seconds: int) -> bytes:
    """A recording in which nobody speaks."""
    kept = io.BytesIO()
    with wave.open(kept, "wb") as made:
        made.setparams((1, 2, 16_000, 0, "NONE", ""))
        made.writeframes(bytes(32_000 * seconds))
    return kept.getvalue()


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("en", "Remind me tomorrow to call the dentist. <b>Please.</b>", ("tomorrow", "dentist")),
        ("de", "Erinnere mich morgen an den Zahnarzt & das Brot.", ("morgen", "zahnarzt")),
    ],
)
async def test_what_is_spoken_is_heard(language: str, text: str, words: tuple[str, ...]) -> None:
    command, transcriber = make_speech_command(SETTINGS), make_transcriber(SETTINGS, Secrets())
    assert command
    assert transcriber
    spoken = await speak(command, text, language)
    assert spoken.name == "spoken-answer.ogg"
    assert spoken.media_type == "audio/ogg; codecs=opus"
    heard = await transcriber.transcribe(spoken.data, spoken.media_type)
    assert [word for word in words if word not in heard.lower()] == []


@pytest.mark.parametrize("language", ["en-US", "de-AT", "fr", "es", "it"])
async def test_each_language_has_a_voice(language: str) -> None:
    command = make_speech_command(SETTINGS)
    assert command
    spoken = await speak(command, "Internet, Computer, Hotel, Radio.", language)
    assert spoken.media_type == "audio/ogg; codecs=opus"
    assert len(spoken.data) > 4000


async def test_a_long_answer_is_spoken_whole() -> None:
    command = make_speech_command(SETTINGS)
    assert command
    short = await speak(command, "This is a sentence.", "en")
    long = await speak(command, "This is a sentence. " * 75, "en")
    assert len(long.data) > 30 * len(short.data)


async def test_nobody_is_heard_in_silence() -> None:
    transcriber = make_transcriber(SETTINGS, Secrets())
    assert transcriber
    assert await transcriber.transcribe(silence(4), "audio/wav") == ""


async def test_a_language_without_a_voice_is_named() -> None:
    command = make_speech_command(SETTINGS)
    assert command
    with pytest.raises(CommandFailed, match="no local voice for the language pl"):
        await speak(command, "Dzień dobry", "pl")


def test_the_programs_are_those_of_this_environment() -> None:
    command = make_speech_command(SETTINGS)
    assert command
    assert command.words == make_command(SPEAKING, "{language}")
    assert not command.limits.has_network
    assert HEARING != SPEAKING
