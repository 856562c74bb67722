"""The arguments of `talaria restore`, which `--help` and the completions need."""

from pathlib import Path

from gateway.interfaces.parser import Parser


def configure(parser: Parser) -> None:
    """Add the file, the key and the rehearsal."""
    parser.examples = (
        "talaria restore ~/talaria-2026-11-26.tar.gz --check",
        "talaria restore ~/talaria-2026-11-26.tar.gz",
        "talaria restore ~/talaria.tar.gz.age --identity ~/key.txt",
        "talaria restore s3://bucket/nightly-20261126T033000Z.tar.gz.age",
    )
    parser.add_argument("file", metavar="FILE", help="the backup: a file, or s3://BUCKET/NAME")
    parser.add_argument(
        "--check", action="store_true", help="only rehearse it: unpack and check, change nothing"
    )
    parser.add_argument(
        "--identity", metavar="KEYFILE", type=Path, help="the private key that opens the backup"
    )
