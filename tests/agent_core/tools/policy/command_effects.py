"""The effects of a command as words."""

from agent_core.tools.policy.command_effects import list_command_actions
from agent_core.tools.policy.contract import Action


def list_effects(text: str, *, has_network: bool = True, is_confined: bool = True) -> set[str]:
    """The effects besides runs and reads, as `kind place`, and `!` for one that can't be told."""
    actions = list_command_actions(text, "", has_network=has_network, is_confined=is_confined)
    return {_name(one) for one in actions if one.kind not in ("run", "read")}


def _name(action: Action) -> str:
    if action.kind == "send" and action.place == "anywhere":
        return "!"
    return f"{action.kind} {action.place}"
