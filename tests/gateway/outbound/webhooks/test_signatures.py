"""Signatures, checked with the library of the specification."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from gateway.outbound.webhooks.signatures import make_secret, sign


@given(st.dictionaries(st.text(), st.text()), st.from_regex(r"msg_[0-9a-f]{32}", fullmatch=True))
def test_the_library_accepts_what_is_signed(told: dict[str, str], event_id: str) -> None:
    secret, body = make_secret(), json.dumps(told).encode()
    now = round(datetime.now(UTC).timestamp() * 1000)
    headers = dict(sign([secret], event_id, body, now))
    assert Webhook(secret).verify(body, headers) == told
    with pytest.raises(WebhookVerificationError):
        Webhook(make_secret()).verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body + b" ", headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, headers | {"webhook-id": event_id + "0"})


def test_an_old_request_is_refused_by_its_time() -> None:
    secret, now = make_secret(), round(datetime.now(UTC).timestamp() * 1000)
    headers = dict(sign([secret], "msg_1", b"{}", now - 600_000))
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(b"{}", headers)
