"""Named agents: their files, what they may use, and the messages between them."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.agent.named.chain import DEFAULT as DEFAULT
    from agent_core.agent.named.chain import MOST_HOPS as MOST_HOPS
    from agent_core.agent.named.chain import find_objection as find_objection
    from agent_core.agent.named.definition import KnownNames as KnownNames
    from agent_core.agent.named.definition import NamedAgent as NamedAgent
    from agent_core.agent.named.folder import AGENTS as AGENTS
    from agent_core.agent.named.folder import FOREIGN_SKILL as FOREIGN_SKILL
    from agent_core.agent.named.folder import AgentEntry as AgentEntry
    from agent_core.agent.named.folder import AgentFolder as AgentFolder
    from agent_core.agent.named.mail import AgentMail as AgentMail
    from agent_core.agent.named.tool import MessageAgentTool as MessageAgentTool
else:
    __getattr__ = export_lazily(__name__, __file__)
