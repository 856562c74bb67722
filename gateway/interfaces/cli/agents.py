"""`talaria agents`: creates, lists and checks named agents."""

import argparse
from collections.abc import Mapping, Sequence

from agent_core.agent.named.definition import NamedAgent
from agent_core.agent.named.folder import AGENTS
from agent_core.errors import AgentBroken
from gateway.errors import Declined
from gateway.home import find_home
from gateway.interfaces.parser import Parser
from gateway.interfaces.waiting import read_settings

_HEADS = {
    "list": "Agents of {home}:",
    "check": "Checking the agents of {home} ...",
    "add": "Adding an agent to {home} ...",
    "show": "Reading the agents of {home} ...",
}

_DONE, _FAILED = 0, 1


def configure(parser: Parser) -> None:
    """Add the verbs; the default is `list`."""
    parser.examples = ("talaria agents add coder", "talaria agents list")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    verbs.add_parser(
        "list", help="list the agents with their descriptions, models and tags (the default)"
    )
    add = verbs.add_parser(
        "add", help="create the two files of a new agent", examples=["talaria agents add coder"]
    )
    add.add_argument("name", metavar="NAME", help="letters, digits and hyphens")
    show = verbs.add_parser(
        "show", help="show what an agent may use", examples=["talaria agents show coder"]
    )
    show.add_argument("name", metavar="NAME", help="the name of its folder")
    verbs.add_parser("check", help="check the files of all agents; 1 if one can't be used")


def announce(arguments: argparse.Namespace, environ: Mapping[str, str]) -> str:
    """Return a line that says what the command does."""
    return _HEADS[arguments.verb or "list"].format(home=find_home(environ))


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Read the folder of the agents, and print the result. Raises `Declined`, `StartError`."""
    from gateway.app.agent_folders import open_agent_folder

    settings = read_settings(environ)
    agents = open_agent_folder(settings)
    try:
        if arguments.verb == "add":
            place = agents.add(arguments.name)
            print(f"Created {place}. Describe the agent in its SOUL.md, then send /agents.")
            return _DONE
        if arguments.verb == "show":
            print("\n".join(_show(agents.find(arguments.name))))
            return _DONE
        entries = agents.list_all()
    except AgentBroken as error:
        raise Declined(str(error)) from error
    broken = [entry.fault for entry in entries if entry.fault]
    if arguments.verb == "check":
        good = "1 agent is good." if len(entries) == 1 else f"{len(entries)} agents are good."
        print("\n".join(map(_end, broken)) or good)
        return _FAILED if broken else _DONE
    for entry in entries:
        print(_outline(entry.agent) if entry.agent else _end(entry.fault))
    if not entries:
        print(f"There are no agents in {settings.home / AGENTS}. `talaria agents add` creates one.")
    return _DONE


def _end(clause: str) -> str:
    """Make a sentence from a clause."""
    return f"{clause[:1].upper()}{clause[1:]}."


def _outline(agent: NamedAgent) -> str:
    model = f", model {agent.model}" if agent.model else ""
    tags = f", tags {', '.join(agent.tags)}" if agent.tags else ""
    return f"{agent.name}: {agent.description or 'no description'}{model}{tags}"


def _show(agent: NamedAgent) -> Sequence[str]:
    def name_all(names: Sequence[str] | None, otherwise: str) -> str:
        return otherwise if names is None else ", ".join(names) or "none"

    return (
        _outline(agent),
        f"Tools: {name_all(agent.tools, 'all that its person may use')}",
        f"Without: {name_all(agent.disabled, '')}",
        f"Skills: {name_all(agent.skills, '')}",
        f"Memory blocks: {name_all(agent.blocks, 'all that its person sees')}",
        f"Identity: {len(agent.soul):,} characters, with its skills",
    )
