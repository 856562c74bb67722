"""Signatures of the Standard Webhooks specification, version 1.0.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from secrets import token_bytes

_PREFIX = "whsec_"
_BYTES = 32
"""Bytes of a secret; the specification asks for 24 to 64."""


def make_secret() -> str:
    """Make the secret of a webhook, in the form that the specification's libraries read."""
    return _PREFIX + base64.b64encode(token_bytes(_BYTES)).decode()


def sign(secrets: Sequence[str], event_id: str, body: bytes, now: int) -> Mapping[str, str]:
    """Return the headers of an attempt, signed by each secret; `now` is in milliseconds UTC."""
    seconds = str(now // 1000)
    signed = b".".join((event_id.encode(), seconds.encode(), body))
    keys = [base64.b64decode(secret.removeprefix(_PREFIX)) for secret in secrets]
    digests = [hmac.new(key, signed, hashlib.sha256).digest() for key in keys]
    return {
        "webhook-id": event_id,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(f"v1,{base64.b64encode(one).decode()}" for one in digests),
    }
