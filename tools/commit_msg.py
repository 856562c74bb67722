"""Commit message check: `area: imperative subject`, a blank line, and a body that says why.

Git calls it with the file of the message. `make hooks` installs it.
"""

import re
import sys
from pathlib import Path

WIDTH = 72
"""Characters of a line, so that `git log` fits a terminal of 80 columns."""
SUBJECT = re.compile(r"[a-z0-9][a-z0-9_./-]*(, [a-z0-9][a-z0-9_./-]*)*: \S")
GENERATED = re.compile(r"(Merge|Revert|fixup!|squash!|amend!) ?")
"""Subjects that git itself writes."""
SCISSORS = "# ------------------------ >8 ------------------------"
TRAILER = re.compile(r"[A-Z][A-Za-z-]+: \S")


def find_faults(message: str) -> list[str]:
    """Name every fault of a message in one sentence each."""
    text = message.partition(SCISSORS)[0]
    lines = [line.rstrip() for line in text.splitlines() if not line.startswith("#")]
    subject, *rest = "\n".join(lines).strip().split("\n")
    if GENERATED.match(subject):
        return []
    faults = find_subject_faults(subject)
    body = [line for line in rest if line and not TRAILER.match(line)]
    if rest and rest[0]:
        faults.append("Leave the second line blank.")
    if not body:
        faults.append("Add a body that says why the change is made.")
    # A line without a space cannot be wrapped: it is an address or a path.
    if any(len(line) > WIDTH and " " in line.strip() for line in body):
        faults.append(f"Wrap the body at {WIDTH} characters.")
    return faults


def find_subject_faults(subject: str) -> list[str]:
    """Name every fault of the first line."""
    faults = []
    if not SUBJECT.match(subject):
        faults.append("Write the subject as `area: imperative subject`, the area in lower case.")
    if len(subject) > WIDTH:
        faults.append(f"Shorten the subject to {WIDTH} characters. It has {len(subject)}.")
    if subject.endswith("."):
        faults.append("Remove the full stop at the end of the subject.")
    return faults


def main() -> None:
    """Check the file that git names. Raises `SystemExit` with the faults."""
    faults = find_faults(Path(sys.argv[1]).read_text(encoding="utf-8"))
    if faults:
        raise SystemExit("\n".join(["The commit message was refused:", *faults]))


if __name__ == "__main__":
    main()
