"""The arguments of `talaria service`, which `--help` and the completions need."""

from gateway.interfaces.parser import Parser


def configure(parser: Parser) -> None:
    """Add the verbs."""
    parser.examples = ("talaria service install", "talaria service logs --follow")
    parser.default_verb = "status"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("install", help="keep Talaria running, also after a restart of the machine")
    verbs.add_parser("status", help="show the state of the service (the default)")
    logs = verbs.add_parser(
        "logs", help="show its newest output", examples=["talaria service logs --follow"]
    )
    logs.add_argument("-f", "--follow", action="store_true", help="go on as more arrives")
    verbs.add_parser("remove", help="stop Talaria and forget the service; your data stays")
