"""Named agents: their files, what they may use, and the messages between them."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.agent.named.chain import DEFAULT, MOST_HOPS, find_objection
    from agent_core.agent.named.definition import KnownNames, NamedAgent
    from agent_core.agent.named.folder import AGENTS, FOREIGN_SKILL, AgentEntry, AgentFolder
    from agent_core.agent.named.mail import AgentMail
    from agent_core.agent.named.tool import MessageAgentTool
else:
    __getattr__ = export_lazily(__name__, __file__)
