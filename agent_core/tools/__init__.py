"""Tools: their contract, the toolbox that runs them, and tools without a package of their own."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.tools.chat import HOME as HOME
    from agent_core.tools.chat import ROOM_SIGN as ROOM_SIGN
    from agent_core.tools.chat import Destination as Destination
    from agent_core.tools.chat import GroupTitlesTool as GroupTitlesTool
    from agent_core.tools.chat import Messenger as Messenger
    from agent_core.tools.chat import SendMessageTool as SendMessageTool
    from agent_core.tools.chat import TodoTool as TodoTool
    from agent_core.tools.clock import describe_days as describe_days
    from agent_core.tools.clock import local_time as local_time
    from agent_core.tools.clock import read_days as read_days
    from agent_core.tools.contract import Cost as Cost
    from agent_core.tools.contract import Declaration as Declaration
    from agent_core.tools.contract import Effect as Effect
    from agent_core.tools.contract import MemoryOwner as MemoryOwner
    from agent_core.tools.contract import Tool as Tool
    from agent_core.tools.contract import ToolContext as ToolContext
    from agent_core.tools.contract import ToolResult as ToolResult
    from agent_core.tools.delegated_tasks import HelperReport as HelperReport
    from agent_core.tools.delegated_tasks import Helpers as Helpers
    from agent_core.tools.delegated_tasks import HelperTask as HelperTask
    from agent_core.tools.delegation import DelegateTool as DelegateTool
    from agent_core.tools.delegation import check_answer as check_answer
    from agent_core.tools.delegation import join_reports as join_reports
    from agent_core.tools.delegation import read_tasks as read_tasks
    from agent_core.tools.delegation import run_at_once as run_at_once
    from agent_core.tools.delegation import strip_fence as strip_fence
    from agent_core.tools.gate import PROPOSED as PROPOSED
    from agent_core.tools.gate import was_kept_back as was_kept_back
    from agent_core.tools.policy import MOST_FROM_PAGES as MOST_FROM_PAGES
    from agent_core.tools.policy import USE_WITHIN as USE_WITHIN
    from agent_core.tools.policy import Action as Action
    from agent_core.tools.policy import ActionKind as ActionKind
    from agent_core.tools.policy import ApprovalRequest as ApprovalRequest
    from agent_core.tools.policy import Decision as Decision
    from agent_core.tools.policy import Policy as Policy
    from agent_core.tools.policy import Protected as Protected
    from agent_core.tools.policy import Rule as Rule
    from agent_core.tools.policy import describe_shape as describe_shape
    from agent_core.tools.policy import is_exact as is_exact
    from agent_core.tools.policy import list_reach as list_reach
    from agent_core.tools.schemas import make_object as make_object
    from agent_core.tools.schemas import make_schema as make_schema
    from agent_core.tools.secret_scan import SecretMask as SecretMask
    from agent_core.tools.secret_scan import find_secret as find_secret
    from agent_core.tools.selection import PROMPT_TOOLS as PROMPT_TOOLS
    from agent_core.tools.selection import RARE_TOOLS as RARE_TOOLS
    from agent_core.tools.selection import SKILL_TOOL as SKILL_TOOL
    from agent_core.tools.selection import Caller as Caller
    from agent_core.tools.selection import CallRule as CallRule
    from agent_core.tools.selection import WordIndex as WordIndex
    from agent_core.tools.selection import show_found_tools as show_found_tools
    from agent_core.tools.selection import unwrap as unwrap
    from agent_core.tools.send_file import SendFileTool as SendFileTool
    from agent_core.tools.settings_tool import DAYS_OFF as DAYS_OFF
    from agent_core.tools.settings_tool import NAMES as NAMES
    from agent_core.tools.settings_tool import SPOKEN_ANSWERS as SPOKEN_ANSWERS
    from agent_core.tools.settings_tool import SettingsTool as SettingsTool
    from agent_core.tools.settings_tool import apply_setting as apply_setting
    from agent_core.tools.settings_tool import describe_hours as describe_hours
    from agent_core.tools.text_cleaner import TextCleaner as TextCleaner
    from agent_core.tools.time_zones import find_zone as find_zone
    from agent_core.tools.time_zones import guess_zone as guess_zone
    from agent_core.tools.time_zones import name_city as name_city
    from agent_core.tools.time_zones import name_zone as name_zone
    from agent_core.tools.time_zones import read_preferences as read_preferences
    from agent_core.tools.toolbox import Toolbox as Toolbox
    from agent_core.tools.toolbox import ToolSetup as ToolSetup
    from agent_core.tools.toolbox import ToolSource as ToolSource
    from agent_core.tools.user_questions import WORDS as WORDS
    from agent_core.tools.user_questions import Answer as Answer
    from agent_core.tools.user_questions import AskTool as AskTool
    from agent_core.tools.user_questions import PromptKind as PromptKind
    from agent_core.tools.user_questions import Proposal as Proposal
    from agent_core.tools.user_questions import QuestionPending as QuestionPending
    from agent_core.tools.user_questions import UserPrompt as UserPrompt
    from agent_core.tools.user_questions import UserPrompter as UserPrompter
    from agent_core.tools.user_questions import describe_no_answer as describe_no_answer
    from agent_core.tools.workspace import WORKSPACE_TOOLS as WORKSPACE_TOOLS
    from agent_core.tools.workspace import make_terminal as make_terminal
    from agent_core.tools.workspace import make_workspace_tools as make_workspace_tools
else:
    __getattr__ = export_lazily(__name__, __file__)
