"""Inbound events: stores them, and routes each to a command or to the lane of its conversation."""

from gateway.inbound.deps import RouterDeps
from gateway.inbound.router import InboundRouter

__all__ = [
    "InboundRouter",
    "RouterDeps",
]
from gateway.inbound.api_platform import ApiPlatform as ApiPlatform
from gateway.inbound.api_platform import make_event as make_event
