"""Which addresses may be fetched from: none that leads back into the house or its network. Pure."""

import ipaddress
from urllib.parse import SplitResult, urlsplit

from agent_core.tools.quoting import is_hidden

_LONGEST = 2000
"""Characters of an address; browsers and servers take no more either."""
_GLOBAL_6 = ipaddress.ip_network("2000::/3")
"""All that is given out of IPv6 (RFC 4291, 2.4); what wraps IPv4 for NAT64 lies outside."""
_RELAYS = (
    ipaddress.ip_network("192.88.99.0/24"),  # 6to4 relays, RFC 7526
    ipaddress.ip_network("2001::/32"),  # Teredo, which carries IPv4
    ipaddress.ip_network("2002::/16"),  # 6to4, which carries IPv4
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Forbidden(Exception):
    """An address that may not be fetched from; the text says why, as the end of a sentence."""


def check_url(url: str) -> SplitResult:
    """The parts of an address that may be tried. Raises `Forbidden`."""
    if len(url) > _LONGEST:
        raise Forbidden(f"its address is longer than {_LONGEST} characters")
    if any(sign.isspace() or is_hidden(sign) or sign == "\\" for sign in url):
        raise Forbidden("its address holds characters that none has")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Forbidden("its address can't be read") from error
    if parts.scheme not in ("http", "https"):
        raise Forbidden("only http and https addresses are fetched")
    if "@" in parts.netloc:
        raise Forbidden("an address with a name or a password in it is not fetched")
    if not parts.hostname or port == 0:
        raise Forbidden("its address names no host")
    return parts


def check_address(text: str) -> None:
    """Raise `Forbidden` for an IP address that is not one of the open internet."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError as error:
        raise Forbidden("its name leads to no address") from error
    if not _is_open(address):
        raise Forbidden(f"{address} is not on the open internet")


def _is_open(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return _is_open(address.ipv4_mapped)
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_6:
        return False
    if any(address in relay for relay in _RELAYS if relay.version == address.version):
        return False
    return address.is_global and not (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )
