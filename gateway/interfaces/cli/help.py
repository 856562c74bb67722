"""`talaria help`: lists the commands, or explains one."""

import argparse
from collections.abc import Mapping

from gateway.errors import Mistaken, suggest
from gateway.interfaces import subcommands
from gateway.interfaces.parser import Parser, show_help, suggest_command
from gateway.interfaces.subcommands import SUBCOMMANDS


def configure(parser: Parser) -> None:
    """Add the words to explain."""
    parser.examples = ("talaria help", "talaria help jobs add")
    parser.add_argument("words", nargs="*", metavar="COMMAND", help="a command, and its verb")


def run(arguments: argparse.Namespace, _: Mapping[str, str]) -> int:
    """Print the help. Raises `Mistaken` if there is no such command."""
    if not arguments.words:
        show_help(f"{subcommands.describe_all()}\n")
        return 0
    word, *verbs = arguments.words
    if word not in SUBCOMMANDS:
        raise Mistaken(f"There is no `talaria {word}`; {suggest_command(word, SUBCOMMANDS)}")
    parser = subcommands.make_parser(word)
    for verb in verbs:
        known = parser.list_verbs()
        if not (meant := parser.find_verb(verb)):
            hint = suggest(verb, known) if known else f"see `{parser.prog} --help`."
            raise Mistaken(f"There is no `{parser.prog} {verb}`; {hint}")
        parser = known[meant]
    show_help(parser.format_help())
    return 0
