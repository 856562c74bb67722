"""Limit the results of tools, add pictures and PDF files, and describe failed calls."""

from dataclasses import replace

from agent_core.state.conversations import files
from agent_core.state.conversations.images import PDF, find_pdf_fault, measure
from agent_core.tools.contract import RESULT_LIMIT, ToolResult
from agent_core.tools.text_cleaner import TextCleaner
from agent_core.transcript import ImagePart, PdfPart, escape

_MOST_TAIL = 5_000
"""Characters kept of the end, which holds a command's outcome; at most half of a result."""


def fail(sentence: str) -> ToolResult:
    """Make the result of a call that failed."""
    return ToolResult(text=bound(sentence), is_error=True)


def end_sentence(reason: object) -> str:
    """Return a reason with the punctuation of a sentence's end."""
    text = str(reason)
    return text if text.endswith((".", "!", "?")) else f"{text}."


def bound(text: str, limit: int = RESULT_LIMIT, where: str = "ask for a part") -> str:
    """Return a result that a transcript can hold: limited, and without invalid characters.

    Talaria's own tags are removed from it, too. `where` tells the model how to get the rest.
    """
    left_out = len(text) - limit
    if left_out > 0:
        ending = min(limit // 2, _MOST_TAIL)
        head, tail = text[: limit - ending], text[-ending:]
        text = f"{head}\n[… {left_out:,} characters left out: {where} …]\n{tail}"
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, for instance from a file name
        text = text.encode("utf-8", "replace").decode()
    return escape(text)


def add_image(result: ToolResult, data: bytes, media_type: str) -> ToolResult:
    """Return a result with one more picture; `images.find_fault` tells which can't be added."""
    key = files.make_key(data)
    return _add(result, ImagePart(file_key=key, media_type=media_type, size=len(data)), data)


def add_pdf(result: ToolResult, data: bytes, pages: int, text: str) -> ToolResult:
    """Add a PDF file to a result; return the result unchanged if a model can't be shown the file.

    `text` is the whole text of the file.
    """
    if find_pdf_fault(data, pages):
        return result
    part = PdfPart(file_key=files.make_key(data), media_type=PDF, size=len(data), pages=pages)
    return replace(_add(result, part, data), pdf_text=f"{result.pdf_text}\n{text}")


async def hide_secrets(result: ToolResult, cleaner: TextCleaner) -> ToolResult:
    """Return a result without secrets in its text.

    PDF files are removed if they or the text contained a secret, because a PDF file can't be
    masked.
    """
    text = await cleaner.hide(result.text)
    if text == result.text and await cleaner.hide(result.pdf_text) == result.pdf_text:
        return result
    kept = tuple(one for one in result.images if not isinstance(one, PdfPart))
    return replace(result, text=text, images=kept)


def _add(result: ToolResult, image: ImagePart, data: bytes) -> ToolResult:
    return replace(
        result,
        images=(*result.images, image),
        image_data={**result.image_data, image.file_key: data},
    )


def describe_image(data: bytes, media_type: str) -> str:
    """Return the description that goes with a picture."""
    size = measure(data, media_type)
    pixels = f"{size[0]:,} × {size[1]:,} pixels, " if size else ""
    return f"A picture ({media_type}, {pixels}{len(data):,} bytes)."


def describe_pdf(data: bytes, pages: int) -> str:
    """Return the note above a PDF file's text; it says if the file itself can't be shown."""
    number = "1 page" if pages == 1 else f"{pages:,} pages"
    about = f"A PDF file ({number}, {len(data):,} bytes)"
    fault = find_pdf_fault(data, pages)
    return f"{about}; only its text is shown, because {fault}." if fault else f"{about}."
