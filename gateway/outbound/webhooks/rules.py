"""The addresses that webhooks may send to, and the number of webhooks of a person."""

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass

from agent_core.tools.network.addresses import ForbiddenAddress, check_address, check_url
from gateway.errors import Mistaken
from gateway.texts import webhooks as texts


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRules:
    """The limits of webhooks. `allow_hosts` are hosts, each with or without a port, that may have
    an address of the local network, and need no https.
    """

    allow_hosts: Collection[str] = ()
    per_person: int = 10

    def check(self, url: str) -> None:
        """Check the address of a receiver before it is stored. Raises `Mistaken`.

        The address that its name resolves to is checked before each attempt.
        """
        try:
            parts = check_url(url)
            host = parts.hostname or ""
            name = f"[{host}]" if ":" in host else host.rstrip(".")
            port = parts.port or (443 if parts.scheme == "https" else 80)
            if {name, f"{name}:{port}"} & {one.lower().rstrip(".") for one in self.allow_hosts}:
                return
            if parts.scheme != "https":
                raise Mistaken(texts.NOT_HTTPS())
            if _is_address(host):
                check_address(host)
        except ForbiddenAddress as error:
            raise Mistaken(texts.BAD_ADDRESS(reason=error)) from error


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
