"""Operations of the command line, performed by the gateway or directly on its database.

`perform` asks the gateway over its socket, which is quick. Without a gateway, it opens the database
itself and has to import the operation's code.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.operations.agent_parts import load_platforms as load_platforms
    from gateway.interfaces.operations.agent_parts import make_prompt_cache as make_prompt_cache
    from gateway.interfaces.operations.approvals import APPROVAL_OPERATIONS as APPROVAL_OPERATIONS
    from gateway.interfaces.operations.client import ask as ask
    from gateway.interfaces.operations.client import is_served as is_served
    from gateway.interfaces.operations.client import perform as perform
    from gateway.interfaces.operations.client import require_database as require_database
    from gateway.interfaces.operations.imports import IMPORT_OPERATIONS as IMPORT_OPERATIONS
    from gateway.interfaces.operations.job_previews import preview as preview
    from gateway.interfaces.operations.jobs import JOB_OPERATIONS as JOB_OPERATIONS
    from gateway.interfaces.operations.logins import LOGIN_OPERATIONS as LOGIN_OPERATIONS
    from gateway.interfaces.operations.mcp import MCP_OPERATIONS as MCP_OPERATIONS
    from gateway.interfaces.operations.memory import MEMORY_OPERATIONS as MEMORY_OPERATIONS
    from gateway.interfaces.operations.people import PEOPLE_OPERATIONS as PEOPLE_OPERATIONS
    from gateway.interfaces.operations.runner import perform_here as perform_here
    from gateway.interfaces.operations.skills import SKILL_OPERATIONS as SKILL_OPERATIONS
    from gateway.interfaces.operations.tokens import TOKEN_OPERATIONS as TOKEN_OPERATIONS
    from gateway.interfaces.operations.turns import TURN_OPERATIONS as TURN_OPERATIONS
    from gateway.interfaces.operations.webhooks import WEBHOOK_OPERATIONS as WEBHOOK_OPERATIONS
else:
    __getattr__ = export_lazily(__name__, __file__)
