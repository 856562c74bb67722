"""The tables of `config.toml` about watching a running gateway."""

from pydantic import Field

from gateway.config.tables import Table
from gateway.config.types import PublicAddress


class AlertSettings(Table, title="Alerts"):
    """Silent messages to the owners about what they have to repair, and about its end."""

    enabled: bool = Field(
        True,
        description="Tell the owners in their direct chats when a platform is down, a key is"
        " refused, a backup fails, or money or space runs out.",
    )
    pause_minutes: int = Field(
        15,
        ge=0,
        le=1440,
        description="Least minutes between two of these messages. What happens meanwhile is in the"
        " next one.",
    )


class TelemetrySettings(Table, title="Telemetry"):
    """Traces and metrics for OpenTelemetry."""

    endpoint: PublicAddress = Field(
        "",
        description="The address of a receiver of OTLP over HTTP, such as"
        " `http://127.0.0.1:4318`; empty for none. It needs the extra `otel`.",
    )
