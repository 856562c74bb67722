"""Draw a conversation as its platform shows it, on a phone or in a window: HTML for a browser.

A picture carries its words, so that a test notices when they are out of date.
"""

import html
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

_COLOURS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One message, or a time between them. `name` is its author's, and `buttons` stand below it."""

    text: str
    is_own: bool
    name: str = ""
    buttons: tuple[str, ...] = ()
    is_time: bool = False


_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>{title}</title><style>
* {{ box-sizing: border-box; }}
body {{ margin: 0; padding: 16px; font: 15px/1.4 "DejaVu Sans", "Noto Color Emoji", sans-serif; }}
h1 {{ margin: 0 0 14px; font-size: 16px; }}
.line {{ margin: 0 0 12px; }}
.text {{ white-space: pre-wrap; overflow-wrap: anywhere; }}
.name {{ display: block; font-weight: 700; }}
.time {{ margin: 18px 0; text-align: center; font-size: 13px; opacity: .75; }}
.buttons {{ display: flex; flex-wrap: wrap; gap: 6px; margin-top: 6px; }}
.buttons span {{ padding: 5px 12px; border-radius: 6px; font-size: 14px; }}
code {{ font-family: "DejaVu Sans Mono", monospace; font-size: 13px; }}
.telegram {{ background: #d5e3c8; }}
.telegram .line {{ max-width: 86%; width: fit-content; }}
.telegram .own {{ margin-left: auto; }}
.telegram .text {{ padding: 7px 11px; border-radius: 12px; background: #fff; }}
.telegram .own .text {{ background: #eeffde; }}
.telegram .name {{ display: none; }}
.telegram .buttons span {{ flex: 1 1 40%; text-align: center; background: #7b9a6d; color: #fff; }}
.whatsapp {{ background: #efe7de; }}
.signal {{ background: #fff; }}
.whatsapp .line, .signal .line {{ max-width: 86%; width: fit-content; }}
.whatsapp .own, .signal .own {{ margin-left: auto; }}
.whatsapp .text, .signal .text {{ padding: 7px 11px; border-radius: 12px; background: #fff; }}
.whatsapp .own .text {{ background: #d9fdd3; }}
.signal .text {{ background: #e9e9e9; }}
.signal .own .text {{ background: #2c6bed; color: #fff; }}
.whatsapp .name, .signal .name {{ display: none; }}
.whatsapp .buttons span {{ flex: 1 1 40%; text-align: center; background: #fff; color: #00794f; }}
.discord {{ background: #313338; color: #dbdee1; }}
.discord .name {{ color: #fff; }}
.discord .line:not(.own) .name {{ color: #8ea1ff; }}
.discord .buttons span {{ background: #4e5058; color: #fff; }}
.slack {{ background: #fff; color: #1d1c1d; }}
.slack .buttons span {{ border: 1px solid #bbb; font-weight: 600; }}
</style><body class="{platform}"><h1>{title}</h1>{lines}</body></html>"""
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_STARRED = re.compile(r"(?<!\w)\*([^*\n]+)\*(?!\w)")
_BULLET = re.compile(r"^- ", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")


def draw(platform: str, title: str, lines: list[Line]) -> str:
    """Return the page of a conversation."""
    drawn = "".join(draw_line(platform, line) for line in lines)
    return _PAGE.format(platform=platform, title=html.escape(title), lines=drawn)


def draw_line(platform: str, line: Line) -> str:
    """Return one message."""
    if line.is_time:
        return f'<div class="time">{html.escape(line.text)}</div>'
    text = _CODE.sub(r"<code>\1</code>", html.escape(line.text, quote=False))
    # Discord and Slack are sent Markdown, which their apps draw; elsewhere it has become spans.
    if platform == "whatsapp":
        text = _STARRED.sub(r"<b>\1</b>", text)
    if platform in ("discord", "slack"):
        text = _BULLET.sub("• ", _BOLD.sub(r"<b>\1</b>", text))
    buttons = "".join(f"<span>{html.escape(one)}</span>" for one in line.buttons)
    below = f'<div class="buttons">{buttons}</div>' if buttons else ""
    kind = "line own" if line.is_own else "line"
    name = html.escape(line.name)
    return (
        f'<div class="{kind}"><b class="name">{name}</b><div class="text">{text}</div>{below}</div>'
    )


def tell(lines: Iterable[Line]) -> str:
    """Return the words of messages and their buttons, as JSON."""
    return json.dumps([[line.text, list(line.buttons)] for line in lines], ensure_ascii=True)


def save(taken: Path, lines: Iterable[Line], target: Path) -> None:
    """Write the picture of a conversation, and its words."""
    keep(taken, tell(lines), target, colours=_COLOURS)


def keep(taken: Path, shown: str, target: Path, *, colours: int) -> None:
    """Write a picture with few colours, and the words that it shows."""
    words = PngInfo()
    words.add_itxt("comment", shown)
    with Image.open(taken) as picture:
        few = picture.convert("RGB").quantize(colours, dither=Image.Dither.NONE)
        few.save(target, optimize=True, pnginfo=words)


def read_words(path: Path) -> str:
    """Return the words that a picture or a film carries."""
    with Image.open(path) as picture:
        words = picture.info.get("comment", b"")
    return words.decode() if isinstance(words, bytes) else str(words)
