"""The arguments of `talaria mcp`, which `--help` and the completions need."""

import argparse

from gateway.interfaces.parser import Parser

_EXAMPLES_OF_ADD = (
    "talaria mcp add notes --local --writable ~/notes -- mcp-server-filesystem ~/notes",
    "talaria mcp add web --url https://mcp.example.org/ --header 'Authorization=Bearer $TOKEN'",
)


def configure(parser: Parser) -> None:
    """Add the verbs; the default is `list`."""
    parser.examples = ("talaria mcp list", "talaria mcp test files")
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list the servers (the default)")
    add = verbs.add_parser(
        "add", help="add a server, test it and accept its tools", examples=_EXAMPLES_OF_ADD
    )
    _configure_add(add)
    test = verbs.add_parser(
        "test",
        help="connect to a server and list its tools; 1 if that fails",
        examples=["talaria mcp test files"],
    )
    accept = verbs.add_parser(
        "accept",
        help="accept the tools of a server as they are now",
        examples=["talaria mcp accept files"],
    )
    remove = verbs.add_parser(
        "remove", help="remove a server", examples=["talaria mcp remove files"]
    )
    for one in (test, accept, remove):
        one.add_argument("name", metavar="NAME", help="as `talaria mcp` lists it")
    serve = verbs.add_parser(
        "serve",
        help="serve Talaria over MCP on standard streams, for Claude Code and others",
        examples=["talaria mcp serve --person ada"],
    )
    serve.add_argument(
        "--person", metavar="SLUG", required=True, help="whom the other program acts for"
    )
    for one in (add, test, accept):
        one.add_argument(
            "--as",
            dest="whose",
            metavar="SLUG",
            help="whose account to sign in with; default: the only owner's",
        )
    for one in (add, accept):
        one.add_argument("--yes", action="store_true", help="accept the tools without asking")


def _configure_add(add: argparse.ArgumentParser) -> None:
    add.add_argument("name", metavar="NAME", help="at most 16 small letters, digits and dashes")
    add.add_argument("--url", metavar="URL", help="the address of a server that speaks HTTP")
    for option, shown, what in (
        ("--header", "NAME=VALUE", "a header for --url; $VARIABLE is read from the environment"),
        (
            "--env",
            "NAME=VALUE",
            "a variable of the program; $VARIABLE is read from the environment",
        ),
        ("--include", "TOOL", "a tool to offer; without any, all of them"),
        ("--exclude", "TOOL", "a tool to leave out"),
        ("--person", "SLUG", 'who may use it besides owners; "*" is everyone'),
        ("--readable", "PATH", "a path that the sandbox shows"),
        ("--writable", "PATH", "a path that the sandbox shows, and may be written"),
    ):
        add.add_argument(option, metavar=shown, action="append", help=f"{what}; repeatable")
    for option, what in (
        ("--oauth", "each person signs in at --url with their own account, by a link"),
        ("--shared-account", "with --oauth, everyone uses the account of one owner"),
        ("--local", "it sends nothing to others, and may have a private address"),
        ("--network", "let the program use the network"),
        ("--unsandboxed", "run the program as Talaria's user, with all its rights"),
    ):
        add.add_argument(option, action="store_true", help=what)
    add.add_argument("--seconds", metavar="N", type=int, help="longest time of one call")
    # With `*`, argparse would match zero words before it reaches the program's words.
    words = add.add_argument(
        "words", metavar="WORD", nargs="+", help="the program's command line, after --"
    )
    words.required = False
