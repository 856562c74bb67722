"""The arguments of `talaria doctor`, which `--help` and the completions need."""

from gateway.interfaces.parser import Parser


def configure(parser: Parser) -> None:
    """Add `--fix` and `--json`."""
    parser.examples = ("talaria doctor", "talaria doctor --fix")
    parser.add_argument("--fix", action="store_true", help="apply the fixes that are safe")
    parser.add_argument("--json", action="store_true", help="print JSON")
