"""The arguments of `talaria chat`, which `--help` and the completions need."""

from gateway.interfaces.parser import Parser, read_path


def configure(parser: Parser) -> None:
    """Add the folder for files; chatting needs only a home directory."""
    parser.add_argument(
        "--save-files",
        metavar="FOLDER",
        type=read_path,
        help="save the files that answers bring in this folder; without it, they are only named",
    )
    parser.examples = (
        "talaria chat",
        "talaria chat --save-files ~/Downloads",
        "echo 'remind me at 9 to feed the dog' | talaria chat",
    )
    parser.epilog = (
        "Connects to the running gateway, or starts one for this chat."
        " Type a button's number alone to press it. With input from a pipe, each line is a"
        " message, and only answers are printed."
    )
