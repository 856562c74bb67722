"""The entry point of the command line: runs a subcommand and reports its errors."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext

from agent_core.errors import StoreError
from agent_core.execution.subprocesses.process_privacy import hide_process
from gateway.errors import Broken, Declined, Mistaken, StartError
from gateway.interfaces import subcommands
from gateway.interfaces.parser import end_sentence, suggest_command
from gateway.interfaces.subcommands import SUBCOMMANDS
from gateway.interfaces.waiting import showing

DONE, FAILED, WRONG = 0, 1, 2
"""Exit codes: done, failed, usage or configuration error."""
INTERRUPTED = 130
_MEANT = {"-h": "help", "--help": "help", "--version": "version", "-V": "version"}
"""Options that stand for a command."""
PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand, print its error if it fails, and return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        hide_process()  # first: a child process may read this process's memory at any time
        code = _dispatch(words, os.environ)
        sys.stdout.flush()
    except (StartError, Mistaken, StoreError) as error:
        print(end_sentence(str(error)), file=sys.stderr)
        return WRONG
    except (Declined, Broken) as error:
        print(end_sentence(str(error)), file=sys.stderr)
        return FAILED
    except PermissionError as error:
        print(f"{error.filename} is closed to you: {error.strerror}.", file=sys.stderr)
        return WRONG
    except EOFError:  # Ctrl-D, or no terminal
        print("\nA question got no answer, so nothing more was done.", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the pipe has exited; without this, the flush at exit fails again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    return code


def _dispatch(words: list[str], environ: Mapping[str, str]) -> int:
    word = words[0] if words else ""
    word = _MEANT.get(word, word)
    if not word:
        print(subcommands.describe_all(), file=sys.stderr)
        return WRONG
    if word not in SUBCOMMANDS:
        print(
            f"There is no `talaria {word}`; {suggest_command(word, SUBCOMMANDS)}", file=sys.stderr
        )
        return WRONG
    arguments = subcommands.make_parser(word).read(words[1:])
    if announce := subcommands.find_announcement(word):
        print(announce(arguments, environ), flush=True)
    with nullcontext() if word == "help" else showing("Loading"):
        run = subcommands.load_run(word)
    return run(arguments, environ)


if __name__ == "__main__":
    sys.exit(main())
