"""The proxy that the environment names for an address."""

import ipaddress
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass


def find_proxy(address: str) -> str:
    """Return the proxy that the environment names for an address; "" to connect directly.

    `HTTPS_PROXY` and `HTTP_PROXY` go before `ALL_PROXY`. Hosts of `NO_PROXY` and of this machine
    are reached directly. WebSockets use the proxy of their HTTP address.
    """
    parts = urlsplit(address)
    host, scheme = parts.hostname or "", {"ws": "http", "wss": "https"}.get(parts.scheme)
    proxies = getproxies()
    proxy = proxies.get(scheme or parts.scheme) or proxies.get("all", "")
    if not proxy or not host or _is_here(host) or _is_left_out(host, parts.port, proxies):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _is_left_out(host: str, port: int | None, proxies: Mapping[str, str]) -> bool:
    """Return whether `NO_PROXY` names a host, a domain above it, or a network around it."""
    if proxy_bypass(host if port is None else f"{host}:{port}"):
        return True
    for entry in proxies.get("no", "").split(","):
        with suppress(ValueError):
            if ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip(), strict=False):
                return True
    return False
