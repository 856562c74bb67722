"""Attachments of messages: pictures, voice notes and documents, prepared for a model."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.attachments.factory import make_reader as make_reader
    from gateway.attachments.factory import make_speech_command as make_speech_command
    from gateway.attachments.file_types import find_media_type as find_media_type
    from gateway.attachments.media_command import CommandFailed as CommandFailed
    from gateway.attachments.media_command import MediaCommand as MediaCommand
    from gateway.attachments.reader import Reader as Reader
    from gateway.attachments.readings import Picture as Picture
    from gateway.attachments.readings import Reading as Reading
    from gateway.attachments.readings import Unreadable as Unreadable
    from gateway.attachments.readings import Words as Words
    from gateway.attachments.readings import has_content as has_content
    from gateway.attachments.readings import sentences_of as sentences_of
    from gateway.attachments.speech import Recording as Recording
    from gateway.attachments.speech import select_words as select_words
    from gateway.attachments.speech import speak as speak
else:
    __getattr__ = export_lazily(__name__, __file__)
