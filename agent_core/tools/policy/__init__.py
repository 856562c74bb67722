"""The policy of calls: the actions that a call declares, and what may run."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.tools.policy.commands import list_command_actions, list_input_actions
    from agent_core.tools.policy.contract import Action, ActionKind, DeclaresActions
    from agent_core.tools.policy.paths import ANYWHERE, OUTSIDE, SYSTEM, WORKSPACE
    from agent_core.tools.policy.policy import Policy, make_facts
    from agent_core.tools.policy.protected import Protected
    from agent_core.tools.policy.requests import (
        LONGEST_SHOWN,
        USE_WITHIN,
        ApprovalRequest,
        Approver,
        Decision,
        Refusal,
        canonicalize,
        list_reach,
        show_call,
    )
    from agent_core.tools.policy.rules import Rule, Verdict, judge
    from agent_core.tools.policy.shapes import describe_shape
else:
    __getattr__ = export_lazily(__name__, __file__)
