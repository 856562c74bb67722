"""Renders Markdown as mrkdwn, for captions, fallback texts and the App Home; pure."""

import re
from collections.abc import Iterator, Sequence

from adapters.toolkit.markdown import (
    Block,
    CodeBlock,
    Heading,
    Listing,
    Paragraph,
    QuoteBlock,
    Rule,
    Run,
    parse,
)
from adapters.toolkit.text import plain_text

_FALLBACK = 4000
"""Bytes of the text beside blocks; chat.update refuses more (msg_too_long). Notifications, screen
readers, search and other programs read that text.
"""
_PIECE = re.compile(r"<[^<>\n]*>|&\w+;|.", re.DOTALL)
"""A link, an escaped sign or a letter; text is cut only between such pieces."""
_SCHEME = re.compile(r"[a-z][a-z\d+.-]*:", re.IGNORECASE)
_ADDRESS = re.compile(r"<?(?P<address>\w{1,40}://[^\s<>|`]+)(?:\|(?P<label>[^<>\n]*)>)?>?")


def caption_of(text: str) -> str:
    """Render a file's caption.

    Captions cannot disable link previews, and a preview reveals the address. Addresses therefore
    appear as code, which Slack neither links nor fetches.
    """
    return _ADDRESS.sub(_report, _render(plain_text(text)))


def _report(match: re.Match[str]) -> str:
    label, address = match["label"], match["address"]
    return f"{label} `{address}`" if label and label != address else f"`{address}`"


def fallback_of(words: str) -> str:
    """Render the text beside blocks; cut it with an ellipsis at Slack's limit."""
    start = words[:_FALLBACK]  # each edit of a growing answer renders it again
    whole = _render(start) or escape(start)
    if start == words and len(whole.encode()) <= _FALLBACK:
        return whole
    kept: list[str] = []
    left = _FALLBACK - len("…".encode())
    for piece in _PIECE.findall(whole):
        left -= len(piece.encode())
        if left < 0:
            break
        kept.append(piece)
    return "".join(kept) + "…"


def _render(text: str) -> str:
    return "\n\n".join("\n".join(lines_of(block)) for block in parse(text))


def lines_of(block: Block) -> Iterator[str]:
    """Render a block's lines; of such a text, Slack fetches only links."""
    match block:
        case Paragraph(runs=runs) | Heading(runs=runs):
            yield from _words(runs).split("\n")
        case CodeBlock(text=text):
            yield f"```{escape(text)}```"
        case QuoteBlock(blocks=blocks):
            for inner in blocks:
                yield from (f">{line}" for line in lines_of(inner))
        case Listing():
            for index, item in enumerate(block.items):
                lines = [line for inner in item for line in lines_of(inner)]
                yield f"{block.mark(index, '•')} {lines[0] if lines else ''}"
                yield from (f"    {line}" for line in lines[1:])
        case Rule():
            yield "———"
        case _:
            for row in block.rows:
                yield " · ".join(_words(cell) for cell in row)


def escape(text: str) -> str:
    """Escape the three characters that have a meaning in mrkdwn."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _words(runs: Sequence[Run]) -> str:
    return "".join(_styled(run) for run in runs)


def _styled(run: Run) -> str:
    text = escape(run.text)
    if run.link and _SCHEME.match(run.link):  # any other may be a mention, such as !channel
        target = escape(run.link).replace("|", "%7C")
        label = text.replace("\n", " ").replace("|", "¦")
        return f"<{target}|{label or target}>"
    core = text.strip()
    if not core or "\n" in core:
        return text
    for style, mark in (("code", "`"), ("strike", "~"), ("italic", "_"), ("bold", "*")):
        if style in run.styles:
            core = f"{mark}{core}{mark}"
    prefix = text[: len(text) - len(text.lstrip())]
    return prefix + core + text[len(text.rstrip()) :]
