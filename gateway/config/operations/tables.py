"""The tables of `config.toml` for watching a running gateway."""

from pydantic import Field

from gateway.config.tables import Table
from gateway.config.types import Hosts, PublicAddress


class AlertSettings(Table, title="Alerts"):
    """Silent messages that tell owners what they have to repair, and when the problem is over."""

    enabled: bool = True
    """Tell the owners in their direct chats when a platform is down, a key is refused, a backup
    fails, or money or space runs out.
    """
    pause_minutes: int = Field(15, ge=0, le=1440)
    """Shortest pause between two of these messages, in minutes. The next message also reports what
    happened during the pause.
    """


class SessionLogSettings(Table, title="Session log"):
    """Files with every turn, for other programs: `sessions/people/<name>/<session>.jsonl`."""

    enabled: bool = False
    """Write each ended turn as one line of JSON to the file of its session."""
    megabytes: int = Field(10, ge=1, le=100)
    """Size at which a session begins a new file, in megabytes."""
    kept_files: int = Field(5, ge=0, le=1000)
    """Full files that each session keeps; older ones are deleted."""


class WebhookSettings(Table, title="Outgoing webhooks"):
    """Signed requests that tell other programs of people's events; see `talaria webhooks`."""

    allow_hosts: Hosts = ()
    """Hosts, each with or without a port, that webhooks may reach even in the local network or
    without https.
    """
    per_person: int = Field(10, ge=0, le=1000)
    """Most webhooks per person."""


class TelemetrySettings(Table, title="Telemetry"):
    """Traces and metrics for OpenTelemetry."""

    endpoint: PublicAddress = ""
    """The address of a receiver of OTLP over HTTP, such as `http://127.0.0.1:4318`; empty for none.
    It needs the extra `otel`.
    """
