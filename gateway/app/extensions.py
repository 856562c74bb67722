"""The additions of an embedding program and of plug-ins."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from adapters.contract import ChatAdapter
from agent_core.models.contract import Model
from agent_core.state.engine.connection import Observer
from agent_core.state.engine.database import now as wall_clock
from agent_core.tools.contract import Tool
from gateway.app.external_plugins import ExternalPlugins
from gateway.app.settings import Settings
from gateway.app.timings import Timings


@dataclass(frozen=True, slots=True, kw_only=True)
class Extensions:
    """Additions of the program that starts the gateway."""

    tools: tuple[Tool, ...] = ()
    """Tools besides the built-in ones."""
    adapters: Mapping[str, ChatAdapter] = field(default_factory=dict)
    """Platforms besides those that the settings turn on."""
    model: Model | None = None
    """Replaces the model provider of the settings."""
    observe: Observer | None = None
    """Called directly before and after each commit."""
    now: Callable[[], int] = wall_clock
    """The time of day, in milliseconds since the epoch, UTC."""
    timings: Timings = field(default_factory=Timings)


def add_plugins(
    settings: Settings, extra: Extensions, external: ExternalPlugins
) -> tuple[Settings, Extensions]:
    """Add the platforms, tools and skills of plug-ins to the settings and the extensions.

    Raises `StartError`.
    """
    folders = tuple(map(str, external.list_skill_folders()))
    skills = settings.skills.model_copy(update={"folders": (*settings.skills.folders, *folders)})
    return settings.model_copy(update={"skills": skills}), replace(
        extra,
        tools=(*external.load_tools(), *extra.tools),
        adapters={**external.load_platforms(), **extra.adapters},
    )
