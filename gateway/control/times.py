"""What operations on jobs need of the house, as its settings say."""

from collections.abc import Callable, Mapping

import tzlocal

from adapters.contract import ChatAdapter
from agent_core.schedule.planner import JobRules
from gateway.control.contract import Times
from gateway.means import make_rules
from gateway.settings import Settings


def times_of(
    settings: Settings | None,
    *,
    wake: Callable[[], None],
    load_platforms: Callable[[], Mapping[str, ChatAdapter]],
) -> Times:
    """The times of a house; without settings, as they usually are."""
    own = settings.people.time_zone if settings else None
    return Times(
        zone=own or tzlocal.get_localzone_name(),
        rules=make_rules(settings) if settings else JobRules(),
        wake=wake,
        load_platforms=load_platforms,
    )
