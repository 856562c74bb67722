"""The command line's door: finds the word's module, runs it, and words what goes wrong."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import NoReturn

from agent_core.errors import StoreError
from gateway.bootstrap import plugins
from gateway.config import settings
from gateway.config.sources import suggest
from gateway.errors import Broken, Declined, Mistaken, StartError
from gateway.interfaces.subcommands import WORDS

DONE, FAILED, WRONG = 0, 1, 2
"""Exit codes: done, it failed, it was asked or set up in a wrong way."""
INTERRUPTED = 130
PIPE_CLOSED = 141


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence instead of a page of usage."""

    def error(self, message: str) -> NoReturn:
        """Exit with code 2."""
        self.exit(WRONG, f"{_sentence(message)} See `{self.prog} --help`.\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code; the only writer of what went wrong."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _dispatch(words, settings.environment())
        sys.stdout.flush()
    except (settings.SettingsError, StartError, Mistaken, StoreError) as error:
        print(_sentence(str(error)), file=sys.stderr)
        return WRONG
    except (Declined, Broken) as error:
        print(_sentence(str(error)), file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has left; the flush at exit must not complain of it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    return code


def _dispatch(words: list[str], environ: Mapping[str, str]) -> int:
    word = words[0] if words else ""
    if word in ("-h", "--help", "help"):
        print(_describe_words())
        return DONE
    if word == "--version":
        print(f"talaria {version('talaria')}")
        return DONE
    if not word:
        print(_describe_words(), file=sys.stderr)
        return WRONG
    if word not in WORDS:
        print(f"There is no `talaria {word}`; {suggest(word, WORDS)}", file=sys.stderr)
        return WRONG
    command = plugins.load_command(word)
    parser = Parser(prog=f"talaria {word}", description=f"{WORDS[word]}.", allow_abbrev=False)
    command.configure(parser)
    return command.run(parser.parse_args(words[1:]), environ)


def _describe_words() -> str:
    width = max(map(len, WORDS))
    lines = [f"  {word:<{width}}  {summary}" for word, summary in WORDS.items()]
    return "\n".join(
        [
            "Usage: talaria WORD [...]",
            "",
            "A self-hosted assistant that people reach from the chat they already use.",
            "",
            *lines,
            "",
            "`talaria WORD --help` tells more about a word. Exit codes: 0 done, 1 it failed,",
            "2 it was asked or set up in a wrong way. The home is ~/.talaria or TALARIA_HOME.",
        ]
    )


def _sentence(text: str) -> str:
    """With a capital in front, unless a name or a path stands there, and with an end."""
    text = text.strip()
    first = text.partition(" ")[0].rstrip(",:;")
    text = text[:1].upper() + text[1:] if first.isalpha() else text
    return text if text.endswith((".", "?", "!")) else f"{text}."


if __name__ == "__main__":
    sys.exit(main())
