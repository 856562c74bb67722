"""`talaria turns`: shows and exports turns, and lists messages that could not be delivered."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.client import require_database
from gateway.interfaces.waiting import load_settings
from gateway.texts.system_jobs import describe_replay, describe_requests

_LONGEST = 300
"""Most characters of a step's result that are shown."""
_LONG = 3600.0
"""Seconds to wait for an export, which reads every conversation."""


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    if arguments.verb == "export":
        return _export(arguments, environ)
    verb = "requests" if vars(arguments).get("prompt") else arguments.verb
    is_one = verb in ("show", "requests", "replay")
    home = open_home(environ)
    if verb == "replay":
        require_database(home)
        print(f"Replaying turn {arguments.id} ...", flush=True)
    answer = client.perform(
        home, f"turns.{verb}", vars(arguments), load_settings=partial(load_settings, environ)
    )
    if is_one:
        print("\n".join(_DESCRIBE[verb](answer)))
    elif verb == "list":
        print("\n".join(map(_outline, answer["turns"])) or "There are no turns yet.")
    else:
        print(
            "\n".join(map(_describe_dead, answer["undelivered"])) or "Every message was delivered."
        )
    return 0


def _export(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    asked = {
        "target": str(arguments.file),
        "format": arguments.format,
        "person": arguments.person,
        "since": arguments.since and int(arguments.since.timestamp() * 1000),
        "redact": arguments.redact,
    }
    written = client.perform(open_home(environ), "turns.export", asked, timeout=_LONG)
    count = written["count"]
    print(f"Wrote {count} conversation{'' if count == 1 else 's'} to {written['target']}.")
    return 0


def _outline(turn: Mapping[str, Any]) -> str:
    began = datetime.fromtimestamp(turn["started_at"] / 1000, UTC).astimezone()
    ended_at = turn["ended_at"]
    lasted = f"{(ended_at - turn['started_at']) / 1000:.1f} s" if ended_at else "so far"
    state = f"{turn['state']} ({turn['reason']})" if turn["reason"] else turn["state"]
    return (
        f"{turn['id']:>6}  {began:%Y-%m-%d %H:%M:%S}  {lasted:>8}  {turn['platform']:<9}"
        f" {turn['person']:<16} {state}"
    )


def _describe(turn: Mapping[str, Any]) -> list[str]:
    cost = turn["cost"]
    lines = [_outline(turn), "", *(f"> {line}" for line in turn["said"].splitlines())]
    for number, step in enumerate(turn["steps"], start=1):
        outcome = "no outcome known" if step["outcome"] is None else _shorten(step["outcome"])
        lines.append(f"{number}. {step['name']}{' failed' if step['is_error'] else ''}: {outcome}")
    lines += [f"Why: {turn['why']}"] if turn["why"] else []
    lines += [f"Error: {_shorten(turn['detail'])}"] if turn["detail"] else []
    lines += [
        "",
        (
            f"Model calls: {cost['calls']}. Tokens: {cost['input_tokens']:,} read"
            f" ({cost['cache_read_tokens']:,} from the cache), {cost['output_tokens']:,} written."
            f" Cost: {turn['price']}. Attempts: {turn['attempts']}."
        ),
    ]
    return lines


_DESCRIBE: Mapping[str, Callable[[Mapping[str, Any]], Iterable[str]]] = {
    "show": _describe,
    "requests": describe_requests,
    "replay": describe_replay,
}


def _describe_dead(row: Mapping[str, Any]) -> str:
    turn = f"turn {row['turn']}" if row["turn"] else "no turn"
    return (
        f"{row['id']:>6}  {row['platform']} {row['chat']} ({turn}): {row['reason']}\n"
        f"        {_shorten(row['text'])}"
    )


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
