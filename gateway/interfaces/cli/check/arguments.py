"""The arguments of `talaria check`, which `--help` and the completions need."""

from gateway.interfaces.parser import Parser


def configure(parser: Parser) -> None:
    """Add `--live` and `--json`."""
    parser.examples = ("talaria check", "talaria check --live --json")
    parser.add_argument("--live", action="store_true", help="ask the running gateway")
    parser.add_argument("--json", action="store_true", help="print JSON")
