"""Which work a model may do unseen: a model of this machine needs a passed test, or an owner's yes.

A hosted model counts as passed. Reviews by a small model were wrong nine times of ten, and nobody
sees a review before it is kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agent_core.models.contract import HasProfiles, Model
from agent_core.models.local.servers import is_loopback
from agent_core.models.profiles import CARD

TRUSTED = "trusted"
"""The kind of the fact that is an owner's yes."""

Unseen = Literal["reviews", "skills"]
"""Work that a model does unseen; the names are those of a card."""


def is_allowed(server: str, known: Mapping[str, Any], use: Unseen) -> bool:
    """Return whether a model may do a kind of work; `known` are the values of its facts by kind."""
    if not is_loopback(server) or known.get(TRUSTED):
        return True
    card = known.get(CARD) or {}
    return use in card.get("fit", ())


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTrust:
    """Tells what a configured model may do, by what is known of it now."""

    model: Model
    name: str
    """The model that does the work."""
    is_local: bool
    """True if it is on a server of this machine; a model of another kind may do everything."""

    def may(self, use: Unseen) -> bool:
        """Return whether the model may do a kind of work."""
        if not self.is_local or not isinstance(self.model, HasProfiles):
            return True
        profile = self.model.profile(self.name)
        return is_allowed(profile.server, profile.values, use)
