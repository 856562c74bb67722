"""Parameters as Telegram reads them: numbers, texts, entities, and refusals."""

import re
from dataclasses import dataclass
from html import unescape
from typing import Any

Json = dict[str, Any]

TEXT_LIMIT = 4096
CAPTION_LIMIT = 1024
ENTITY_LIMIT = 100
_GIVEN = frozenset(
    {"blockquote", "bold", "code", "custom_emoji", "date_time", "expandable_blockquote", "italic"}
    | {"pre", "spoiler", "strikethrough", "text_link", "text_mention", "underline"}
)
"""Kinds of entity that a bot may set."""
_FOUND = frozenset(
    {"bank_card_number", "bot_command", "cashtag", "email"}
    | {"hashtag", "mention", "phone_number", "url"}
)
"""Kinds that Telegram finds by itself, and ignores where a bot sets them."""
_TAG = re.compile(r"</?[a-z][^>]*>")
_ESCAPED = re.compile(r"\\([_*\[\]()~`>#+\-=|{}.!\\])")
_COMMAND = re.compile(r"(?<!\S)/[A-Za-z0-9_]{1,32}(?:@\w+)?")
_MENTION = re.compile(r"(?<!\w)@[A-Za-z]\w{3,31}")


class Refusal(Exception):
    """A Bot API response that is not ok."""

    def __init__(self, status: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.status = status
        self.description = description
        self.parameters = parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file uploaded with a call."""

    name: str
    media_type: str
    data: bytes


def whole(parameters: Json, key: str) -> int:
    """Return a whole-number parameter; 0 if it is none, like the Bot API."""
    try:
        return int(parameters.get(key) or 0)
    except (TypeError, ValueError):
        return 0


def units(text: str) -> int:
    """Length in UTF-16 units. Raises `Refusal` on text that is no Unicode."""
    try:
        return len(text.encode("utf-16-le")) // 2
    except UnicodeEncodeError:
        raise Refusal(400, "Bad Request: strings must be encoded in UTF-8") from None


def with_entities(text: str, text_key: str, entities_key: str) -> Json:
    """Return a person's text with the entities that client and Telegram would find."""
    entities = [
        {"type": kind, "offset": units(text[: match.start()]), "length": units(match[0])}
        for kind, pattern in (("bot_command", _COMMAND), ("mention", _MENTION))
        for match in pattern.finditer(text)
    ]
    entities.sort(key=lambda entity: int(str(entity["offset"])))
    return {text_key: text} | ({entities_key: entities} if entities else {})


def without_marks(parameters: Json) -> Json:
    """Return a request without its parse mode, and its text as people read it."""
    mode = str(parameters.get("parse_mode") or "").lower()
    if not mode:
        return parameters

    def read(text: str) -> str:
        if mode == "html":
            return unescape(_TAG.sub("", text)).strip()
        return _ESCAPED.sub(r"\1", text).strip()

    texts = {key: read(str(parameters[key])) for key in ("text", "caption") if key in parameters}
    return {key: one for key, one in parameters.items() if key != "parse_mode"} | texts


def clean(parameters: Json) -> tuple[str, list[Json]]:
    """Return a request's text and entities as Telegram stores them. Raises `Refusal`."""
    text = str(parameters.get("text") or "")
    if not text.strip("\0 \t\n\r\u200b\u200c\u200d\ufeff"):
        units(text)
        raise Refusal(400, "Bad Request: message text is empty")
    if units(text) > TEXT_LIMIT:
        raise Refusal(400, "Bad Request: message is too long")
    return text, _clean_entities(text, parameters, "entities")


def clean_caption(parameters: Json) -> tuple[str, list[Json]]:
    """Return a file's caption, which may be empty. Raises `Refusal`."""
    text = str(parameters.get("caption") or "")
    if units(text) > CAPTION_LIMIT:
        raise Refusal(400, "Bad Request: message caption is too long")
    return text, _clean_entities(text, parameters, "caption_entities")


def read_keyboard(parameters: Json) -> list[list[Json]]:
    """Return the rows of an inline keyboard; empty without one. Raises `Refusal`."""
    markup = parameters.get("reply_markup") or {}
    rows = markup.get("inline_keyboard") if isinstance(markup, dict) else None
    if rows is None:
        if markup:
            raise Refusal(400, "Bad Request: object expected as reply markup")
        return []
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise Refusal(400, 'Bad Request: field "inline_keyboard" must be an Array of Arrays')
    for key in (key for row in rows for key in row):
        if not key.get("text"):
            raise Refusal(400, "Bad Request: inline keyboard button text is empty")
        if url := str(key.get("url") or ""):
            # TDLib refuses hosts without a dot, so a button never opens this computer.
            if not re.match(r"(https?|tg)://[^/\s]*\.[^/\s]", url):
                raise Refusal(400, f"Bad Request: inline keyboard button URL '{url}' is invalid")
        elif not 1 <= len(str(key.get("callback_data") or "").encode()) <= 64:
            raise Refusal(400, "Bad Request: BUTTON_DATA_INVALID")
        if key.get("style") not in (None, "success", "danger", "primary"):
            raise Refusal(400, "Bad Request: invalid button style specified")
    if sum(len(row) for row in rows) > 100 or any(len(row) > 8 for row in rows):
        raise Refusal(400, "Bad Request: REPLY_MARKUP_TOO_LONG")
    return rows


def _clean_entities(text: str, parameters: Json, key: str) -> list[Json]:
    if parameters.get("parse_mode"):
        raise Refusal(400, "Bad Request: this emulator takes entities, not parse modes")
    length = units(text)
    given: list[Json] = parameters.get(key) or []
    if not isinstance(given, list):
        raise Refusal(400, "Bad Request: can't parse entities: expected an Array")
    entities = [entity for entity in given if _check(text, length, entity)]
    entities.sort(key=lambda entity: (int(entity["offset"]), -int(entity["length"])))
    del entities[ENTITY_LIMIT:]
    is_marked = bool(entities) and entities[0]["offset"] == 0  # such blanks stay, as in TDLib
    if text != (text.rstrip() if is_marked else text.strip()):
        raise Refusal(400, "Bad Request: this emulator takes no text with blanks at its ends")
    return entities


def _check(text: str, length: int, entity: Any) -> bool:
    """Return False for an entity that Telegram ignores. Raises `Refusal`."""
    if not isinstance(entity, dict):
        raise _unparsable("expected an Object")
    must = {"type": str, "offset": int, "length": int}
    if entity.get("type") == "text_link":
        must["url"] = str
    for key, kind in must.items():
        if key not in entity:
            raise _unparsable(f'Can\'t find field "{key}"')
        if not isinstance(entity[key], kind):
            name = "Number" if kind is int else "String"
            raise _unparsable(f'Field "{key}" must be of type {name}')
    if entity["type"] in _FOUND:
        return False
    if entity["type"] not in _GIVEN:
        raise _unparsable("Unsupported type specified")
    begin, end = entity["offset"], entity["offset"] + entity["length"]
    if begin < 0 or entity["length"] <= 0 or end > length:
        raise Refusal(
            400,
            f"Bad Request: entity beginning at UTF-16 offset {begin} ends after the end of the "
            f"text at UTF-16 offset {end}",
        )
    encoded = text.encode("utf-16-le")
    for place, what in ((begin, "begins"), (end, "ends")):
        if 0xDC00 <= int.from_bytes(encoded[2 * place : 2 * place + 2], "little") <= 0xDFFF:
            raise Refusal(
                400,
                f"Bad Request: entity {what} in a middle of a UTF-16 symbol at byte offset {place}",
            )
    return True


def _unparsable(reason: str) -> Refusal:
    return Refusal(400, f"Bad Request: can't parse MessageEntity: {reason}")
