"""A voice message in, a voice message out, with nothing but the extra `voice` installed."""

from pathlib import Path

from adapters.messages import OutboundFile
from gateway.app.credentials import Secrets
from gateway.app.media import make_speech_command, make_transcriber
from gateway.media.speech import speak
from tests.emulators.telegram_cast import ANNA
from tests.gateway.media.voices.installed_voice import NEEDS_VOICE, SETTINGS
from tests.journeys.stage import Stage, heard

pytestmark = NEEDS_VOICE


async def test_a_voice_message_is_answered_by_voice(tmp_path: Path) -> None:
    command, transcriber = make_speech_command(SETTINGS), make_transcriber(SETTINGS, Secrets())
    assert command
    assert transcriber
    question = await speak(command, "Wie wird das Wetter am Wochenende in Hamburg?", "de")
    note = OutboundFile(name="voice.ogg", media_type="audio/ogg", data=question.data)
    async with Stage(tmp_path / "home") as stage:
        anna = stage.account("telegram", ANNA)
        async with stage.open(TALARIA_MEDIA__TRANSCRIPTION_SECONDS="200") as harness:
            await harness.hears(anna, "/settings spoken_answers to voice messages")
            stage.plan("Am Samstag scheint die Sonne, und am Sonntag regnet es.")
            await anna.says("", files=(note,))
            await harness.until(lambda: any(one.file for one in anna.seen()))
            await harness.at_rest()
            audio = anna.seen()[-1].file
        assert "Wetter" in heard(stage.turns[-1])[-1]
        assert stage.telegram.calls["sendVoice"] == 1
        assert audio
    told = await transcriber.transcribe(audio[1], "audio/ogg")
    assert "Samstag" in told
    assert "Sonntag" in told
