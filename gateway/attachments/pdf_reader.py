"""A program of its own: a PDF file comes in, its text goes out as JSON. Imported by nobody.

It parses what strangers wrote, so it gets no environment, bounded time and memory, and can
write no file. What it can't read ends it with an exit code other than 0.
"""

import io
import json
import resource
import sys

import pypdf
from pypdf.errors import DependencyError, FileNotDecryptedError

_MEMORY = 1_000_000_000
"""Bytes of address space, of which Python and pypdf take about 150 MB."""
_CPU_SECONDS = 30


def limit_itself() -> None:
    """What a hostile file can't exceed."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def read(data: bytes, most: int) -> dict[str, object]:
    """Pages from the first one on until `most` characters are found, or why there are none."""
    try:
        pdf = pypdf.PdfReader(io.BytesIO(data))
        # Many files are locked against changes only, which takes no password to read.
        if pdf.is_encrypted and not pdf.decrypt(""):
            return {"fault": "encrypted"}
        texts: list[str] = []
        found = 0
        for page in pdf.pages:
            texts.append(page.extract_text())
            found += len(texts[-1])
            if found > most:
                break
        text = "\n\n".join(texts)
        pages = {"read": len(texts), "pages": len(pdf.pages)}
        return {"text": text[:most], "is_cut": len(text) > most, **pages}
    except (DependencyError, FileNotDecryptedError):
        return {"fault": "encrypted"}


if __name__ == "__main__":
    limit_itself()
    sys.stdout.write(json.dumps(read(sys.stdin.buffer.read(), int(sys.argv[1]))))
