"""Renders Markdown as the blocks of an App Home, which knows no Markdown; pure."""

from adapters.letters import plain_text
from adapters.markdown import Block, Heading, Rule, parse
from adapters.messages import OutboundMessage
from adapters.slack.markup import lines_of
from adapters.slack.render import actions_of
from adapters.untrusted import Json

_SECTION = 3000
"""Characters of a section's text (docs: Block Kit, section)."""
_HEADER = 150
_MOST_BLOCKS = 100
_EMPTY = "Nothing to show yet."


def view_of(message: OutboundMessage) -> Json:
    """The home tab that says what the message says, with its buttons at the end."""
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
