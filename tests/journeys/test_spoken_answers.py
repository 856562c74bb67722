"""Spoken answers: a voice message or an audio file after the text."""

import asyncio
import signal
import sys
from pathlib import Path

from adapters.messages import OutboundFile
from tests.emulators import telegram_faults as faults
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.telegram_cast import ANNA, BEN, SUPERGROUP
from tests.integration.processes import running
from tests.journeys.accounts import Account, Seen, texts
from tests.journeys.identities import claim
from tests.journeys.platforms import everywhere, in_every_app
from tests.journeys.stage import PATIENCE, Harness, Stage

VOICE = OutboundFile(name="voice.ogg", media_type="audio/ogg", data=b"OggS" + bytes(100))
SPEAKER = r'''
import pathlib, sys, time, wave
kind, words = sys.argv[1], sys.stdin.buffer.read()
with open(sys.argv[2], "ab") as log:
    log.write(sys.argv[3].encode() + b": " + words + b"\n")

def page(number, flags, position, packet):
    """Write a page of an OGG file with its checksum (RFC 3533)."""
    head = b"OggS\0" + bytes([flags]) + position.to_bytes(8, "little") + b"talk"
    head += number.to_bytes(4, "little")
    sizes = [255] * (len(packet) // 255) + [len(packet) % 255]
    tail = bytes([len(sizes), *sizes]) + packet
    crc = 0
    for byte in head + bytes(4) + tail:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04C11DB7 if crc >> 31 else crc << 1) & 0xFFFFFFFF
    return head + crc.to_bytes(4, "little") + tail

if kind == "opus":
    about = b"OpusHead\1\1\0\0\x80\xbb\0\0\0\0\0"
    notes = b"OpusTags" + len(words).to_bytes(4, "little") + words + bytes(4)
    silence = b"\xf8\xff\xfe"
    pages = [(0, 2, 0, about), (1, 0, 0, notes), (2, 4, 960, silence)]
    sys.stdout.buffer.write(b"".join(page(*one) for one in pages))
elif kind == "wav":
    with wave.open("answer.wav", "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(800))
    sys.stdout.buffer.write(pathlib.Path("answer.wav").read_bytes())
elif kind == "text":
    print("no audio at all")
elif kind == "fail":
    sys.exit("no voice is installed")
elif kind == "once":
    mark = pathlib.Path(sys.argv[2] + ".once")
    is_first = not mark.exists()
    mark.write_text("begun")
    time.sleep(600 if is_first else 0)
    sys.stdout.buffer.write(b"OggS" + bytes(24) + b"OpusHead" + bytes(40))
else:
    time.sleep(600)
'''


def speech(stage: Stage, kind: str, **more: str) -> dict[str, str]:
    """Return the settings of a program that speaks in a given way."""
    script = stage.home.parent / "speak.py"
    script.write_text(SPEAKER)
    words = [sys.executable, "-I", str(script), kind, str(log_of(stage)), "{language}"]
    return {"TALARIA_MEDIA__SPEECH_COMMAND": ",".join(words)} | more


def log_of(stage: Stage) -> Path:
    """Return the texts that the program had to speak."""
    return stage.home.parent / "spoken.log"


def files(account: Account) -> list[Seen]:
    return [one for one in account.seen() if one.file]


async def hear_files(harness: Harness, account: Account, number: int) -> list[Seen]:
    """Return the audio messages once there are `number` and all is delivered."""
    await harness.until(lambda: len(files(account)) >= number)
    await harness.at_rest()
    await done(harness)
    return files(account)


async def done(harness: Harness) -> None:
    """Wait until no answer is left to speak."""
    async with asyncio.timeout(PATIENCE):
        while await harness.count("tasks", "kind = 'speech' AND state IN ('owed', 'running')"):
            await asyncio.sleep(0.01)
    await harness.at_rest()


@in_every_app
async def test_an_answer_is_followed_by_its_audio_which_notifies_nobody(
    apps: Stage, platform: str
) -> None:
    anna = apps.account(platform, ANNA)
    async with apps.open(**speech(apps, "opus")) as harness:
        assert "Spoken answers: always" in await harness.hears(
            anna, "/settings spoken_answers always"
        )
        apps.plan("Buy **milk**.\n\n```\nrm -rf\n```\nSee https://shop.example/a?b=c.")
        await harness.takes(anna.says("what do I need?"))
        (audio,) = await hear_files(harness, anna, 1)
        assert audio.file
        name, data = audio.file
        if platform != "whatsapp":  # its voice messages have no names
            assert name == "spoken-answer.ogg"
        assert data.startswith(b"OggS")
        assert b"Buy milk.\nSee link." in data
        text, last = anna.seen()[-2:]
        assert "Buy" in text.text
        assert "rm -rf" in text.text
        assert last.id == audio.id
        assert not audio.text
        if platform in ("telegram", "discord"):  # the others have no silent messages
            assert text.rings
            assert not audio.rings
        assert len(apps.turns) == 1
    assert apps.telegram.calls["sendVoice"] == (1 if platform == "telegram" else 0)


@everywhere
async def test_a_voice_message_is_answered_with_voice_and_a_text_with_text(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with OpenAIEmulator() as ears:
        ears.transcripts.append("We are out of milk")
        hearing = {
            "TALARIA_MEDIA__TRANSCRIPTION": "openai",
            "OPENAI_API_KEY": "key",
            "OPENAI_BASE_URL": ears.base_url,
        }
        async with deployment.open(**speech(deployment, "wav"), **hearing) as harness:
            await harness.hears(anna, "/settings spoken_answers to voice messages")
            deployment.plan("Typed.", "Spoken.")
            assert await harness.hears(anna, "Spoken: a machine wrote this") == "Typed."
            await done(harness)
            assert not files(anna)
            await harness.takes(anna.says("", files=[VOICE]))
            (audio,) = await hear_files(harness, anna, 1)
            assert audio.file
            assert audio.file[0] == "spoken-answer.wav"
            assert audio.file[1].startswith(b"RIFF")
            assert texts(anna)[-2:] == ["Spoken.", ""]
    assert log_of(deployment).read_text() == "en: Spoken.\n"


async def test_a_person_turns_it_on_and_off_with_buttons_in_their_language(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    async with stage.open(**speech(stage, "opus")) as harness:
        await harness.hears(anna, "/settings language de")
        shown = await harness.hears(anna, "/settings")
        assert "• Gesprochene Antworten: aus" in shown
        await harness.press(anna, "Antworten immer sprechen")
        assert "• Gesprochene Antworten: immer" in anna.seen()[-1].text
        stage.plan("Guten Morgen.", "Gute Nacht.")
        await harness.takes(anna.says("hallo"))
        (audio,) = await hear_files(harness, anna, 1)
        assert audio.file
        assert audio.file[0] == "gesprochene-antwort.ogg"
        await harness.hears(anna, "/settings spoken_answers off")
        await harness.hears(anna, "und jetzt?")
        await done(harness)
        assert len(files(anna)) == 1
    assert log_of(stage).read_text() == "de: Guten Morgen.\n"


async def test_without_a_program_one_sentence_says_what_is_missing(stage: Stage) -> None:
    anna, ben = stage.account("telegram", ANNA), stage.account("telegram", BEN)
    async with stage.open() as harness:
        await claim(harness)
        assert "Spoken" not in await harness.hears(anna, "/settings")
        told = await harness.hears(anna, "/settings spoken_answers always")
        assert "Install the extra talaria[voice], or set media.speech_command" in told
        told = await harness.hears(ben, "/settings spoken_answers always")
        assert told == "Spoken answers aren't set up here. Please ask my owner."


async def test_a_program_that_fails_loses_nothing_and_the_owner_is_told_once_a_day(
    stage: Stage,
) -> None:
    anna, ben = stage.account("telegram", ANNA), stage.account("telegram", BEN)
    for kind, seconds, why in (
        ("fail", "30", "Details: “it ended with status 1: no voice is installed.”"),
        ("text", "30", "Details: “it wrote no audio.”"),
        ("slow", "1", "took longer than 1 s."),
    ):
        settings = speech(stage, kind, TALARIA_MEDIA__SPEECH_SECONDS=seconds)
        async with stage.open(**settings) as harness:
            if harness.gateway.claim_code:
                await claim(harness)
                await harness.hears(anna, "hello")
            await harness.gateway.database.write(
                "test.day", lambda c: c.execute("DELETE FROM meta WHERE key = 'speech_reported'")
            )
            before = len(anna.seen())
            await harness.hears(ben, "/settings spoken_answers always")
            for word in ("One.", "Two."):
                stage.plan(word)
                assert await harness.hears(ben, "say something") == word
                await done(harness)
            (report,) = anna.seen()[before:]
            assert "I couldn't read an answer aloud: the voice" in report.text
            assert why in report.text
            assert not report.rings
            assert not files(ben)


async def test_a_person_who_blocks_voice_messages_gets_a_file(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    stage.telegram.deeds.deaf.add(ANNA)
    async with stage.open(**speech(stage, "opus")) as harness:
        await harness.hears(anna, "/settings spoken_answers always")
        await harness.takes(anna.says("hello"))
        await hear_files(harness, anna, 1)
    assert stage.telegram.calls["sendDocument"] == 1


async def test_an_answer_that_takes_long_to_speak_delays_no_other_work(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    async with stage.open(**speech(stage, "slow")) as harness:
        await harness.hears(anna, "/settings spoken_answers always")
        for word in ("one", "two", "three"):
            await harness.hears(anna, word)
        async with asyncio.timeout(PATIENCE):
            while not await harness.count("tasks", "kind = 'title' AND state = 'done'"):
                await asyncio.sleep(0.01)
        assert await harness.count("tasks", "kind = 'speech' AND state = 'running'") == 1


async def test_forgotten_messages_are_not_kept_as_audio(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    async with stage.open(**speech(stage, "opus")) as harness:
        await harness.hears(anna, "/settings spoken_answers always")
        stage.plan("The treasure lies below the oak.")
        await harness.takes(anna.says("where is it?"))
        await hear_files(harness, anna, 1)
        assert await harness.count("files", "length(data) > 0") == 1
        await harness.hears(anna, "/forget oak")
        await harness.press(anna, "Notes and messages")
        await harness.sees(ANNA, "Deleted:")
        assert await harness.count("files", "length(data) > 0") == 0
        assert await harness.count("tasks", "payload LIKE '%oak%'") == 0


async def test_an_answer_in_a_group_is_not_spoken(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    async with stage.open(**speech(stage, "opus")) as harness:
        await harness.hears(anna, "/settings spoken_answers always")
        await harness.hears(anna, "hello", room=str(SUPERGROUP))
        assert await harness.count("tasks", "kind = 'speech'") == 0


async def test_audio_with_unknown_delivery_is_not_sent_twice(
    stage: Stage,
) -> None:
    anna = stage.account("telegram", ANNA)
    async with stage.open(**speech(stage, "opus")) as harness:
        await harness.hears(anna, "/settings spoken_answers always")
        stage.telegram.fail("sendVoice", kind=faults.LOSE)
        await harness.takes(anna.says("hello"))
        await hear_files(harness, anna, 1)
        await harness.takes(anna.says("hello again"))
        await hear_files(harness, anna, 2)
        assert [bool(one.file) for one in anna.seen()[1:]] == [False, True, False, True]
    assert stage.telegram.calls["sendVoice"] == 2


async def test_a_kill_while_an_answer_is_spoken_loses_and_repeats_nothing(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    settings = stage.environ(**speech(stage, "once"))
    del settings["TALARIA_HOME"]
    async with running(stage.home, **settings) as gateway:
        await anna.says("/settings spoken_answers always")
        await stage.telegram.wait_for(lambda: len(texts(anna)) == 1, PATIENCE)
        stage.plan("One.")
        await anna.says("hello")
        await stage.telegram.wait_for(lambda: texts(anna)[1:] == ["One."], PATIENCE)
        mark = log_of(stage).with_name("spoken.log.once")
        async with asyncio.timeout(PATIENCE):
            while not mark.exists():
                await asyncio.sleep(0.01)
        await gateway.stop(signal.SIGKILL)
    async with running(stage.home, **settings):
        await stage.telegram.wait_for(lambda: len(files(anna)) == 1, PATIENCE)
        stage.plan("Two.")
        await anna.says("and now?")
        await stage.telegram.wait_for(lambda: len(files(anna)) == 2, PATIENCE)
    assert texts(anna)[1:] == ["One.", "", "Two.", ""]
    assert log_of(stage).read_text() == "en: One.\nen: One.\nen: Two.\n"
