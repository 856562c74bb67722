"""`talaria tools`: lists the tools that people have switched off, and switches them."""

import argparse
from collections.abc import Mapping

from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.parser import Parser
from gateway.interfaces.waiting import read_settings
from gateway.operations.people_types import Nothing
from gateway.operations.tools_types import ListedTools, SwitchedTool, SwitchTool


def configure(parser: Parser) -> None:
    """Add the verbs; the default is `list`."""
    parser.examples = ("talaria tools list", "talaria tools disable ada terminal")
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list the tools, and who has switched which off (the default)")
    for verb, text in (("enable", "switch a tool on again"), ("disable", "switch a tool off")):
        switch = verbs.add_parser(
            verb, help=f"{text} for a person", examples=[f"talaria tools {verb} ada terminal"]
        )
        switch.add_argument("slug", metavar="SLUG", help="folder name, from `talaria people list`")
        switch.add_argument("tool", metavar="TOOL", help="name from `talaria tools list`")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    home = open_home(environ)
    if arguments.verb == "list":
        answer = client.perform_typed(home, "tools.list", Nothing(), ListedTools)
        print(f"Tools: {', '.join(answer.tools)}.", flush=True)
        if disabled := read_settings(environ).tools.disabled:
            print(f"Off for everybody (tools.disabled): {', '.join(disabled)}.")
        for person in answer.people:
            if person.off:
                print(f"Off for {person.folder}: {', '.join(person.off)}.")
        return 0
    is_on = arguments.verb == "enable"
    asked = SwitchTool(slug=arguments.slug, tool=arguments.tool, is_on=is_on)
    done = client.perform_typed(home, "tools.switch", asked, SwitchedTool)
    print(f"{done.tool} is {'on' if is_on else 'off'} for {done.folder}.")
    return 0
