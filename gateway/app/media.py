"""Builds the attachment reader from the settings."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from adapters.contract import ChatAdapter
from agent_core.execution.subprocesses.confinement import ScriptLimits
from agent_core.execution.subprocesses.program import make_command
from agent_core.models.settings import OPENAI
from agent_core.state.engine.database import Database
from gateway.app.credentials import Secrets
from gateway.app.settings import Settings, environment
from gateway.app.tables import MediaSettings
from gateway.media.media_command import FILE, LANGUAGE, MediaCommand
from gateway.media.reader import Limits, Reader
from gateway.media.speech import MOST_AUDIO
from gateway.media.transcription import (
    MOST_ANSWER,
    CommandTranscriber,
    ServerTranscriber,
    Transcriber,
)
from gateway.media.voices.installed import HEARING, SPEAKING

_MEGABYTE = 1_000_000
_SHOWN = ("HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "XDG_CACHE_HOME")
"""Environment variables of the commands; none of them holds a token or a key."""
_MOST_FILE = 1_000_000_000
"""Most bytes that a command may write to a file: enough for nine hours of uncompressed audio."""
_MOST_PROCESSES = 64


def make_reader(
    settings: Settings,
    *,
    database: Database,
    adapters: Mapping[str, ChatAdapter],
    now: Callable[[], int],
    report: Callable[[str, str], Awaitable[None]],
    shows_pdf: bool,
) -> Reader:
    """Build the reader; `now` is in milliseconds since the epoch, UTC. See `Limits.shows_pdf`."""
    media = settings.media
    return Reader(
        database=database,
        adapters=adapters,
        transcriber=make_transcriber(media, settings.secrets),
        limits=Limits(
            shows_pdf=shows_pdf,
            image_bytes=int(media.image_mb * _MEGABYTE),
            file_bytes=int(media.file_mb * _MEGABYTE),
            characters=media.document_characters,
            seconds=media.transcription_seconds,
        ),
        now=now,
        report=report,
    )


def make_transcriber(settings: MediaSettings, secrets: Secrets) -> Transcriber | None:
    """Build the transcriber of voice notes, or return None."""
    if settings.hearing == "openai":
        return ServerTranscriber(
            address=secrets.openai_base_url or OPENAI,
            key=secrets.openai_api_key,
            model=settings.transcription_model,
            seconds=settings.transcription_seconds,
        )
    if not settings.hearing:
        return None
    is_local = settings.hearing == "local"
    command = _make_command(
        settings,
        make_command(HEARING, FILE) if is_local else settings.transcription_command,
        seconds=settings.transcription_seconds,
        most_bytes=MOST_ANSWER,
        has_network=settings.command_network and not is_local,
    )
    return CommandTranscriber(command=command)


def make_speech_command(settings: MediaSettings) -> MediaCommand | None:
    """Build the program that speaks answers, or return None."""
    if not settings.speaking:
        return None
    is_local = settings.speaking == "local"
    return _make_command(
        settings,
        make_command(SPEAKING, LANGUAGE) if is_local else settings.speech_command,
        seconds=settings.speech_seconds,
        most_bytes=MOST_AUDIO,
        has_network=settings.command_network and not is_local,
    )


def _make_command(
    settings: MediaSettings,
    words: Sequence[str],
    *,
    seconds: float,
    most_bytes: int,
    has_network: bool,
) -> MediaCommand:
    environ = environment()
    return MediaCommand(
        words=words,
        environ={name: environ[name] for name in _SHOWN if name in environ},
        limits=ScriptLimits(
            memory=settings.command_memory_mb * _MEGABYTE,
            file=_MOST_FILE,
            processes=_MOST_PROCESSES,
            has_network=has_network,
        ),
        seconds=seconds,
        most_bytes=most_bytes,
    )
