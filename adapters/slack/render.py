"""Renders messages and the App Home for Slack's calls: Markdown, blocks, metadata; pure."""

import re
from collections.abc import Mapping, Sequence

from adapters.errors import Rejected
from adapters.messages import Button, OutboundMessage, Step, StepState
from adapters.slack.events import BUTTON
from adapters.slack.write_mrkdwn import fallback_of, lines_of
from adapters.toolkit.markdown import Block, Heading, Rule, parse, spell_numbers
from adapters.toolkit.text import Json, count_units, inside, plain_text

TEXT_LIMIT = 12_000
"""Characters of `markdown_text`, and of all markdown blocks of a message (docs: Markdown block)."""
MOST_BUTTONS = 25
_BUTTONS_A_BLOCK = 5
_EVENT_TYPE = "talaria"
_SECTION = 3000
"""The most characters of a section's text (docs: Block Kit, section)."""
_HEADER = 150
_MOST_BLOCKS = 100
_EMPTY = "Nothing to show yet."
_STEP_TITLE = 256
_NEWEST_STEPS = 3
"""The number of newest steps listed below the text if Slack does not show them itself."""
_CALL = re.compile(
    r"<(?=!(?:channel|here|everyone|group|subteam\^\w+)\b|@[UW]\w+\b)", re.IGNORECASE
)
"""Mentions that would notify people: the text may hold words of others."""
_APART = "<\u200b"
_STYLES: Mapping[str, str] = {"good": "primary", "danger": "danger"}
_STATUS: Mapping[StepState, str] = {
    "running": "in_progress",
    "done": "complete",
    "failed": "error",
}
_SIGNS: Mapping[StepState, str] = {"running": "⏳", "done": "✓", "failed": "✗"}


def measure(text: str) -> int:
    """Return a text's size in UTF-16 units, never less than Slack counts."""
    return count_units(words_of(text))


def words_of(text: str) -> str:
    """Return the Markdown to send, changed so that the model's text notifies no groups.

    Slack counts the items of a list itself, so that a list with gaps has its numbers as text.
    """
    return _CALL.sub(_APART, spell_numbers(plain_text(text)))


def post_of(message: OutboundMessage) -> Json:
    """Build a new message. Raises `Rejected` if it is empty."""
    words = _shown(message)
    if message.buttons:
        return _blocks(words, message.buttons) | {"metadata": metadata_of(message)}
    return {"markdown_text": words, "metadata": metadata_of(message)}


def update_of(message: OutboundMessage) -> Json:
    """Build an edit. It always has blocks, because the earlier ones would stay otherwise."""
    words = _shown(message)
    return _blocks(words, message.buttons) | {"metadata": metadata_of(message)}


def whisper_of(message: OutboundMessage) -> Json:
    """Build an ephemeral message."""
    shown = _blocks(_shown(message), message.buttons)
    return shown | {"response_type": "ephemeral", "unfurl_links": False, "unfurl_media": False}


def metadata_of(message: OutboundMessage) -> Json:
    """Build the metadata that identifies the message later."""
    return {"event_type": _EVENT_TYPE, "event_payload": {"key": message.key}}


def key_in(message: Json) -> str | None:
    """Return the key of one of our messages in a history, or None.

    Raises `ValueError` on invalid metadata.
    """
    metadata = inside(message, "metadata")
    if metadata.get("event_type") != _EVENT_TYPE:
        return None
    return str(inside(metadata, "event_payload").get("key") or "") or None


def actions_of(buttons: Sequence[Button]) -> list[Json]:
    """Build the blocks of buttons, five in a row."""
    elements = [_button(button) for button in buttons[:MOST_BUTTONS]]
    rows = range(0, len(elements), _BUTTONS_A_BLOCK)
    return [{"type": "actions", "elements": elements[row : row + _BUTTONS_A_BLOCK]} for row in rows]


def text_chunks(words: str) -> list[Json]:
    """Build a stream's next chunks from a text that `words_of` returned."""
    return [{"type": "markdown_text", "text": words}] if words else []


def step_chunks(steps: Sequence[Step], shown: Mapping[str, Step]) -> list[Json]:
    """Build chunks for the steps that changed."""
    return [
        {
            "type": "task_update",
            "id": step.key,
            "title": words_of(step.title)[:_STEP_TITLE] or step.key,
            "status": _STATUS[step.state],
        }
        for step in steps
        if shown.get(step.key) != step
    ]


def _shown(message: OutboundMessage) -> str:
    """Return the text and, for a running turn, its steps below."""
    steps = message.steps[-_NEWEST_STEPS:] if message.is_live else ()
    lines = [f"_{_SIGNS[step.state]} {step.title}_" for step in steps]
    words = "\n\n".join(piece for piece in (message.text.strip("\n"), "\n".join(lines)) if piece)
    if lines and measure(words) > TEXT_LIMIT:
        words = message.text
    if not words.strip():
        raise Rejected("The message is empty, and Slack takes no empty messages.")
    return words_of(words)


def _blocks(words: str, buttons: Sequence[Button]) -> Json:
    blocks = [{"type": "markdown", "text": words}, *actions_of(buttons)]
    return {"text": fallback_of(words), "blocks": blocks}


def _button(button: Button) -> Json:
    if button.url:  # a press is reported, too; its action is none of ours
        label = {"type": "plain_text", "text": button.label[:75] or "…", "emoji": True}
        return {"type": "button", "action_id": f"open:{button.key}", "text": label} | {
            "url": button.url
        }
    about: Json = {
        "type": "button",
        "action_id": BUTTON + button.key,
        "text": {"type": "plain_text", "text": button.label[:75] or "…", "emoji": True},
    }
    style = _STYLES.get(button.style)
    return about | {"style": style} if style else about


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
