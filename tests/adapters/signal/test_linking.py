"""Becoming a device of an account by a code that its phone scans."""

import pytest

from adapters.errors import NotLinked, Rejected
from adapters.signal.adapter import SignalAdapter
from tests.adapters.signal.rig import settings_for
from tests.emulators.signal import LINK, SignalEmulator
from tests.emulators.signal_world import ACCOUNT

OTHER = "+4917700000000"


@pytest.mark.parametrize("place", ["http", "tcp"])
async def test_a_phone_that_scans_the_code_links_its_account(
    daemon: SignalEmulator, place: str
) -> None:
    daemon.account = OTHER
    url = daemon.url if place == "http" else f"tcp://127.0.0.1:{daemon.tcp_port}"
    adapter = SignalAdapter(settings_for(daemon, rpc_url=url))
    with pytest.raises(NotLinked, match="does not know the account"):
        await adapter.identify()
    shown: list[str] = []
    await adapter.link(shown.append)
    assert shown == [LINK]
    assert (await adapter.identify()).name == ACCOUNT
    assert ("finishLink", {"deviceLinkUri": LINK, "deviceName": "Talaria"}) in daemon.calls


async def test_a_code_that_nobody_scans_is_told(daemon: SignalEmulator) -> None:
    daemon.phone = None
    with pytest.raises(Rejected, match=r"timed out, please try again\. Scan the code"):
        await SignalAdapter(settings_for(daemon)).link(lambda _: None)


async def test_another_phone_is_told(daemon: SignalEmulator) -> None:
    daemon.phone = OTHER
    with pytest.raises(Rejected, match=r"has the account \+4917700000000, not"):
        await SignalAdapter(settings_for(daemon)).link(lambda _: None)


async def test_a_daemon_for_one_account_says_how_to_link(daemon: SignalEmulator) -> None:
    daemon.fail("startLink", "refuse", {"code": -32601, "message": "Method not implemented"})
    with pytest.raises(Rejected, match="without -a"):
        await SignalAdapter(settings_for(daemon)).link(lambda _: None)
