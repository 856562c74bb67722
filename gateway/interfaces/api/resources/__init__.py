"""The resources below `/api/`: everything that Talaria stores about the person of a token."""

from gateway.interfaces.api.resources.routes import make_resources

__all__ = ["make_resources"]
