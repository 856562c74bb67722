"""The arguments of `talaria models`, which `--help` and the completions need."""

from gateway.interfaces.parser import Parser


def configure(parser: Parser) -> None:
    """Add the verbs."""
    parser.examples = ("talaria models list", "talaria models update")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list the configured models with their prices")
    update = verbs.add_parser(
        "update",
        help="get the newest prices; the next start uses them",
        examples=["talaria models update", "talaria models update --from ~/prices.json"],
    )
    update.add_argument(
        "--from",
        dest="source",
        metavar="URL",
        help="another copy of the table: an address or a file",
    )
