"""The arguments of `talaria skills`, which `--help` and the completions need."""

import argparse
from typing import Any

from gateway.interfaces.parser import Parser, read_path

CHANGES = {
    "archive": ("archive a skill in skills/.archive/", "is archived as {kept}."),
    "restore": ("restore a skill by its name in the archive", "is back."),
    "pin": ("keep the curator from archiving a skill", "is pinned."),
    "unpin": ("let the curator archive a skill", "is not pinned any more."),
}
LOCAL = ("agree", "check", "eval", "install", "scan")
"""The verbs that read folders themselves and don't use operations of the gateway."""
_SHOWN = 20


def configure(parser: Parser) -> None:
    """Add the verbs; the default is `list`."""
    parser.examples = ("talaria skills list", "talaria skills check ~/my-skills")
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list all skills with their state (the default)")
    show = verbs.add_parser(
        "show", help="show one skill in full", examples=["talaria skills show web-research"]
    )
    changes = [
        verbs.add_parser(name, help=reported, examples=[f"talaria skills {name} plants"])
        for name, (reported, _) in CHANGES.items()
    ]
    agreeing = verbs.add_parser(
        "agree",
        help="use a skill of the working folder, or an installed one's scripts, as it is now",
        examples=["talaria skills agree plants"],
    )
    for one in (show, *changes, agreeing):
        one.add_argument("name", metavar="NAME", help="name from `talaria skills list`")
    check = verbs.add_parser(
        "check",
        help="check all skills, or those of a folder; 1 if broken",
        examples=["talaria skills check", "talaria skills check ~/my-skills"],
    )
    check.add_argument(
        "path", metavar="PATH", type=read_path, nargs="?", help="a skill, or several"
    )
    log = verbs.add_parser(
        "log",
        help="list the newest changes with their ledger rows",
        examples=["talaria skills log", "talaria skills log plants --limit 50"],
    )
    log.add_argument("name", metavar="NAME", nargs="?", help="one skill, even a deleted one")
    log.add_argument("--limit", metavar="N", type=int, default=_SHOWN, help="how many")
    undo = verbs.add_parser("undo", help="undo one change", examples=["talaria skills undo 57"])
    undo.add_argument("row", metavar="ROW", type=int, help="row number from `talaria skills log`")
    _configure_curate(verbs)
    versions = verbs.add_parser(
        "versions",
        help="list the texts that a skill had",
        examples=["talaria skills versions plants"],
    )
    rollback = verbs.add_parser(
        "rollback",
        help="return to the version before, or to another one",
        examples=[
            "talaria skills rollback plants",
            "talaria skills rollback plants --to 2",
        ],
    )
    for one in (versions, rollback):
        one.add_argument("name", metavar="NAME", help="name from `talaria skills list`")
    rollback.add_argument("--to", metavar="N", type=int, help="number from `versions`")
    _configure_eval(verbs)
    _configure_install(verbs)


def _configure_eval(verbs: Any) -> None:
    """Add the verb `eval`."""
    parser: Parser = verbs.add_parser(
        "eval",
        help="test a skill with its cases; 1 if it fails",
        examples=["talaria skills eval plants"],
    )
    parser.add_argument("name", metavar="NAME", help="name from `talaria skills list`")


def _configure_install(verbs: Any) -> None:
    """Add the verbs `install` and `scan`."""
    for verb, summary in (
        ("install", "install a skill from a folder, a Git address or a hub"),
        ("scan", "show what a skill from elsewhere contains; 1 if dangerous"),
    ):
        parser: Parser = verbs.add_parser(
            verb,
            help=summary,
            examples=[f"talaria skills {verb} ~/Downloads/my-skill"],
        )
        parser.add_argument(
            "source", metavar="SOURCE", help="a folder, a Git address, HUB or HUB/NAME"
        )
        parser.add_argument("--skill", metavar="NAME", help="the skill, if there are several")
        parser.add_argument("--ref", metavar="REF", default="", help="a branch, tag or commit")
        if verb == "install":
            parser.add_argument("--yes", action="store_true", help="ask nothing; refuses dangers")


def _configure_curate(verbs: "argparse._SubParsersAction[Parser]") -> None:
    curate = verbs.add_parser(
        "curate",
        help="run the curator now",
        examples=["talaria skills curate --dry-run", "talaria skills curate --restore"],
    )
    choice = curate.add_mutually_exclusive_group()
    choice.add_argument("--dry-run", action="store_true", help="only show its plan")
    choice.add_argument(
        "--restore", action="store_true", help="restore the skills from its newest snapshot"
    )
