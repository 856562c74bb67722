"""A separate program that reads a PDF file from standard input and writes its text as JSON.

The files come from strangers. So the program runs without environment variables, with limited time
and memory, and can open no file and no connection. It exits with a code other than 0 if it can't
read the file. Run it as a program; don't import it.
"""

import io
import json
import sys

import pypdf
from pypdf.errors import DependencyError, FileNotDecryptedError

from agent_core.execution.subprocesses.confinement import ReaderLimits, confine_reader

_LIMITS = ReaderLimits(memory=1_000_000_000, cpu_seconds=30)
"""Python and pypdf take about 150 MB of address space."""


def read(data: bytes, most: int, first: int = 1, last: int = 0) -> dict[str, object]:
    """Return pages, up to `most` characters, or the reason why there is no text.

    `first` and `last` count from 1; 0 means the last page.
    """
    try:
        pdf = pypdf.PdfReader(io.BytesIO(data))
        # Many files have a password only against changes, and can be read without it.
        if pdf.is_encrypted and not pdf.decrypt(""):
            return {"fault": "encrypted"}
        texts: list[str] = []
        found = 0
        for number in range(first - 1, min(last or len(pdf.pages), len(pdf.pages))):
            texts.append(pdf.pages[number].extract_text())
            found += len(texts[-1])
            if found > most:
                break
        text = "\n\n".join(texts)
        pages = {"read": len(texts), "pages": len(pdf.pages)}
        return {"text": text[:most], "is_cut": len(text) > most, **pages}
    except (DependencyError, FileNotDecryptedError):
        return {"fault": "encrypted"}


if __name__ == "__main__":
    confine_reader(_LIMITS)
    sys.stdout.write(json.dumps(read(sys.stdin.buffer.read(), *map(int, sys.argv[1:]))))
