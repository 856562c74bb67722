"""Folding over a real database, with bounds that a test sets."""

from agent_core.ceilings.reservations import Ceilings
from agent_core.compaction.folding import Folding, Pinned, pin_nothing
from agent_core.compaction.measuring import ContextRules, Measures
from agent_core.compaction.summaries import Summaries
from agent_core.models.contract import Model
from agent_core.state.database import Database
from tests.fakes.ceilings import ceilings


def folding(
    database: Database,
    model: Model,
    *,
    cap: int = 120_000,
    names: tuple[str, ...] = ("cheap-1", "fake-1"),
    limits: Ceilings | None = None,
    pinned: Pinned = pin_nothing,
) -> Folding:
    """Folds at 80 % of `cap` tokens; the last of `names` is the model that thinks."""
    return Folding(
        database=database,
        summaries=Summaries(model=model, names=names, ceilings=limits or ceilings(database)),
        measures=Measures(
            provider=model,
            model=names[-1],
            rules=ContextRules(cap_tokens=cap, threshold_percent=80),
        ),
        now=lambda: 1_000,
        pinned=pinned,
    )
