"""Sentences about attachments to people, and the short notes on them to the model; pure."""

from typing import Literal, get_args

from adapters.messages import Attachment, AttachmentKind
from agent_core.localization import Text, format_size
from agent_core.shown_settings import SPEECH
from agent_core.transcript import flatten

Fault = Literal[
    "archive",
    "binary",
    "broken_document",
    "broken_picture",
    "empty",
    "encrypted",
    "foreign_picture",
    "gone",
    "large_archive",
    "large_picture",
    "no_text",
    "no_transcription",
    "not_permitted",
    "old_office",
    "other",
    "slow_document",
    "sticker",
    "too_large",
    "unfetched",
    "unheard",
    "unsafe_archive",
    "video",
    "wide_picture",
]
"""The reasons why an attachment can't be read."""
FAULTS: tuple[Fault, ...] = get_args(Fault)

LINK = Text("link")
"""The word that is read aloud in place of an address."""
SPOKEN_ANSWER = Text("spoken-answer")
"""The name of the file of a spoken answer, without its ending."""
SPEECH_BUTTONS = {
    "off": Text("Don't speak answers"),
    "voice": Text("Speak after a voice message"),
    "always": Text("Always speak answers"),
}
"""Buttons below the settings, by the value that each sets."""
_SPEECH_LINE = Text("- Spoken answers: {choice}")
_NO_SPEECH = Text("Spoken answers aren't set up here. Please ask my owner.")
_NO_SPEECH_OWNER = Text(
    "Spoken answers need a voice. Install the extra talaria[voice], or set media.speech_command in"
    " config.toml. Then restart Talaria."
)
_SPEECH_SLOW = Text(
    "I couldn't read an answer aloud: the voice took longer than {seconds} s. The text was "
    "sent. I report this at most once a day."
)
SPEECH_TOO_LARGE = Text(
    "I couldn't read an answer aloud: the audio is too large for the chat app. The text was "
    "sent. I report this at most once a day."
)
_SPEECH_FAILED = Text(
    "I couldn't read an answer aloud: the voice failed. The text was sent. I report this at "
    "most once a day. Details: “{reason}.”"
)

UNHEARD_SLOW = Text(
    "It took me too long to turn that recording into text. Please write it, or send a shorter one."
)
UNHEARD_BUSY = Text(
    "I can't turn recordings into text right now. Please write it, or send it again later."
)
UNHEARD_REFUSED = Text("I couldn't turn that recording into text. Please write it.")
UNHEARD_LONG = Text("That recording is too long for me. Please write it, or send a shorter one.")

_NAME_LIMIT = 80
_KINDS: dict[AttachmentKind, Text] = {
    "image": Text("Picture"),
    "voice": Text("Voice message"),
    "audio": Text("Recording"),
    "video": Text("Video"),
    "document": Text("File"),
    "sticker": Text("Sticker"),
    "described": Text("Attachment"),
    "other": Text("Attachment"),
}
_SENTENCES: dict[Fault, tuple[Text, str]] = {
    "archive": (
        Text("{what}: I can't open this kind of archive. Please send it as zip or tar.gz."),
        "an archive of a kind that can't be opened",
    ),
    "binary": (
        Text(
            "{what}: I don't know this kind of file. I read text, PDF, Office files and pictures."
        ),
        "of an unknown kind",
    ),
    "broken_document": (
        Text("{what}: I can't read this file. Export it again as PDF or text and send that."),
        "damaged",
    ),
    "broken_picture": (Text("{what}: this is damaged. Please send it again."), "damaged"),
    "empty": (Text("{what}: this file is empty."), "empty"),
    "encrypted": (
        Text("{what}: this file has a password. Please send it without one."),
        "locked with a password",
    ),
    "foreign_picture": (
        Text("{what}: I can't open this format. Please send JPEG, PNG, GIF or WebP."),
        "a picture of a kind that can't be shown",
    ),
    "not_permitted": (
        Text("{what}: I'm not allowed to download files here yet. My owner has been told."),
        "could not be fetched, because a permission is missing",
    ),
    "gone": (
        Text("{what}: this can no longer be downloaded. Please send it again."),
        "no longer available",
    ),
    "large_archive": (
        Text(
            "{what}: the files inside are too large together. Please send only those that matter."
        ),
        "an archive that unpacks to too much, not read",
    ),
    "large_picture": (
        Text(
            "{what}: this is larger than {limit}, the most I can view. Send it as a photo instead"
            " of a file, or make it smaller."
        ),
        "a picture that is too large to be shown",
    ),
    "no_text": (
        Text("{what}: I found no text; it may be a scan. Please send the pages as pictures."),
        "without any text, perhaps a scan",
    ),
    "no_transcription": (
        Text("{what}: I can't listen to voice messages here. Please write it."),
        "transcription is not set up here",
    ),
    "old_office": (
        Text(
            "{what}: I can't read this old or locked format. Please save it as .docx, .xlsx, .pptx"
            " or PDF, without a password."
        ),
        "an Office file in an old format or with a password",
    ),
    "other": (Text("I can't read that kind of message. Please write it."), ""),
    "slow_document": (
        Text("{what}: this took too long to read. Please send only the pages that matter."),
        "took too long to read",
    ),
    "sticker": (Text("I can't see stickers. Write what you need."), "not to be seen"),
    "too_large": (
        Text("{what}: this is larger than {limit}, the most I can read. Send the part you need."),
        "too large to be read",
    ),
    "unfetched": (
        Text("{what}: I couldn't download this. Please send it again, or write what matters."),
        "could not be fetched",
    ),
    "unheard": (Text("{what}: I heard no words. Please write it."), "no words in it"),
    "unsafe_archive": (
        Text("{what}: this archive isn't safe to open. Please send the files one by one."),
        "an archive with file names that lead out of it, not read",
    ),
    "video": (
        Text("I can't watch videos. Write what matters, or send a picture of it."),
        "a video, can't be watched",
    ),
    "wide_picture": (
        Text(
            "{what}: the picture is wider or higher than 8,000 pixels. Please send it smaller or in"
            " pieces."
        ),
        "a picture with too many pixels to be shown",
    ),
}
CUT = Text("{what}: this is longer than I can read at once. I read {extent}.")
TOO_MANY = Text(
    "I only read the first {most} attachments of a message. Please send the others separately."
)
_EXTENTS = {
    "characters": (
        Text("the first {kept:,} characters"),
        Text("the first {kept:,} of {whole:,} characters"),
    ),
    "pages": (Text("the first {kept:,} pages"), Text("the first {kept:,} of {whole:,} pages")),
}


_NAMED = Text("“{name}”")


def name_attachment(attachment: Attachment) -> str:
    """Name an attachment for people: by its name, or by its kind."""
    if attachment.name and attachment.kind not in ("described", "other", "sticker"):
        return _NAMED(name=flatten(attachment.name, _NAME_LIMIT))
    return _KINDS[attachment.kind]()


def explain(attachment: Attachment, fault: Fault, *, most_bytes: int = 0) -> str:
    """Say why an attachment can't be read; `most_bytes` is the limit, if there is one."""
    what, limit = name_attachment(attachment), format_size(most_bytes)
    return _SENTENCES[fault][0](what=what, limit=limit)


def describe_fault(attachment: Attachment, fault: Fault) -> str:
    """Tell the model what came, and why it can't be read."""
    why = _SENTENCES[fault][1]
    return describe_attachment(attachment) + (f": {why}" if why else "")


def describe_attachment(attachment: Attachment) -> str:
    """Tell the model what came: `document report.docx`."""
    kind = "" if attachment.kind in ("described", "other") else attachment.kind
    return f"{kind} {flatten(attachment.name or '', _NAME_LIMIT)}".strip()


def describe_extent(unit: Literal["characters", "pages"], kept: int, whole: int | None) -> str:
    """Say how much was read; `whole` is None if it is not known."""
    part, of_all = _EXTENTS[unit]
    return part(kept=kept) if whole is None else of_all(kept=kept, whole=whole)


def show_speech(choice: str) -> str:
    """Show the setting of spoken answers as a line of a list."""
    return _SPEECH_LINE(choice=SPEECH[choice]())


def explain_no_speech(*, is_owner: bool) -> str:
    """Say why answers can't be spoken; only owners read the name of the setting."""
    return _NO_SPEECH_OWNER() if is_owner else _NO_SPEECH()


def describe_speech_fault(reason: str) -> str:
    """Tell an owner that the program failed; `reason` is a clause in English."""
    return _SPEECH_FAILED(reason=reason)


def describe_slow_speech(seconds: float) -> str:
    """Tell an owner that the program took too long."""
    return _SPEECH_SLOW(seconds=f"{seconds:g}")
