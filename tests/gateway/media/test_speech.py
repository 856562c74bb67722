"""The words of an answer that are worth hearing, and what a program makes of them."""

import sys

import pytest

from agent_core.execution.subprocesses.confinement import ScriptLimits
from agent_core.localization import use_language
from gateway.media.media_command import CommandFailed, MediaCommand
from gateway.media.speech import select_words, speak

LIMITS = ScriptLimits(memory=500_000_000, file=1_000_000, processes=10, has_network=False)
TABLE = "| Day | Rain |\n|---|---|\n| Mon | 3 mm |\n| Tue |  |\n"


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Buy *milk* and `eggs`", "Buy milk and eggs."),
        ("# Today\n\nNothing.", "Today.\nNothing."),
        ("- tea\n- milk!\n  1. whole", "tea.\nmilk!\nwhole."),
        ("> Be there\n\nI will?", "Be there.\nI will?"),
        ("Run:\n\n```sh\nrm -rf /\n```\n\nDone 🎉", "Run:\nDone."),
        ("```\nonly code\n```", ""),
        ("See https://a.example/x?y=1, or www.b.example.", "See link, or link."),
        ("[The docs](https://a.example) and <https://b.example>", "The docs and link."),
        (TABLE, "Mon, Rain: 3 mm.\nTue."),
        ("", ""),
        ("👍", ""),
        ("Das sind 3.14 m. Gut so", "Das sind 3.14 m. Gut so."),
        ("今日は晴れ。", "今日は晴れ。"),
    ],
)
def test_only_words_are_spoken(text: str, spoken: str) -> None:
    assert select_words(text) == spoken


def test_an_address_is_named_in_the_language_of_the_person() -> None:
    with use_language("de"):
        assert select_words("Siehe https://a.example") == "Siehe Link."


def test_a_long_answer_ends_with_a_whole_sentence() -> None:
    spoken = select_words("This is a sentence. " * 200)
    assert 1400 < len(spoken) <= 1500
    assert spoken.endswith("This is a sentence.")


def test_a_long_answer_without_an_end_stops_at_a_word() -> None:
    spoken = select_words("word " * 1000)
    assert len(spoken) <= 1500
    assert spoken.endswith("word")


def command(script: str) -> MediaCommand:
    return MediaCommand(
        words=(sys.executable, "-I", "-c", f"import sys; out = sys.stdout.buffer; {script}"),
        environ={},
        limits=LIMITS,
        seconds=20,
        most_bytes=1000,
    )


@pytest.mark.process
@pytest.mark.parametrize(
    ("script", "suffix", "media_type"),
    [
        ("out.write(b'OggS' + bytes(24) + b'OpusHead')", "ogg", "audio/ogg; codecs=opus"),
        ("out.write(b'OggS' + bytes(25) + b'vorbis')", "ogg", "audio/ogg"),
        ("out.write(b'RIFF\\0\\0\\0\\0WAVE' + bytes(9))", "wav", "audio/wav"),
        ("out.write(b'ID3' + bytes(9))", "mp3", "audio/mpeg"),
        ("out.write(b'\\xff\\xfb\\x90\\0' + bytes(9))", "mp3", "audio/mpeg"),
        ("out.write(b'fLaC' + bytes(9))", "flac", "audio/flac"),
    ],
)
async def test_audio_is_known_by_its_bytes(script: str, suffix: str, media_type: str) -> None:
    recording = await speak(command(script), "Hello.", "en")
    assert recording.name == f"spoken-answer.{suffix}"
    assert recording.media_type == media_type


@pytest.mark.process
@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("pass", "it wrote no audio"),
        ("print('Hello')", "it wrote no audio"),
        ("out.write(bytes(2000))", "it wrote more than 1,000 bytes"),
        ("sys.exit('no such voice')", "it ended with status 1: no such voice"),
    ],
)
async def test_a_program_that_speaks_nothing_fails(script: str, why: str) -> None:
    with pytest.raises(CommandFailed) as caught:
        await speak(command(script), "Hello.", "en")
    assert str(caught.value) == why
