"""A compactor over a real database, with limits that a test sets."""

from collections.abc import Callable

from agent_core.agent.compaction.compactor import Compactor
from agent_core.agent.compaction.summaries import Summarizer
from agent_core.agent.compaction.token_meter import ContextRules, TokenMeter
from agent_core.agent.quotas.reservations import Quotas
from agent_core.models.contract import Model
from agent_core.state.engine.database import Database
from tests.fakes.quotas import quotas


def compactor(
    database: Database,
    model: Model,
    *,
    cap: int = 120_000,
    window: int = 0,
    compact: int = 0,
    names: tuple[str, ...] = ("cheap-1", "fake-1"),
    limits: Quotas | None = None,
    now: Callable[[], int] = lambda: 1_000,
) -> Compactor:
    """Compacts at 80 % of `cap` tokens; the last of `names` is the model for turns."""
    return Compactor(
        database=database,
        summarizer=Summarizer(model=model, names=names, quotas=limits or quotas(database)),
        meter=TokenMeter(
            provider=model,
            model=names[-1],
            rules=ContextRules(
                cap_tokens=cap, threshold_percent=80, window_tokens=window, compact_tokens=compact
            ),
        ),
        now=now,
    )
