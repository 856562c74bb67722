"""What `talaria run` prints once the house is open."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from adapters.contract import Health

_STAND_IN = (
    "No model key is set, so a stand-in answers: it follows plain commands and is no language\n"
    "model. Set ANTHROPIC_API_KEY, or OPENAI_API_KEY or OPENAI_BASE_URL, and start again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What there is to tell. `local` names the platform that is no chat platform."""

    version: str
    home: Path
    model: str
    is_stand_in: bool
    platforms: Mapping[str, Health]
    local: str
    claim_code: str | None
    page: str | None
    command: str
    """How `talaria` is called here."""


def compose_banner(opening: Opening) -> str:
    """Several lines; the last one begins with "Ready"."""
    rows = [("home", str(opening.home)), ("model", opening.model)]
    for name, health in opening.platforms.items():
        if name != opening.local:
            detail = f" ({health.detail})" if health.detail else ""
            rows.append((name, f"{health.state}{detail}"))
    rows.append(("terminal", f"{opening.command} chat"))
    if opening.page:
        rows.append(("page", opening.page))
    lines = [f"Talaria {opening.version}", *(f"  {name:<9} {value}" for name, value in rows)]
    if opening.is_stand_in:
        lines += ["", _STAND_IN]
    if opening.claim_code:
        chat = [name for name in opening.platforms if name != opening.local]
        names = " or ".join(name.capitalize() for name in chat)
        lines += ["", f"Claim {names}: send  /claim {opening.claim_code}  to your bot."]
        if "slack" in chat:
            lines += [f"In Slack that is  /talaria claim {opening.claim_code}"]
    return "\n".join([*lines, "", "Ready. Ctrl-C stops it."])
