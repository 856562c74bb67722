"""The table of attachments: sizes, voice notes and spoken answers."""

from typing import Literal

from pydantic import Field

from gateway.config.tables import Table
from gateway.config.types import Text, Texts


class MediaSettings(Table, title="Attachments"):
    """Sizes of attachments, voice notes, and spoken answers. MB are a million bytes."""

    transcription: Literal["", "openai", "command"] = ""
    """How voice notes are transcribed: `openai` (a compatible server at `OPENAI_BASE_URL`),
    `command` (a program on this machine), or empty for not at all.
    """
    transcription_model: Text = "whisper-1"
    """The transcription model that the server uses."""
    transcription_command: Texts = ()
    """The program and its arguments, run without a shell. `{file}` stands for the recording, for
    instance `["whisper-cli", "--no-prints", "{file}"]`.
    """
    transcription_seconds: int = Field(60, ge=1, le=3600)
    """Longest time for one recording, in seconds."""
    speech_command: Texts = ()
    """The program that speaks answers, and its arguments, run without a shell. It reads text on
    standard input and writes audio to standard output. `{language}` stands for the person's
    language, for instance `["espeak-ng", "-v", "{language}", "--stdin", "--stdout"]`. People turn
    it on with `/settings spoken_answers always`.
    """
    speech_seconds: int = Field(60, ge=1, le=240)
    """Longest time for one spoken answer, in seconds."""
    command_network: bool = False
    """Whether these two programs may use the network, as `curl` has to."""
    command_memory_mb: int = Field(4000, ge=50, le=1_000_000)
    """Most memory of one of these programs with all its processes, in millions of bytes."""
    image_mb: float = Field(3.9, ge=0.1, le=7.8)
    """Largest picture, in millions of bytes. Some providers accept no more than 3.9."""
    file_mb: float = Field(10.0, ge=0.1, le=50)
    """Largest other file, in millions of bytes."""
    document_characters: int = Field(60_000, ge=1000, le=400_000)
    """Most characters read of one document or recording."""
