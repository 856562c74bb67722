"""The slash commands: their catalog, their contract and their handlers.

Each group of commands is a class with only the services that it uses.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.commands.archive import ArchiveNotes as ArchiveNotes
    from gateway.commands.blocks import BlockCommands as BlockCommands
    from gateway.commands.catalog import COMMANDS as COMMANDS
    from gateway.commands.catalog import HIDDEN as HIDDEN
    from gateway.commands.catalog import bind as bind
    from gateway.commands.catalog import make_menu as make_menu
    from gateway.commands.catalog import suggest_command as suggest_command
    from gateway.commands.context import ContextCommands as ContextCommands
    from gateway.commands.conversation import ConversationCommands as ConversationCommands
    from gateway.commands.conversation import SessionCommands as SessionCommands
    from gateway.commands.conversation import StatusReport as StatusReport
    from gateway.commands.jobs import JobCommands as JobCommands
    from gateway.commands.learning import CuratorCommands as CuratorCommands
    from gateway.commands.learning import LearningCommands as LearningCommands
    from gateway.commands.learning import ProfileCommands as ProfileCommands
    from gateway.commands.learning import SkillCommands as SkillCommands
    from gateway.commands.learning import SkillUndo as SkillUndo
    from gateway.commands.learning import choose_learning as choose_learning
    from gateway.commands.memory import MemoryCommands as MemoryCommands
    from gateway.commands.memory_scope import MemoryAccess as MemoryAccess
    from gateway.commands.people import PeopleCommands as PeopleCommands
    from gateway.commands.privacy import PrivacyCommands as PrivacyCommands
    from gateway.commands.provenance import ProvenanceCommands as ProvenanceCommands
    from gateway.commands.registry import Call as Call
    from gateway.commands.registry import Reply as Reply
    from gateway.commands.registry import SlashCommand as SlashCommand
    from gateway.commands.rooms import PrivateAnswers as PrivateAnswers
    from gateway.commands.rooms import RoomCommands as RoomCommands
    from gateway.commands.settings import ModelCommands as ModelCommands
    from gateway.commands.settings import PersonalSettings as PersonalSettings
    from gateway.commands.settings import SettingsCommands as SettingsCommands
    from gateway.commands.settings import change_setting as change_setting
    from gateway.commands.settings import find_model as find_model
    from gateway.commands.settings import find_settings as find_settings
    from gateway.commands.settings import parse_setting as parse_setting
    from gateway.commands.settings import save_settings as save_settings
    from gateway.commands.tools.agents import AgentCommands as AgentCommands
    from gateway.commands.tools.approvals import ApprovalCommands as ApprovalCommands
    from gateway.commands.tools.connections import ConnectionCommands as ConnectionCommands
    from gateway.commands.tools.mcp import McpCommands as McpCommands
    from gateway.commands.tools.toolsets import ToolCommands as ToolCommands
else:
    __getattr__ = export_lazily(__name__, __file__)
