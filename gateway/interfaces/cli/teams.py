"""`talaria teams`: makes, changes and lists teams of named agents."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent_core.money import count_micro_dollars, show_dollars
from gateway.interfaces import client
from gateway.interfaces.cli.agents import put_away, split
from gateway.interfaces.parser import Parser
from gateway.interfaces.waiting import read_settings
from gateway.operations.agent_types import (
    AgentList,
    ChangedAgent,
    ListAgents,
    MoveAgent,
    TeamLine,
    WriteTeam,
)

if TYPE_CHECKING:
    from gateway.app.settings import Settings

_EXAMPLE = "talaria teams add desk --supervisor editor --members writer,checker"


def configure(parser: Parser) -> None:
    """Add the verbs; the default is `list`."""
    parser.examples = (_EXAMPLE, "talaria teams list")
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list the teams with their members (the default)")
    add = verbs.add_parser("add", help="make a team of agents", examples=[_EXAMPLE])
    change = verbs.add_parser(
        "change", help="change a team", examples=["talaria teams change desk --rounds 2"]
    )
    for one in (add, change):
        one.add_argument("name", metavar="NAME", help="letters, digits and hyphens")
        one.add_argument(
            "--manager",
            choices=["supervisor", "round_robin", "free"],
            help="who decides which member speaks",
        )
        one.add_argument("--supervisor", metavar="AGENT", help="the agent that plans and sums up")
        one.add_argument("--members", metavar="NAMES", help="the other agents, with commas")
        one.add_argument("--blocks", metavar="NAMES", help="memory blocks that all of them share")
        one.add_argument("--description", metavar="TEXT", help="what it is for")
        one.add_argument("--rounds", type=int, metavar="NUMBER", help="rounds of one task")
        one.add_argument("--steps", type=int, metavar="NUMBER", help="model calls of one task")
        one.add_argument("--dollars", type=float, metavar="NUMBER", help="cost of one task")
    move = verbs.add_parser(
        "move",
        help="move an agent from one team to another; it keeps its memory",
        examples=["talaria teams move writer desk radio"],
    )
    move.add_argument("agent", metavar="AGENT", help="the agent")
    move.add_argument("source", metavar="FROM", help="the team that it leaves")
    move.add_argument("target", metavar="TO", help="the team that it joins")
    for verb, help_text in (
        ("archive", "archive a team; its agents stay"),
        ("restore", "bring an archived team back"),
    ):
        one = verbs.add_parser(verb, help=help_text, examples=[f"talaria teams {verb} desk"])
        one.add_argument("name", metavar="NAME", help="the name of the team")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Do what the verb says, and print the result. Raises `Declined`, `StartError`."""
    verb, settings = arguments.verb, read_settings(environ)
    if verb in ("archive", "restore"):
        print(put_away(settings, "team", arguments))
    elif verb == "move":
        wish = MoveAgent(name=arguments.agent, source=arguments.source, target=arguments.target)
        client.perform_typed(
            settings.home, "agents.move", wish, ChangedAgent, load_settings=lambda: settings
        )
        print(f"{wish.name} has moved from {wish.source} to {wish.target}.")
    elif verb == "list":
        listed = client.perform_typed(
            settings.home, "agents.list", ListAgents(), AgentList, load_settings=lambda: settings
        )
        print("\n".join(map(_outline, listed.teams)) or "There are no teams.")
    else:
        _write(settings, arguments)
    return 0


def _write(settings: "Settings", arguments: argparse.Namespace) -> None:
    is_new = arguments.verb == "add"
    manager = arguments.manager
    if is_new and manager is None:
        manager = "supervisor" if arguments.supervisor else "round_robin"
    asked = WriteTeam(
        action="create" if is_new else "change",
        name=arguments.name,
        manager=manager,
        supervisor=arguments.supervisor,
        members=split(arguments.members),
        blocks=split(arguments.blocks),
        description=arguments.description,
        rounds=arguments.rounds,
        steps=arguments.steps,
        dollars=arguments.dollars,
    )
    client.perform_typed(
        settings.home, "agents.write_team", asked, ChangedAgent, load_settings=lambda: settings
    )
    print(f"{'Made' if is_new else 'Changed'} the team {asked.name}. /team {asked.name} asks it.")


def _outline(team: TeamLine) -> str:
    if team.fault:
        return f"{team.fault[:1].upper()}{team.fault[1:]}."
    leader = f"{team.supervisor} leads " if team.supervisor else ""
    money = f", {show_dollars(count_micro_dollars(team.dollars))}" if team.dollars else ""
    blocks = f", shares {', '.join(team.blocks)}" if team.blocks else ""
    return (
        f"{team.name} ({team.manager}): {leader}{', '.join(team.members)}; at most {team.rounds}"
        f" rounds, {team.steps} steps{money}{blocks}"
    )
