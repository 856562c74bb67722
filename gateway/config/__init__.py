"""Settings, the files of the home directory, the log and the clock.

Import from here. Only `gateway.config.settings` reads the environment.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.config.backups import list_left_out as list_left_out
    from gateway.config.backups import make_bucket as make_bucket
    from gateway.config.backups import make_lock as make_lock
    from gateway.config.backups import make_place as make_place
    from gateway.config.credentials import Secrets as Secrets
    from gateway.config.files import add_saved as add_saved
    from gateway.config.files import change_config as change_config
    from gateway.config.files import change_env as change_env
    from gateway.config.files import read_zone as read_zone
    from gateway.config.learning_tables import LearningSettings as LearningSettings
    from gateway.config.learning_tables import SkillSettings as SkillSettings
    from gateway.config.logging import list_hidden as list_hidden
    from gateway.config.logging import logging_to as logging_to
    from gateway.config.mcp_file import add_mcp_server as add_mcp_server
    from gateway.config.mcp_file import locate_mcp_programs as locate_mcp_programs
    from gateway.config.mcp_file import locate_mcp_tokens as locate_mcp_tokens
    from gateway.config.mcp_file import read_mcp_servers as read_mcp_servers
    from gateway.config.mcp_file import remove_mcp_server as remove_mcp_server
    from gateway.config.media_tables import MediaSettings as MediaSettings
    from gateway.config.paths import BACKUPS as BACKUPS
    from gateway.config.paths import CHAT_HISTORY as CHAT_HISTORY
    from gateway.config.paths import CONFIG_NAME as CONFIG_NAME
    from gateway.config.paths import CONSOLE_SOCKET as CONSOLE_SOCKET
    from gateway.config.paths import CONTROL_SOCKET as CONTROL_SOCKET
    from gateway.config.paths import DATABASE as DATABASE
    from gateway.config.paths import ENV_NAME as ENV_NAME
    from gateway.config.paths import HTTP_TOKEN as HTTP_TOKEN
    from gateway.config.paths import KEPT_LOGS as KEPT_LOGS
    from gateway.config.paths import LOG as LOG
    from gateway.config.paths import MCP_CONFIG as MCP_CONFIG
    from gateway.config.paths import MEMORIES as MEMORIES
    from gateway.config.paths import MODEL_TABLE as MODEL_TABLE
    from gateway.config.paths import RUNTIME_NAMES as RUNTIME_NAMES
    from gateway.config.paths import SECRET_NAMES as SECRET_NAMES
    from gateway.config.paths import SECRETS_CONFIG as SECRETS_CONFIG
    from gateway.config.paths import SESSIONS as SESSIONS
    from gateway.config.paths import SKILLS as SKILLS
    from gateway.config.paths import describe_unwritable as describe_unwritable
    from gateway.config.paths import expand as expand
    from gateway.config.paths import explain_length as explain_length
    from gateway.config.paths import find_home as find_home
    from gateway.config.paths import find_open_mode as find_open_mode
    from gateway.config.paths import make_home as make_home
    from gateway.config.paths import open_home as open_home
    from gateway.config.secrets import read_named_secrets as read_named_secrets
    from gateway.config.settings import TABLES as TABLES
    from gateway.config.settings import Settings as Settings
    from gateway.config.settings import environment as environment
    from gateway.config.settings import find_source as find_source
    from gateway.config.settings import list_unknown_variables as list_unknown_variables
    from gateway.config.settings import load as load
    from gateway.config.sources import SECRET_VARIABLES as SECRET_VARIABLES
    from gateway.config.tables import HttpSettings as HttpSettings
    from gateway.config.tables import LogSettings as LogSettings
    from gateway.config.tables import PromptSettings as PromptSettings
    from gateway.config.tables import RetentionSettings as RetentionSettings
    from gateway.config.tables import Table as Table
    from gateway.config.tool_tables import ToolSettings as ToolSettings
else:
    __getattr__ = export_lazily(__name__, __file__)
