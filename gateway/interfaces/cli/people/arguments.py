"""The arguments of `talaria people`, which `--help` and the completions need."""

from gateway.interfaces.parser import Parser, read_path


def configure(parser: Parser) -> None:
    """Add the verbs."""
    parser.examples = ("talaria people list", "talaria people claim")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list people with their accounts")
    verbs.add_parser("claim", help="make a code that turns an account into the owner's")
    approve = verbs.add_parser(
        "approve",
        help="let in the person with a pairing code",
        examples=["talaria people approve K7QD2M"],
    )
    approve.add_argument("code", metavar="CODE", help="the code that the bot gave them")
    export = verbs.add_parser(
        "export",
        help="export a person's data to a new zip archive",
        examples=["talaria people export ada ~/ada.zip"],
    )
    erase = verbs.add_parser(
        "erase",
        help="permanently delete a person's data",
        examples=["talaria people erase ada", "talaria people erase ada --yes"],
    )
    for verb in (export, erase):
        verb.add_argument("slug", metavar="SLUG", help="the person's folder name, from `list`")
    export.add_argument(
        "file", metavar="FILE", type=read_path, help="the archive; must not exist yet"
    )
    erase.add_argument("--yes", action="store_true", help="ask nothing")
