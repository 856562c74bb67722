"""Signal's settings."""

import re
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field

from adapters.toolkit.table import ON_MACHINE, Table

RPC_URL = "http://127.0.0.1:8080"
"""Where `signal-cli daemon --http` listens by default (signal-cli(1))."""
_SOCKET_PORT = 7583
"""The port of `signal-cli daemon --tcp` (signal-cli(1))."""

_NUMBER = re.compile(r"\+[1-9]\d{5,14}\Z")
_ACI = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_NOT_DIALED = re.compile(r"[\s()./-]")


class SignalTable(Table, title="Signal", on_page=True):
    """Sets what the Signal adapter answers and sends."""

    shares_number: Annotated[bool, ON_MACHINE] = Field(False)
    """True if a person uses the number, too. Talaria then answers only their notes to self."""
    read_receipts: bool = Field(True)
    """Whether people see that Talaria has stored their message (a read receipt)."""
    messages_per_second: float = Field(5.0, ge=0, le=100)
    """Most new messages per second. 0 for no limit. Signal tells nobody its limits."""


TABLE = SignalTable


class SignalSettings(SignalTable):
    """The adapter's settings: the table, the account, and durations in seconds that nobody sets."""

    account: str
    """The phone number with its country code, or the account id of an account without one."""
    rpc_url: str = RPC_URL
    answer_timeout: float = 60.0
    """Seconds that signal-cli may take for a call. It sends to all members of a group in one."""
    silence: float = 50.0
    """Seconds without a sign of life after which an event stream counts as dead. signal-cli writes
    one every 15 seconds.
    """
    keys_look: float = 120.0
    """Seconds between two looks at safety numbers, which an owner may have trusted meanwhile."""
    receipt_wait: float = 5.0
    """Seconds that a look-up waits for the phone of a person."""
    receipt_grace: float = 1.0
    """Seconds after that for receipts that are on their way."""
    longest_pause: float = 30.0
    """Upper bound of the backoff while signal-cli is unreachable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcAddress:
    """The address where signal-cli listens: a path for `unix`, a host and a port otherwise."""

    kind: Literal["http", "tcp", "unix"]
    place: str
    port: int = 0


def make_settings(
    table: SignalTable, *, account: str, rpc_url: str | None = None
) -> SignalSettings:
    """Add the account to the table. Raises `ValueError` with a sentence for the person."""
    address = rpc_url or RPC_URL
    read_rpc_address(address)
    return SignalSettings(**dict(table), account=read_account(account), rpc_url=address)


def read_account(written: str) -> str:
    """Return the account as signal-cli names it. Raises `ValueError` with a sentence."""
    account = _NOT_DIALED.sub("", written) if written.strip().startswith("+") else written.strip()
    if _NUMBER.match(account) or _ACI.match(account.lower()):
        return account if account.startswith("+") else account.lower()
    raise ValueError(
        "SIGNAL_ACCOUNT should be the phone number with its country code, such as +4915112345678."
    )


def read_rpc_address(written: str) -> RpcAddress:
    """Parse the address of the daemon. Raises `ValueError` with a sentence."""
    if written.startswith("/"):
        return RpcAddress(kind="unix", place=written)
    try:
        parts = urlsplit(written if "://" in written else f"tcp://{written}")
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme == "unix" and parts.path and not parts.netloc:
        return RpcAddress(kind="unix", place=parts.path)
    if parts.scheme == "tcp" and parts.hostname and not parts.path.strip("/"):
        return RpcAddress(kind="tcp", place=parts.hostname, port=port or _SOCKET_PORT)
    if parts.scheme in ("http", "https") and parts.hostname and not parts.query:
        return RpcAddress(kind="http", place=written.rstrip("/").removesuffix("/api/v1/rpc"))
    raise ValueError(
        f"SIGNAL_RPC_URL should look like {RPC_URL}, tcp://127.0.0.1:{_SOCKET_PORT} or"
        " unix:///run/signal-cli/socket: where signal-cli's daemon listens."
    )
