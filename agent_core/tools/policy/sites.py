"""The site of an address: everything under it may belong to one owner, who sees all requests."""

import ipaddress
import socket
from urllib.parse import unquote, urlsplit

_COMMON_LABELS = frozenset(("ac", "co", "com", "edu", "gob", "gov", "gouv", "net", "or", "org"))
"""Labels below the country codes, such as `co` in `a.co.uk`, under which names are registered."""
_V4_BITS, _V6_BITS = 24, 48
"""The smallest networks that are given to one owner, as prefix lengths."""


def site_of(url: str) -> str:
    """Return the site of an address; one that can't be read is a site of its own.

    A site is a registered name with all names below it, or a small network of addresses. The port,
    the case, a dot at the end, and the spelling of the address or of the name make no difference.
    Platforms that give names to strangers count as one site, because strangers can have many.
    """
    try:
        named = urlsplit(url if "://" in url else f"http://{url}").hostname or ""
        host = unquote(named).rstrip(".").encode("idna").decode().rstrip(".")
    except ValueError:
        return url  # no name can be registered like this
    if network := _find_network(host):
        return network
    labels = host.casefold().split(".")
    is_common = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _COMMON_LABELS
    return ".".join(labels[-3 if is_common else -2 :]) or url


def _find_network(host: str) -> str:
    """Return the network of an IP address in any spelling; "" for a name."""
    try:
        address: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(
            host.partition("%")[0]
        )
    except ValueError:
        if not host[:1].isdigit():
            return ""
        try:
            address = ipaddress.IPv4Address(socket.inet_aton(host))  # such as 0x7f.1 and 2130706433
        except (OSError, UnicodeError):
            return ""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    bits = _V4_BITS if address.version == 4 else _V6_BITS
    return str(ipaddress.ip_network((address, bits), strict=False))
