"""The arguments of `talaria agents`, which `--help` and the completions need."""

from gateway.interfaces.parser import Parser


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
