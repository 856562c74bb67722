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
_TYPES = frozenset(
    {"actions", "context", "context_actions", "divider", "file", "header", "image", "input"}
    | {"markdown", "plan", "rich_text", "section", "table", "task_card", "video"}
)
_CHOICES = frozenset(
    {"static_select", "multi_static_select", "overflow", "radio_buttons", "checkboxes"}
)
_OTHER_ELEMENTS = frozenset(
    {"channels_select", "conversations_select", "datepicker", "datetimepicker", "image"}
    | {"plain_text_input", "timepicker", "users_select"}
)
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
            _check_section(block, where)
        case "header":
            _text(block.get("text"), 150, f"{where}/text", kinds=("plain_text",))
        case "context":
            _check_context(block, where)
        case "actions":
            block["elements"] = _elements(block.get("elements"), 25, where)
        case "markdown":
            if not isinstance(block.get("text"), str) or not block["text"]:
                raise BadBlocks(f"missing required field: text [json-pointer:{where}]")
        case "image":
            _image(block, where)
        case "task_card":
            if not block.get("task_id") or not block.get("title"):
                raise BadBlocks(f"missing required field: task_id, title [json-pointer:{where}]")
        case "plan":
            if not block.get("title"):
                raise BadBlocks(f"missing required field: title [json-pointer:{where}]")
        case "rich_text":
            if not isinstance(block.get("elements"), list):
                raise BadBlocks(f"missing required field: elements [json-pointer:{where}]")
        case _:
            pass
    return block


def _check_section(block: Json, where: str) -> None:
    fields = block.get("fields")
    if "text" not in block and not fields:
        raise BadBlocks(f"missing required field: text [json-pointer:{where}]")
    if "text" in block:
        _text(block["text"], 3000, f"{where}/text")
    if fields is not None:
        if not isinstance(fields, list) or not 1 <= len(fields) <= 10:
            raise BadBlocks(f"no more than 10 items allowed [json-pointer:{where}/fields]")
        for number, value in enumerate(fields):
            _text(value, 2000, f"{where}/fields/{number}")
    if "accessory" in block:
        (block["accessory"],) = _elements([block["accessory"]], 1, where)


def _check_context(block: Json, where: str) -> None:
    elements = block.get("elements")
    if not isinstance(elements, list) or not 1 <= len(elements) <= 10:
        raise BadBlocks(f"no more than 10 items allowed [json-pointer:{where}/elements]")
    for number, element in enumerate(elements):
        place = f"{where}/elements/{number}"
        if isinstance(element, dict) and element.get("type") == "image":
            _image(element, place)
        else:
            _text(element, 3000, place)


def _elements(elements: Any, limit: int, where: str) -> list[Json]:
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
        _element(element, place)
        kept.append(element)
    ids = [element["action_id"] for element in kept]
    if len(set(ids)) != len(ids):
        raise BadBlocks(f"action_id must be unique [json-pointer:{where}/elements]")
    return kept


def _element(element: Json, where: str) -> None:
    kind = element.get("type")
    if kind == "button":
        _text(element.get("text"), 75, f"{where}/text", kinds=("plain_text",))
        if len(str(element.get("value", ""))) > 2000 or len(str(element.get("url", ""))) > 3000:
            raise BadBlocks(f"must be less than 2001 characters [json-pointer:{where}/value]")
        if element.get("style", "primary") not in ("primary", "danger"):
            raise BadBlocks(f"unsupported style [json-pointer:{where}/style]")
    elif kind in _CHOICES:
        limit = {"overflow": 5, "radio_buttons": 10, "checkboxes": 10}.get(kind, 100)
        groups = element.get("option_groups") or [{"options": element.get("options")}]
        for group in groups:
            options = group.get("options")
            if not isinstance(options, list) or not 1 <= len(options) <= limit:
                raise BadBlocks(f"no more than {limit} items [json-pointer:{where}/options]")
            for number, option in enumerate(options):
                _text(option.get("text"), 75, f"{where}/options/{number}/text")
                if not 1 <= len(str(option.get("value", ""))) <= 150:
                    raise BadBlocks(f"bad value [json-pointer:{where}/options/{number}/value]")
    elif kind not in _OTHER_ELEMENTS:
        raise BadBlocks(f"unsupported type: {kind} [json-pointer:{where}/type]")


def _image(image: Json, where: str) -> None:
    if not image.get("alt_text") or not (image.get("image_url") or image.get("slack_file")):
        raise BadBlocks(f"missing required field: alt_text, image_url [json-pointer:{where}]")


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
        case "section":
            texts = [block["text"]] if "text" in block else []
            return [_words(text) for text in [*texts, *block.get("fields", [])]]
        case "header":
            return [_words(block["text"])]
        case "context":
            return [_words(e) for e in block["elements"] if e["type"] != "image"]
        case "markdown":
            return [block["text"]]
        case "rich_text":
            return ["".join(_rich(element) for element in block["elements"])]
        case "task_card" | "plan":
            return [str(block["title"])]
        case "image":
            return [block["alt_text"]]
        case _:
            return []


def _words(text: Json) -> str:
    return plain(text["text"]) if text["type"] == "mrkdwn" else text["text"]


def _rich(element: Json) -> str:
    if "elements" in element:
        return "".join(_rich(piece) for piece in element["elements"])
    if element.get("type") == "user":
        return f"<@{element['user_id']}>"
    return str(element.get("text") or element.get("url") or "")
