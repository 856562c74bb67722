"""The words of the command line, each with one line of help; light enough for `--help`."""

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "run": "Start the gateway",
    "chat": "Talk to it here, or through a pipe",
    "check": "Look for faults without changing anything",
    "people": "Who may talk: list, claim, approve, export, erase",
    "turns": "What ran: list, show, replay, undelivered",
    "jobs": "What is done at its time: list, show, add, pause, resume, run, drop, preview",
    "skills": "How work is done: list, show, check, log, undo, archive, restore, (un)pin, curate",
    "memory": "What is remembered: log, show, undo, restore",
    "backup": "Copy the database, also while it is in use",
}
"""In the order of `talaria --help`; each has a module of this name in `gateway/cli`."""
