"""The arguments of `talaria models local`."""

from gateway.interfaces.parser import Parser

SUGGESTED = "qwen3:4b"
"""A model that calls tools and runs on most machines, for those who have none yet."""


def configure(parser: Parser) -> None:
    """Add the verbs."""
    parser.examples = (
        "talaria models local list",
        f"talaria models local pull {SUGGESTED}",
        f"talaria models local use {SUGGESTED}",
    )
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="local_verb", required=True, metavar="VERB")
    verbs.add_parser(
        "list", help="list the model servers of this machine, and their models (the default)"
    )
    pull = verbs.add_parser(
        "pull",
        help="download a model with Ollama; Ctrl-C stops it",
        examples=[f"talaria models local pull {SUGGESTED}"],
    )
    pull.add_argument("name", metavar="NAME", help=f"a model of Ollama, such as {SUGGESTED}")
    use = verbs.add_parser("use", help="let a model of this machine answer")
    use.add_argument(
        "name", metavar="NAME", nargs="?", default="", help="the model; without one, the best"
    )
