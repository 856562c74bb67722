"""Maps every error of the SDK to a platform error; pure."""

from adapters.errors import (
    AdapterError,
    AdapterStopped,
    ChatGone,
    ChatMoved,
    MessageGone,
    MessageLocked,
    RateLimited,
    Rejected,
    Unreachable,
)
from adapters.telegram.http_transport import NeverLeft, TooFast, Unwell
from adapters.telegram.library import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

_MESSAGE_GONE = (
    "message to edit not found",
    "message to delete not found",
    "message to react not found",
    "message_id_invalid",
)
_MESSAGE_LOCKED = (
    "message can't be deleted",
    "message can't be edited",
    "message_edit_time_expired",
    "there is no text in the message to edit",
    "there is no caption in the message to edit",
)
_CHAT_GONE = (
    "chat not found",
    "peer_id_invalid",
    "user not found",
    "user is deactivated",
    "group chat was upgraded",
    "group chat was deactivated",
    "message thread not found",
    "topic_closed",
    "topic_deleted",
    "chat_write_forbidden",
    "chat_restricted",
    "channel_private",
    "not enough rights",
    "have no rights",
    "bot is not a member",
    "need administrator rights",
)


class AnotherPoller(AdapterStopped):
    """Another program polls updates with the same token."""


def translate(
    error: TelegramError, *, lost: type[AdapterError], unwell: type[AdapterError]
) -> AdapterError:
    """Map an SDK error to a platform error.

    `lost` is returned for a request without an answer, `unwell` for a 5xx answer: both depend on
    whether the call may be repeated.
    """
    match error:
        case TooFast():
            return RateLimited(f"{error}.", retry_after=error.seconds)
        case RetryAfter():
            return RateLimited(f"{error}.", retry_after=_seconds(error))
        case ChatMigrated():
            return ChatMoved(
                f"The group became a supergroup; its chat id is now {error.new_chat_id}.",
                chat_id=str(error.new_chat_id),
            )
        case Forbidden():
            return ChatGone(f"Telegram lets nobody be reached in this chat: {error}.")
        case InvalidToken():
            return AdapterStopped(
                "Telegram does not know the token in TELEGRAM_BOT_TOKEN. Ask @BotFather for it "
                "(/mybots, your bot, API Token), set it, and restart Talaria."
            )
        case Conflict():
            return AnotherPoller(
                "Another program is receiving messages with the token in TELEGRAM_BOT_TOKEN "
                f"({error}). Stop it, or have @BotFather make a new token (/revoke)."
            )
        case BadRequest():
            return _translate_refusal(str(error))
        case NeverLeft():
            return Unreachable(f"Telegram can't be reached: {error}.")
        case Unwell():
            return unwell(f"Telegram is unwell: {error}.")
        case TimedOut():
            return lost("Telegram did not answer in time.")
        case NetworkError():
            return lost(f"The connection to Telegram broke: {error}.")
        case _:  # the answer is no JSON; the call may have been applied
            return lost(f"Telegram's answer can't be read: {error}.")


def _translate_refusal(text: str) -> AdapterError:
    said = text.lower()
    if any(words in said for words in _MESSAGE_GONE):
        return MessageGone(f"Telegram: {text}.")
    if any(words in said for words in _MESSAGE_LOCKED):
        return MessageLocked(f"Telegram: {text}.")
    if any(words in said for words in _CHAT_GONE):
        return ChatGone(f"Telegram: {text}.")
    return Rejected(f"Telegram: {text}.")


def _seconds(error: RetryAfter) -> float:
    wait = error.retry_after
    return float(wait) if isinstance(wait, int | float) else wait.total_seconds()


_MOMENT, _CALM = 1.0, 4.0
"""Seconds without a conflict after the first one, and after several."""


class PollingConflict:
    """Decides how long a conflict with a second poller lasts, and when it counts as permanent.

    The last request of a killed process stays open at Telegram for a while. Two retrying programs
    succeed in turn, so a success does not end a conflict. It ends only after some time without
    conflicts.
    """

    def __init__(self, patience: float) -> None:
        """Tolerate conflicts for `patience` seconds."""
        self._patience = patience
        self._since = self._last = float("-inf")
        self._count = 0

    def weigh(self, error: AnotherPoller, now: float) -> None:
        """Raise the error once conflicts have lasted longer than the patience."""
        if now - self._last > 2 * self._patience:
            self._since, self._count = now, 0
        self._last = now
        self._count += 1
        if now - self._since >= self._patience:
            raise error

    def calm(self, now: float) -> float:
        """Return how many more seconds without a conflict show that it is over; 0 if it is.

        The first conflict may be the last request of a killed process, which a moment shows.
        """
        needed = _CALM if self._count > 1 else _MOMENT
        return max(0.0, self._last + min(needed, self._patience / 2) - now)
