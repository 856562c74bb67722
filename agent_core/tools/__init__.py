"""Tools: their contract, the toolbox that runs them, and tools without a package of their own."""

from agent_core.tools.clock import describe_days, local_time, read_days
from agent_core.tools.contract import (
    Cost,
    Declaration,
    Effect,
    MemoryOwner,
    Tool,
    ToolContext,
    ToolResult,
    ToolSource,
)
from agent_core.tools.delegated_tasks import HelperReport, Helpers, HelperTask
from agent_core.tools.delegation import DelegateTool, check_answer, strip_fence
from agent_core.tools.policy import (
    USE_WITHIN,
    ActionKind,
    ApprovalRequest,
    Decision,
    Policy,
    Protected,
    Rule,
    describe_shape,
    list_reach,
)
from agent_core.tools.secret_scan import SecretMask, find_secret
from agent_core.tools.selection import PROMPT_TOOLS, Caller, CallRule, unwrap
from agent_core.tools.send_file import SendFileTool
from agent_core.tools.settings_tool import (
    DAYS_OFF,
    NAMES,
    SPOKEN_ANSWERS,
    SettingsTool,
    apply_setting,
    describe_hours,
    list_settings,
)
from agent_core.tools.time_zones import (
    find_zone,
    guess_zone,
    name_city,
    name_zone,
    read_preferences,
)
from agent_core.tools.toolbox import Toolbox, ToolSetup
from agent_core.tools.untrusted_text import (
    escape,
    flatten,
    is_bidi,
    is_hidden,
    quote,
    strip_controls,
)
from agent_core.tools.user_questions import (
    Answer,
    AskTool,
    Proposal,
    QuestionPending,
    UserPrompt,
    UserPrompter,
    describe_no_answer,
)
from agent_core.tools.workspace import WORKSPACE_TOOLS, make_workspace_tools

__all__ = [
    "DAYS_OFF",
    "NAMES",
    "PROMPT_TOOLS",
    "SPOKEN_ANSWERS",
    "USE_WITHIN",
    "WORKSPACE_TOOLS",
    "ActionKind",
    "Answer",
    "ApprovalRequest",
    "AskTool",
    "CallRule",
    "Caller",
    "Cost",
    "Decision",
    "Declaration",
    "DelegateTool",
    "Effect",
    "HelperReport",
    "HelperTask",
    "Helpers",
    "MemoryOwner",
    "Policy",
    "Proposal",
    "Protected",
    "QuestionPending",
    "Rule",
    "SecretMask",
    "SendFileTool",
    "SettingsTool",
    "Tool",
    "ToolContext",
    "ToolResult",
    "ToolSetup",
    "ToolSource",
    "Toolbox",
    "UserPrompt",
    "UserPrompter",
    "apply_setting",
    "check_answer",
    "describe_days",
    "describe_hours",
    "describe_no_answer",
    "describe_shape",
    "escape",
    "find_secret",
    "find_zone",
    "flatten",
    "guess_zone",
    "is_bidi",
    "is_hidden",
    "list_reach",
    "list_settings",
    "local_time",
    "make_workspace_tools",
    "name_city",
    "name_zone",
    "quote",
    "read_days",
    "read_preferences",
    "strip_controls",
    "strip_fence",
    "unwrap",
]
