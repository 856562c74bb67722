"""The resources below `/api/`: everything that Talaria stores about the person of a token."""

from gateway.interfaces.api.resources.routes import add_resources

__all__ = ["add_resources"]
