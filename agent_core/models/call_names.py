"""Names of tool calls as every model server accepts them; pure."""

import hashlib
import re

_VALID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ODD = re.compile(r"[^a-zA-Z0-9_-]")
_KEPT = 50
"""Characters of an odd name that stay readable."""


def make_valid(name: str) -> str:
    """Return the name of a call as a request may hold it.

    A model may write any name, and servers refuse each later request that repeats an odd one.
    Equal names give equal results, and different ones stay different.
    """
    if _VALID.fullmatch(name):
        return name
    mark = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{_ODD.sub('_', name[:_KEPT]) or 'unnamed'}_{mark}"
