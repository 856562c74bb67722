"""Renders Markdown in Discord's dialect; pure."""

import re
from collections.abc import Iterable, Sequence

from adapters.toolkit.markdown import (
    Block,
    CodeBlock,
    Heading,
    Listing,
    Paragraph,
    QuoteBlock,
    Run,
    Style,
    TableBlock,
    fit,
    parse,
)
from adapters.toolkit.text import count_units, is_plain

TEXT_LIMIT = 2000
"""Characters of a message (Discord API, Create Message: content). We count UTF-16 units, which are
never fewer.
"""

_RULE = "———"
_MARKS: tuple[tuple[Style, str], ...] = (("bold", "**"), ("strike", "~~"), ("italic", "*"))
_DEEPEST_HEADING = 3
_UNSENDABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_SPECIAL = re.compile(
    r"(?P<address>https?://[^\s\\*`|~<>\]]+)"
    r"|(?P<mark>[\\*`]"
    r"|_(?![^\W_])|(?<![^\W_])_"  # but not within a word, where they have no meaning
    r"|~(?=~)|(?<=~)~|\|(?=\|)|(?<=\|)\|"
    r"|\](?=\()"  # only these make a link
    r"|<(?=[@#:/]|a:|t:|id:))"
)
_LINE_START = re.compile(r"^(?P<blank>\s*)(?=#{1,3} |>|-# |[-+] )", re.MULTILINE)
_CLICKABLE = re.compile(r"https?://[^\s/?#]+\S*\Z")
_LANGUAGE = re.compile(r"[\w+#.-]+\Z")
_TICKS = re.compile("`+")
_WIDE_FENCE = re.compile("`(?=``)")


def measure(text: str) -> int:
    """Return the length of the rendered text in UTF-16 units."""
    return count_units(render(text))


def render(markdown: str) -> str:
    """Render a message's content, trimmed. Keeps every word; never raises."""
    text = _UNSENDABLE.sub("", markdown.replace("\r\n", "\n"))
    if is_plain(text):
        return text.strip()
    shown = _write(parse(text), gap="\n\n").strip()
    # Markup around nothing, such as an empty link, is better shown raw than not at all.
    return shown or text.strip()


def _write(blocks: Iterable[Block], *, gap: str) -> str:
    return gap.join(_write_block(block) for block in blocks)


def _write_block(block: Block) -> str:
    match block:
        case Paragraph():
            return _inline(block.runs)
        case Heading() if block.level <= _DEEPEST_HEADING:
            return "#" * block.level + " " + _inline(block.runs).replace("\n", " ")
        case Heading():
            return _inline(tuple(_embolden(run) for run in block.runs))
        case CodeBlock():
            language = block.language if _LANGUAGE.match(block.language) else ""
            return _fence(block.text, language)
        case TableBlock():
            fitted = fit(block, spell=_spell)
            return _fence(fitted) if isinstance(fitted, str) else _list(fitted)
        case QuoteBlock():
            lines = _write(block.blocks, gap="\n\n").split("\n")
            # Discord nests no quotes: a mark within a quote would be shown.
            return "\n".join("> " + line.removeprefix("> ") for line in lines)
        case Listing():
            return _list(block)
        case _:
            return _RULE


def _embolden(run: Run) -> Run:
    return Run(text=run.text, styles=run.styles | {"bold"}, link=run.link)


def _list(listing: Listing) -> str:
    items: list[str] = []
    for index, item in enumerate(listing.items):
        mark = listing.mark(index, "-") + " "
        if not listing.is_counted:  # Discord counts on from the first number, unless it is text
            mark = mark.replace(".", "\\.")
        first, *rest = _write(item, gap="\n").split("\n")
        items.append("\n".join((mark + first, *(" " * len(mark) + line for line in rest))))
    return ("\n" if listing.is_tight else "\n\n").join(items)


def _fence(text: str, language: str = "") -> str:
    """Render a code block. A fence inside it cannot be escaped, so it is broken up invisibly."""
    return f"```{language}\n" + _WIDE_FENCE.sub("`\u200b", text) + "\n```"


def _inline(runs: Sequence[Run]) -> str:
    """Render runs in a line; a format that spans several runs is opened once."""
    text = ""
    is_open: list[tuple[Style, str]] = []
    for index, run in enumerate(runs):
        while any(style not in run.styles for style, _ in is_open):
            text += is_open.pop()[1]
        for style, mark in _MARKS:
            if style in run.styles and all(style != one for one, _ in is_open):
                # Next to other stars, Discord reads the star of italics as half of a bold mark.
                is_open.append((style, "_" if mark == "*" == text[-1:] else mark))
                text += is_open[-1][1]
        before = runs[index - 1].link if index else None
        behind = runs[index + 1].link if index + 1 < len(runs) else None
        text += _link(run, is_first=before != run.link, is_last=behind != run.link)
    text += "".join(mark for _, mark in reversed(is_open))
    # Signs at the start of a line could turn the line into a heading, a quote or a list.
    return _LINE_START.sub(r"\g<blank>\\", text)


def _link(run: Run, *, is_first: bool, is_last: bool) -> str:
    """Render a linked run; if Discord makes no link, append the address."""
    text = _look(run)
    link = run.link
    if link is None:
        return text
    if _CLICKABLE.match(link):
        if link == run.text:
            return link
        address = link.replace("(", "%28").replace(")", "%29")
        return f"[{text}]({address})"
    is_shown = is_first and link in (run.text, f"mailto:{run.text}")
    return f"{text} ({_escape(link)})" if is_last and link and not is_shown else text


def _look(run: Run) -> str:
    if "code" not in run.styles:
        return _escape(run.text)
    fence = "`" * (max(map(len, _TICKS.findall(run.text)), default=0) + 1)
    return f"`{run.text}`" if len(fence) == 1 else f"{fence} {run.text} {fence}"


def _escape(text: str) -> str:
    """Escape words for Discord. Addresses need no escapes and would break."""
    return _SPECIAL.sub(lambda found: found["address"] or f"\\{found['mark']}", text)


def _spell(runs: Sequence[Run]) -> str:
    return "".join(run.text for run in runs)
