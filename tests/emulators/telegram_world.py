"""Telegram's data: users, chats, messages and updates, as the Bot API shows them."""

import time
from dataclasses import dataclass, field

from tests.emulators.telegram_texts import (
    Json,
    Refusal,
    Upload,
    clean,
    read_keyboard,
    whole,
    with_entities,
)

FILE_LIMIT = 20_000_000
"""Bytes that a bot may fetch of one file."""
_SUPERGROUP_BELOW = -1_000_000_000_000


@dataclass(kw_only=True)
class BotMessage:
    """A message of the bot as people see it, with every text it has had."""

    chat_id: int
    message_id: int
    text: str
    entities: list[Json]
    thread_id: int | None
    reply_to: int | None
    is_silent: bool
    link_preview: Json
    history: list[str] = field(default_factory=list)
    keyboard: list[list[Json]] = field(default_factory=list)
    file: Upload | None = None
    """If set, the text is its caption."""

    @property
    def labels(self) -> list[str]:
        """The labels of its buttons."""
        return [key["text"] for row in self.keyboard for key in row]


class World:
    """One bot account and everyone who writes to it."""

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
        """Closed chats, with Telegram's refusal."""
        self.topics: dict[int, set[int]] = {}
        self.messages: dict[tuple[int, int], Json] = {}
        self.bot_messages: dict[int, dict[int, BotMessage]] = {}
        self.files: dict[str, Json] = {}
        self.contents: dict[str, bytes] = {}
        """What can be fetched of the files, by file_id."""
        self.members: dict[int, int] = {}
        """The members of a group with the bot; 3 by default."""
        self.creators: dict[int, int] = {}
        """Who created a group."""
        self.reactions: dict[tuple[int, int], list[str]] = {}
        """The bot's reactions, by chat and message."""
        self.answered: list[str] = []
        """Answered presses, by id, in order."""
        self.updates: list[Json] = []
        self.notified: list[Json] = []
        """All updates so far, confirmed or not."""
        self.repeats: list[Json] = []
        """Confirmed updates that the next response repeats."""
        self.next_update_id = 700_000_001
        self._ids: dict[int, int] = {0: 1000}

    # People and places

    def user(
        self, user_id: int, name: str, *, username: str | None = None, language: str | None = "en"
    ) -> int:
        """Create a user who has started the bot; their private chat has the same id."""
        user: Json = {"id": user_id, "is_bot": False, "first_name": name}
        if username is not None:
            user["username"] = username
        self.chats[user_id] = {k: v for k, v in user.items() if k != "is_bot"} | {"type": "private"}
        if language is not None:
            user["language_code"] = language
        self.users[user_id] = user
        return user_id

    def group(self, chat_id: int, title: str, *, is_forum: bool = False) -> int:
        """Create a group with the bot; ids below -10^12 are supergroups."""
        kind = "supergroup" if chat_id < _SUPERGROUP_BELOW else "group"
        self.chats[chat_id] = {"id": chat_id, "title": title, "type": kind}
        if is_forum:
            self.chats[chat_id]["is_forum"] = True
            self.topics[chat_id] = set()
        return chat_id

    def topic(self, chat_id: int, user_id: int, name: str) -> int:
        """Open a topic; its id is that of its service message."""
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
        """Return a message id; private chats and basic groups share the account's counter."""
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
        self.files |= {file["file_id"]: file for file in files_in(fields)}
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
        self.notified.append(update)
        return update

    def confirm(self, offset: int) -> None:
        """Forget the updates below the offset; a negative one keeps that many of the last."""
        if offset < 0:
            del self.updates[:offset]
        elif offset:
            self.updates = [update for update in self.updates if update["update_id"] >= offset]

    # What the bot does

    def chat(self, chat_id: object) -> Json:
        """Return the named chat. Raises `Refusal`."""
        if chat_id in (None, ""):
            raise Refusal(400, "Bad Request: chat_id is empty")
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
        text, entities = clean(parameters)
        message: Json = {"text": text} | ({"entities": entities} if entities else {})
        return self.post(chat, parameters, message)

    def post(self, chat: Json, parameters: Json, content: Json, file: Upload | None = None) -> Json:
        """Add a message of the bot. Raises `Refusal`."""
        thread = whole(parameters, "message_thread_id")
        if thread and thread not in self.topics.get(chat["id"], set()):
            raise Refusal(400, "Bad Request: message thread not found")
        keyboard = read_keyboard(parameters)
        message: Json = {"message_id": 0, "from": self.bot, "chat": chat, "date": int(time.time())}
        message |= content
        if keyboard:
            message["reply_markup"] = {"inline_keyboard": keyboard}
        if thread:
            message |= {"message_thread_id": thread, "is_topic_message": True}
        reply = parameters.get("reply_parameters") or {}
        answered = self.messages.get((chat["id"], whole(reply, "message_id")))
        if answered is not None:
            message["reply_to_message"] = {
                k: v for k, v in answered.items() if k != "reply_to_message"
            }
        elif reply and not reply.get("allow_sending_without_reply"):
            raise Refusal(400, "Bad Request: message to be replied not found")
        message["message_id"] = self._take_id(chat["id"])
        self.messages[chat["id"], message["message_id"]] = message
        text = content.get("caption", "") if file else content["text"]
        self.bot_messages.setdefault(chat["id"], {})[message["message_id"]] = BotMessage(
            chat_id=chat["id"],
            message_id=message["message_id"],
            text=text,
            entities=content.get("caption_entities" if file else "entities", []),
            thread_id=message.get("message_thread_id"),
            reply_to=answered["message_id"] if answered is not None else None,
            is_silent=bool(parameters.get("disable_notification")),
            link_preview=parameters.get("link_preview_options") or {},
            history=[text],
            keyboard=keyboard,
            file=file,
        )
        return message

    def edit(self, parameters: Json) -> Json:
        """editMessageText. Raises `Refusal`."""
        chat = self.chat(parameters.get("chat_id"))
        text, entities = clean(parameters)
        shown = self.own(chat, parameters)
        if shown.file is not None:
            raise Refusal(400, "Bad Request: there is no text in the message to edit")
        return self.change(shown, parameters, text, entities)

    def own(self, chat: Json, parameters: Json) -> BotMessage:
        """Return the message of the bot to edit. Raises `Refusal`."""
        message_id = whole(parameters, "message_id")
        if not message_id:
            raise Refusal(400, "Bad Request: message identifier is not specified")
        if (chat["id"], message_id) not in self.messages:
            raise Refusal(400, "Bad Request: message to edit not found")
        shown = self.bot_messages.get(chat["id"], {}).get(message_id)
        if shown is None:
            raise Refusal(400, "Bad Request: message can't be edited")
        return shown

    def change(self, shown: BotMessage, parameters: Json, text: str, entities: list[Json]) -> Json:
        """Change text and buttons of a message of the bot. Raises `Refusal`."""
        keyboard = read_keyboard(parameters)
        if (shown.text, shown.entities, shown.keyboard) == (text, entities, keyboard):
            raise Refusal(
                400,
                "Bad Request: message is not modified: specified new message content and reply "
                "markup are exactly the same as a current content and reply markup of the message",
            )
        if shown.text != text:
            shown.history.append(text)
        shown.text, shown.entities, shown.keyboard = text, entities, keyboard
        shown.link_preview = parameters.get("link_preview_options") or {}
        words, places = ("caption", "caption_entities") if shown.file else ("text", "entities")
        message = dict(self.messages[shown.chat_id, shown.message_id])
        message.pop(places, None)
        message.pop("reply_markup", None)
        message |= {words: text, "edit_date": int(time.time())}
        if entities:
            message[places] = entities
        if keyboard:
            message["reply_markup"] = {"inline_keyboard": keyboard}
        self.messages[shown.chat_id, shown.message_id] = message
        return message

    def delete(self, parameters: Json) -> bool:
        """deleteMessage. Raises `Refusal`."""
        chat = self.chat(parameters.get("chat_id"))
        message_id = whole(parameters, "message_id")
        if self.messages.pop((chat["id"], message_id), None) is None:
            raise Refusal(400, "Bad Request: message to delete not found")
        self.bot_messages.get(chat["id"], {}).pop(message_id, None)
        return True

    def file(self, parameters: Json) -> Json:
        """getFile, for files that people sent. Raises `Refusal`."""
        file_id = str(parameters.get("file_id") or "")
        if not file_id:
            raise Refusal(400, "Bad Request: file_id not specified")
        file = self.files.get(file_id)
        if file is None:
            raise Refusal(400, "Bad Request: invalid file_id")
        if file.get("file_size", 0) > FILE_LIMIT:
            raise Refusal(400, "Bad Request: file is too big")
        shown = ("file_id", "file_unique_id", "file_size")
        about = {key: file[key] for key in shown if key in file}
        return about | {"file_path": f"files/{file_id}"}


def files_in(fields: Json) -> list[Json]:
    """Return the files of a message; each size of a photo is one."""
    found = []
    for value in fields.values():
        pieces = value if isinstance(value, list) else [value]
        found += [piece for piece in pieces if isinstance(piece, dict) and "file_id" in piece]
    return found
