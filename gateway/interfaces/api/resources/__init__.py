"""The resources below `/api/`: everything that Talaria stores about the person of a token."""

from gateway.interfaces.api.resources.replies import TaggedRoute
from gateway.interfaces.api.resources.routes import add_resources

__all__ = ["TaggedRoute", "add_resources"]
