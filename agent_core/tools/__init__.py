"""Tools: their contract, the toolbox that runs them, and tools without a package of their own."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.tools.chat import (
        HOME,
        ROOM_SIGN,
        Destination,
        Messenger,
        SendMessageTool,
        TodoTool,
    )
    from agent_core.tools.clock import describe_days, local_time, read_days
    from agent_core.tools.contract import (
        Cost,
        Declaration,
        Effect,
        MemoryOwner,
        Tool,
        ToolContext,
        ToolResult,
    )
    from agent_core.tools.delegated_tasks import HelperReport, Helpers, HelperTask
    from agent_core.tools.delegation import (
        DelegateTool,
        check_answer,
        join_reports,
        read_tasks,
        run_at_once,
        strip_fence,
    )
    from agent_core.tools.gate import PROPOSED
    from agent_core.tools.policy import (
        USE_WITHIN,
        Action,
        ActionKind,
        ApprovalRequest,
        Decision,
        Policy,
        Protected,
        Rule,
        describe_shape,
        list_reach,
    )
    from agent_core.tools.schemas import make_object, make_schema
    from agent_core.tools.secret_scan import SecretMask, find_secret
    from agent_core.tools.selection import (
        PROMPT_TOOLS,
        RARE_TOOLS,
        SKILL_TOOL,
        Caller,
        CallRule,
        WordIndex,
        show_found_tools,
        unwrap,
    )
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
    from agent_core.tools.toolbox import Toolbox, ToolSetup, ToolSource
    from agent_core.tools.user_questions import (
        WORDS,
        Answer,
        AskTool,
        PromptKind,
        Proposal,
        QuestionPending,
        UserPrompt,
        UserPrompter,
        describe_no_answer,
    )
    from agent_core.tools.workspace import WORKSPACE_TOOLS, make_terminal, make_workspace_tools
else:
    __getattr__ = export_lazily(__name__, __file__)
