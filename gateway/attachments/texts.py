"""Every sentence about attachments: to people, and the short notes to the model; pure."""

from typing import Literal, get_args

from adapters.messages import Attachment, AttachmentKind
from agent_core.tools.untrusted_text import flatten

Fault = Literal[
    "archive",
    "binary",
    "broken_document",
    "broken_picture",
    "empty",
    "encrypted",
    "foreign_picture",
    "large_picture",
    "no_text",
    "no_transcription",
    "office",
    "other",
    "slow_document",
    "sticker",
    "too_large",
    "unfetched",
    "unheard",
    "video",
    "wide_picture",
]
"""Why an attachment can't be read."""
FAULTS: tuple[Fault, ...] = get_args(Fault)

_NAME_LIMIT = 80
_KINDS: dict[AttachmentKind, str] = {
    "image": "that picture",
    "voice": "that voice note",
    "audio": "that recording",
    "video": "that video",
    "document": "that file",
    "sticker": "that sticker",
    "other": "that",
}
_SENTENCES: dict[Fault, tuple[str, str]] = {
    "archive": (
        "I don't open archives such as {what}. Please send the files in it one by one.",
        "an archive, not opened",
    ),
    "binary": (
        "I can't make out what kind of file {what} is. I read text, PDF files and pictures.",
        "of an unknown kind",
    ),
    "broken_document": (
        (
            "I can't read {what}: it is damaged, or too much to take apart. Exported anew as PDF"
            " or text it may work."
        ),
        "damaged",
    ),
    "broken_picture": ("I can't look at {what}: it is damaged. Please send it again.", "damaged"),
    "empty": ("There is nothing in {what}: the file is empty.", "empty"),
    "encrypted": (
        "I can't read {what}: it is locked with a password. Please send it without.",
        "locked with a password",
    ),
    "foreign_picture": (
        "I can't look at {what}: I know JPEG, PNG, GIF and WebP. Please send it as one of these.",
        "a picture of a kind that can't be shown",
    ),
    "large_picture": (
        (
            "{What} is too large for me: I look at pictures of up to {limit}. Sent as a photo"
            " instead of a file, or made smaller, it works."
        ),
        "a picture that is too large to be shown",
    ),
    "no_text": (
        "I find no text in {what}; perhaps it is a scan. Send me its pages as pictures.",
        "without any text, perhaps a scan",
    ),
    "no_transcription": (
        (
            "I can't listen to voice notes here: nobody has set up transcription (see [media] in"
            " config.toml). Please write it."
        ),
        "nobody has set up transcription here",
    ),
    "office": (
        "I can't read {what} as it is. Please export it as PDF or as plain text (CSV for tables).",
        "an office file; as PDF or text it could be read",
    ),
    "other": ("I can't read that kind of message. Please write it in words.", ""),
    "slow_document": (
        "Reading {what} took too long, so I stopped. Please send the pages that matter.",
        "took too long to read",
    ),
    "sticker": ("A sticker! I can't see it, though. Write me what you need.", "not to be seen"),
    "too_large": (
        (
            "{What} is too large for me: I take files of up to {limit}. Please send the part that"
            " matters."
        ),
        "too large to be read",
    ),
    "unfetched": (
        "I could not get {what} from the platform. Please send it again, or write what matters.",
        "could not be fetched",
    ),
    "unheard": (
        "I listened to {what} and heard no words. Please write it.",
        "no words in it",
    ),
    "video": (
        "I can't watch videos. Tell me in words what matters, or send a picture of it.",
        "a video, can't be watched",
    ),
    "wide_picture": (
        (
            "I can't look at {what}: one side of it is longer than 8,000 pixels. Please send it"
            " smaller, or in pieces."
        ),
        "a picture with too many pixels to be shown",
    ),
}

UNHEARD_SLOW = (
    "It took too long to listen to that, so I stopped. Please write it, or speak shorter."
)
UNHEARD_BUSY = "I can't listen to that right now: {why}. Please write it, or send it again later."
UNHEARD_REFUSED = "I can't listen to that: {why}. Please write it."
_TOO_MANY = (
    "I look at the first {most} attachments of a message; please send the others by themselves."
)


def name(attachment: Attachment) -> str:
    """An attachment as people are told of it: by its name, or as what it is."""
    if attachment.name and attachment.kind not in ("other", "sticker"):
        return f"“{flatten(attachment.name, _NAME_LIMIT)}”"
    return _KINDS[attachment.kind]


def explain(attachment: Attachment, fault: Fault, *, most_bytes: int = 0) -> str:
    """Why it can't be read, and what to do; `most_bytes` is the limit where there is one."""
    what = name(attachment)
    return _SENTENCES[fault][0].format(
        what=what, What=what[:1].upper() + what[1:], limit=tell_size(most_bytes)
    )


def note(attachment: Attachment, fault: Fault) -> str:
    """The same for the model: what came, and why no more is known of it."""
    why = _SENTENCES[fault][1]
    return describe(attachment) + (f": {why}" if why else "")


def describe(attachment: Attachment) -> str:
    """What came, for the model: `document report.docx`."""
    kind = "" if attachment.kind == "other" else attachment.kind
    return f"{kind} {flatten(attachment.name or '', _NAME_LIMIT)}".strip()


def tell_lost(attachment: Attachment, why: str) -> str:
    """What the platform says of a file that it does not hand out, with the file's name."""
    return f"{name(attachment)}: {why}" if attachment.name else why


def tell_size(size: int) -> str:
    """Bytes as people say it."""
    return f"{size / 1_000_000:.2g} MB" if size < 10_000_000 else f"{size // 1_000_000} MB"


def tell_extent(what: str, kept: int, whole: int | None) -> str:
    """How much was read: `what` are characters or pages, `whole` None where it is not known."""
    return (
        f"the first {kept:,} {what}" if whole is None else f"the first {kept:,} of {whole:,} {what}"
    )


def tell_cut(what: str, extent: str) -> str:
    """That only the beginning of a file was read."""
    return f"{what} is longer than I read at once: I read {extent}."


def tell_many(most: int) -> str:
    """That a message carries more than is looked at."""
    return _TOO_MANY.format(most=most)
