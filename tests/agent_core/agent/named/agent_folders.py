"""Folders of named agents."""

from pathlib import Path

from agent_core.agent.named.folder import AgentFolder
from agent_core.agent.named.teams import TeamFolder
from agent_core.agent.named.tool import MessageAgentTool


def make_message_tool(home: Path) -> MessageAgentTool:
    agents = AgentFolder(home)
    return MessageAgentTool(agents, TeamFolder(home, agents))


def write(home: Path, name: str, table: str = "", soul: str = "You are {}.") -> Path:
    place = home / "agents" / name
    place.mkdir(parents=True)
    place.joinpath("agent.toml").write_text(table)
    place.joinpath("SOUL.md").write_text(soul.format(name))
    return place
