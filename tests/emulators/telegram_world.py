"""What Telegram knows: users, chats, messages and updates, shaped as the Bot API shows them."""

import re
import time
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

TEXT_LIMIT = 4096
ENTITY_LIMIT = 100
_COMMAND = re.compile(r"(?<!\S)/[A-Za-z0-9_]{1,32}(?:@\w+)?")
_MENTION = re.compile(r"(?<!\w)@[A-Za-z]\w{3,31}")
_SUPERGROUP_BELOW = -1_000_000_000_000


class Refusal(Exception):
    """An answer of the Bot API that is not ok."""

    def __init__(self, status: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.status = status
        self.description = description
        self.parameters = parameters


@dataclass(kw_only=True)
class BotMessage:
    """A message of the bot as people see it, with every text that it ever had."""

    chat_id: int
    message_id: int
    text: str
    entities: list[Json]
    thread_id: int | None
    reply_to: int | None
    is_silent: bool
    link_preview: Json
    history: list[str] = field(default_factory=list)


def units(text: str) -> int:
    """Length in UTF-16 units. Raises `Refusal` on text that is no Unicode."""
    try:
        return len(text.encode("utf-16-le")) // 2
    except UnicodeEncodeError:
        raise Refusal(400, "Bad Request: strings must be encoded in UTF-8") from None


class World:
    """One bot account and everybody who talks to it."""

    def __init__(self, *, bot_id: int, username: str) -> None:
        self.bot: Json = {
            "id": bot_id,
            "is_bot": True,
            "first_name": "Talaria",
            "username": username,
        }
        self.users: dict[int, Json] = {}
        self.chats: dict[int, Json] = {}
        self.closed: dict[int, Refusal] = {}
        """Chats in which the bot can do nothing any more, and what Telegram says then."""
        self.topics: dict[int, set[int]] = {}
        self.messages: dict[tuple[int, int], Json] = {}
        self.bot_messages: dict[int, dict[int, BotMessage]] = {}
        self.updates: list[Json] = []
        self.next_update_id = 700_000_001
        self._ids: dict[int, int] = {0: 1000}

    # People and places

    def user(
        self, user_id: int, name: str, *, username: str | None = None, language: str | None = "en"
    ) -> int:
        """Make a user who has started the bot; their private chat has the same id."""
        user: Json = {"id": user_id, "is_bot": False, "first_name": name}
        if username is not None:
            user["username"] = username
        self.chats[user_id] = {k: v for k, v in user.items() if k != "is_bot"} | {"type": "private"}
        if language is not None:
            user["language_code"] = language
        self.users[user_id] = user
        return user_id

    def group(self, chat_id: int, title: str, *, is_forum: bool = False) -> int:
        """Make a group with the bot in it; ids below -10^12 are supergroups."""
        kind = "supergroup" if chat_id < _SUPERGROUP_BELOW else "group"
        self.chats[chat_id] = {"id": chat_id, "title": title, "type": kind}
        if is_forum:
            self.chats[chat_id]["is_forum"] = True
            self.topics[chat_id] = set()
        return chat_id

    def topic(self, chat_id: int, user_id: int, name: str) -> int:
        """Open a topic; its id is that of the message that says so."""
        thread_id = self._take_id(chat_id)
        self.topics[chat_id].add(thread_id)
        self.messages[chat_id, thread_id] = {
            "message_id": thread_id,
            "from": self.users[user_id],
            "chat": self.chats[chat_id],
            "date": int(time.time()),
            "message_thread_id": thread_id,
            "forum_topic_created": {"name": name, "icon_color": 7322096},
            "is_topic_message": True,
        }
        return thread_id

    def _take_id(self, chat_id: int) -> int:
        """Private chats and basic groups share the account's counter."""
        counter = chat_id if chat_id < _SUPERGROUP_BELOW else 0
        self._ids[counter] = self._ids.get(counter, 0) + 1
        return self._ids[counter]

    # What people do

    def write(
        self,
        user_id: int,
        text: str | None,
        *,
        chat: int | None = None,
        reply_to: int | None = None,
        quote: str | None = None,
        thread: int | None = None,
        fields: Json,
    ) -> Json:
        """A person's new message as an update without its number."""
        chat_id = user_id if chat is None else chat
        message: Json = {
            "message_id": self._take_id(chat_id),
            "from": self.users[user_id],
            "chat": self.chats[chat_id],
            "date": int(time.time()),
        }
        if thread is not None:
            message |= {"message_thread_id": thread, "is_topic_message": True}
        answered = reply_to if reply_to is not None else thread
        if answered is not None:
            original = self.messages[chat_id, answered]
            message["reply_to_message"] = {
                k: v for k, v in original.items() if k != "reply_to_message"
            }
        if quote is not None:
            message["quote"] = {"text": quote, "position": 0, "is_manual": True}
        if text is not None:
            message |= with_entities(text, "text", "entities")
        if "caption" in fields:
            message |= with_entities(fields["caption"], "caption", "caption_entities")
        message |= fields
        self.messages[chat_id, message["message_id"]] = message
        return {"message": message}

    def rewrite(self, user_id: int, message_id: int, text: str, *, chat: int | None = None) -> Json:
        """A person's edit of a message as an update without its number."""
        chat_id = user_id if chat is None else chat
        message = dict(self.messages[chat_id, message_id])
        message.pop("entities", None)
        message |= {"edit_date": int(time.time()), **with_entities(text, "text", "entities")}
        self.messages[chat_id, message_id] = message
        return {"edited_message": message}

    def push(self, update: Json) -> Json:
        """Number an update, unless it has a number, and queue it."""
        if "update_id" not in update:
            update = {"update_id": self.next_update_id, **update}
        self.next_update_id = update["update_id"] + 1
        self.updates.append(update)
        return update

    def confirm(self, offset: int) -> None:
        """Forget the updates below the offset; a negative one keeps that many of the last."""
        if offset < 0:
            del self.updates[:offset]
        elif offset:
            self.updates = [update for update in self.updates if update["update_id"] >= offset]

    # What the bot does

    def chat(self, chat_id: object) -> Json:
        """The chat that the bot named. Raises `Refusal`."""
        try:
            number = int(str(chat_id))
        except ValueError:
            raise Refusal(400, "Bad Request: chat not found") from None
        if number in self.closed:
            raise self.closed[number]
        if number not in self.chats:
            raise Refusal(400, "Bad Request: chat not found")
        return self.chats[number]

    def send(self, parameters: Json) -> Json:
        """sendMessage. Raises `Refusal`."""
        chat = self.chat(parameters.get("chat_id"))
        thread = parameters.get("message_thread_id")
        if thread is not None and int(thread) not in self.topics.get(chat["id"], set()):
            raise Refusal(400, "Bad Request: message thread not found")
        text, entities = clean(parameters)
        message: Json = {
            "message_id": 0,
            "from": self.bot,
            "chat": chat,
            "date": int(time.time()),
            "text": text,
        }
        if entities:
            message["entities"] = entities
        if thread is not None:
            message |= {"message_thread_id": int(thread), "is_topic_message": True}
        reply = parameters.get("reply_parameters") or {}
        answered = self.messages.get((chat["id"], int(reply.get("message_id", 0))))
        if answered is not None:
            message["reply_to_message"] = {
                k: v for k, v in answered.items() if k != "reply_to_message"
            }
        elif reply and not reply.get("allow_sending_without_reply"):
            raise Refusal(400, "Bad Request: message to be replied not found")
        message["message_id"] = self._take_id(chat["id"])
        self.messages[chat["id"], message["message_id"]] = message
        self.bot_messages.setdefault(chat["id"], {})[message["message_id"]] = BotMessage(
            chat_id=chat["id"],
            message_id=message["message_id"],
            text=text,
            entities=entities,
            thread_id=message.get("message_thread_id"),
            reply_to=answered["message_id"] if answered is not None else None,
            is_silent=bool(parameters.get("disable_notification")),
            link_preview=parameters.get("link_preview_options") or {},
            history=[text],
        )
        return message

    def edit(self, parameters: Json) -> Json:
        """editMessageText. Raises `Refusal`."""
        chat = self.chat(parameters.get("chat_id"))
        text, entities = clean(parameters)
        message_id = int(parameters.get("message_id", 0))
        message = self.messages.get((chat["id"], message_id))
        if message is None:
            raise Refusal(400, "Bad Request: message to edit not found")
        shown = self.bot_messages.get(chat["id"], {}).get(message_id)
        if shown is None:
            raise Refusal(400, "Bad Request: message can't be edited")
        if (shown.text, shown.entities) == (text, entities):
            raise Refusal(
                400,
                "Bad Request: message is not modified: specified new message content and reply "
                "markup are exactly the same as a current content and reply markup of the message",
            )
        shown.text, shown.entities = text, entities
        shown.link_preview = parameters.get("link_preview_options") or {}
        shown.history.append(text)
        message = dict(message)
        message.pop("entities", None)
        message |= {"text": text, "edit_date": int(time.time())}
        if entities:
            message["entities"] = entities
        self.messages[chat["id"], message_id] = message
        return message

    def delete(self, parameters: Json) -> bool:
        """deleteMessage. Raises `Refusal`."""
        chat = self.chat(parameters.get("chat_id"))
        message_id = int(parameters.get("message_id", 0))
        if self.messages.pop((chat["id"], message_id), None) is None:
            raise Refusal(400, "Bad Request: message to delete not found")
        self.bot_messages.get(chat["id"], {}).pop(message_id, None)
        return True


def with_entities(text: str, text_key: str, entities_key: str) -> Json:
    """A person's text with the entities that their client and Telegram would find in it."""
    entities = [
        {"type": kind, "offset": units(text[: match.start()]), "length": units(match[0])}
        for kind, pattern in (("bot_command", _COMMAND), ("mention", _MENTION))
        for match in pattern.finditer(text)
    ]
    entities.sort(key=lambda entity: int(str(entity["offset"])))
    return {text_key: text} | ({entities_key: entities} if entities else {})


def clean(parameters: Json) -> tuple[str, list[Json]]:
    """The text and entities of a request as Telegram keeps them. Raises `Refusal`."""
    text = str(parameters.get("text") or "")
    if parameters.get("parse_mode"):
        raise Refusal(400, "Bad Request: this emulator takes entities, not parse modes")
    length = units(text)
    if not text.strip("\0 \t\n\r\u200b\u200c\u200d\ufeff"):
        raise Refusal(400, "Bad Request: message text is empty")
    if length > TEXT_LIMIT:
        raise Refusal(400, "Bad Request: message is too long")
    entities: list[Json] = parameters.get("entities") or []
    if len(entities) > ENTITY_LIMIT:
        raise Refusal(400, "Bad Request: ENTITIES_TOO_LONG")
    for entity in entities:
        _check(text, length, entity)
    if text != text.strip():
        raise Refusal(400, "Bad Request: this emulator takes no text with blanks at its ends")
    return text, entities


def _check(text: str, length: int, entity: Json) -> None:
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
