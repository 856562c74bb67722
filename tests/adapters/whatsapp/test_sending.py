"""What goes out: windows, templates, buttons, files, marks, errors and reports."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from adapters.errors import (
    AdapterStopped,
    ChatGone,
    ChatWaits,
    RateLimited,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.ids import Address
from adapters.messages import Button, DeliveryReport, OutboundFile, OutboundMessage
from adapters.whatsapp.adapter import WhatsAppAdapter
from tests.adapters.rig import started
from tests.contracts.rigs_whatsapp import ANNA, GROUP, make_settings
from tests.emulators.whatsapp import DAY, Refusal, WhatsAppEmulator, rate_limit
from tests.emulators.whatsapp_hooks import HookServer
from tests.fakes.inlet import FakeInlet
from tests.patience import until

CHAT = Address(chat_id=ANNA, is_direct=True)


@pytest.fixture
async def hooks() -> AsyncIterator[HookServer]:
    async with HookServer() as server:
        yield server


@pytest.fixture
async def meta(hooks: HookServer) -> AsyncIterator[WhatsAppEmulator]:
    async with WhatsAppEmulator() as emulator:
        emulator.callback = hooks.callback
        yield emulator


@pytest.fixture
async def inlet() -> FakeInlet:
    return FakeInlet()


@pytest.fixture
async def adapter(
    meta: WhatsAppEmulator, hooks: HookServer, inlet: FakeInlet
) -> AsyncIterator[WhatsAppAdapter]:
    hooks.adapter = made = WhatsAppAdapter(make_settings(meta))
    async with started(made, inlet):
        yield made


def message(text: str, key: str = "k1", **fields: object) -> OutboundMessage:
    return OutboundMessage(**{"address": CHAT, "text": text, "key": key} | fields)  # type: ignore[arg-type]


async def hear(meta: WhatsAppEmulator, inlet: FakeInlet, *, ago: float = 0) -> None:
    meta.says(ANNA, "hello") if not ago else meta.sends(
        ANNA, {"type": "text", "text": {"body": "hello"}}, at=time.time() - ago
    )
    await inlet.receives(1)


async def test_after_a_day_a_message_waits_for_the_person(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    await hear(meta, inlet, ago=DAY + 5)
    with pytest.raises(ChatWaits):
        await adapter.send(message("Water the plants"))
    assert meta.sent == []
    meta.says(ANNA, "hi again")
    await inlet.receives(2)
    await adapter.send(message("Water the plants"))
    assert [one.text for one in meta.sent] == ["Water the plants"]


async def test_the_window_is_known_to_the_next_process(
    meta: WhatsAppEmulator, hooks: HookServer, inlet: FakeInlet
) -> None:
    hooks.adapter = WhatsAppAdapter(make_settings(meta))
    async with started(hooks.adapter, inlet):
        await hear(meta, inlet, ago=DAY + 5)
    hooks.adapter = WhatsAppAdapter(make_settings(meta))
    async with started(hooks.adapter, inlet):
        with pytest.raises(ChatWaits):
            await hooks.adapter.send(message("Water the plants"))


async def test_a_template_takes_the_words_after_a_day(
    meta: WhatsAppEmulator, hooks: HookServer, inlet: FakeInlet
) -> None:
    settings = make_settings(meta, template="talaria_reminder", template_language="de")
    hooks.adapter = WhatsAppAdapter(settings)
    async with started(hooks.adapter, inlet):
        await hear(meta, inlet, ago=DAY + 5)
        await hooks.adapter.send(message("Water\n\nthe  **plants**"))
    (sent,) = meta.sent
    assert sent.request["template"]["language"] == {"code": "de"}
    assert sent.text == "Water the *plants*"


async def test_what_a_template_can_not_hold_waits(
    meta: WhatsAppEmulator, hooks: HookServer, inlet: FakeInlet
) -> None:
    hooks.adapter = WhatsAppAdapter(make_settings(meta, template="talaria_reminder"))
    picture = OutboundFile(name="a.png", media_type="image/png", data=b"1")
    async with started(hooks.adapter, inlet):
        await hear(meta, inlet, ago=DAY + 5)
        for waits in (message("w " * 600), message("A picture", file=picture)):
            with pytest.raises(ChatWaits):
                await hooks.adapter.send(waits)
    assert meta.sent == []


async def test_meta_may_refuse_late_or_at_once(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    """A chat that nobody has heard counts as open; Meta knows better."""
    meta.refuses_late_at_once = True
    with pytest.raises(ChatWaits):
        await adapter.send(message("one"))
    other = Address(chat_id="16505550000", is_direct=True)
    meta.refuses_late_at_once = False
    await adapter.send(message("two", "k2", address=other))
    await until(lambda: any("failed" in event for event in inlet.reports))
    with pytest.raises(ChatWaits):
        await adapter.send(message("two", "k3", address=other))


async def test_few_short_choices_are_buttons_and_others_a_list(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    await hear(meta, inlet)
    short = tuple(Button(key=f"k:{n}", label=f"Choice {n}") for n in range(3))
    await adapter.send(message("Which?", buttons=short))
    await adapter.send(message("Which?", "k2", buttons=(*short, Button(key="x", label="None"))))
    await adapter.send(message("w" * 2000, "k3", buttons=short))
    same = (Button(key="a", label="✓ Tea"), Button(key="b", label="✓ Tea"))
    await adapter.send(message("Tea\nTea", "k4", buttons=same))
    kinds = [one.request["interactive"]["type"] for one in meta.sent]
    assert kinds == ["button", "list", "list", "list"], "Meta takes no two buttons of one title"


async def test_speech_is_a_voice_message_and_words_beside_sound_are_not_lost(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    await hear(meta, inlet)
    speech = OutboundFile(name="a.ogg", media_type="audio/ogg; codecs=opus", data=b"OggS")
    await adapter.send(message("", file=speech))
    await adapter.send(message("listen", "k2", file=speech))
    picture = OutboundFile(name="a.png", media_type="image/png", data=b"\x89PNG")
    await adapter.send(message("look", "k3", file=picture))
    kinds = [one.request["type"] for one in meta.sent]
    assert kinds == ["audio", "document", "image"]
    assert meta.sent[0].request["audio"]["voice"] is True
    assert [one.text for one in meta.sent] == ["", "listen", "look"]


async def test_typing_marks_the_newest_message_as_read(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    await adapter.type(CHAT)
    assert meta.marks == []
    await hear(meta, inlet)
    newest = meta.says(ANNA, "are you there?")
    await inlet.receives(2)
    await adapter.type(CHAT)
    (mark,) = meta.marks
    assert (mark["status"], mark["message_id"]) == ("read", newest)
    assert mark["typing_indicator"] == {"type": "text"}


async def test_a_group_and_an_id_of_meta_are_addressed_as_such(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    meta.groups[GROUP] = 4
    meta.says(ANNA, "hi all", group=GROUP)
    meta.says("US.1349120865", "hi")
    await inlet.receives(2)
    group = Address(chat_id=GROUP, is_direct=False)
    await adapter.send(message("hello all", address=group))
    hidden = Address(chat_id="US.1349120865", is_direct=True)
    await adapter.send(message("hello", "k2", address=hidden))
    first, second = [one.request for one in meta.sent]
    assert (first["recipient_type"], first["to"]) == ("group", GROUP)
    assert (second["recipient"], "to" in second) == ("US.1349120865", False)
    assert await adapter.count_people(group) == 4


ERRORS = [
    (190, AdapterStopped, "WHATSAPP_ACCESS_TOKEN"),
    (10, AdapterStopped, "whatsapp_business_messaging"),
    (131031, AdapterStopped, "WhatsApp Manager"),
    (131026, ChatGone, "can't reach"),
    (131047, ChatWaits, "writes again"),
    (131056, RateLimited, "wait"),
    (130429, RateLimited, "wait"),
    (1, Unsure, "fault"),
    (2, Unsure, "fault"),
    (131000, Unsure, "fault"),
    (131016, Unsure, "fault"),
    (131057, Unreachable, "fault"),
    (100, Rejected, "error 100"),
    (132001, Rejected, "refuses"),
]


@pytest.mark.parametrize(("code", "kind", "words"), ERRORS)
async def test_every_error_is_said_in_a_sentence(
    meta: WhatsAppEmulator,
    adapter: WhatsAppAdapter,
    inlet: FakeInlet,
    code: int,
    kind: type[Exception],
    words: str,
) -> None:
    await hear(meta, inlet)
    meta.faults.append(("refuse", Refusal(status=400, code=code, message="Something is wrong")))
    with pytest.raises(kind, match=words) as caught:
        await adapter.send(message("hello"))
    assert type(caught.value) is kind
    assert str(caught.value).endswith((".", ")."))


async def test_a_fault_of_meta_with_an_unknown_code_leaves_it_open(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    await hear(meta, inlet)
    meta.faults.append(("refuse", Refusal(status=500, code=139999, message="Something new")))
    with pytest.raises(Unsure, match="fault"):
        await adapter.send(message("hello"))


@pytest.mark.parametrize("code", [1, 2, 131000])
async def test_a_message_that_meta_took_in_spite_of_an_error_is_not_sent_again(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet, code: int
) -> None:
    await hear(meta, inlet)
    meta.faults.append(("take", Refusal(status=500, code=code, message="Something went wrong")))
    with pytest.raises(Unsure):
        await adapter.send(message("in doubt"))
    assert await adapter.find(message("in doubt"), []) == meta.sent[0].id


async def test_a_late_word_that_the_day_is_over_closes_no_chat_that_is_open_again(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    await hear(meta, inlet)
    meta.last_heard[ANNA] = 0
    meta.holds_reports = True
    await adapter.send(message("too late"))
    meta.says(ANNA, "good morning")
    await inlet.receives(2)
    meta.release()
    await until(lambda: bool(inlet.reports))
    await adapter.send(message("good morning", "k2"))
    assert [one.text for one in meta.sent] == ["good morning"]


async def test_a_late_refusal_closes_no_chat_whose_person_has_our_answer_already(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    await hear(meta, inlet)
    meta.last_heard[ANNA] = 0
    meta.holds_reports = True
    await adapter.send(message("Water the plants", "reminder"))
    meta.says(ANNA, "good morning")
    await inlet.receives(2)
    await adapter.send(message("good morning", "answer"))
    meta.release()
    await until(lambda: any("failed" in event for event in inlet.reports))
    await adapter.send(message("Water the plants", "again"))
    assert [one.text for one in meta.sent] == ["good morning", "Water the plants"]


async def test_a_pause_is_as_long_as_metas_limit(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    await hear(meta, inlet)
    meta.faults.append(rate_limit())
    with pytest.raises(RateLimited) as caught:
        await adapter.send(message("too fast"))
    assert caught.value.retry_after == 6


async def test_a_lost_answer_is_found_by_the_key_that_the_status_repeats(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    await hear(meta, inlet)
    meta.faults.append(("lose", None))
    meta.holds_reports = True
    with pytest.raises(Unsure):
        await adapter.send(message("in doubt"))
    looking = asyncio.create_task(adapter.find(message("in doubt"), []))
    await asyncio.sleep(0)
    meta.release()
    assert await looking == meta.sent[0].id


async def test_without_a_report_in_time_the_message_was_not_sent(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    await hear(meta, inlet)
    meta.faults.append(("drop", None))
    with pytest.raises(Unsure):
        await adapter.send(message("in doubt"))
    assert await adapter.find(message("in doubt"), []) is None
    assert meta.sent == []


async def test_a_report_of_an_earlier_process_counts(
    meta: WhatsAppEmulator, hooks: HookServer, inlet: FakeInlet
) -> None:
    hooks.adapter = first = WhatsAppAdapter(make_settings(meta))
    async with started(first, inlet):
        await hear(meta, inlet)
        meta.faults.append(("lose", None))
        with pytest.raises(Unsure):
            await first.send(message("in doubt"))
        await until(lambda: bool(inlet.reports))
    second = WhatsAppAdapter(make_settings(meta))
    async with started(second, inlet):
        for event in inlet.reports.values():
            report = second.receive(event)
            assert isinstance(report, DeliveryReport)
            second.note_report(report)
        assert await second.find(message("in doubt"), []) == meta.sent[0].id


async def test_after_a_late_failure_the_chat_pauses_a_little(
    meta: WhatsAppEmulator, adapter: WhatsAppAdapter, inlet: FakeInlet
) -> None:
    await hear(meta, inlet)
    meta.status_errors.append({"code": 131000, "title": "Something went wrong"})
    await adapter.send(message("hello"))
    await until(lambda: bool(inlet.reports))
    with pytest.raises(RateLimited) as caught:
        await adapter.send(message("hello", "k2"))
    assert 0 < caught.value.retry_after <= 2
    assert meta.sent == []


async def test_a_token_that_is_refused_stops_with_the_remedy(
    meta: WhatsAppEmulator, inlet: FakeInlet
) -> None:
    adapter = WhatsAppAdapter(make_settings(meta, token="EAAfalse"))
    with pytest.raises(AdapterStopped, match="WHATSAPP_ACCESS_TOKEN"):
        await adapter.run(inlet)
    with pytest.raises(AdapterStopped, match="never expires"):
        await adapter.identify()


async def test_the_number_says_what_happens_after_a_day(meta: WhatsAppEmulator) -> None:
    bot = await WhatsAppAdapter(make_settings(meta)).identify()
    assert (bot.name, bot.link) == ("Talaria (+1 555-078-3881)", "https://wa.me/15550783881")
    assert "24 hours" in bot.gaps[0]
    with_one = WhatsAppAdapter(make_settings(meta, template="talaria_reminder"))
    assert (await with_one.identify()).gaps == ()
