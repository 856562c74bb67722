"""The policy of calls: the actions that a call declares, and what may run."""

from agent_core.tools.policy.contract import Action, ActionKind, DeclaresActions

__all__ = ["Action", "ActionKind", "DeclaresActions"]
