"""`talaria batch`: runs a file of tasks, reports on the run, and writes it as training data."""

import argparse
from collections.abc import Mapping
from typing import get_args

from agent_core.agent.replay.formats import TrajectoryFormat
from agent_core.money import count_micro_dollars
from gateway.interfaces.parser import Parser, read_path

_MOST_AT_ONCE = 1000


def configure(parser: Parser) -> None:
    """Add `run`, `report` and `export`."""
    parser.examples = (
        "talaria batch run tasks.jsonl",
        "talaria batch report tasks.run",
        "talaria batch export tasks.run data.jsonl --format sharegpt",
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    _configure_run(verbs)
    report = verbs.add_parser(
        "report",
        help="say how a run went; also while it runs",
        examples=["talaria batch report tasks.run", "talaria batch report tasks.run --json"],
    )
    report.add_argument("--json", action="store_true", help="the whole report, with every task")
    export = verbs.add_parser(
        "export",
        help="write the conversations of a run to a new file",
        examples=[
            "talaria batch export tasks.run data.jsonl --format openai",
            "talaria batch export tasks.run data.jsonl --used terminal --max-tokens 16000",
        ],
    )
    for one in (report, export):
        one.add_argument("folder", metavar="RUN", type=read_path, help="the folder of the run")
    _configure_export(export)


def _configure_run(verbs: "argparse._SubParsersAction[Parser]") -> None:
    run = verbs.add_parser(
        "run",
        help="run the tasks of a file, or go on with them",
        examples=[
            "talaria batch run tasks.jsonl",
            "talaria batch run tasks.jsonl --at-once 50 --budget 20 --tools terminal,read_file",
        ],
    )
    run.add_argument(
        "file", metavar="TASKS", type=read_path, help='a JSON object per line: {"prompt": "..."}'
    )
    run.add_argument(
        "--into", metavar="RUN", type=read_path, help="the folder of the run; else TASKS.run"
    )
    run.add_argument(
        "--at-once", metavar="N", type=_read_places, default=8, help="tasks at once; else 8"
    )
    run.add_argument(
        "--retries", metavar="N", type=_read_count, default=1, help="further tries; else 1"
    )
    run.add_argument("--model", metavar="NAME", help="a model of the settings; else the main one")
    run.add_argument("--tools", metavar="NAMES", help="only these tools, such as terminal,memory")
    run.add_argument("--system", metavar="FILE", type=read_path, help="a text in place of SOUL.md")
    run.add_argument("--steps", metavar="N", type=_read_steps, help="most model calls of a task")
    run.add_argument("--task-usd", metavar="USD", type=_read_dollars, help="most money of a task")
    run.add_argument("--task-seconds", metavar="S", type=_read_amount, help="longest task")
    run.add_argument(
        "--budget", metavar="USD", type=_read_dollars, default=0.0, help="most money of this run"
    )
    run.add_argument(
        "--seconds", metavar="S", type=_read_amount, default=0.0, help="longest time of this run"
    )


def _configure_export(export: Parser) -> None:
    export.add_argument(
        "file", metavar="FILE", type=read_path, help="a file that does not exist yet"
    )
    export.add_argument(
        "--format",
        choices=get_args(TrajectoryFormat),
        default="sharegpt",
        help="jsonl keeps everything; the others are for training; else sharegpt",
    )
    export.add_argument("--all", action="store_true", help="failed tasks, too")
    export.add_argument(
        "--min-messages", metavar="N", type=_read_count, default=0, help="only longer ones"
    )
    export.add_argument(
        "--max-messages", metavar="N", type=_read_count, default=0, help="only shorter ones"
    )
    export.add_argument(
        "--used", metavar="TOOL", action="append", default=[], help="only those that called it"
    )
    export.add_argument(
        "--max-tokens",
        metavar="N",
        type=_read_count,
        default=0,
        help="leave out steps in the middle of longer ones",
    )


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb. Raises `Declined`, `StartError` and `StoreError`."""
    if arguments.verb == "run":
        from gateway.interfaces import batch_run

        return batch_run.run(arguments, environ)
    from gateway.interfaces import batch_results

    do = batch_results.report if arguments.verb == "report" else batch_results.export
    return do(arguments)


def _read_places(text: str) -> int:
    number = _read_count(text)
    if not 1 <= number <= _MOST_AT_ONCE:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and {_MOST_AT_ONCE:,}")
    return number


def _read_steps(text: str) -> int:
    if not (number := _read_count(text)):
        raise argparse.ArgumentTypeError("a task needs at least 1 model call")
    return number


def _read_dollars(text: str) -> float:
    number = _read_amount(text)
    try:
        count_micro_dollars(number)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"in {text}, {error}") from error
    return number


def _read_count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return number


def _read_amount(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no amount from 0 on")
    return number
