"""A client of Talaria's API."""

from talaria_client.client import Talaria, TalariaError

__all__ = ["Talaria", "TalariaError"]
