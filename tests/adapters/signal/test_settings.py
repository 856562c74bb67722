"""Signal's settings: the account, and where signal-cli listens."""

import pytest

from adapters.signal.settings import (
    RPC_URL,
    RpcAddress,
    SignalTable,
    make_settings,
    read_rpc_address,
)

TABLE = SignalTable()
ACI = "a0000000-0000-4000-8000-00000000000A"


@pytest.mark.parametrize(
    ("written", "account"),
    [
        ("+4915112345678", "+4915112345678"),
        (" +49 (151) 123-456.78 ", "+4915112345678"),
        (ACI, ACI.lower()),
    ],
)
def test_an_account_is_enough(written: str, account: str) -> None:
    found = make_settings(TABLE, account=written)
    assert (found.account, found.rpc_url, found.shares_number) == (account, RPC_URL, False)


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("http://127.0.0.1:8080", RpcAddress(kind="http", place="http://127.0.0.1:8080")),
        ("http://signal:80/api/v1/rpc", RpcAddress(kind="http", place="http://signal:80")),
        ("tcp://127.0.0.1:9000", RpcAddress(kind="tcp", place="127.0.0.1", port=9000)),
        ("signal-cli:7583", RpcAddress(kind="tcp", place="signal-cli", port=7583)),
        ("localhost", RpcAddress(kind="tcp", place="localhost", port=7583)),
        ("unix:///run/signal-cli/socket", RpcAddress(kind="unix", place="/run/signal-cli/socket")),
        ("/run/signal-cli/socket", RpcAddress(kind="unix", place="/run/signal-cli/socket")),
    ],
)
def test_an_address_names_its_transport(written: str, address: RpcAddress) -> None:
    assert read_rpc_address(written) == address


@pytest.mark.parametrize("written", ["ftp://x", "http://", "tcp://h:port", "unix://x", "tcp://:1"])
def test_an_address_that_nobody_can_open_is_reported_in_a_sentence(written: str) -> None:
    with pytest.raises(ValueError, match="SIGNAL_RPC_URL should look like"):
        make_settings(TABLE, account="+4915112345678", rpc_url=written)


@pytest.mark.parametrize("written", ["", "015112345678", "+0151", "Ada", "+49151x"])
def test_an_account_that_is_none_is_reported_in_a_sentence(written: str) -> None:
    with pytest.raises(ValueError, match="SIGNAL_ACCOUNT should be the phone number"):
        make_settings(TABLE, account=written)
