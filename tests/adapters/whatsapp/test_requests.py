"""Meta's requests: the handshake, signatures, repeats, disorder and what is no event."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.abilities import WebAnswer, WebRequest
from adapters.messages import InboundMessage
from adapters.whatsapp.adapter import WhatsAppAdapter
from tests.adapters.rig import started
from tests.contracts.rigs_whatsapp import ANNA, make_settings
from tests.emulators.whatsapp import VERIFY, WhatsAppEmulator, sign
from tests.fakes.inlet import FakeInlet


@pytest.fixture
async def meta() -> AsyncIterator[WhatsAppEmulator]:
    async with WhatsAppEmulator() as emulator:
        yield emulator


@pytest.fixture
async def inlet() -> FakeInlet:
    return FakeInlet()


@pytest.fixture
async def adapter(meta: WhatsAppEmulator, inlet: FakeInlet) -> AsyncIterator[WhatsAppAdapter]:
    made = WhatsAppAdapter(make_settings(meta))
    async with started(made, inlet):
        yield made


async def post(
    adapter: WhatsAppAdapter, payload: object, *, signature: str | None = None
) -> WebAnswer:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    headers = {"x-hub-signature-256": sign(body) if signature is None else signature}
    return await adapter.take_request(
        WebRequest(method="POST", query={}, headers=headers, body=body)
    )


def say(meta: WhatsAppEmulator, text: str, message_id: str, at: int = 1749416383) -> Any:
    message = {"from": ANNA, "id": message_id, "timestamp": str(at), "type": "text"}
    contact = {"profile": {"name": "Anna"}, "wa_id": ANNA}
    return meta.wrap(messages=[message | {"text": {"body": text}}], contacts=[contact])


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        ({"hub.mode": "subscribe", "hub.verify_token": VERIFY, "hub.challenge": "115"}, 200, "115"),
        (
            {"hub.mode": "subscribe", "hub.verify_token": "no", "hub.challenge": "115"},
            403,
            "verify",
        ),
        ({"hub.mode": "subscribe", "hub.verify_token": "\udcff", "hub.challenge": "1"}, 403, ""),
        ({}, 403, "verify token"),
    ],
)
async def test_the_handshake_needs_the_verify_token(
    adapter: WhatsAppAdapter, query: dict[str, str], status: int, text: str
) -> None:
    answer = await adapter.take_request(WebRequest(method="GET", query=query, headers={}, body=b""))
    assert answer.status == status
    assert text in answer.text


@pytest.mark.parametrize(
    "signature", ["", "sha256=", "sha1=abc", "sha256=" + "0" * 64, "sha256=é", "\udcff"]
)
async def test_nothing_that_meta_did_not_sign_is_taken(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet, signature: str
) -> None:
    answer = await post(adapter, say(meta, "let me in", "w1"), signature=signature)
    assert (answer.status, answer.text.endswith(".")) == (401, True)
    assert inlet.taken == {}


async def test_the_signature_is_over_the_bytes_as_they_came(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    body = json.dumps(say(meta, "Grüße 👋", "w1"), ensure_ascii=False, indent=3).encode()
    assert (await post(adapter, body)).status == 200
    again = json.dumps(json.loads(body)).encode()
    assert (await post(adapter, again, signature=sign(body))).status == 401
    assert len(inlet.taken) == 1


async def test_repeats_and_disorder_lose_and_double_nothing(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    for number in (3, 1, 2, 3, 1):
        payload = say(meta, f"number {number}", f"w{number}", at=1749416383 + number)
        assert (await post(adapter, payload)).status == 200
    found = [adapter.receive(event) for event in inlet.taken.values()]
    texts = [one.text for one in found if isinstance(one, InboundMessage)]
    assert sorted(texts) == ["number 1", "number 2", "number 3"]
    assert (await inlet.marks())[ANNA].endswith("1749416386")


async def test_a_request_that_is_not_stored_comes_again(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    inlet.refusals = 1
    payload = say(meta, "keep me", "w1")
    assert (await post(adapter, payload)).status == 503
    assert inlet.taken == {}
    assert (await post(adapter, payload)).status == 200
    assert len(inlet.taken) == 1


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"7", b"null", b'{"object": "page"}', b"[" * 100_000, b"\xff\xfe"],
)
async def test_a_signed_request_that_cant_be_read_is_kept_and_not_asked_for_again(
    adapter: WhatsAppAdapter, inlet: FakeInlet, body: bytes
) -> None:
    assert (await post(adapter, body)).status == 200
    (event,) = inlet.taken.values()
    with pytest.raises(ValueError, match="can't be read"):
        adapter.receive(event)


async def test_other_numbers_and_fields_are_not_for_us(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    payload = say(meta, "hello", "w1")
    payload["entry"][0]["changes"][0]["value"]["metadata"]["phone_number_id"] = "7"
    assert (await post(adapter, payload)).status == 200
    other = meta.wrap()
    other["entry"][0]["changes"][0]["field"] = "account_update"
    assert (await post(adapter, other)).status == 200
    assert inlet.taken == {}


async def test_a_number_that_does_not_run_asks_for_a_repeat(meta: WhatsAppEmulator) -> None:
    adapter = WhatsAppAdapter(make_settings(meta))
    assert (await post(adapter, say(meta, "hello", "w1"))).status == 503
