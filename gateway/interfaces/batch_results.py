"""`talaria batch report` and `export`: read a run, also while it runs, and change nothing in it."""

import argparse
import asyncio
import json
from pathlib import Path

from agent_core.batch.records import list_records
from agent_core.batch.report import make_report
from agent_core.batch.rows import RowCounts, RowFilter, render_rows
from agent_core.state.engine.database import Connection, browse_file
from gateway.errors import Declined
from gateway.home import DATABASE
from gateway.texts.batch import describe_export, describe_report, explain


def report(arguments: argparse.Namespace) -> int:
    """Print the report of a run. Raises `Declined` and `StoreError`."""
    records = asyncio.run(browse_file(_find(arguments.folder), list_records))
    found = make_report(records)
    if arguments.json:
        bad = [one for one in found["tasks"] if one["state"] in ("failed", "no task")]
        found["why"] = {str(one["line"]): explain(one) for one in bad}
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        print("\n".join(describe_report(found)))
    return 0


def export(arguments: argparse.Namespace) -> int:
    """Write the conversations of a run to a new file. Raises `Declined` and `StoreError`."""
    target, counts = arguments.file, RowCounts()
    chosen = RowFilter(
        failed_too=arguments.all,
        least_messages=arguments.min_messages,
        most_messages=arguments.max_messages,
        used=tuple(arguments.used),
        most_tokens=arguments.max_tokens,
    )

    def write(connection: Connection) -> None:
        with target.open("x", encoding="utf-8") as file:
            try:
                for line in render_rows(connection, arguments.format, chosen, counts):
                    file.write(line + "\n")
                file.flush()
            except BaseException:
                target.unlink()
                raise

    try:
        asyncio.run(browse_file(_find(arguments.folder), write))
    except FileExistsError as error:
        raise Declined(f"{target} exists already; name another file.") from error
    except OSError as error:
        raise Declined(f"{target} can't be written: {error.strerror or error}.") from error
    print("\n".join(describe_export(counts, str(target))))
    return 0


def _find(folder: Path) -> Path:
    """Return the database of a run. Raises `Declined`."""
    found = folder / DATABASE
    if not found.exists():
        raise Declined(f"{folder} holds no run; `talaria batch run` makes one beside its tasks.")
    return found
