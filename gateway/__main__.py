"""The entry point of the command line: runs a subcommand and reports its errors."""

import os
import sys
from collections.abc import Mapping, Sequence

from agent_core.errors import StoreError
from agent_core.execution.subprocesses.process_privacy import hide_process
from gateway.errors import Broken, Declined, Mistaken, StartError, suggest
from gateway.interfaces import subcommands
from gateway.interfaces.parser import Parser, end_sentence, show_help
from gateway.interfaces.subcommands import SUBCOMMANDS
from gateway.interfaces.waiting import showing

DONE, FAILED, WRONG = 0, 1, 2
"""Exit codes: done, failed, usage or configuration error."""
INTERRUPTED = 130
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
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the pipe has exited; without this, the flush at exit fails again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    return code


def _dispatch(words: list[str], environ: Mapping[str, str]) -> int:
    word = words[0] if words else ""
    word = "version" if word == "--version" else word
    if word in ("-h", "--help", "help"):
        show_help(f"{_describe_subcommands()}\n")
        return DONE
    if not word:
        print(_describe_subcommands(), file=sys.stderr)
        return WRONG
    if word not in SUBCOMMANDS:
        print(f"There is no `talaria {word}`; {suggest(word, SUBCOMMANDS)}", file=sys.stderr)
        return WRONG
    configure = subcommands.load_arguments(word)
    parser = Parser(prog=f"talaria {word}", description=f"{SUBCOMMANDS[word]}.")
    configure(parser)
    arguments = parser.read(words[1:])
    if announce := subcommands.find_announcement(word):
        print(announce(arguments, environ), flush=True)
    with showing("Loading"):
        run = subcommands.load_run(word)
    return run(arguments, environ)


def _describe_subcommands() -> str:
    width = max(map(len, SUBCOMMANDS))
    lines = [f"  {word:<{width}}  {summary}" for word, summary in SUBCOMMANDS.items()]
    return "\n".join(
        [
            "Usage: talaria COMMAND [...]",
            "",
            "A self-hosted assistant for the chat apps you already use.",
            "",
            *lines,
            "",
            "`talaria COMMAND --help` explains a command. Exit codes: 0 done, 1 failed,",
            "2 usage or configuration error. The home directory is ~/.talaria or TALARIA_HOME.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
