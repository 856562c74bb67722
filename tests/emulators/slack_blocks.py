"""Block Kit as Slack validates it, and as people read it."""

import re
from typing import Any

Json = dict[str, Any]

MESSAGE_BLOCKS, VIEW_BLOCKS = 50, 100
MARKDOWN_LIMIT = 12_000
"""Characters of all Markdown of one message."""
BLOCK_TEXT_LIMIT = 13_200
"""Characters of all block text of one message (measured by others; no page names it)."""
_ID_LIMIT = 255
_TYPES = frozenset({"actions", "divider", "header", "markdown", "section"})
"""Those that Talaria sends; Slack has more."""
_LINK = re.compile(r"<(?:https?://|mailto:)[^<>|]+\|([^<>]*)>|<((?:https?://|mailto:)[^<>|]+)>")


class BadBlocks(Exception):
    """What is wrong, and where."""


def check(blocks: Any, *, limit: int = MESSAGE_BLOCKS) -> list[Json]:
    """Return blocks as Slack stores them, with missing ids added. Raises `BadBlocks`."""
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise BadBlocks("must be an array of objects")
    if len(blocks) > limit:
        raise BadBlocks(f"no more than {limit} items allowed [json-pointer:/blocks]")
    kept = []
    for number, block in enumerate(blocks):
        where = f"/blocks/{number}"
        kind = block.get("type")
        if kind not in _TYPES:
            raise BadBlocks(f"unsupported type: {kind} [json-pointer:{where}/type]")
        block_id = block.get("block_id") or f"auto{number}"
        if len(block_id) > _ID_LIMIT:
            raise BadBlocks(f"block_id is too long [json-pointer:{where}/block_id]")
        kept.append(_checked(dict(block) | {"block_id": block_id}, where))
    ids = [block["block_id"] for block in kept]
    if len(set(ids)) != len(ids):
        raise BadBlocks("block_id must be unique [json-pointer:/blocks]")
    if sum(len(b["text"]) for b in kept if b["type"] == "markdown") > MARKDOWN_LIMIT:
        raise BadBlocks(f"markdown must be less than {MARKDOWN_LIMIT + 1} characters")
    return kept


def size(blocks: list[Json]) -> int:
    """Characters of block text."""
    return len(flatten(blocks))


def _checked(block: Json, where: str) -> Json:
    match block["type"]:
        case "section":
            _text(block.get("text"), 3000, f"{where}/text")
        case "header":
            _text(block.get("text"), 150, f"{where}/text", kinds=("plain_text",))
        case "actions":
            block["elements"] = _buttons(block.get("elements"), 25, where)
        case "markdown":
            if not isinstance(block.get("text"), str) or not block["text"]:
                raise BadBlocks(f"missing required field: text [json-pointer:{where}]")
        case _:
            pass
    return block


def _buttons(elements: Any, limit: int, where: str) -> list[Json]:
    if not isinstance(elements, list) or not 1 <= len(elements) <= limit:
        raise BadBlocks(f"no more than {limit} items allowed [json-pointer:{where}/elements]")
    kept = []
    for number, given in enumerate(elements):
        place = f"{where}/elements/{number}"
        if not isinstance(given, dict):
            raise BadBlocks(f"must be an object [json-pointer:{place}]")
        element = {"action_id": f"auto{number}", **given}
        if len(element["action_id"]) > _ID_LIMIT:
            raise BadBlocks(
                f"must be less than {_ID_LIMIT + 1} characters [json-pointer:{place}/action_id]"
            )
        _check_button(element, place)
        kept.append(element)
    ids = [element["action_id"] for element in kept]
    if len(set(ids)) != len(ids):
        raise BadBlocks(f"action_id must be unique [json-pointer:{where}/elements]")
    return kept


def _check_button(button: Json, where: str) -> None:
    if button.get("type") != "button":
        raise BadBlocks(f"unsupported type: {button.get('type')} [json-pointer:{where}/type]")
    _text(button.get("text"), 75, f"{where}/text", kinds=("plain_text",))
    if len(str(button.get("value", ""))) > 2000 or len(str(button.get("url", ""))) > 3000:
        raise BadBlocks(f"must be less than 2001 characters [json-pointer:{where}/value]")
    if button.get("style", "primary") not in ("primary", "danger"):
        raise BadBlocks(f"unsupported style [json-pointer:{where}/style]")


def _text(
    text: Any, limit: int, where: str, *, kinds: tuple[str, ...] = ("plain_text", "mrkdwn")
) -> None:
    if not isinstance(text, dict) or text.get("type") not in kinds:
        raise BadBlocks(f"must be a {' or '.join(kinds)} object [json-pointer:{where}]")
    words = text.get("text")
    if not isinstance(words, str) or not words:
        raise BadBlocks(f"must be more than 0 characters [json-pointer:{where}/text]")
    if len(words) > limit:
        raise BadBlocks(f"must be less than {limit + 1} characters [json-pointer:{where}/text]")


def plain(text: str) -> str:
    """Return Slack's markup as people read it: links by label, escapes undone."""
    text = _LINK.sub(lambda match: match[1] or match[2], text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def flatten(blocks: list[Json]) -> str:
    """Return the text of blocks, a line per piece, without buttons."""
    return "\n".join(line for block in blocks for line in _lines(block) if line)


def _lines(block: Json) -> list[str]:
    match block["type"]:
        case "section" | "header":
            return [_words(block["text"])]
        case "markdown":
            return [block["text"]]
        case _:
            return []


def _words(text: Json) -> str:
    return plain(text["text"]) if text["type"] == "mrkdwn" else text["text"]
