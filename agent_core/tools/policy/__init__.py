"""The policy of calls: the actions that a call declares, and what may run."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.tools.policy.commands import list_command_actions as list_command_actions
    from agent_core.tools.policy.commands import list_file_actions as list_file_actions
    from agent_core.tools.policy.commands import list_input_actions as list_input_actions
    from agent_core.tools.policy.contract import Action as Action
    from agent_core.tools.policy.contract import ActionKind as ActionKind
    from agent_core.tools.policy.contract import DeclaresActions as DeclaresActions
    from agent_core.tools.policy.exports import Exports as Exports
    from agent_core.tools.policy.exports import list_exports as list_exports
    from agent_core.tools.policy.paths import ANYWHERE as ANYWHERE
    from agent_core.tools.policy.paths import OUTSIDE as OUTSIDE
    from agent_core.tools.policy.paths import SYSTEM as SYSTEM
    from agent_core.tools.policy.paths import WORKSPACE as WORKSPACE
    from agent_core.tools.policy.policy import Policy as Policy
    from agent_core.tools.policy.policy import make_facts as make_facts
    from agent_core.tools.policy.protected import Protected as Protected
    from agent_core.tools.policy.requests import LONGEST_SHOWN as LONGEST_SHOWN
    from agent_core.tools.policy.requests import USE_WITHIN as USE_WITHIN
    from agent_core.tools.policy.requests import ApprovalRequest as ApprovalRequest
    from agent_core.tools.policy.requests import Approver as Approver
    from agent_core.tools.policy.requests import Decision as Decision
    from agent_core.tools.policy.requests import Refusal as Refusal
    from agent_core.tools.policy.requests import canonicalize as canonicalize
    from agent_core.tools.policy.requests import list_reach as list_reach
    from agent_core.tools.policy.requests import show_call as show_call
    from agent_core.tools.policy.rules import MOST_FROM_PAGES as MOST_FROM_PAGES
    from agent_core.tools.policy.rules import Rule as Rule
    from agent_core.tools.policy.rules import Verdict as Verdict
    from agent_core.tools.policy.rules import judge as judge
    from agent_core.tools.policy.shapes import describe_shape as describe_shape
    from agent_core.tools.policy.shapes import is_exact as is_exact
    from agent_core.tools.policy.shapes import read_shape as read_shape
else:
    __getattr__ = export_lazily(__name__, __file__)
