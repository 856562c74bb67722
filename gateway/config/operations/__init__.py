"""The settings of what owners use to watch a running gateway."""

from gateway.config.operations.tables import AlertSettings, TelemetrySettings

__all__ = ["AlertSettings", "TelemetrySettings"]
