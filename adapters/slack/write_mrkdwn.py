"""Renders Markdown as mrkdwn, for captions, fallback texts and the App Home; pure."""

import re
from collections.abc import Iterator

from adapters.toolkit.markdown import Block, Run, TableBlock
from adapters.toolkit.marked_lines import LineWriter
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
    return _ADDRESS.sub(_report, _WRITER.write(plain_text(text)))


def _report(match: re.Match[str]) -> str:
    label, address = match["label"], match["address"]
    return f"{label} `{address}`" if label and label != address else f"`{address}`"


def fallback_of(words: str) -> str:
    """Render the text beside blocks; cut it with an ellipsis at Slack's limit."""
    start = words[:_FALLBACK]  # each edit of a growing answer renders it again
    whole = _WRITER.write(start) or escape(start)
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


def lines_of(block: Block) -> Iterator[str]:
    """Render a block's lines; of such a text, Slack fetches only links."""
    return _WRITER.list_lines(block)


def escape(text: str) -> str:
    """Escape the three characters that have a meaning in mrkdwn."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class _Writer(LineWriter):
    """Writes mrkdwn."""

    bullet, indent, quote_mark = "•", "    ", ">"

    def escape(self, text: str) -> str:
        return escape(text)

    def write_link(self, run: Run) -> str | None:
        """Return a link; one without a scheme may be a mention, such as `!channel`."""
        if not run.link or not _SCHEME.match(run.link):
            return None
        target = escape(run.link).replace("|", "%7C")
        label = escape(run.text).replace("\n", " ").replace("|", "¦")
        return f"<{target}|{label or target}>"

    def write_table(self, table: TableBlock) -> Iterator[str]:
        for row in table.rows:
            yield " · ".join(self.write_words(cell) for cell in row)


_WRITER = _Writer()
