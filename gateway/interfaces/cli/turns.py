"""`talaria turns`: shows and exports turns, and lists messages that could not be delivered."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, time
from functools import partial
from typing import Any, get_args

from agent_core.agent.replay.formats import TrajectoryFormat
from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.client import require_database
from gateway.interfaces.parser import Parser, read_path
from gateway.interfaces.waiting import load_settings
from gateway.operations.turn_types import (
    ExportedTurns,
    ExportTurns,
    ListTurns,
    ListUndelivered,
    PickTurn,
    PromptOfNow,
    ReplayedTurn,
    ShownTurn,
    TurnLine,
    TurnList,
    TurnRequests,
    UndeliveredList,
    UndeliveredMessage,
)
from gateway.operations.wire import load_known
from gateway.texts.system_jobs import (
    describe_prompt_of_now,
    describe_replay,
    describe_requests,
)

_SHOWN = 20

_LONGEST = 300
"""Most characters of a step's result that are shown."""
_LONG = 3600.0
"""Seconds to wait for an export, which reads every conversation."""


def configure(parser: Parser) -> None:
    """Add `list`, `show`, `replay`, `export` and `undelivered`."""
    parser.examples = ("talaria turns list", "talaria turns show 128")
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    recent = verbs.add_parser(
        "list",
        help="list the newest turns (the default)",
        examples=["talaria turns list --limit 50"],
    )
    show = verbs.add_parser(
        "show",
        help="show one turn: its message, steps, cost, and why it failed",
        examples=["talaria turns show 128", "talaria turns show --prompt 128"],
    )
    show.add_argument(
        "--prompt",
        action="store_true",
        help="rebuild the model's requests, and tell if they are exact",
    )
    replay = verbs.add_parser(
        "replay",
        help="replay a turn and compare its requests",
        examples=["talaria turns replay 128", "talaria turns replay 128 --memory now"],
    )
    replay.add_argument(
        "--memory",
        choices=("then", "now"),
        default="then",
        help="now: compare the prompt with the one for today's memory",
    )
    for one in (show, replay):
        one.add_argument("id", metavar="ID", type=int, help="from `talaria turns list`")
    _configure_export(verbs)
    dead = verbs.add_parser("undelivered", help="list messages that could not be delivered")
    for listing in (recent, dead):
        listing.add_argument("--limit", metavar="N", type=int, default=_SHOWN, help="how many")


def _configure_export(verbs: "argparse._SubParsersAction[Parser]") -> None:
    export = verbs.add_parser(
        "export",
        help="write conversations to a new file as training data",
        examples=[
            "talaria turns export ~/talks.jsonl",
            "talaria turns export ~/ada.jsonl --format openai --person ada --since 2026-11-01",
            "talaria turns export ~/talks.jsonl --format sharegpt --redact",
        ],
    )
    export.add_argument(
        "file", metavar="FILE", type=read_path, help="a file that does not exist yet"
    )
    export.add_argument(
        "--format",
        choices=get_args(TrajectoryFormat),
        default="jsonl",
        help="jsonl keeps everything; the others are for training",
    )
    export.add_argument("--person", metavar="NAME", help="only theirs; see `talaria people list`")
    export.add_argument(
        "--since", metavar="DATE", type=_read_day, help="only what was used since a day"
    )
    export.add_argument(
        "--redact",
        action="store_true",
        help="take out names, addresses, numbers and secrets; read the file before you share it",
    )


def _read_day(text: str) -> datetime:
    """Parse a day of this machine's time zone. Raises `ArgumentTypeError`."""
    try:
        return datetime.combine(date.fromisoformat(text), time()).astimezone()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date like 2026-11-01") from None


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    if arguments.verb == "export":
        return _export(arguments, environ)
    verb = "requests" if vars(arguments).get("prompt") else arguments.verb
    home = open_home(environ)
    if verb == "replay":
        require_database(home)
        print(f"Replaying turn {arguments.id} ...", flush=True)
        verb = "compare" if arguments.memory == "now" else verb
    kind, answer, describe = _VERBS[verb]
    asked = load_known(kind, vars(arguments))
    done = client.perform_typed(
        home, f"turns.{verb}", asked, answer, load_settings=partial(load_settings, environ)
    )
    print("\n".join(describe(done)))
    return 0


def _export(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    asked = ExportTurns(
        target=str(arguments.file),
        format=arguments.format,
        person=arguments.person,
        since=arguments.since and int(arguments.since.timestamp() * 1000),
        redact=arguments.redact,
    )
    home = open_home(environ)
    written = client.perform_typed(home, "turns.export", asked, ExportedTurns, timeout=_LONG)
    count = written.count
    print(f"Wrote {count} conversation{'' if count == 1 else 's'} to {written.target}.")
    return 0


def _list(answer: TurnList) -> Iterable[str]:
    return map(_outline, answer.turns) if answer.turns else ("There are no turns yet.",)


def _outline(turn: TurnLine) -> str:
    began = datetime.fromtimestamp(turn.started_at / 1000, UTC).astimezone()
    lasted = f"{(turn.ended_at - turn.started_at) / 1000:.1f} s" if turn.ended_at else "so far"
    state = f"{turn.state} ({turn.reason})" if turn.reason else turn.state
    return (
        f"{turn.id:>6}  {began:%Y-%m-%d %H:%M:%S}  {lasted:>8}  {turn.platform:<9}"
        f" {turn.person:<16} {state}"
    )


def _describe(turn: ShownTurn) -> Iterable[str]:
    yield _outline(turn.line)
    yield ""
    yield from (f"> {line}" for line in turn.said.splitlines())
    for number, step in enumerate(turn.steps, start=1):
        outcome = "no outcome known" if step.outcome is None else _shorten(step.outcome)
        yield f"{number}. {step.name}{' failed' if step.is_error else ''}: {outcome}"
    if turn.why:
        yield f"Why: {turn.why}"
    if turn.detail:
        yield f"Error: {_shorten(turn.detail)}"
    total = turn.total
    yield ""
    yield (
        f"Model calls: {total.calls}. Tokens: {total.input_tokens:,} read"
        f" ({total.cache_read_tokens:,} from the cache), {total.output_tokens:,} written."
        f" Cost: {turn.price}. Attempts: {turn.attempts}."
    )


def _list_undelivered(answer: UndeliveredList) -> Iterable[str]:
    dead = answer.undelivered
    return map(_describe_dead, dead) if dead else ("Every message was delivered.",)


def _describe_dead(row: UndeliveredMessage) -> str:
    turn = f"turn {row.turn}" if row.turn else "no turn"
    return (
        f"{row.id:>6}  {row.platform} {row.chat} ({turn}): {row.reason}\n"
        f"        {_shorten(row.text)}"
    )


_VERBS: Mapping[str, tuple[type[Any], type[Any], Callable[[Any], Iterable[str]]]] = {
    "list": (ListTurns, TurnList, _list),
    "show": (PickTurn, ShownTurn, _describe),
    "requests": (PickTurn, TurnRequests, describe_requests),
    "replay": (PickTurn, ReplayedTurn, describe_replay),
    "compare": (PickTurn, PromptOfNow, describe_prompt_of_now),
    "undelivered": (ListUndelivered, UndeliveredList, _list_undelivered),
}
"""The types of what each operation asks and gets, and what shows it."""


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
