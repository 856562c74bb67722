"""Renders Markdown as mrkdwn, for captions and the App Home; pure."""

import re
from collections.abc import Iterator, Sequence

from adapters.messages import OutboundMessage
from adapters.slack.render import actions_of, escape
from adapters.toolkit import (
    Block,
    CodeBlock,
    Heading,
    Json,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Run,
    parse,
    plain_text,
)

_ADDRESS = re.compile(r"<?(?P<address>\w+://[^\s<>|`]+)(?:\|(?P<label>[^<>\n]*)>)?>?")


def caption_of(text: str) -> str:
    """Render a file's caption.

    Captions cannot disable link previews, and a preview reveals the address. Addresses therefore
    appear as code, which Slack neither links nor fetches.
    """
    blocks = ("\n".join(lines_of(block)) for block in parse(plain_text(text)))
    return _ADDRESS.sub(_report, "\n\n".join(blocks))


def _report(match: re.Match[str]) -> str:
    label, address = match["label"], match["address"]
    return f"{label} `{address}`" if label and label != address else f"`{address}`"


def lines_of(block: Block) -> Iterator[str]:
    """Render a block's lines; Slack fetches nothing but links in them."""
    match block:
        case Paragraph(runs=runs) | Heading(runs=runs):
            yield from _words(runs).split("\n")
        case CodeBlock(text=text):
            yield f"```{escape(text)}```"
        case Quote(blocks=blocks):
            for inner in blocks:
                yield from (f">{line}" for line in lines_of(inner))
        case Listing(items=items, first=first):
            for number, item in enumerate(items):
                mark = "•" if first is None else f"{first + number}."
                lines = [line for inner in item for line in lines_of(inner)]
                yield f"{mark} {lines[0] if lines else ''}"
                yield from (f"    {line}" for line in lines[1:])
        case Rule():
            yield "———"
        case _:
            for row in block.rows:
                yield " · ".join(_words(cell) for cell in row)


def _words(runs: Sequence[Run]) -> str:
    return "".join(_styled(run) for run in runs)


def _styled(run: Run) -> str:
    text = escape(run.text)
    if run.link is not None:
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


_SECTION = 3000
"""Characters of a section's text (docs: Block Kit, section)."""
_HEADER = 150
_MOST_BLOCKS = 100
_EMPTY = "Nothing to show yet."


def view_of(message: OutboundMessage) -> Json:
    """Build the App Home view of a message, with its buttons at the end."""
    buttons = actions_of(message.buttons)
    blocks = [block for piece in parse(plain_text(message.text)) for block in _render(piece)]
    blocks = (blocks or _sections(_EMPTY))[: _MOST_BLOCKS - len(buttons)]
    return {"type": "home", "blocks": [*blocks, *buttons]}


def _render(block: Block) -> list[Json]:
    match block:
        case Rule():
            return [{"type": "divider"}]
        case Heading(runs=runs):
            title = "".join(run.text for run in runs).replace("\n", " ")[:_HEADER]
            return [{"type": "header", "text": {"type": "plain_text", "text": title or "…"}}]
        case _:
            return _sections("\n".join(lines_of(block)))


def _sections(text: str) -> list[Json]:
    starts = range(0, len(text), _SECTION)
    pieces = [text[start : start + _SECTION] for start in starts]
    return [
        {"type": "section", "text": {"type": "mrkdwn", "text": piece}}
        for piece in pieces
        if piece.strip()
    ]
