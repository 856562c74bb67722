"""Daemons that die, speak other versions or write nonsense, over each transport."""

import json
from collections.abc import Callable

import pytest

from adapters.errors import AdapterStopped, Unsure
from adapters.messages import InboundMessage
from adapters.signal.adapter import SignalAdapter
from tests.adapters.signal.rig import Rig, running, settings_for
from tests.emulators.signal import SignalEmulator
from tests.emulators.signal_world import ACCOUNT, ACI
from tests.fakes.inlet import FakeInlet
from tests.patience import until

PLACES: dict[str, Callable[[SignalEmulator], str]] = {
    "http": lambda daemon: daemon.url,
    "tcp": lambda daemon: f"tcp://127.0.0.1:{daemon.tcp_port}",
    "unix": lambda daemon: f"unix://{daemon.path}",
    "path": lambda daemon: str(daemon.path),
}


@pytest.mark.parametrize("place", PLACES)
async def test_each_transport_carries_both_ways(daemon: SignalEmulator, place: str) -> None:
    async with running(daemon, rpc_url=PLACES[place](daemon)) as rig:
        daemon.world.says(rig.anna, "hello")
        heard = await rig.hears()
        await rig.adapter.send(rig.say("good morning", reply_to=heard.message_id))
        attached = daemon.world.attach("a.bin", "a/b", bytes(3_000_000))
        daemon.world.says(rig.anna, None, attachments=[attached])
        (file,) = (await rig.hears(2)).attachments
        assert await rig.adapter.fetch(file, most_bytes=4_000_000) == bytes(3_000_000)
    assert [one.text for one in daemon.world.sent] == ["good morning"]


@pytest.mark.parametrize("place", PLACES)
async def test_a_daemon_that_dies_in_a_call_leaves_it_unsure_and_is_found_again(
    daemon: SignalEmulator, place: str
) -> None:
    async with running(daemon, rpc_url=PLACES[place](daemon)) as rig:
        daemon.fail("send", "lose")
        with pytest.raises(Unsure, match=r"broke|answer"):
            await rig.adapter.send(rig.say("hello"))
        await daemon.stop()
        await until(lambda: rig.adapter.health().state == "disconnected")
        daemon.world.says(rig.anna, "missed")
        await daemon.start()
        assert (await rig.hears()).text == "missed"


@pytest.mark.parametrize("place", ["http", "tcp"])
@pytest.mark.parametrize(
    "notice",
    [
        {"envelope": "a text", "account": ACCOUNT},
        {"account": ACCOUNT},
        {"envelope": {"source": "+1", "timestamp": "late", "dataMessage": {"message": "x"}}},
        {"envelope": {"source": "+1", "timestamp": 5, "editMessage": {"dataMessage": {}}}},
        [1, 2],
    ],
)
async def test_a_notice_that_can_not_be_read_is_set_aside_and_stops_nothing(
    daemon: SignalEmulator, place: str, notice: object
) -> None:
    async with running(daemon, rpc_url=PLACES[place](daemon)) as rig:
        daemon.tell(notice)  # type: ignore[arg-type]
        daemon.world.says(rig.anna, "whole")
        assert (await rig.hears(2)).text == "whole"
        with pytest.raises(ValueError, match=r"\S+ \S+"):
            rig.adapter.receive((await rig.inlet.receives(2))[0])


async def test_a_broken_line_is_set_aside(daemon: SignalEmulator) -> None:
    async with running(daemon, rpc_url=PLACES["tcp"](daemon)) as rig:
        daemon.write_raw(b'{"jsonrpc":"2.0","method":"receive","par\n')
        daemon.write_raw(b"\xff\xfe\n\n")
        daemon.world.says(rig.anna, "whole")
        assert (await rig.hears(3)).text == "whole"


@pytest.mark.parametrize("version", ["0.11.4", "0.9.2"])
async def test_a_version_that_is_too_old_is_told(daemon: SignalEmulator, version: str) -> None:
    daemon.world.version = version
    with pytest.raises(AdapterStopped, match=r"Install 0\.13 or newer"):
        await SignalAdapter(settings_for(daemon)).run(FakeInlet())


@pytest.mark.parametrize("version", ["1.2.3", "next", ""])
async def test_a_version_that_nobody_knows_yet_is_tried(
    daemon: SignalEmulator, version: str
) -> None:
    daemon.world.version = version
    async with running(daemon) as rig:
        daemon.world.says(rig.anna, "hello")
        assert (await rig.hears()).text == "hello"


@pytest.mark.parametrize("place", PLACES)
async def test_an_account_that_signal_cli_does_not_have_is_told(
    daemon: SignalEmulator, place: str
) -> None:
    daemon.account = "+4917700000000"
    adapter = SignalAdapter(settings_for(daemon, rpc_url=PLACES[place](daemon)))
    with pytest.raises(AdapterStopped, match="does not know the account"):
        await adapter.run(FakeInlet())
    with pytest.raises(AdapterStopped, match="talaria setup signal"):
        await SignalAdapter(settings_for(daemon)).identify()


async def test_the_account_is_checked_without_receiving(daemon: SignalEmulator) -> None:
    bot = await SignalAdapter(settings_for(daemon)).identify()
    assert (bot.name, bot.link) == (ACCOUNT, f"https://signal.me/#p/{ACCOUNT}")


async def test_a_changed_safety_number_is_a_concern_until_it_is_trusted(
    daemon: SignalEmulator,
) -> None:
    async with running(daemon, keys_look=0.05) as rig:
        assert rig.adapter.health().concerns == ()
        rig.anna.is_trusted = False
        fault = {"message": "Untrusted identity", "type": "UntrustedIdentityException"}
        envelope = daemon.world.envelope(rig.anna, 5)
        daemon.tell({"account": ACCOUNT, "exception": fault, "envelope": envelope})
        await until(lambda: bool(rig.adapter.health().concerns))
        (concern,) = rig.adapter.health().concerns
        assert f"--verified-safety-number {'12345' * 12} {rig.anna.number}`" in concern
        rig.anna.is_trusted = True
        await until(lambda: not rig.adapter.health().concerns)
        daemon.world.says(rig.anna, "here I am")
        assert (await rig.hears()).text == "here I am"


async def test_our_own_message_that_comes_back_is_not_answered(rig: Rig) -> None:
    sent = await rig.adapter.send(rig.say("hello"))
    me = rig.daemon.world.person(ACCOUNT, "Me")
    me.uuid = ACI
    echo = {
        **rig.daemon.world.data(int(sent), "hello", None),
        "destinationNumber": ACCOUNT,
        "destinationUuid": ACI,
    }
    rig.daemon.arrive(rig.daemon.world.envelope(me, int(sent), syncMessage={"sentMessage": echo}))
    rig.daemon.world.says(rig.anna, "after")
    assert (await rig.hears()).text == "after"


async def test_a_second_edit_names_the_version_before_and_means_the_first(rig: Rig) -> None:
    """Apps name the newest version as the target of an edit."""
    first = rig.daemon.world.says(rig.anna, "frist")
    second = rig.daemon.world.edits(rig.anna, first, "fisrt")
    rig.daemon.world.edits(rig.anna, second, "first")
    found = [rig.adapter.receive(event) for event in await rig.inlet.receives(3)]
    assert len({one.message_id for one in found if isinstance(one, InboundMessage)}) == 1


async def test_a_daemon_that_was_restarted_sends_what_it_kept_and_nothing_is_doubled(
    daemon: SignalEmulator,
) -> None:
    async with running(daemon) as rig:
        daemon.world.says(rig.anna, "one")
        await rig.inlet.receives(1)
    daemon.forget_events()
    async with running(daemon, rig.inlet) as again:
        daemon.world.says(again.anna, "two")
        await again.inlet.receives(2)
    assert json.loads(json.dumps(daemon.headers))[1].endswith("-0")
