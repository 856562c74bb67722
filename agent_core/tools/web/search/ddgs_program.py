"""Program that searches with `ddgs`: reads a query, and prints the results as JSON.

It reads answers of strangers' servers. So it can open no files except its libraries and the files
of name resolution. Unlike a reader, it has network access.
"""

import json
import sys

from ddgs import DDGS
from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

from agent_core.execution.subprocesses.confinement import ReaderLimits, confine_reader

_LIMITS = ReaderLimits(memory=4_000_000_000, cpu_seconds=20, has_network=True)
"""The client of `ddgs` reserves far more address space than it uses."""
ENGINES = "duckduckgo, brave, startpage, mojeek, yahoo"
"""The first two are queried at the same time, each further one only if they find too little."""
_SECONDS = 6
"""Seconds for each engine."""
_NOTHING = "No results found"


def find(query: str, count: int, proxy: str = "", engines: str = ENGINES) -> dict[str, object]:
    """Search; return the results, or the kind of the error."""
    try:
        with DDGS(proxy=proxy or None, timeout=_SECONDS) as search:
            found = search.text(query, region="wt-wt", max_results=count, backend=engines)
    except RatelimitException:
        return {"fault": "limited"}
    except TimeoutException:
        return {"fault": "slow"}
    except DDGSException as error:
        return {"results": []} if str(error).startswith(_NOTHING) else {"fault": "failed"}
    return {"results": [{**one, "url": one.get("href")} for one in found]}


if __name__ == "__main__":
    confine_reader(_LIMITS)
    wanted = json.loads(sys.stdin.buffer.read())
    sys.stdout.write(json.dumps(find(wanted["query"], wanted["count"], wanted["proxy"])))
