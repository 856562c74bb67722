"""`talaria agents`: makes, changes, lists and checks named agents."""

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from agent_core.errors import AgentBroken
from gateway.errors import Declined
from gateway.home import DATABASE, find_home
from gateway.interfaces import client
from gateway.interfaces.parser import Parser, read_path
from gateway.interfaces.waiting import read_settings
from gateway.operations.agent_types import (
    ChangedAgent,
    ExportAgent,
    ImportAgent,
    ImportedAgent,
    PutAway,
    WriteAgent,
)

if TYPE_CHECKING:
    from agent_core.agent.named.definition import NamedAgent
    from gateway.app.settings import Settings

_HEADS = {
    "list": "Agents of {home}:",
    "check": "Checking the agents of {home} ...",
    "add": "Adding an agent to {home} ...",
    "show": "Reading the agents of {home} ...",
    "change": "Changing an agent of {home} ...",
    "archive": "Archiving an agent of {home} ...",
    "restore": "Bringing an agent of {home} back ...",
    "export": "Writing an agent of {home} to a file ...",
    "import": "Bringing an agent into {home} ...",
}
_LISTS = {
    "tools": "only these tools, with commas between; all for any",
    "disabled": "tools that it never has",
    "skills": "skills that it always has",
    "blocks": "memory blocks that it sees; all for any",
    "tags": "tags for messages to several agents",
}

ANY = "all"
"""The word for every tool or block."""

_DONE, _FAILED = 0, 1
_LONG = 600.0
"""Seconds for a file with many messages."""


def configure(parser: Parser) -> None:
    """Add the verbs; the default is `list`."""
    parser.examples = ("talaria agents add coder", "talaria agents list")
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser(
        "list", help="list the agents with their descriptions, models and tags (the default)"
    )
    add = verbs.add_parser(
        "add",
        help="make an agent",
        examples=[
            "talaria agents add coder",
            'talaria agents add writer --soul "You write short, warm texts." --tags press',
        ],
    )
    change = verbs.add_parser(
        "change", help="change an agent", examples=["talaria agents change coder --tags work,code"]
    )
    for one in (add, change):
        one.add_argument("name", metavar="NAME", help="letters, digits and hyphens")
        one.add_argument("--soul", metavar="TEXT", help="who it is and how it works")
        one.add_argument("--description", metavar="TEXT", help="what it is for, in a few words")
        one.add_argument("--model", metavar="NAME", help="one of your configured models")
        for key, help_text in _LISTS.items():
            one.add_argument(f"--{key}", metavar="NAMES", help=help_text)
    for verb, help_text in (
        ("show", "show what an agent may use"),
        ("archive", "archive an agent; its conversations and its files stay"),
        ("restore", "bring an archived agent back"),
    ):
        one = verbs.add_parser(verb, help=help_text, examples=[f"talaria agents {verb} coder"])
        one.add_argument("name", metavar="NAME", help="the name of its folder")
    export = verbs.add_parser(
        "export",
        help="write an agent to an agent file (.af), as Letta reads it",
        examples=["talaria agents export coder ~/coder.af"],
    )
    export.add_argument("name", metavar="NAME", help="the name of its folder")
    bring = verbs.add_parser(
        "import",
        help="bring in an agent from an agent file (.af)",
        examples=[
            "talaria agents import ~/coder.af",
            "talaria agents import ~/team.af --agent writer --name scribe",
        ],
    )
    for one in (export, bring):
        one.add_argument("file", metavar="FILE", type=read_path, help="the agent file")
        one.add_argument(
            "--person",
            metavar="NAME",
            default="",
            help="whose messages with it they are; default: the owner",
        )
    bring.add_argument("--name", metavar="NAME", default="", help="its name here")
    bring.add_argument("--agent", metavar="NAME", default="", help="one of several in the file")
    verbs.add_parser("check", help="check the files of all agents; 1 if one can't be used")


def announce(arguments: argparse.Namespace, environ: Mapping[str, str]) -> str:
    """Return a line that says what the command does."""
    return _HEADS[arguments.verb].format(home=find_home(environ))


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Do what the verb says, and print the result. Raises `Declined`, `StartError`."""
    from agent_core.agent.named.folder import AGENTS
    from gateway.app.agent_folders import open_agent_folder

    verb, settings = arguments.verb, read_settings(environ)
    if verb in ("add", "change"):
        return _write(settings, arguments)
    if verb in ("archive", "restore"):
        print(put_away(settings, "agent", arguments))
        return _DONE
    if verb in ("export", "import"):
        _transfer(settings, arguments)
        return _DONE
    agents = open_agent_folder(settings)
    try:
        if verb == "show":
            print("\n".join(_show(agents.find(arguments.name))))
            return _DONE
        entries = agents.list_all()
    except AgentBroken as error:
        raise Declined(_end(str(error))) from error
    broken = [entry.fault for entry in entries if entry.fault]
    if verb == "check":
        good = "1 agent is good." if len(entries) == 1 else f"{len(entries)} agents are good."
        print("\n".join(map(_end, broken)) or good)
        return _FAILED if broken else _DONE
    for entry in entries:
        print(_outline(entry.agent) if entry.agent else _end(entry.fault))
    if not entries:
        print(f"There are no agents in {settings.home / AGENTS}. `talaria agents add` creates one.")
    return _DONE


def put_away(
    settings: "Settings", kind: Literal["agent", "team"], arguments: argparse.Namespace
) -> str:
    """Archive or restore an agent or a team; return a sentence. Raises what `perform` raises."""
    verb: Literal["archive", "restore"] = arguments.verb
    asked = PutAway(kind=kind, action=verb, name=arguments.name)
    done = client.perform_typed(
        settings.home, "agents.put_away", asked, ChangedAgent, load_settings=lambda: settings
    )
    return f"{done.name} is {'archived' if verb == 'archive' else 'back'}."


def _transfer(settings: "Settings", arguments: argparse.Namespace) -> None:
    """Write an agent to a file, or bring one in. Raises what `perform` raises."""
    path, person = str(arguments.file.absolute()), arguments.person
    client.require_database(settings.home)
    if arguments.verb == "export":
        wish = ExportAgent(name=arguments.name, path=path, person=person)
        client.perform_typed(
            settings.home,
            "agents.export",
            wish,
            ChangedAgent,
            timeout=_LONG,
            load_settings=lambda: settings,
        )
        print(f"Written to {path}. It holds no secrets, but what you and the agent said.")
        return
    asked = ImportAgent(path=path, name=arguments.name, chosen=arguments.agent, person=person)
    made = client.perform_typed(
        settings.home,
        "agents.import",
        asked,
        ImportedAgent,
        timeout=_LONG,
        load_settings=lambda: settings,
    )
    print(
        f"Created the agent {made.name} with {_count(len(made.blocks), 'memory block')} and"
        f" {_count(made.messages, 'message')}.\nRead its SOUL.md before you use it: the file says"
        " who it is."
    )
    if made.left_out:
        print("Left out:\n" + "\n".join(f"- {one}" for one in made.left_out))


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number:,} {what}s"


def split(names: str | None) -> tuple[str, ...] | None:
    """Return the names of a list with commas; None if none was given, or the word for all."""
    if names is None or names == ANY:
        return None
    return tuple(one.strip() for one in names.split(",") if one.strip())


def _write(settings: "Settings", arguments: argparse.Namespace) -> int:
    from agent_core.agent.named.folder import AGENTS

    is_new, lists = arguments.verb == "add", {key: getattr(arguments, key) for key in _LISTS}
    asked = WriteAgent(
        action="create" if is_new else "change",
        name=arguments.name,
        soul=arguments.soul,
        description=arguments.description,
        model=arguments.model,
        tools=split(lists["tools"]),
        disabled=split(lists["disabled"]),
        skills=split(lists["skills"]),
        blocks=split(lists["blocks"]),
        tags=split(lists["tags"]),
        any_tools=lists["tools"] == ANY,
        any_blocks=lists["blocks"] == ANY,
    )
    if (settings.home / DATABASE).exists():
        client.perform_typed(
            settings.home, "agents.write", asked, ChangedAgent, load_settings=lambda: settings
        )
    else:
        _write_first(settings, asked)
    place = settings.home / AGENTS / asked.name
    if is_new and not asked.soul:
        print(f"Created {place}. Describe the agent in its SOUL.md, then send /agents.")
    else:
        print(f"{'Created' if is_new else 'Changed'} {place}. It applies to new conversations.")
    return _DONE


def _write_first(settings: "Settings", asked: WriteAgent) -> None:
    """Write an agent before the first start, when nothing else can need it. Raises `Declined`."""
    from agent_core.agent.named.agent_files import AgentFiles
    from agent_core.errors import AgentRefused
    from gateway.app.agent_folders import open_agent_folder
    from gateway.operations.agents import read_change

    files = AgentFiles(open_agent_folder(settings))
    work = files.create if asked.action == "create" else files.change
    try:
        work(asked.name, read_change(asked))
    except AgentRefused as error:
        raise Declined(_end(str(error))) from error


def _end(clause: str) -> str:
    """Make a sentence from a clause."""
    return f"{clause[:1].upper()}{clause[1:]}."


def _outline(agent: "NamedAgent") -> str:
    model = f", model {agent.model}" if agent.model else ""
    tags = f", tags {', '.join(agent.tags)}" if agent.tags else ""
    return f"{agent.name}: {agent.description or 'no description'}{model}{tags}"


def _show(agent: "NamedAgent") -> Sequence[str]:
    from agent_core.tools.selection.call_rules import describe_rules

    def name_all(names: Sequence[str] | None, otherwise: str) -> str:
        return otherwise if names is None else ", ".join(names) or "none"

    return (
        _outline(agent),
        f"Tools: {name_all(agent.tools, 'all that its person may use')}",
        f"Without: {name_all(agent.disabled, '')}",
        f"Skills: {name_all(agent.skills, '')}",
        f"Memory blocks: {name_all(agent.blocks, 'all that its person sees')}",
        *(f"Rule: {line.removeprefix('- ')}" for line in describe_rules(agent.rules).splitlines()),
        f"Identity: {len(agent.soul):,} characters, with its skills",
    )
