"""Answers with a short-lived right, where the bot is not: a command used elsewhere."""

from adapters.errors import ChatGone
from adapters.ids import PlatformMessageId
from adapters.messages import OutboundMessage
from adapters.recent import Recent
from adapters.slack.api import Api
from adapters.slack.render import whisper_of

_MARK = "ticket:"
_GONE = (
    "The answer could not be shown: a command's answer has to come within 30 minutes where the "
    "bot is not a member. Invite it to the channel, or write to it directly."
)


def is_whisper(message_id: str) -> bool:
    """True for messages that only one person saw; nothing can be done to them any more."""
    return message_id.startswith(_MARK)


class Tickets:
    """Whispers to the person who used a command. Slack takes five for each, and no edits:
    of an answer that grows only its end is shown.
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        self._said: Recent[str, None] = Recent()

    async def send(self, message: OutboundMessage, ticket: str) -> PlatformMessageId:
        """Whisper; an answer that is not complete yet is kept back. Raises `AdapterError`."""
        message_id = PlatformMessageId(_MARK + message.key)
        if not message.is_live and message.key not in self._said:
            await self._whisper(message, ticket)
        return message_id

    async def edit(self, message: OutboundMessage, ticket: str) -> None:
        """Whisper the end of an answer that was kept back, once. Raises `AdapterError`."""
        await self.send(message, ticket)

    async def _whisper(self, message: OutboundMessage, ticket: str) -> None:
        try:
            await self._api.answer(ticket, whisper_of(message))
        except ChatGone as error:
            raise ChatGone(_GONE) from error
        self._said.put(message.key, None)
