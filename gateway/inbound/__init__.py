"""Inbound events: stores them, and routes each to a command or to the lane of its conversation."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.inbound.api_platform import ApiPlatform as ApiPlatform
    from gateway.inbound.api_platform import make_event as make_event
    from gateway.inbound.deps import RouterDeps as RouterDeps
    from gateway.inbound.router import InboundRouter as InboundRouter
else:
    __getattr__ = export_lazily(__name__, __file__)
