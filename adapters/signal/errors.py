"""Maps every refusal of signal-cli to a platform error; pure."""

from adapters.errors import (
    AdapterError,
    AdapterStopped,
    ChatGone,
    NotLinked,
    NotPermitted,
    RateLimited,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.signal.rpc import RpcError, describe_missing
from adapters.toolkit.text import Json, inside, number_in, parts, words_in

_NO_METHOD = -32601
_NO_CONNECTION, _UNTRUSTED, _TOO_FAST = -3, -4, -5
_LONG_PAUSE = 300.0
"""Seconds to wait where Signal asks for a pause and names none."""
_FILE_MISSING = "could not find attachment"
_ACCOUNT_MISSING = ("specified account does not exist", "requires valid account")
_ACCOUNT_LOST = ("authorization failed", "not registered", "[401]", "[403]")
_CHAT_GONE = (
    "is not registered",
    "unregistered user",
    "unregistered_failure",
    "is not a member in group",
    "is not allowed to send message to group",
    "group not found",
    "invalid group id",
)


def translate(error: RpcError, *, account: str, recipient: str = "") -> AdapterError:
    """Map an answer that refuses a call."""
    said = error.said.casefold()
    if results := parts(error.response, "results"):
        return judge_results(results, recipient=recipient) or Rejected(f"Signal: {error.said}.")
    if any(words in said for words in _ACCOUNT_MISSING):
        return NotLinked(describe_missing(account))
    if error.code == _NO_METHOD:
        return Rejected("This version of signal-cli can't do that. Update it.")
    if error.code == _UNTRUSTED:
        return _distrust(recipient)
    if error.code == _TOO_FAST:
        return RateLimited(f"Signal asks for a pause: {error.said}.", retry_after=_LONG_PAUSE)
    if any(words in said for words in _CHAT_GONE):
        return ChatGone(f"Signal: {error.said}.")
    if any(words in said for words in _ACCOUNT_LOST):
        return AdapterStopped(
            f"Signal has removed signal-cli from the account {account}: {error.said}. Link it"
            " again with `talaria setup signal`, and restart Talaria."
        )
    if _FILE_MISSING in said:
        return Rejected("signal-cli has no such file: it was deleted there, or its disk was full.")
    if error.code == _NO_CONNECTION:
        return Unsure(f"signal-cli has lost Signal's servers: {error.said}.")
    return Rejected(f"Signal: {error.said}.")


def translate_linking(error: RpcError) -> AdapterError:
    """Map an answer that refuses to link a device."""
    if error.code == _NO_METHOD:
        return Rejected(
            "This signal-cli serves one account only. Start its daemon without -a, and try again."
        )
    said = error.said.rstrip(".")
    return Rejected(f"The device was not linked: {said}. Scan the code within a minute.")


def judge_results(results: list[Json], *, recipient: str = "") -> AdapterError | None:
    """Return why nobody received a message; None if anybody did.

    The gravest result that a retry can't change is left for last: one that may still arrive wins.
    """
    kinds = {words_in(one, "type") for one in results}
    if "SUCCESS" in kinds or not kinds:
        return None
    if "NETWORK_FAILURE" in kinds:
        return Unsure("Signal's servers did not confirm the message.")
    if "RATE_LIMIT_FAILURE" in kinds:
        return _slow_down(next(one for one in results if words_in(one, "type").startswith("RATE")))
    if "INVALID_PRE_KEY_FAILURE" in kinds:
        return Unreachable("The recipient's keys can't be used at the moment.")
    if "IDENTITY_FAILURE" in kinds:
        return _distrust(recipient or _name(results[0]))
    if kinds == {"UNREGISTERED_FAILURE"}:
        return ChatGone("That number does not use Signal any more.")
    return Rejected(f"Signal delivered the message to nobody: {', '.join(sorted(kinds))}.")


def _slow_down(result: Json) -> AdapterError:
    seconds = float(number_in(result, "retryAfterSeconds", default=0)) or _LONG_PAUSE
    token = words_in(result, "token")
    proof = f" To go on at once, solve a captcha for the challenge {token}." if token else ""
    return RateLimited(f"Signal asks for a pause of {seconds:.0f} s.{proof}", retry_after=seconds)


def _name(result: Json) -> str:
    address = inside(result, "recipientAddress")
    return words_in(address, "number", "uuid")


def _distrust(recipient: str) -> NotPermitted:
    return NotPermitted(describe_distrust(recipient or "PERSON"))


def describe_distrust(person: str, number: str = "") -> str:
    """Say that a person's safety number has changed, and what an owner does about it."""
    written = "".join(number.split()) or "NUMBER"
    return (
        f"The safety number with {person} has changed, so Signal holds back the messages. Compare"
        f" it with them, then run `signal-cli trust --verified-safety-number {written} {person}`."
    )
