"""The settings of what owners use to watch a running gateway."""

from gateway.config.operations.tables import (
    AlertSettings,
    SessionLogSettings,
    TelemetrySettings,
    WebhookSettings,
)

__all__ = ["AlertSettings", "SessionLogSettings", "TelemetrySettings", "WebhookSettings"]
