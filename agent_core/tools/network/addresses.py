"""Addresses that may be fetched: http and https, on the open internet."""

import ipaddress
from urllib.parse import SplitResult, urlsplit

from agent_core.transcript import is_hidden

_LONGEST = 2000
"""Characters of a URL; browsers and servers accept no more either."""
_LONGEST_LINK = 500
_GLOBAL_6 = ipaddress.ip_network("2000::/3")
"""The assigned part of IPv6 (RFC 4291, 2.4); the NAT64 range that maps IPv4 lies outside it."""
_CLOSED = (
    ipaddress.ip_network("192.88.99.0/24"),  # 6to4 relays, RFC 7526
    ipaddress.ip_network("2001::/32"),  # Teredo, which carries IPv4
    ipaddress.ip_network("2002::/16"),  # 6to4, which carries IPv4
    ipaddress.ip_network("3fff::/20"),  # documentation, RFC 9637; unknown to older Pythons
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class ForbiddenAddress(Exception):
    """A URL or address that must not be fetched; the text ends a sentence."""


def check_url(url: str) -> SplitResult:
    """Split a URL and check its form. Raises `ForbiddenAddress`."""
    if len(url) > _LONGEST:
        raise ForbiddenAddress(f"its address is longer than {_LONGEST} characters")
    if any(sign.isspace() or is_hidden(sign) or sign == "\\" for sign in url):
        raise ForbiddenAddress("its address contains invalid characters")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ForbiddenAddress("its address is invalid") from error
    if parts.scheme not in ("http", "https"):
        raise ForbiddenAddress("only http and https addresses are allowed")
    if "@" in parts.netloc:
        raise ForbiddenAddress("an address must not contain a user name or a password")
    if not parts.hostname or port == 0:
        raise ForbiddenAddress("its address has no host")
    return parts


def check_address(text: str) -> None:
    """Check that an IP address is public. Raises `ForbiddenAddress`."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError as error:
        raise ForbiddenAddress("its host name does not resolve") from error
    if not _is_open(address):
        raise ForbiddenAddress(f"{address} is not a public address")


def _is_open(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return _is_open(address.ipv4_mapped)
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_6:
        return False
    if any(address in relay for relay in _CLOSED if relay.version == address.version):
        return False
    return address.is_global and not (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )


def show_link(url: str) -> str:
    """Format an external link with a leading space; "" if it is invalid."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    is_plain = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    if not is_plain or len(url) > _LONGEST_LINK:
        return ""
    if any(sign.isspace() or is_hidden(sign) or sign in '<>"\\`' for sign in url):
        return ""
    return f" {url}"
