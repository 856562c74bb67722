"""Maps Meta's error codes to the errors of platforms; pure.

The codes are those of Meta's page "WhatsApp error codes". A code comes in an answer, or later in a
status of a message that Meta had accepted.
"""

from adapters.errors import (
    AdapterError,
    AdapterStopped,
    ChatGone,
    ChatWaits,
    RateLimited,
    Rejected,
    Unreachable,
)
from adapters.toolkit.text import Json, inside, plain_text, words_in

CLOSED = frozenset({131047, 470})
"""More than 24 hours have passed since the person wrote."""
_TOKEN = frozenset({0, 190})
_RIGHTS = frozenset({3, 10, *range(200, 300)})
_LOCKED = frozenset({368, 131031, 131042, 131045, 133010, 130497})
_PAUSES = {4: 60.0, 80007: 60.0, 130429: 1.0, 131048: 60.0, 131056: 6.0, 131064: 60.0, 133016: 60.0}
"""Seconds after which a refused call may be tried again. Meta names no time; 131056 is the limit of
one message in six seconds to one person.
"""
_GONE = frozenset({131026, 131030, 131021, 131050})
_LATER = frozenset({131057, 133004})
"""The number is being looked after, or not ready: nothing was sent."""
_UNCLEAR = frozenset({1, 2, 131000, 131016})
"""Meta had a fault and does not say how far it had come ("unknown error", "possible server error",
"temporary due to downtime"). In a status, they say that the message failed.
"""


def read_code(error: Json) -> int:
    """Return the code of an error; -1 if it has none."""
    code = error.get("code")
    return code if isinstance(code, int) and not isinstance(code, bool) else -1


def read_details(error: Json) -> str:
    """Return the words of an error that say most."""
    details = words_in(inside(error, "error_data"), "details")
    return plain_text(details or words_in(error, "message", "title") or "no reason").rstrip(".")


def translate(
    error: Json, *, lost: type[AdapterError] = Unreachable, is_server_fault: bool = False
) -> AdapterError:
    """Return the error of the platform for one that Meta reports.

    `lost` is that of a call which may have been done; `is_server_fault` says that Meta calls an
    error its own (HTTP 500 and above), which decides for codes that are not known here.
    """
    code, details = read_code(error), read_details(error)
    if code in CLOSED:
        return ChatWaits()
    if code in _TOKEN:
        return AdapterStopped(
            "Meta does not take WHATSAPP_ACCESS_TOKEN: it is wrong, expired or withdrawn. Make a"
            " system user's token that never expires, and set it."
        )
    if code in _RIGHTS:
        return AdapterStopped(
            f"WHATSAPP_ACCESS_TOKEN lacks a right ({details}). Make one with"
            " whatsapp_business_messaging and whatsapp_business_management."
        )
    if code in _LOCKED:
        return AdapterStopped(f"Meta has closed this number: {details}. See WhatsApp Manager.")
    if code == 100 and error.get("error_subcode") == 33:
        return AdapterStopped(
            "WHATSAPP_PHONE_NUMBER_ID names no number that this token may use. Copy the id from"
            " WhatsApp, API Setup, on your app's page."
        )
    if code in _PAUSES:
        return RateLimited(f"WhatsApp asks to wait: {details}.", retry_after=_PAUSES[code])
    if code in _GONE:
        return ChatGone(f"WhatsApp can't reach this account: {details}.")
    if code in _LATER:
        return Unreachable(f"WhatsApp has a fault: {details}.")
    if code in _UNCLEAR or is_server_fault:
        return lost(f"WhatsApp has a fault: {details}.")
    return Rejected(f"WhatsApp refuses this message: {details} (error {code}).")
