"""Bot API calls besides messages: files, reactions, button presses, member counts."""

import time

from tests.emulators.telegram_texts import Json, Refusal, Upload, clean_caption, whole
from tests.emulators.telegram_world import BotMessage, World

UPLOAD_LIMIT = 50_000_000
"""Bytes of a file that a bot may send."""
PHOTO_LIMIT = 10_000_000
"""Bytes of a picture that a bot may send as a photo."""
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF")
_SIGNS = frozenset(
    ["👀", "👍", "👌", "🎉", "🤔", "✍", "🔥", "👏", "😁", "😢", "🙏", "💯", "👎", "❤"]
)
"""Some of the reactions that bots may set."""


class Deeds:
    """Calls of the Bot API on a world. Each raises `Refusal`."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.deaf: set[int] = set()
        """Chats of people who block voice messages."""
        self._signs: dict[tuple[int, int, int], list[str]] = {}
        """People's reactions, by chat, message and person."""

    def send_document(self, parameters: Json) -> Json:
        """sendDocument, with an uploaded file only."""
        return self._send_file(parameters, "document", UPLOAD_LIMIT)

    def send_photo(self, parameters: Json) -> Json:
        """sendPhoto, with an uploaded picture only; anything else can't be processed."""
        file = parameters.get("photo")
        if isinstance(file, Upload) and not file.data.startswith(_PICTURES):
            raise Refusal(400, "Bad Request: IMAGE_PROCESS_FAILED")
        return self._send_file(parameters, "photo", PHOTO_LIMIT)

    def send_voice(self, parameters: Json) -> Json:
        """sendVoice, with uploaded OGG and Opus only."""
        file = parameters.get("voice")
        if isinstance(file, Upload):
            if str(parameters.get("chat_id")) in map(str, self.deaf):
                raise Refusal(400, "Bad Request: VOICE_MESSAGES_FORBIDDEN")
            if not (file.data.startswith(b"OggS") and b"OpusHead" in file.data[:64]):
                raise Refusal(400, "Bad Request: wrong type of the web page content")
        return self._send_file(parameters, "voice", UPLOAD_LIMIT)

    def _send_file(self, parameters: Json, kind: str, most: int) -> Json:
        chat = self._world.chat(parameters.get("chat_id"))
        file = parameters.get(kind)
        if not isinstance(file, Upload):
            raise Refusal(400, f"Bad Request: there is no {kind} in the request")
        if not file.data:
            raise Refusal(400, "Bad Request: file must be non-empty")
        if len(file.data) > most:
            raise Refusal(413, "Request Entity Too Large")
        caption, entities = clean_caption(parameters)
        file_id = f"sent-{len(self._world.contents)}"
        about = {"file_id": file_id, "file_unique_id": f"unique-{file_id}"}
        about |= {"file_size": len(file.data), "file_name": file.name}
        self._world.files[file_id] = about
        self._world.contents[file_id] = file.data
        content: Json = {"document": about | {"mime_type": file.media_type}}
        if kind == "photo":
            content = {"photo": [about | {"width": 1000, "height": 560}]}
        if kind == "voice":
            content = {"voice": about | {"mime_type": file.media_type, "duration": 1}}
        if caption:
            content["caption"] = caption
        if entities:
            content["caption_entities"] = entities
        return self._world.post(chat, parameters, content, file)

    def edit_caption(self, parameters: Json) -> Json:
        """editMessageCaption."""
        chat = self._world.chat(parameters.get("chat_id"))
        caption, entities = clean_caption(parameters)
        shown = self._world.own(chat, parameters)
        if shown.file is None:
            raise Refusal(400, "Bad Request: there is no caption in the message to edit")
        return self._world.change(shown, parameters, caption, entities)

    def react(self, parameters: Json) -> bool:
        """setMessageReaction."""
        chat = self._world.chat(parameters.get("chat_id"))
        place = (chat["id"], whole(parameters, "message_id"))
        if place not in self._world.messages:
            raise Refusal(400, "Bad Request: message to react not found")
        indicators = [sign.get("emoji") for sign in parameters.get("reaction") or []]
        if len(indicators) > 1 or not _SIGNS.issuperset(indicators):
            raise Refusal(400, "Bad Request: REACTION_INVALID")
        self._world.reactions[place] = indicators
        return True

    def count_members(self, parameters: Json) -> int:
        """getChatMemberCount."""
        chat = self._world.chat(parameters.get("chat_id"))
        return 2 if chat["type"] == "private" else self._world.members.get(chat["id"], 3)

    def list_administrators(self, parameters: Json) -> list[Json]:
        """getChatAdministrators: the creator, and the bot."""
        chat = self._world.chat(parameters.get("chat_id"))
        if chat["type"] == "private":
            raise Refusal(400, "Bad Request: there are no administrators in the private chat")
        creator = self._world.users.get(self._world.creators.get(chat["id"], 0))
        founders = [{"status": "creator", "user": creator, "is_anonymous": False}]
        return (founders if creator else []) + [
            {"status": "administrator", "user": self._world.bot}
        ]

    def notify_chat(self, parameters: Json) -> Json:
        """getChat, with few of its many fields."""
        return self._world.chat(parameters.get("chat_id"))

    def answer_press(self, parameters: Json) -> bool:
        """answerCallbackQuery; an unknown press counts as too old."""
        query_id = str(parameters.get("callback_query_id") or "")
        if query_id not in self._presses():
            raise Refusal(
                400,
                "Bad Request: query is too old and response timeout expired or query ID is invalid",
            )
        self._world.answered.append(query_id)
        return True

    def press(self, user_id: int, label: str, chat_id: int) -> Json:
        """Return a press of the newest button with this label, as an update without its number.

        Raises `LookupError` if no message in the chat shows one.
        """
        for shown in reversed(self._world.bot_messages.get(chat_id, {}).values()):
            for key in (key for row in shown.keyboard for key in row):
                if key["text"] == label:
                    return {"callback_query": self._query(user_id, shown, key["callback_data"])}
        raise LookupError(f'nothing in chat {chat_id} shows a button "{label}"')

    def react_as(self, user_id: int, chat_id: int, message_id: int, signs: list[str]) -> Json:
        """Return a person's new reactions to a message, as an update without its number."""
        place = (chat_id, message_id, user_id)
        before, self._signs[place] = self._signs.get(place, []), signs
        shown = {"old_reaction": before, "new_reaction": signs}
        return {
            "message_reaction": {
                "chat": self._world.chats[chat_id],
                "message_id": message_id,
                "user": self._world.users[user_id],
                "date": int(time.time()),
            }
            | {k: [{"type": "emoji", "emoji": one} for one in v] for k, v in shown.items()}
        }

    def _query(self, user_id: int, shown: BotMessage, data: str) -> Json:
        return {
            "id": str(time.time_ns()),
            "from": self._world.users[user_id],
            "message": self._world.messages[shown.chat_id, shown.message_id],
            "chat_instance": "-1",
            "data": data,
        }

    def _presses(self) -> set[str]:
        return {
            str(notified["callback_query"]["id"])
            for notified in self._world.notified
            if _is_press(notified)
        }


def _is_press(update: Json) -> bool:
    query = update.get("callback_query")
    return isinstance(query, dict) and "id" in query
