"""Attachments of messages: pictures, voice notes and documents, prepared for a model."""

from gateway.attachments.factory import make_reader as make_reader
from gateway.attachments.factory import make_speech_command as make_speech_command
from gateway.attachments.file_types import find_media_type as find_media_type
from gateway.attachments.media_command import CommandFailed as CommandFailed
from gateway.attachments.media_command import MediaCommand as MediaCommand
from gateway.attachments.message_parts import Reading as Reading
from gateway.attachments.message_parts import has_content as has_content
from gateway.attachments.message_parts import is_spoken as is_spoken
from gateway.attachments.message_parts import notes_of as notes_of
from gateway.attachments.message_parts import parts_of as parts_of
from gateway.attachments.message_parts import sentences_of as sentences_of
from gateway.attachments.reader import Reader as Reader
from gateway.attachments.speech import Recording as Recording
from gateway.attachments.speech import select_words as select_words
from gateway.attachments.speech import speak as speak
