"""The tables of `config.toml` about watching a running gateway."""

from pydantic import Field

from gateway.config.tables import Table
from gateway.config.types import Hosts, PublicAddress


class AlertSettings(Table, title="Alerts"):
    """Silent messages to the owners about what they have to repair, and about its end."""

    enabled: bool = True
    """Tell the owners in their direct chats when a platform is down, a key is refused, a backup
    fails, or money or space runs out.
    """
    pause_minutes: int = Field(15, ge=0, le=1440)
    """Least minutes between two of these messages. What happens meanwhile is in the next one."""


class SessionLogSettings(Table, title="Session log"):
    """Files with every turn, for other programs: `sessions/people/<name>/<session>.jsonl`."""

    enabled: bool = False
    """Write each ended turn as one line of JSON to the file of its session."""
    megabytes: int = Field(10, ge=1, le=100)
    """Size at which a session's next line begins a new file."""
    kept_files: int = Field(5, ge=0, le=1000)
    """Full files that each session keeps; older ones are deleted."""


class WebhookSettings(Table, title="Outgoing webhooks"):
    """Signed requests that tell other programs of people's events; see `talaria webhooks`."""

    allow_hosts: Hosts = ()
    """Hosts, each with or without a port, that may have an address of the local network and need no
    https.
    """
    per_person: int = Field(10, ge=0, le=1000)
    """Most webhooks per person."""


class TelemetrySettings(Table, title="Telemetry"):
    """Traces and metrics for OpenTelemetry."""

    endpoint: PublicAddress = ""
    """The address of a receiver of OTLP over HTTP, such as `http://127.0.0.1:4318`; empty for none.
    It needs the extra `otel`.
    """
