"""The settings of what owners use to watch a running gateway."""

from gateway.config.operations.tables import AlertSettings

__all__ = ["AlertSettings"]
