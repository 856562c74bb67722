"""Program of an export: reads the database beside the gateway, and writes the archives.

It takes an `ExportOrder` as a line of JSON. It prints a line of JSON for each report and each
archive, and one for the outcome. It ends as soon as its standard input ends, because then the
gateway has ended.
"""

import asyncio
import json
import os
import sys
import threading
from functools import partial
from pathlib import Path

from agent_core.errors import StoreError
from agent_core.privacy.export.export import ExportArchive, make_seal, write_export
from agent_core.privacy.export.export_order import ExportOrder, read_order
from agent_core.privacy.progress import Progress
from agent_core.state.engine.database import Connection, browse_file

_NICENESS = 10
"""Less of the processor than the gateway gets, where both want it."""


def _write(connection: Connection, order: ExportOrder) -> list[Path]:
    archive = ExportArchive(order.folder, order.archive, order.most_bytes, make_seal(order))
    try:
        write_export(connection, archive, order, _report)
    finally:
        paths = archive.close()
    return paths


def _report(progress: Progress) -> None:
    _print({"done": progress.done, "total": progress.total})


def _print(said: dict[str, object]) -> None:
    sys.stdout.write(f"{json.dumps(said)}\n")
    sys.stdout.flush()


def _end_with_gateway() -> None:
    sys.stdin.read()
    os._exit(1)


def main() -> None:
    """Carry out the order of standard input."""
    os.nice(_NICENESS)
    order = read_order(sys.stdin.readline())
    threading.Thread(target=_end_with_gateway, daemon=True).start()
    try:
        paths = asyncio.run(browse_file(order.database, partial(_write, order=order)))
    except StoreError as error:
        _print({"store": str(error)})
    except OSError as error:
        _print({"disk": error.errno or 0, "text": str(error)})
    else:
        for path in paths:
            _print({"archive": path.name})
        _print({"is_done": True})


if __name__ == "__main__":
    main()
