"""The arguments of `talaria run`, which `--help` and the completions need."""

from gateway.interfaces.parser import Parser


def configure(parser: Parser) -> None:
    """Add no argument: `config.toml` and the environment hold all settings."""
    parser.examples = ("talaria run", "TALARIA_HTTP__PORT=8080 talaria run")
    parser.epilog = "Settings: config.toml in the home, and TALARIA_<TABLE>__<KEY>."
