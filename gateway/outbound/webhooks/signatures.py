"""Signatures of the Standard Webhooks specification, version 1.0.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping

_PREFIX = "whsec_"
_BYTES = 32
"""The specification asks for 24 to 64."""


def make_secret() -> str:
    """Make the secret of a webhook, in the form that the specification's libraries read."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()


def sign(secret: str, event_id: str, body: bytes, now: int) -> Mapping[str, str]:
    """Return the headers of an attempt; `now` is in milliseconds UTC."""
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    seconds = str(now // 1000)
    signed = b".".join((event_id.encode(), seconds.encode(), body))
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return {
        "webhook-id": event_id,
        "webhook-timestamp": seconds,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
