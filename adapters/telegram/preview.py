"""Writes a page as Telegram's HTML, for people who want to see what would be sent; pure."""

from html import escape

from adapters.letters import count_units
from adapters.telegram.render import Entity, EntityKind, Page

_TAGS: dict[EntityKind, str] = {
    "pre": "pre",
    "code": "code",
    "blockquote": "blockquote",
    "bold": "b",
    "italic": "i",
    "strikethrough": "s",
}


def write_html(page: Page) -> str:
    """The page with its entities as tags (Bot API, HTML style). Tags never cross."""
    written: list[str] = []
    is_open: list[Entity] = []
    at = 0
    for letter in page.text:
        is_open = _move_on(written, is_open, page, at)
        written.append(escape(letter, quote=False))
        at += count_units(letter)
    written += [_close(entity) for entity in reversed(is_open)]
    return "".join(written)


def _move_on(written: list[str], is_open: list[Entity], page: Page, at: int) -> list[Entity]:
    """Close what ends here and open what begins, the longest first; gives what is open then."""
    ends = [number for number, entity in enumerate(is_open) if entity.offset + entity.length <= at]
    begins = sorted((one for one in page.entities if one.offset == at), key=lambda e: -e.length)
    if not ends and not begins:
        return is_open
    kept, crossed = is_open, list[Entity]()
    if ends:
        kept, behind = is_open[: ends[0]], is_open[ends[0] :]
        written += [_close(entity) for entity in reversed(behind)]
        crossed = [one for one in behind if one.offset + one.length > at]
    opened = [*crossed, *begins]
    written += [_open(entity) for entity in opened]
    return [*kept, *opened]


def _open(entity: Entity) -> str:
    if entity.kind == "text_link":
        return f'<a href="{escape(entity.url or "")}">'
    if entity.kind == "pre" and entity.language:
        return f'<pre><code class="language-{escape(entity.language)}">'
    return f"<{_TAGS[entity.kind]}>"


def _close(entity: Entity) -> str:
    if entity.kind == "text_link":
        return "</a>"
    if entity.kind == "pre" and entity.language:
        return "</code></pre>"
    return f"</{_TAGS[entity.kind]}>"
