"""Renders Markdown, buttons and files as the Cloud API takes them; pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from adapters.messages import Button, OutboundFile, OutboundMessage
from adapters.toolkit.markdown import Listing, Run, TableBlock, fit
from adapters.toolkit.marked_lines import LineWriter
from adapters.toolkit.text import plain_text

TEXT_LIMIT = 4096
"""Code points of a text (docs: text messages)."""
MOST_BUTTONS = 10
"""Rows of a list (docs: interactive list messages)."""
MOST_FILE_BYTES = 100_000_000
"""Of a document (docs: media)."""
VOICE_TYPE = "audio/ogg; codecs=opus"
_CAPTION_LIMIT = 1024
_BUTTON_TEXT_LIMIT = 1024
_MOST_REPLIES, _LONGEST_REPLY = 3, 20
_LONGEST_ROW, _LONGEST_DESCRIPTION = 24, 72
_CHOOSE = "☰"
"""The word on the button that opens a list; a sign, because the reader's language is unknown."""
_EMPTY = "\u2800"
"""A body for a message without words, which Meta refuses."""
_IMAGES = {"image/jpeg", "image/png"}
_SOUNDS = {"audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"}
_FILMS = {"video/mp4", "video/3gpp"}
_MOST_BYTES = {"image": 5_000_000, "audio": 16_000_000, "video": 16_000_000}


def words_of(text: str) -> str:
    """Render Markdown in WhatsApp's own markup."""
    clean = plain_text(text)
    return _Writer().write(clean) or clean


def measure(text: str) -> int:
    """Return the length of the rendered text, as Meta counts it: in code points."""
    return len(words_of(text))


def content_of(message: OutboundMessage) -> dict[str, Any]:
    """Return the part of a request that says what is shown: its type and that type's object."""
    words = words_of(message.text) or _EMPTY
    if not message.buttons:
        return {"type": "text", "text": {"body": words[:TEXT_LIMIT], "preview_url": False}}
    return {"type": "interactive", "interactive": _interactive(words, message.buttons)}


def template_of(name: str, language: str, text: str) -> dict[str, Any]:
    """Return the approved template with the words as its one variable.

    A variable has no line breaks, tabs or more than four spaces in a row (error 132018).
    """
    words = _write_variable(text) or _EMPTY
    return {
        "type": "template",
        "template": {
            "name": name,
            "language": {"code": language},
            "components": [{"type": "body", "parameters": [{"type": "text", "text": words}]}],
        },
    }


def fits_template(message: OutboundMessage) -> bool:
    """Return whether a template's variable can hold all that a message says."""
    return message.file is None and len(_write_variable(message.text)) <= _CAPTION_LIMIT


def _write_variable(text: str) -> str:
    return " ".join(words_of(text).split())


def kind_of_file(file: OutboundFile, *, has_words: bool) -> str:
    """Return the type of message that carries a file. Sound takes no words beside it."""
    media, size = file.media_type.partition(";")[0], len(file.data)
    for kind, types in (("image", _IMAGES), ("audio", _SOUNDS), ("video", _FILMS)):
        is_fit = media in types and size <= _MOST_BYTES[kind]
        if is_fit and not (kind == "audio" and has_words):
            return kind
    return "document"


def media_of(message: OutboundMessage, file: OutboundFile, media_id: str) -> dict[str, Any]:
    """Return the part of a request that shows an uploaded file."""
    kind = kind_of_file(file, has_words=bool(message.text))
    content: dict[str, Any] = {"id": media_id}
    if kind == "document":
        content["filename"] = file.name
    if kind == "audio" and file.media_type.replace(" ", "") == VOICE_TYPE.replace(" ", ""):
        content["voice"] = True
    if message.text:
        content["caption"] = words_of(message.text)[:_CAPTION_LIMIT]
    return {"type": kind, kind: content}


def _interactive(words: str, buttons: Sequence[Button]) -> dict[str, Any]:
    labels = {one.label for one in buttons}
    is_short = all(len(label) <= _LONGEST_REPLY for label in labels)
    if (
        is_short
        and len(labels) == len(buttons)
        and len(buttons) <= _MOST_REPLIES
        and len(words) <= _BUTTON_TEXT_LIMIT
    ):
        replies = [
            {"type": "reply", "reply": {"id": one.key, "title": one.label}} for one in buttons
        ]
        return {"type": "button", "body": {"text": words}, "action": {"buttons": replies}}
    rows = [_row(one) for one in buttons[:MOST_BUTTONS]]
    action = {"button": _CHOOSE, "sections": [{"rows": rows}]}
    return {"type": "list", "body": {"text": words[:TEXT_LIMIT]}, "action": action}


def _row(button: Button) -> dict[str, str]:
    """Return a row of a list; a label that is too long for the title is its description, too."""
    if len(button.label) <= _LONGEST_ROW:
        return {"id": button.key, "title": button.label}
    title = f"{button.label[: _LONGEST_ROW - 1].rstrip()}…"
    return {"id": button.key, "title": title, "description": button.label[:_LONGEST_DESCRIPTION]}


class _Writer(LineWriter):
    """Writes WhatsApp's markup, which has neither links nor headings."""

    bullet, indent, quote_mark = "-", "   ", "> "

    def write_link(self, run: Run) -> str:
        return run.text if run.text.strip() == run.link else f"{run.text} ({run.link})"

    def write_heading(self, runs: Sequence[Run]) -> Iterator[str]:
        text = _plain(runs).strip()
        yield f"*{text}*" if text and "\n" not in text else text

    def write_table(self, table: TableBlock) -> Iterator[str]:
        shown = fit(table, spell=_plain)
        if isinstance(shown, Listing):
            yield from self.list_lines(shown)
        else:
            yield self.write_code(shown)


def _plain(runs: Sequence[Run]) -> str:
    return "".join(run.text for run in runs)
